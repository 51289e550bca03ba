/*
 * shared_memory.c
 *		The shared memory of a GpuSort Shared node, from before workers are started until it
 *		goes, in the leader and in workers; and the memory of one execution.
 *
 * All extents belong to the owner, a sort of the leader's that has no rows, whichever participant
 * took them.  The owner ends with the query's memory, when all workers are gone, also after an
 * error; or when the Gather is rescanned, which has waited for its workers by then.
 */
#include "postgres.h"

#include "access/parallel.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "exec/exec.h"
#include "exec/shared_private.h"
#include "sort/sort.h"
#include "team/worker_wait.h"

/* ---------- what one execution has ---------- */

MemoryContext
gpusort_shared_context(GpuSortSharedState *node)
{
	if (node->result_context == NULL)
		node->result_context = AllocSetContextCreate(node->context, "GpuSort Shared result",
													 ALLOCSET_DEFAULT_SIZES);
	return node->result_context;
}

void
gpusort_shared_forget(GpuSortSharedState *node)
{
	ExecClearTuple(node->css.ss.ss_ScanTupleSlot);
	gpusort_result_close(&node->result);
	if (node->result_context != NULL)
		MemoryContextDelete(node->result_context);
	node->result_context = NULL;
	node->ready = false;
	INSTR_TIME_SET_ZERO(node->collect_time);
}

/* ---------- shared memory ---------- */

static Size
refused_offset(int participants)
{
	return MAXALIGN(offsetof(GpuSortShared, counts) +
					participants * sizeof(GpuSortCollectCounts));
}

static Size
view_offset(int participants)
{
	return refused_offset(participants) + MAXALIGN(participants * sizeof(GpuSortPassedRows));
}

static Size
team_offset(int participants)
{
	return view_offset(participants) + MAXALIGN(gpusort_view_shared_bytes());
}

static GpuSortPassedRows *
refused_rows(GpuSortShared *shared)
{
	return (GpuSortPassedRows *) ((char *) shared + refused_offset(shared->participants));
}

GpuSortRowPlace
gpusort_place_of_refused(const GpuSortSharedState *node, int i)
{
	GpuSortRowPlace place = {
		.rows = &refused_rows(node->shared)[i],
		.area = node->css.ss.ps.state->es_query_dsa,
		.files = &node->shared->files
	};

	snprintf(place.name, sizeof(place.name), "gpusort.refused.%d", i);
	return place;
}

static GpuSortSharedView *
room_for_view(GpuSortShared *shared)
{
	return (GpuSortSharedView *) ((char *) shared + view_offset(shared->participants));
}

static GpuSortTeam *
team_of(GpuSortShared *shared)
{
	return (GpuSortTeam *) ((char *) shared + team_offset(shared->participants));
}

Size
gpusort_estimate_shared(CustomScanState *css, ParallelContext *pcxt)
{
	return add_size(team_offset(pcxt->nworkers + 1), gpusort_team_bytes());
}

/* Creates parts in the pool for the participants, if there is a pool. */
static void
create_parts(GpuSortSharedState *node)
{
	GpuSortShared *shared = node->shared;

	if (node->owner == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(node->context);

		node->owner = gpusort_parts_begin_owner(ExecGetResultType(outerPlanState(node)),
												&node->spec);
		MemoryContextSwitchTo(old);
		if (node->tells_equal)
			gpusort_tell_equal(node->owner);
	}
	node->parts = gpusort_parts_create(node->owner, shared->participants,
									   gpusort_exec_rows_of_all(outerPlan(node->css.ss.ps.plan),
																shared->participants - 1));
	shared->in_pool = node->parts != NULL;
	if (shared->in_pool)
		shared->parts_number = gpusort_parts_number(node->parts);
}

