/*
 * sort.h
 *		One sort: rows in, rows out in order.  The counterpart of tuplesort.h.
 *
 * Life of a sort: begin, put every row (sort_put.h), perform, fetch rows by position
 * (sort_fetch.h), then reset for another input or end.  The state and everything it
 * refers to hangs on the memory context that was current at begin: deleting or resetting
 * that context ends the sort, on error as well.
 *
 * What can't be sorted here (no memory within the limit, a value without an
 * encoding, an order that the verification rejects) is handed over to
 * PostgreSQL's tuplesort, at any point while rows come in; the caller sees no
 * difference but the handover of GpuSortStats.
 *
 * The rows of an index build are IndexTuples, ordered by their key columns and
 * then by TID, whatever the order of arrival.  Such a sort is never handed over:
 * its caller is told that it has failed, and lets PostgreSQL build the index.  The same goes
 * for one whose caller asks for that (gpusort_begin_optional()).
 *
 * Public: other folders include it.
 */
#ifndef GPUSORT_SORT_H
#define GPUSORT_SORT_H

#include "access/attnum.h"
#include "access/htup.h"
#include "access/itup.h"
#include "executor/tuptable.h"
#include "portability/instr_time.h"
#include "utils/relcache.h"

#include "engine/gs_progress.h"
#include "service/fallback.h"
#include "stats/sort_kind.h"

/* More sort columns than this are left to PostgreSQL. */
#define GPUSORT_MAX_KEYS	64

/* The sort key, as in a Sort plan node. */
typedef struct GpuSortSpec
{
	int			nkeys;
	AttrNumber *attnos;
	Oid		   *sortops;
	Oid		   *collations;
	bool	   *nulls_first;
	double		expected_rows;	/* the planner's estimate; 0: there is none */
	GpuSortKind kind;			/* what it is for */
} GpuSortSpec;

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
	GPUSORT_SORTED_BY_HOST,		/* the engine in this process */
	GPUSORT_SORTED_BY_CUDA,		/* gpusortd */
	GPUSORT_SORTED_BY_SIMULATION	/* gpusortd without GPUs */
} GpuSortSortedBy;

typedef struct GpuSortStats
{
	uint64		rows;			/* that were put */
	GpuSortHandover handover;
	uint64		handover_rows;	/* rows put before the handover */
	GpuSortSortedBy engine;
	char		fallback[128];	/* why gpusortd did not sort, although it should
								 * have; or empty */
	GpuSortFallback fallback_cause;
	unsigned	devices;		/* of gpusortd that took part */
	unsigned	processes;		/* that ran the engine here; 0: this one alone */
	unsigned	key_bits;		/* significant bits of the engine's key */
	unsigned	passes;			/* over all rows; of gpusortd: rounds */
	uint64		refined_rows;	/* rows ordered by more than the first words of
								 * strings, or than one item of the engine */
	bool		presorted;
	bool		of_keys;		/* rows were made of their keys when they were returned */
	bool		verified;
	uint64		repaired_rows;	/* that the verification has put in their places */
	uint64		memory_bytes;	/* private memory of rows, planes and workspace */
	uint64		pool_bytes;		/* extents */
	uint64		joined_rows;	/* collected in parts (sort_parts.h) */
	bool		joined_runs;	/* ... that parts have written */
	uint64		reordered_rows; /* returned from where gpusortd had put them in order */
	uint64		bound;			/* no more rows than these were wanted; 0: all */
	uint64		trims;			/* times that the rows were trimmed to that */
	uint64		dropped_rows;	/* of rows, those that were not kept for it */
	uint32		runs;			/* written to temporary files */
	uint32		portions;		/* that their rows were read back in */
	uint32		worker_portions;	/* ... by workers (portion_crew.h) */
	uint32		merged_runs;	/* runs that were made of others, there being too many */
	uint64		spilled_bytes;	/* written */
	uint64		kept_bytes;		/* of runs that stayed in memory */
	instr_time	write_time;
	instr_time	read_time;		/* ... and putting the rows */
	instr_time	collect_time;	/* (gpusort_note_sort) */
	instr_time	join_time;		/* making them rows of the sort */
	instr_time	perform_time;	/* all of gpusort_perform() */
	instr_time	sort_time;		/* engine */
	instr_time	refine_time;	/* ties on key prefixes */
	instr_time	verify_time;
	instr_time	load_time;		/* (gpusort_note_sort) */
	instr_time	wait_time;		/* for gpusortd, as part of others */
} GpuSortStats;

