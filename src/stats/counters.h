/*
 * counters.h
 *		Counters of a sort, made of counter_list.h.
 */
#ifndef GPUSORT_COUNTERS_H
#define GPUSORT_COUNTERS_H

#include "portability/instr_time.h"

/* ---------- stats: what a sort has counted, and what became of it ---------- */

/* Why a sort ended up in tuplesort, or was given up. */
typedef enum GpuSortHandover
{
	GPUSORT_HANDOVER_NONE,
	GPUSORT_HANDOVER_MEMORY,	/* no room for the rows within the limit */
	GPUSORT_HANDOVER_VALUE,		/* a value had no encoding */
	GPUSORT_HANDOVER_ORDER		/* verification found an inversion */
} GpuSortHandover;

typedef enum GpuSortSortedBy
{
	GPUSORT_SORTED_BY_HOST,		/* the host engine */
	GPUSORT_SORTED_BY_CUDA,		/* gpusortd, on GPUs */
	GPUSORT_SORTED_BY_SIMULATION	/* gpusortd, on simulated devices */
} GpuSortSortedBy;

extern const char *gpusort_engine_name(GpuSortSortedBy engine);

/* Returns the words for a reason in EXPLAIN and in the log. */
extern const char *gpusort_handover_reason(GpuSortHandover why);

#define GPUSORT_FIELD_NUMBER	uint64
#define GPUSORT_FIELD_FLAG		uint64
#define GPUSORT_FIELD_BYTES		uint64
#define GPUSORT_FIELD_TIME		instr_time

/* It has no pointers, so that it can be in shared memory. */
typedef struct GpuSortStats
{
#define COUNTER(unit, name, merge, kept, explained) GPUSORT_FIELD_##unit name;
#include "stats/counter_list.h"

	GpuSortHandover handover;
	GpuSortSortedBy engine;
	char		fallback[128];	/* why gpusortd did not sort although it should have, or empty */
} GpuSortStats;

/*
 * Adds to a sort's counters what a participant has counted for it: all, or what it has counted
 * since it had counted *before.
 */
extern void gpusort_counters_merge(GpuSortStats *to, const GpuSortStats *part,
								   const GpuSortStats *before);

/* ---------- counters: what the list says of each ---------- */

typedef enum GpuSortCounterUnit
{
	GPUSORT_UNIT_NUMBER,
	GPUSORT_UNIT_FLAG,
	GPUSORT_UNIT_BYTES,
	GPUSORT_UNIT_TIME
} GpuSortCounterUnit;

typedef enum GpuSortCounterMerge
{
	GPUSORT_MERGE_OWN,
	GPUSORT_MERGE_ADDED
} GpuSortCounterMerge;

/* The lines of EXPLAIN ANALYZE about a sort, or parts of lines if something else lies between. */
typedef enum GpuSortLine
{
	GPUSORT_LINE_NONE,
	GPUSORT_LINE_MEMORY,
	GPUSORT_LINE_POOL,
	GPUSORT_LINE_HANDOVER,
	GPUSORT_LINE_ENGINE,
	GPUSORT_LINE_REORDERED,
	GPUSORT_LINE_VERIFIED,
	GPUSORT_LINE_SPILL,
	GPUSORT_LINE_BOUND,
	GPUSORT_LINE_PHASES
} GpuSortLine;

typedef enum GpuSortShownOf
{
	GPUSORT_SHOWN_OF_ANY,
	GPUSORT_SHOWN_OF_HOST,
	GPUSORT_SHOWN_OF_DEVICES
} GpuSortShownOf;

typedef enum GpuSortZero
{
	GPUSORT_ZERO_SHOWN,
	GPUSORT_ZERO_NOT_IN_TEXT,
	GPUSORT_ZERO_HIDDEN
} GpuSortZero;

typedef struct GpuSortExplained
{
	GpuSortLine line;
	GpuSortShownOf of;
	GpuSortZero zero;
	const char *text;
	const char *property;
} GpuSortExplained;

typedef struct GpuSortCounter
{
	size_t		offset;			/* of its field in GpuSortStats */
	GpuSortCounterUnit unit;
	GpuSortCounterMerge merge;
	const char *column;			/* NULL: statistics don't keep the counter */
	GpuSortExplained explained;
} GpuSortCounter;

#define KEPT(column)			1
#define NOT_KEPT				0

enum
{
#define COUNTER(unit, name, merge, kept, explained) + 1
	GPUSORT_COUNTERS = 0
#include "stats/counter_list.h"
	,
#define COUNTER(unit, name, merge, kept, explained) \
	+ (GPUSORT_UNIT_##unit != GPUSORT_UNIT_TIME && (kept))
	GPUSORT_KEPT_COUNTS = 0
#include "stats/counter_list.h"
	,
#define COUNTER(unit, name, merge, kept, explained) \
	+ (GPUSORT_UNIT_##unit == GPUSORT_UNIT_TIME && (kept))
	GPUSORT_KEPT_TIMES = 0
#include "stats/counter_list.h"
};

#undef KEPT
#undef NOT_KEPT

extern const GpuSortCounter gpusort_counters[GPUSORT_COUNTERS];

/* gpusort_counter_value() returns the value of a counter; that of a time is in microseconds. */
extern uint64 gpusort_counter_value(const GpuSortCounter *counter, const GpuSortStats *stats);
extern instr_time gpusort_counter_time(const GpuSortCounter *counter, const GpuSortStats *stats);

/* ---------- tallies: the counters that statistics keep, of any number of sorts ---------- */

/*
 * Numbers come first, each at the place that its column has among those of numbers, and times in
 * microseconds from GPUSORT_TALLY_TIMES on.  There are free places behind both.
 *
 * From PostgreSQL 18 on, the size of a tally is recorded in the server's statistics file.  A
 * library with another size could not read that file, and the statistics of tables would be lost
 * with ours.
 */
#define GPUSORT_TALLY_PLACES	48
#define GPUSORT_TALLY_SORTS		0	/* the place of `sorts`, which is the first in the list */
#define GPUSORT_TALLY_TIMES		32

StaticAssertDecl((int) GPUSORT_KEPT_COUNTS <= GPUSORT_TALLY_TIMES, "no place for counts");
StaticAssertDecl((int) GPUSORT_KEPT_TIMES <= GPUSORT_TALLY_PLACES - GPUSORT_TALLY_TIMES,
				 "no place for times");

typedef struct GpuSortTally
{
	int64		places[GPUSORT_TALLY_PLACES];
} GpuSortTally;

/* Makes the tally of one sort. */
extern void gpusort_tally_sort(GpuSortTally *tally, const GpuSortStats *stats);

extern void gpusort_tally_add(GpuSortTally *to, const GpuSortTally *tally);

/* Subtracts a tally.  Returns whether the two were different. */
extern bool gpusort_tally_subtract(GpuSortTally *from, const GpuSortTally *tally);

#endif							/* GPUSORT_COUNTERS_H */
