/*
 * tally.h
 *		What is counted of sorts.
 */
#ifndef GPUSORT_TALLY_H
#define GPUSORT_TALLY_H

/*
 * In the order of the columns of gpusort_sorts_of(); times in microseconds.  Their places are those in
 * files, so new ones go to the end of either: the rest of the places is theirs.
 */
typedef enum GpuSortCounter
{
	GPUSORT_COUNT_SORTS,
	GPUSORT_COUNT_ROWS,
	GPUSORT_COUNT_BYTES,		/* of memory, the pool's included */
	GPUSORT_COUNT_PARALLEL,		/* sorts whose rows several processes have collected */
	GPUSORT_COUNT_BOUNDED,		/* ... that kept no more rows than were wanted */

	/* who has sorted */
	GPUSORT_COUNT_HOST,
	GPUSORT_COUNT_CUDA,
	GPUSORT_COUNT_SIMULATED,
	GPUSORT_COUNT_DEVICES,		/* that took part, of all these sorts */

	/* ... and who not */
	GPUSORT_COUNT_HANDED_OVER_MEMORY,
	GPUSORT_COUNT_HANDED_OVER_VALUE,
	GPUSORT_COUNT_HANDED_OVER_ORDER,
	GPUSORT_COUNT_FALLBACK_DOWN,
	GPUSORT_COUNT_FALLBACK_BUSY,
	GPUSORT_COUNT_FALLBACK_MEMORY,
	GPUSORT_COUNT_FALLBACK_FAILED,

	/* memory */
	GPUSORT_COUNT_SHORT,		/* sorts that others have kept from more of the pool */
	GPUSORT_COUNT_SPILLED,
	GPUSORT_COUNT_SPILLED_BYTES,
	GPUSORT_COUNT_RUNS,

	/* how long it took */
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
	GPUSORT_TIME_LOAD,			/* pages of indexes written */
	GPUSORT_TIME_WAIT,			/* for gpusortd; part of others */
	GPUSORT_TIMES_END
} GpuSortCounter;

/*
 * From PostgreSQL 18 on, a tally's size is one of the server's statistics file: with a library that has
 * another one it can't be read, and the statistics of tables are lost with ours.
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
