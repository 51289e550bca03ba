/*
 * sort_note.c
 *		Counting and logging sorts that are done; see sort.h.
 *
 * A sort remembers what was counted of it, so that what it does later can be counted when it ends.
 */
#include "postgres.h"

#include "settings.h"
#include "sort/sort.h"
#include "sort/state_private.h"
#include "stats/stats.h"

static const GpuSortCounter of_handover[] = {
	[GPUSORT_HANDOVER_MEMORY] = GPUSORT_COUNT_HANDED_OVER_MEMORY,
	[GPUSORT_HANDOVER_VALUE] = GPUSORT_COUNT_HANDED_OVER_VALUE,
	[GPUSORT_HANDOVER_ORDER] = GPUSORT_COUNT_HANDED_OVER_ORDER
};

static const GpuSortCounter of_engine[] = {
	[GPUSORT_SORTED_BY_HOST] = GPUSORT_COUNT_HOST,
	[GPUSORT_SORTED_BY_CUDA] = GPUSORT_COUNT_CUDA,
	[GPUSORT_SORTED_BY_SIMULATION] = GPUSORT_COUNT_SIMULATED
};

static const GpuSortCounter of_fallback[] = {
	[GPUSORT_FALLBACK_DOWN] = GPUSORT_COUNT_FALLBACK_DOWN,
	[GPUSORT_FALLBACK_BUSY] = GPUSORT_COUNT_FALLBACK_BUSY,
	[GPUSORT_FALLBACK_MEMORY] = GPUSORT_COUNT_FALLBACK_MEMORY,
	[GPUSORT_FALLBACK_FAILED] = GPUSORT_COUNT_FALLBACK_FAILED
};

static void
count_times(const GpuSortStats *stats, int64 *counts)
{
	counts[GPUSORT_TIME_COLLECT] = INSTR_TIME_GET_MICROSEC(stats->collect_time);
	counts[GPUSORT_TIME_SORT] = INSTR_TIME_GET_MICROSEC(stats->sort_time);
	counts[GPUSORT_TIME_REFINE] = INSTR_TIME_GET_MICROSEC(stats->refine_time);
	counts[GPUSORT_TIME_VERIFY] = INSTR_TIME_GET_MICROSEC(stats->verify_time);
	counts[GPUSORT_TIME_WRITE] = INSTR_TIME_GET_MICROSEC(stats->write_time);
	counts[GPUSORT_TIME_READ] = INSTR_TIME_GET_MICROSEC(stats->read_time);
	counts[GPUSORT_TIME_LOAD] = INSTR_TIME_GET_MICROSEC(stats->load_time);
	counts[GPUSORT_TIME_WAIT] = INSTR_TIME_GET_MICROSEC(stats->wait_time);
	counts[GPUSORT_TIME_TOTAL] = counts[GPUSORT_TIME_COLLECT] + counts[GPUSORT_TIME_LOAD] +
		(int64) INSTR_TIME_GET_MICROSEC(stats->perform_time);
}

/* Computes what a sort adds to the counts, so far. */
static void
make_tally(const GpuSort *sort, GpuSortTally *tally)
{
	const GpuSortStats *stats = &sort->stats;
	int64	   *counts = tally->counts;

	memset(tally, 0, sizeof(*tally));
	counts[GPUSORT_COUNT_SORTS] = 1;
	counts[GPUSORT_COUNT_ROWS] = (int64) stats->rows;
	counts[GPUSORT_COUNT_BYTES] = (int64) (stats->memory_bytes + stats->pool_bytes);
	counts[GPUSORT_COUNT_PARALLEL] = stats->joined_rows > 0 || stats->joined_runs;
	counts[GPUSORT_COUNT_BOUNDED] = stats->trims > 0;
	if (stats->handover != GPUSORT_HANDOVER_NONE)
		counts[of_handover[stats->handover]] = 1;
	else
		counts[of_engine[stats->engine]] = 1;
	counts[GPUSORT_COUNT_DEVICES] = stats->devices;
	if (stats->fallback[0] != '\0')
		counts[of_fallback[stats->fallback_cause]] = 1;
	counts[GPUSORT_COUNT_SHORT] = sort->memory.pool_account.is_short;
	counts[GPUSORT_COUNT_SPILLED] = stats->runs > 0;
	counts[GPUSORT_COUNT_SPILLED_BYTES] = (int64) stats->spilled_bytes;
	counts[GPUSORT_COUNT_RUNS] = stats->runs;
	counts[GPUSORT_COUNT_WAITED] = !INSTR_TIME_IS_ZERO(stats->wait_time);
	count_times(stats, counts);
}

