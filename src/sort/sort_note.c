/*
 * sort_note.c
 *		Counting and logging sorts that are done; see sort.h.
 *
 * A sort remembers what was counted of it, so that what it does later can be counted when it ends.
 */
#include "postgres.h"

#include "settings.h"
#include "service/service.h"
#include "sort/sort.h"
#include "sort/state_private.h"
#include "stats/stats.h"

/* Counts what follows from other counters, and from what became of the sort so far. */
static void
count_outcome(GpuSort *sort)
{
	GpuSortStats *stats = &sort->stats;
	GpuSortHandover why = stats->handover;
	bool		ours = why == GPUSORT_HANDOVER_NONE;
	bool		fell_back = stats->fallback[0] != '\0';
	GpuSortFallback cause = gpusort_fallback_cause(stats->fallback);

	stats->sorts = 1;
	stats->bytes = stats->memory_bytes + stats->pool_bytes;
	stats->parallel = stats->joined_rows > 0 || stats->joined_runs;
	stats->bounded = stats->trims > 0;
	stats->by_host = ours && stats->engine == GPUSORT_SORTED_BY_HOST;
	stats->by_cuda = ours && stats->engine == GPUSORT_SORTED_BY_CUDA;
	stats->by_simulation = ours && stats->engine == GPUSORT_SORTED_BY_SIMULATION;
	stats->handed_over_memory = why == GPUSORT_HANDOVER_MEMORY;
	stats->handed_over_value = why == GPUSORT_HANDOVER_VALUE;
	stats->handed_over_order = why == GPUSORT_HANDOVER_ORDER;
	stats->fallback_down = fell_back && cause == GPUSORT_FALLBACK_DOWN;
	stats->fallback_busy = fell_back && cause == GPUSORT_FALLBACK_BUSY;
	stats->fallback_memory = fell_back && cause == GPUSORT_FALLBACK_MEMORY;
	stats->fallback_failed = fell_back && cause == GPUSORT_FALLBACK_FAILED;
	stats->lacked_pool = sort->memory.pool_account.is_short;
	stats->spilled = stats->runs > 0;
	stats->waited = !INSTR_TIME_IS_ZERO(stats->wait_time);
	stats->total_time = stats->perform_time;
	INSTR_TIME_ADD(stats->total_time, stats->collect_time);
	INSTR_TIME_ADD(stats->total_time, stats->load_time);
}

static void
log_sort(const GpuSort *sort)
{
	const GpuSortStats *stats = &sort->stats;
	const char *processes = !stats->by_host || stats->processes == 0 ? ""
		: psprintf("  processes: " UINT64_FORMAT, stats->processes);

	ereport(LOG,
			(errmsg("gpusort: sort for %s: duration: %.3f ms  rows: %llu  engine: %s%s",
					gpusort_kind_name(sort->spec.kind), INSTR_TIME_GET_MILLISEC(stats->total_time),
					(unsigned long long) stats->rows,
					stats->handover != GPUSORT_HANDOVER_NONE ? "PostgreSQL"
					: gpusort_engine_name(stats->engine), processes),
			 errdetail("collect: %.3f ms, sort: %.3f ms, refine: %.3f ms, verify: %.3f ms, write: %.3f ms, read: %.3f ms, load: %.3f ms, waited: %.3f ms; memory: %llu kB, spilled: %llu kB",
					   INSTR_TIME_GET_MILLISEC(stats->collect_time),
					   INSTR_TIME_GET_MILLISEC(stats->sort_time),
					   INSTR_TIME_GET_MILLISEC(stats->refine_time),
					   INSTR_TIME_GET_MILLISEC(stats->verify_time),
					   INSTR_TIME_GET_MILLISEC(stats->write_time),
					   INSTR_TIME_GET_MILLISEC(stats->read_time),
					   INSTR_TIME_GET_MILLISEC(stats->load_time),
					   INSTR_TIME_GET_MILLISEC(stats->wait_time),
					   (unsigned long long) stats->bytes / 1024,
					   (unsigned long long) stats->spilled_bytes / 1024)));
}

void
gpusort_note_sort(GpuSort *sort, instr_time collect_time, instr_time load_time)
{
	sort->stats.collect_time = collect_time;
	sort->stats.load_time = load_time;
	if (!gpusort_track_sorts && gpusort_log_min_duration < 0)
		return;
	count_outcome(sort);
	if (gpusort_track_sorts)
	{
		gpusort_tally_sort(&sort->noted, &sort->stats);
		gpusort_count(sort->spec.kind, &sort->noted);
		sort->is_noted = true;
	}
	if (gpusort_log_min_duration >= 0 &&
		INSTR_TIME_GET_MILLISEC(sort->stats.total_time) >= gpusort_log_min_duration)
		log_sort(sort);
}

void
gpusort_note_rest(GpuSort *sort)
{
	GpuSortTally rest;

	if (!sort->is_noted)
		return;
	sort->is_noted = false;
	count_outcome(sort);
	gpusort_tally_sort(&rest, &sort->stats);
	if (gpusort_tally_subtract(&rest, &sort->noted))
		gpusort_count(sort->spec.kind, &rest);
}
