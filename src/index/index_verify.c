/*
 * index_verify.c
 *		Having the workers of an index build help to verify its order; see
 *		index_verify.h.
 */
#include "postgres.h"

#include "utils/wait_event.h"

#include "index/index_fault.h"
#include "index/index_key.h"
#include "index/index_verify.h"
#include "pg_compat.h"

/* What a process waits for here, as others see it. */
static uint32 wait_event = 0;

/* How often to look after workers that are waited for. */
#define LOST_WORKER_MS	100

/* The leader's. */
typedef struct Verification
{
	GpuSortSharedVerify *shared;
	GpuSortStageControl *stage;
	GpuSortVerifyCrew crew;
} Verification;

void
gpusort_index_verify_init(GpuSortSharedVerify *shared)
{
	memset(shared, 0, sizeof(*shared));
	ConditionVariableInit(&shared->done);
}

/* A GpuSortVerifyCrew's summon. */
static bool
summon_workers(void *arg)
{
	Verification *verification = arg;

	if (!gpusort_stage_publish(verification->stage))
		return false;
	gpusort_stage_set(verification->stage, GPUSORT_STAGE_VERIFY);
	return true;
}

/* A GpuSortVerifyCrew's await. */
static void
await_workers(void *arg)
{
	Verification *verification = arg;
	GpuSortSharedVerify *shared = verification->shared;

	while (!gpusort_verify_is_done(&shared->work))
	{
		if (ConditionVariableTimedSleep(&shared->done, LOST_WORKER_MS, gpusort_wait_event(&wait_event, "GpuSortIndexVerify")))
			gpusort_stage_check(verification->stage);
	}
	ConditionVariableCancelSleep();
}

void
gpusort_index_verify_with(GpuSortSharedVerify *shared, GpuSortStageControl *stage)
{
	Verification *verification = palloc(sizeof(Verification));

	verification->shared = shared;
	verification->stage = stage;
	verification->crew = (GpuSortVerifyCrew) {
		.work = &shared->work,
		.summon = summon_workers,
		.await = await_workers,
		.arg = verification
	};
	gpusort_verify_with(stage->sort, &verification->crew);
}

void
gpusort_index_verify_help(GpuSortSharedVerify *shared, const GpuSortIndexTarget *target,
						  const GpuSortView *view)
{
	GpuSortSpec spec;
	const char *reason;

	gpusort_fault_in_part("the verification");
	if (gpusort_index_sort_spec(target->index, &spec, &reason))
		gpusort_verify_help(&shared->work, view, RelationGetDescr(target->index), &spec);
	ConditionVariableBroadcast(&shared->done);
}