typedef struct GpuSort GpuSort;

/* Most columns of rows that are made of their keys. */
#define GPUSORT_KEY_ROW_COLUMNS	4

/* ... and room for one. */
typedef struct GpuSortRowRoom
{
	uint64		words[2 + GPUSORT_KEY_ROW_COLUMNS];
} GpuSortRowRoom;

/*
 * A sort key of so many columns, whose arrays are in the current context and to be filled.  All else is zero: nobody
 * expects any number of rows.
 */
extern GpuSortSpec gpusort_make_spec(GpuSortKind kind, int nkeys);

/*
 * Begin a sort of rows of the given descriptor, which must outlive it.
 * random_access: the rows will be read more than once or backward.  All keys
 * must have a codec (gpusort_codec_lookup).
 */
extern GpuSort *gpusort_begin(TupleDesc desc, const GpuSortSpec *spec,
							  bool random_access);

/*
 * Begin a sort of tuples of an open btree index by spec, its key columns, in at
 * most limit_bytes.  NULL if there is no memory.  Without columns it can't be
 * performed, but keep rows (gpusort_stored_rows).
 */
extern GpuSort *gpusort_begin_index(Relation index, const GpuSortSpec *spec,
									size_t limit_bytes);

/*
 * Begin a sort of rows of the given descriptor, as gpusort_begin(), for who can start anew
 * without it: in at most limit_bytes, and never handed over.  NULL if there is no memory.
 */
extern GpuSort *gpusort_begin_optional(TupleDesc desc, const GpuSortSpec *spec,
									   size_t limit_bytes);

/*
 * Before the first row: let a view of the result tell which rows are equal to the one before, if the
 * sort is not handed over.  Those of an index always do.
 */
extern void gpusort_tell_equal(GpuSort *sort);

/*
 * No more rows than these will be fetched of what is put from now on: the sort has none yet.  0:
 * nobody knows.  Others need not be kept.
 */
extern void gpusort_set_bound(GpuSort *sort, uint64 rows);

/* The planner's estimate, which it began with. */
extern double gpusort_expected_rows(const GpuSort *sort);

/* Parts of the sort (sort_parts.h) have dropped so many rows. */
extern void gpusort_note_dropped(GpuSort *sort, uint64 rows, uint64 trims);

/*
 * Let *progress go to the end of its stage while the rows are sorted; NULL, as in
 * the beginning, when it ceases to exist.
 */
extern void gpusort_show_progress(GpuSort *sort, gs_progress *progress);

/* All rows are in: sort them. */
extern void gpusort_perform(GpuSort *sort);

/*
 * The same for two sorts at once, of which then only views can be had (sort_view.h), if gpusortd puts
 * the rows of both in one order (sort_merged.h).  False if it does not, and neither is sorted.
 */
extern bool gpusort_perform_merged(GpuSort *const sorts[2]);
extern bool gpusort_is_merged(const GpuSort *sort);

/* Rows in sorted order, those that were kept; valid after gpusort_perform(). */
extern uint64 gpusort_rows(const GpuSort *sort);

/*
 * Are all rows in memory?  Else those of a window of positions are (gpusort_fetch_window()), and what
 * tells of equal rows is about these, their first one and the row before it included if windows are
 * fetched in order.
 */
extern bool gpusort_is_in_memory(const GpuSort *sort);

/* The tuplesort that has taken over, or NULL. */
extern struct Tuplesortstate *gpusort_tuplesort(const GpuSort *sort);

/*
 * While rows come in: is there room for so many in all, if they are like those that came
 * so far?  In so much private memory, and of the pool what is free now.
 */
extern bool gpusort_would_fit(GpuSort *sort, uint64 rows, size_t private_bytes);

/*
 * Private memory that the sort leaves of what it may have.  What its owner takes of it, for as
 * long as the sort lives, is to be charged.
 */
extern size_t gpusort_memory_left(GpuSort *sort);
extern void gpusort_charge(GpuSort *sort, size_t bytes);

/* Forget all rows, keep the memory for the next input. */
extern void gpusort_reset(GpuSort *sort);

/* End the sort and release its memory. */
extern void gpusort_end(GpuSort *sort);

extern const GpuSortStats *gpusort_get_stats(const GpuSort *sort);

#endif							/* GPUSORT_SORT_H */
