/*
 * index_verify.c
 *		Having the workers of an index build help to verify its order; see
 *		index_verify.h.
 */
#include "postgres.h"

#include "utils/wait_event.h"

#include "index/index_key.h"
#include "index/index_verify.h"
#include "pg_compat.h"
#include "worker_fault.h"
#include "worker_wait.h"

/* What a process waits for here, as others see it. */
static uint32 wait_event = 0;

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
		gpusort_worker_await(&shared->done, gpusort_wait_event(&wait_event, "GpuSortIndexVerify"));
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

	gpusort_worker_fault("the verification of an index");
	if (gpusort_index_sort_spec(target->index, &spec, &reason))
		gpusort_verify_help(&shared->work, view, RelationGetDescr(target->index), &spec);
	ConditionVariableBroadcast(&shared->done);
}
