/*
 * tally.h
 *		The counters that are kept of sorts.
 */
#ifndef GPUSORT_TALLY_H
#define GPUSORT_TALLY_H

/*
 * Counters are in the order of the columns of gpusort_sorts_of(); times are in microseconds.  A
 * counter's number is also its place in files, so a new count goes to the end of the counts, and a
 * new time to the end of the times; there are free places behind both.
 */
typedef enum GpuSortCounter
{
	GPUSORT_COUNT_SORTS,
	GPUSORT_COUNT_ROWS,
	GPUSORT_COUNT_BYTES,		/* of memory, including that of the pool */
	GPUSORT_COUNT_PARALLEL,		/* sorts whose rows several processes have collected */
	GPUSORT_COUNT_BOUNDED,		/* sorts that kept no more rows than were wanted */

	/* sorts by what has sorted them */
	GPUSORT_COUNT_HOST,
	GPUSORT_COUNT_CUDA,
	GPUSORT_COUNT_SIMULATED,
	GPUSORT_COUNT_DEVICES,		/* devices that took part, added up over sorts */

	/* sorts that were handed over to tuplesort, or not done by a GPU, and why */
	GPUSORT_COUNT_HANDED_OVER_MEMORY,
	GPUSORT_COUNT_HANDED_OVER_VALUE,
	GPUSORT_COUNT_HANDED_OVER_ORDER,
	GPUSORT_COUNT_FALLBACK_DOWN,
	GPUSORT_COUNT_FALLBACK_BUSY,
	GPUSORT_COUNT_FALLBACK_MEMORY,
	GPUSORT_COUNT_FALLBACK_FAILED,

	/* memory */
	GPUSORT_COUNT_SHORT,		/* sorts kept by others from more of the pool */
	GPUSORT_COUNT_SPILLED,
	GPUSORT_COUNT_SPILLED_BYTES,
	GPUSORT_COUNT_RUNS,

	/* time */
	GPUSORT_COUNT_WAITED,		/* sorts that have waited for gpusortd */
	GPUSORT_COUNTS,

	GPUSORT_TIME_FIRST = 32,
	GPUSORT_TIME_TOTAL = GPUSORT_TIME_FIRST,
	GPUSORT_TIME_COLLECT,
	GPUSORT_TIME_SORT,
	GPUSORT_TIME_REFINE,
	GPUSORT_TIME_VERIFY,
	GPUSORT_TIME_WRITE,
	GPUSORT_TIME_READ,
	GPUSORT_TIME_LOAD,			/* writing pages of indexes */
	GPUSORT_TIME_WAIT,			/* waiting for gpusortd; part of other times */
	GPUSORT_TIMES_END
} GpuSortCounter;

/*
 * From PostgreSQL 18 on, the size of a tally is recorded in the server's statistics file.  A
 * library with another size could not read that file, and the statistics of tables would be lost
 * with ours.
 */
#define GPUSORT_COUNTERS	48

StaticAssertDecl(GPUSORT_COUNTS <= (int) GPUSORT_TIME_FIRST, "no place for counts");
StaticAssertDecl(GPUSORT_TIMES_END <= GPUSORT_COUNTERS, "no place for times");

typedef struct GpuSortTally
{
	int64		counts[GPUSORT_COUNTERS];
} GpuSortTally;

static inline void
gpusort_add_tally(GpuSortTally *to, const GpuSortTally *tally)
{
	for (int i = 0; i < GPUSORT_COUNTERS; i++)
		to->counts[i] += tally->counts[i];
}

#endif							/* GPUSORT_TALLY_H */