static double
ms(const GpuSortTally *tally, GpuSortCounter counter)
{
	return tally->counts[counter] / 1000.0;
}

static const char *
sorted_by(const GpuSortTally *tally)
{
	if (tally->counts[GPUSORT_COUNT_CUDA] > 0)
		return "cuda";
	if (tally->counts[GPUSORT_COUNT_SIMULATED] > 0)
		return "simulated";
	return tally->counts[GPUSORT_COUNT_HOST] > 0 ? "host" : "PostgreSQL";
}

static void
log_sort(const GpuSort *sort, const GpuSortTally *tally)
{
	const int64 *counts = tally->counts;
	const char *processes = counts[GPUSORT_COUNT_HOST] == 0 || sort->stats.processes < 2 ? ""
		: psprintf("  processes: %u", sort->stats.processes);

	ereport(LOG,
			(errmsg("gpusort: sort for %s: duration: %.3f ms  rows: %lld  engine: %s%s",
					gpusort_kind_name(sort->spec.kind), ms(tally, GPUSORT_TIME_TOTAL),
					(long long) counts[GPUSORT_COUNT_ROWS], sorted_by(tally), processes),
			 errdetail("collect: %.3f ms, sort: %.3f ms, refine: %.3f ms, verify: %.3f ms, write: %.3f ms, read: %.3f ms, load: %.3f ms, waited: %.3f ms; memory: %lld kB, spilled: %lld kB",
					   ms(tally, GPUSORT_TIME_COLLECT), ms(tally, GPUSORT_TIME_SORT),
					   ms(tally, GPUSORT_TIME_REFINE), ms(tally, GPUSORT_TIME_VERIFY),
					   ms(tally, GPUSORT_TIME_WRITE), ms(tally, GPUSORT_TIME_READ),
					   ms(tally, GPUSORT_TIME_LOAD), ms(tally, GPUSORT_TIME_WAIT),
					   (long long) counts[GPUSORT_COUNT_BYTES] / 1024,
					   (long long) counts[GPUSORT_COUNT_SPILLED_BYTES] / 1024)));
}

void
gpusort_note_sort(GpuSort *sort, instr_time collect_time, instr_time load_time)
{
	sort->stats.collect_time = collect_time;
	sort->stats.load_time = load_time;
	if (!gpusort_track_sorts && gpusort_log_min_duration < 0)
		return;
	make_tally(sort, &sort->noted);
	if (gpusort_track_sorts)
	{
		gpusort_count(sort->spec.kind, &sort->noted);
		sort->is_noted = true;
	}
	if (gpusort_log_min_duration >= 0 &&
		ms(&sort->noted, GPUSORT_TIME_TOTAL) >= gpusort_log_min_duration)
		log_sort(sort, &sort->noted);
}

void
gpusort_note_rest(GpuSort *sort)
{
	GpuSortTally rest;
	bool		any = false;

	if (!sort->is_noted)
		return;
	sort->is_noted = false;
	make_tally(sort, &rest);
	for (int i = 0; i < GPUSORT_COUNTERS; i++)
	{
		rest.counts[i] -= sort->noted.counts[i];
		any = any || rest.counts[i] != 0;
	}
	if (any)
		gpusort_count(sort->spec.kind, &rest);
}
