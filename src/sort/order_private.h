/*
 * order_private.h
 *		The order of the rows in memory: finding it, verifying it, and what is done with a bound.
 */
#ifndef GPUSORT_ORDER_PRIVATE_H
#define GPUSORT_ORDER_PRIVATE_H

#include "access/htup_details.h"
#include "utils/sortsupport.h"

#include "engine/host/gs_sort.h"
#include "keys/key_codec.h"
#include "pg_compat.h"
#include "runs/runs.h"
#include "sort/sort.h"
#include "sort/sort_view.h"
#include "sort/state_private.h"
#include "sort/team_private.h"

/* ---------- sorting the rows that are in memory: engine, refinement, verification ---------- */

/*
 * Find the order of the rows in memory.  Returns GPUSORT_HANDOVER_NONE, or why there is none; then
 * rows, and where they lie, are what they were.
 */
extern GpuSortHandover gpusort_sort_rows(GpuSort *sort);

/* ---------- putting the rows in memory in order: the engine, then the refinement ---------- */

/*
 * Find the order of all rows, which is not verified yet.  Returns false if there is no memory for
 * it, or if a value turned out to have no encoding.  Afterwards the words of keys are not what they
 * were, so no row can be put behind these.  with_service: gpusortd may sort, and then some of the
 * order may become known later (sort_service.c).
 */
extern bool gpusort_order_rows(GpuSort *sort, bool with_service);

/* ---------- having the engine sort in this process, and in others that help ---------- */

/*
 * Runs the engine in this process and serves interrupts meanwhile, whose errors are raised.  A
 * failure of the engine is an error, too.
 */
extern void gpusort_host_engine_run(gs_sort_args *args, gs_sort_result *result);

/*
 * Sorts the rows by the planes that gpusort_choose_planes() has chosen, and sets sort->order.
 * Returns false if there is no memory for the engine's workspace.
 */
extern bool gpusort_sort_on_host(GpuSort *sort);

/* ---------- ordering rows that tie on what the engine sorts by ---------- */

/*
 * Puts those rows in order that tie on the engine's planes.  These planes end with that of
 * keys.refine_column, or are all of the sort's.
 */
extern void gpusort_refine(GpuSort *sort);

/*
 * Helps another process with gpusort_refine(), by taking stretches of the job.  `sort` is borrowed
 * from that process (sort_lent.c).
 */
extern void gpusort_refine_stretches(GpuSort *sort, TeamStretches *job);

/* Helps that process to look at the rows of a heavy run in the same way (key_run.c). */
extern void gpusort_look_at_stretches(GpuSort *sort, TeamStretches *job);

/* ---------- sorting the rows in memory by PostgreSQL's comparison ---------- */

/*
 * That is done where the engine's order is not confirmed or can't be refined, and rows can't be
 * handed over.
 */

static inline GpuSortRowKeys
gpusort_row_keys(const GpuSortSpec *spec)
{
	return (GpuSortRowKeys) {spec->nkeys, spec->attnos, spec->sortops, spec->collations,
		spec->nulls_first};
}

/* Returns whether the engine has found an order of all rows, be it the right one or not. */
static inline bool
gpusort_has_order(const GpuSort *sort)
{
	return sort->order.ids != NULL && sort->order.ready == sort->rows.count;
}

/*
 * Sort a stretch of the order, whose rows agree in the first parts of their keys.  If the sort is
 * to tell which rows are equal to the one before, mark those in the equal bitmap.
 */
extern void gpusort_sort_run_by_comparison(GpuSort *sort, uint32 *ids, uint32 n);

/*
 * Sort all rows, of which the engine has found an order.  Rows that are equal stay in the order of
 * arrival.
 */
extern void gpusort_sort_by_comparison(GpuSort *sort);

/* ---------- verifying the order of a sort ---------- */

/*
 * Verify the order of a sort that is being performed, if that is called for, with the help of its
 * team, and repair it.  Returns false if the order can't be confirmed even so.
 */
