/*
 * sort.h
 *		One sort: rows in, rows out in order.  The counterpart of tuplesort.h.
 *
 * Life of a sort: begin, put every row (sort_put.h), perform, fetch rows by position
 * (sort_fetch.h), then reset for another input or end.  The state and everything it refers to hang
 * on the memory context that was current at begin: deleting or resetting that context ends the
 * sort, on error as well.
 *
 * A sort that can't be done here (no memory within the limit, a value without an encoding, an order
 * that the verification rejects) is handed over to PostgreSQL's tuplesort, at any point while rows
 * come in.  The caller sees no difference, except in GpuSortStats.handover.
 *
 * The rows of an index build are IndexTuples, ordered by their key columns and then by TID,
 * whatever the order of arrival.  Such a sort is never handed over: its caller is told that it has
 * failed, and lets PostgreSQL build the index.  A sort begun with gpusort_begin_optional() is not
 * handed over either: its caller is told that it has failed, and does without it.
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

/* Sorts by more columns than this are left to PostgreSQL. */
#define GPUSORT_MAX_KEYS	64

/* The sort key, as in a Sort plan node. */
typedef struct GpuSortSpec
{
	int			nkeys;
	AttrNumber *attnos;
	Oid		   *sortops;
	Oid		   *collations;
	bool	   *nulls_first;
	double		expected_rows;	/* the planner's estimate, or 0 if there is none */
	GpuSortKind kind;			/* what the sort is for */
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
	GPUSORT_SORTED_BY_HOST,		/* the host engine */
	GPUSORT_SORTED_BY_CUDA,		/* gpusortd, on GPUs */
	GPUSORT_SORTED_BY_SIMULATION	/* gpusortd, on simulated devices */
} GpuSortSortedBy;

typedef struct GpuSortStats
{
	uint64		rows;			/* rows put */
	GpuSortHandover handover;
	uint64		handover_rows;	/* rows put before the handover */
	GpuSortSortedBy engine;
	char		fallback[128];	/* why gpusortd did not sort although it should have, or empty */
	GpuSortFallback fallback_cause;
	unsigned	devices;		/* devices of gpusortd that took part */
	unsigned	processes;		/* processes that ran the host engine; 0: this one alone */
	unsigned	key_bits;		/* significant bits of the engine's key */
	unsigned	passes;			/* passes over all rows; rounds, if gpusortd has sorted */
	/*
	 * rows that were ordered by more than the first words of strings, or by more than one engine
	 * item
	 */
	uint64		refined_rows;
	bool		presorted;
	bool		of_keys;	/* rows were made of their keys (key_rows.h) when they were returned */
	bool		verified;
	uint64		repaired_rows;	/* rows that the verification has put in their places */
	uint64		memory_bytes;	/* private memory of rows, planes and workspace */
	uint64		pool_bytes;		/* extents of the pool */
	uint64		joined_rows;	/* rows collected in parts (sort_parts.h) */
	bool		joined_runs;	/* parts have written runs, which were joined */
	uint64		reordered_rows; /* rows returned from the copy that gpusortd has put in order */
	uint64		bound;			/* how many rows were wanted at most; 0: all */
	uint64		trims;			/* how often the rows were trimmed to the bound */
	uint64		dropped_rows;	/* rows put that were not kept, because of the bound */
	uint32		runs;			/* runs written, to temporary files or kept in memory */
	uint32		portions;		/* portions in which the rows of runs were read back */
	uint32		worker_portions;	/* portions that workers have loaded (portion_crew.h) */
	uint32		merged_runs;	/* runs made of other runs, because there were too many */
	uint64		spilled_bytes;	/* bytes written to temporary files */
	uint64		kept_bytes;		/* bytes of runs that stayed in memory */
	instr_time	write_time;
	instr_time	read_time;		/* reading rows back, and putting them */
	instr_time	collect_time;	/* collecting rows, as gpusort_note_sort() was told */
	instr_time	join_time;		/* joining the parts */
	instr_time	perform_time;	/* all of gpusort_perform() */
	instr_time	sort_time;		/* the engine */
	instr_time	refine_time;	/* ordering rows that tie on key prefixes */
	instr_time	verify_time;
	instr_time	load_time;		/* writing pages, as gpusort_note_sort() was told */
	instr_time	wait_time;		/* waiting for gpusortd, which is part of the other times */
} GpuSortStats;

typedef struct GpuSort GpuSort;