/* Sets up this participant's access to what is shared, in the leader and in workers. */
static void
begin_access(GpuSortSharedState *node)
{
	GpuSortShared *shared = node->shared;
	GpuSortResult *result = &node->result;
	GpuSortRowPlace refused = gpusort_place_of_refused(node, ParallelWorkerNumber + 1);
	MemoryContext old = MemoryContextSwitchTo(gpusort_shared_context(node));

	gpusort_pass_begin(&node->refused, &refused);
	MemoryContextSwitchTo(old);
	node->team = team_of(shared);
	result->spec = &node->spec;
	result->desc = ExecGetResultType(outerPlanState(node));
	result->slice_columns = node->slice_columns;
	result->shared = &shared->result;
	result->room = shared->in_pool ? room_for_view(shared) : NULL;
	result->area = node->css.ss.ps.state->es_query_dsa;
	result->files = &shared->files;
}

/* Called before workers are started, for the first execution and each further one. */
static void
begin_execution(GpuSortSharedState *node)
{
	GpuSortShared *shared = node->shared;

	gpusort_shared_forget(node);
	BarrierInit(&shared->barrier, 0);
	gpusort_result_init(&shared->result);
	for (int i = 0; i < shared->participants; i++)
		gpusort_passed_init(&refused_rows(shared)[i]);
	memset(&shared->report, 0, sizeof(shared->report));
	gpusort_team_init(team_of(shared), 0);
	memset(shared->counts, 0, shared->participants * sizeof(GpuSortCollectCounts));
	create_parts(node);
	begin_access(node);
}

void
gpusort_initialize_shared(CustomScanState *css, ParallelContext *pcxt, void *coordinate)
{
	GpuSortSharedState *node = (GpuSortSharedState *) css;

	/* there is no segment, and so there are no workers */
	if (pcxt->seg == NULL)
		return;
	node->shared = coordinate;
	node->pcxt = pcxt;
	node->shared->segment = dsm_segment_handle(pcxt->seg);
	node->shared->participants = pcxt->nworkers + 1;
	node->shared->rescanned = false;
	SharedFileSetInit(&node->shared->files, pcxt->seg);
	gpusort_worker_watch(css->ss.ps.state->es_query_cxt);
	begin_execution(node);
}

void
gpusort_reinitialize_shared(CustomScanState *css, ParallelContext *pcxt, void *coordinate)
{
	GpuSortSharedState *node = (GpuSortSharedState *) css;
	GpuSortShared *shared = node->shared;
	dsa_area   *area = css->ss.ps.state->es_query_dsa;

	if (shared == NULL)
		return;
	SharedFileSetDeleteAll(&shared->files);
	gpusort_passed_free(&shared->result.passed, area);
	for (int i = 0; i < shared->participants; i++)
		gpusort_passed_free(&refused_rows(shared)[i], area);
	shared->rescanned = true;
	begin_execution(node);
}

void
gpusort_attach_shared(CustomScanState *css, shm_toc *toc, void *coordinate)
{
	GpuSortSharedState *node = (GpuSortSharedState *) css;
	GpuSortShared *shared = coordinate;

	node->shared = shared;
	if (shared->rescanned)
		gpusort_exec_bound_is_old();
	if (shared->in_pool)
		node->parts = gpusort_parts_attach(shared->parts_number);
	SharedFileSetAttach(&shared->files, dsm_find_mapping(shared->segment));
	begin_access(node);
}

void
gpusort_shared_keep_counts(GpuSortSharedState *node, const GpuSortCollectCounts *counts,
						   int participants)
{
	gpusort_keep_counts(&node->kept, counts, participants,
						node->css.ss.ps.state->es_query_cxt);
}

void
gpusort_detach_shared(CustomScanState *css)
{
	GpuSortSharedState *node = (GpuSortSharedState *) css;
	GpuSortShared *shared = node->shared;

	if (shared != NULL && shared->report.performed)
	{
		node->report = shared->report;
		gpusort_shared_keep_counts(node, shared->counts, shared->participants);
	}
	node->shared = NULL;
	node->pcxt = NULL;
	node->team = NULL;
	node->result.shared = NULL;
}