extern bool gpusort_order_is_right(GpuSort *sort);

/* Help with verifying a sort that was lent to this process, as long as there are stretches. */
extern void gpusort_verify_stretches(GpuSort *sort, TeamStretches *job);

/* ---------- comparing neighbouring rows with the operator class's own comparison ---------- */

typedef struct GpuSortVerifier
{
	int			ncolumns;
	SortSupport keys;
	GpuSortKeyMemory memory;	/* memory of the encoders */
	/*
	 * encoders of columns whose codecs may prove the order of two values (key_codec.h); NULL for
	 * others
	 */
	GpuSortEncoder **encoders;
	TupleDesc	desc;
	const GpuSort *sort;	/* the sort, if rows are minimal tuples; NULL: they are index tuples */
	/* for minimal tuples: bitmap to be filled with which rows are equal; or NULL */
	uint64	   *equal;
	GpuSortView view;			/* the sort's view, if rows are index tuples */
	gs_progress *progress;
	MemoryContext compare_context;
	TupleTableSlot *slots[2];	/* for minimal tuples */
	/* keys of two rows: while neighbours are compared, the row at position i is number i % 2 */
	Datum	   *values[2];
	bool	   *isnull[2];
	uint64		moves_left;
} GpuSortVerifier;

/* Begins to compare the rows of a sort of this process, in the current context. */
extern void gpusort_begin_own_verifier(GpuSortVerifier *v, GpuSort *sort);

/* Load the keys of a row, or of the row at a position, as number `which` of the two. */
extern void gpusort_verifier_load_row(GpuSortVerifier *v, int which, void *row);
extern void gpusort_verifier_load_keys(GpuSortVerifier *v, int which, uint64 position);

/* Compare the keys loaded as number a with those loaded as number b. */
extern int	gpusort_verifier_compare_keys(GpuSortVerifier *v, int a, int b);

/*
 * Compare the keys of a row in a slot, or of a row as it lies on a page, with those loaded as
 * number 1.  Keys that the comparison does not need are not looked up.
 */
extern int	gpusort_verifier_compare_slot(GpuSortVerifier *v, TupleTableSlot *slot);
extern int	gpusort_verifier_compare_tuple(GpuSortVerifier *v, HeapTuple tuple);

/*
 * Returns whether the row at a position is in the right relation to the row before, given the
 * result of comparing that row with it.  For index tuples this includes the equal bitmap and the
 * TIDs.
 */
extern bool gpusort_neighbours_are_right(const GpuSortVerifier *v, uint64 position, int cmp);

/* Note in a bitmap whether the row at a position is equal to the row before. */
extern void gpusort_note_equal(uint64 *equal, uint64 position, bool is_equal);

/*
 * Compare the rows from position `from`, which is not 0, up to `to`, each with the row before.
 * Returns the position of the first row that is wrong, whose keys are then loaded, with its
 * comparison in *cmp; or `to` if there is none.  Notes which rows are equal, if the sort is to
 * tell.
 */
extern uint64 gpusort_verifier_find_wrong(GpuSortVerifier *v, uint64 from, uint64 to, int *cmp);

/* ---------- repairing an order in which the verification finds rows in wrong places ---------- */

/*
 * Check the rows from position `from` up to `to`, each against the row before, and move rows that
 * are wrong to their places.  The row behind rows that were moved is checked, too.  Returns false
 * if the order can't be confirmed.
 */
extern bool gpusort_check_and_repair(GpuSort *sort, GpuSortVerifier *v, uint64 from, uint64 to);

/* ---------- bounds: sorts of which only the first rows are wanted ---------- */

/*
 * Only rows that may be among the first ones are kept.  When there are clearly more rows than the
 * bound allows for, they are put in order and trimmed to the bound.  From then on, a row that
 * belongs behind the last of those is dropped when it comes.
 *
 * A trim moves rows and makes their keys again (sort_put.c): begin, move each kept row from its old
 * place to its new one, end.
 */