/* A row that is made of its keys (key_rows.h) has at most this many columns. */
#define GPUSORT_KEY_ROW_COLUMNS	4

/* Room for one row that is made of its keys. */
typedef struct GpuSortRowRoom
{
	uint64		words[2 + GPUSORT_KEY_ROW_COLUMNS];
} GpuSortRowRoom;

/*
 * Returns the specification of a sort by nkeys columns.  Its arrays are palloc'd in the current
 * context, for the caller to fill.  All else is zero: no number of rows is expected.
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
 * Begin a sort of tuples of an open btree index, by the index's key columns, which spec describes,
 * in at most limit_bytes of private memory.  Returns NULL if there is no address space for it.  If
 * spec has no columns the sort can't be performed, and only stores tuples (gpusort_stored_rows()).
 */
extern GpuSort *gpusort_begin_index(Relation index, const GpuSortSpec *spec,
									size_t limit_bytes);

/*
 * Begin a sort as gpusort_begin() does, in at most limit_bytes of private memory, for a caller that
 * can start anew without it: the sort is never handed over.  Returns NULL if there is no address
 * space for it.
 */
extern GpuSort *gpusort_begin_optional(TupleDesc desc, const GpuSortSpec *spec,
									   size_t limit_bytes);

/*
 * Have the sort find which rows are equal to the one before, so that views of its result tell.  To
 * be called before the first row is put; without effect if the sort is handed over.  Index sorts
 * always find that.
 */
extern void gpusort_tell_equal(GpuSort *sort);

/*
 * Promise that no more than `rows` rows will be fetched of those put from now on, so that the
 * others need not be kept; 0: there is no such bound.  The sort must have no rows yet.
 */
extern void gpusort_set_bound(GpuSort *sort, uint64 rows);

/* Returns the planner's estimate of the rows, with which the sort began. */
extern double gpusort_expected_rows(const GpuSort *sort);

/*
 * Count rows that parts of the sort (sort_parts.h) have dropped, and how often they have trimmed.
 */
extern void gpusort_note_dropped(GpuSort *sort, uint64 rows, uint64 trims);

/*
 * Advance *progress to the end of its stage while the rows are sorted.  NULL, which is the initial
 * state, must be passed before *progress ceases to exist.
 */
extern void gpusort_show_progress(GpuSort *sort, gs_progress *progress);

/* Sort the rows, all of which have been put. */
extern void gpusort_perform(GpuSort *sort);

/*
 * Perform two sorts at once, if gpusortd puts the rows of both in one order (sort_merged.h).  Then
 * only views of the two can be had (sort_view.h), and gpusort_is_merged() is true.  Returns false
 * if gpusortd does not do it; then neither is sorted.
 */
extern bool gpusort_perform_merged(GpuSort *const sorts[2]);
extern bool gpusort_is_merged(const GpuSort *sort);

/*
 * Returns the number of rows in sorted order, which are those that were kept.  Valid after
 * gpusort_perform().
 */
extern uint64 gpusort_rows(const GpuSort *sort);

/*
 * Returns whether all rows are in memory.  If not, only those of a window of positions are
 * (gpusort_fetch_window()), and what tells which rows are equal tells it of the window.  Whether
 * its first row is equal to the row before it is known if windows are fetched in order.
 */
extern bool gpusort_is_in_memory(const GpuSort *sort);

/* Returns the tuplesort that has taken over, or NULL. */
extern struct Tuplesortstate *gpusort_tuplesort(const GpuSort *sort);

/*
 * Returns, while rows come in, whether there is room for `rows` rows in all, if they are like those
 * that came so far: in private_bytes of private memory, and in what is free of the pool now.
 */
extern bool gpusort_would_fit(GpuSort *sort, uint64 rows, size_t private_bytes);

/*
 * gpusort_memory_left() returns how much private memory the sort leaves of its limit.  Its owner
 * must charge, with gpusort_charge(), what it takes of that for as long as the sort lives.
 */
extern size_t gpusort_memory_left(GpuSort *sort);
extern void gpusort_charge(GpuSort *sort, size_t bytes);

/* Forget all rows, and keep the memory for the next input. */
extern void gpusort_reset(GpuSort *sort);

/* End the sort and release its memory. */
extern void gpusort_end(GpuSort *sort);

extern const GpuSortStats *gpusort_get_stats(const GpuSort *sort);

#endif							/* GPUSORT_SORT_H */