/*
 * Rows are trimmed when there are TRIM_FACTOR times as many as the bound, so that a row is sorted
 * no more than twice on average, but not before there are TRIM_MIN_ROWS.
 */
#define TRIM_FACTOR		2
#define TRIM_MIN_ROWS	4096

typedef struct GpuSortTrim
{
	GpuSortRowPlaces places;	/* where the rows lay before the trim */
	uint64		nrows;			/* how many rows there were */
	uint64		next;			/* row id of the next row to be looked at */
	/* bitmap of row ids; NULL: all rows are kept, since their order could not be found */
	uint64	   *kept;
	uint32		last;			/* row id of the last row in order that is kept */
} GpuSortTrim;

/* Keep only the first `rows` rows in order of those that come from now on; 0: keep all of them. */
extern void gpusort_keep_first(GpuSort *sort, uint64 rows);

/* Returns whether enough rows have come in to trim them. */
static inline bool
gpusort_should_trim(const GpuSort *sort)
{
	return sort->bound.trim_at > 0 && sort->rows.count >= sort->bound.trim_at &&
		sort->stats.joined_rows == 0;
}

/*
 * Returns whether trimming would make room for a good number of rows, when there is no room for
 * more.
 */
static inline bool
gpusort_may_trim(const GpuSort *sort)
{
	return sort->bound.trim_at > 0 && sort->rows.count >= TRIM_MIN_ROWS / 4 &&
		sort->rows.count / 5 * 4 >= sort->bound.rows && sort->stats.joined_rows == 0;
}

/*
 * Choose the rows to be kept.  Afterwards the sort has no rows, but these are still in the row
 * store.
 */
extern void gpusort_begin_trim(GpuSort *sort, GpuSortTrim *trim);

/*
 * Move the next row that is kept behind those that were moved before it, in the order of arrival,
 * and tell in *row where it lies.  Returns false if there is none.
 */
extern bool gpusort_move_kept_row(GpuSort *sort, GpuSortTrim *trim, GpuSortStoredRow *row);

/* End a trim: all kept rows have been moved, and are rows of the sort again. */
extern void gpusort_end_trim(GpuSort *sort, GpuSortTrim *trim);

/* Find out where the first key lies in tuples of the table that rows come from now. */
extern void gpusort_place_bound(GpuSort *sort);

/*
 * Returns whether row `id`, which is stored and has its keys but is not counted yet, belongs behind
 * the last row wanted of a sort that has been trimmed.  An equal row does, since it came later.
 */
extern bool gpusort_is_beyond_bound(GpuSort *sort, uint32 id);

/*
 * Returns the same of a row that has not been stored, by PostgreSQL's comparison.  The row is in a
 * slot, or is a whole tuple on a page, whose attributes are then looked up one by one, so that no
 * slot has to find all of them up to the last key.
 */
extern bool gpusort_slot_is_beyond_bound(GpuSort *sort, TupleTableSlot *slot);
extern bool gpusort_tuple_is_beyond_bound(GpuSort *sort, HeapTuple tuple);

/*
 * Returns the same of a tuple on a page whose first key is an integer at a known place.  False if
 * that key can't tell.
 */
static pg_always_inline bool
gpusort_word_is_beyond_bound(const GpuSort *sort, HeapTupleHeader tuple)
{
	const GpuSortBound *bound = &sort->bound;
	const GpuSortColumn *column = &sort->keys.columns[0];
	const char *value = (const char *) tuple + tuple->t_hoff + bound->offset;
	uint64		word;

	if (!bound->word_known || bound->offset < 0 || (tuple->t_infomask & HEAP_HASNULL) != 0 ||
		HeapTupleHeaderGetNatts(tuple) < bound->attno)
		return false;
	word = word_from_int64(column->integer_bytes == sizeof(int64) ? *(const int64 *) value
						   : *(const int32 *) value);
	return (word ^ column->flip) > bound->word;
}

#endif							/* GPUSORT_ORDER_PRIVATE_H */
