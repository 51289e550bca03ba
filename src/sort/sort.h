/*
 * sort.h
 *		One sort: rows in, rows out in order.  The counterpart of tuplesort.h.
 *
 * Life of a sort: begin, put every row, perform, fetch rows by position, then reset for another
 * input or end.  The state and everything it refers to hang on the memory context that was current
 * at begin: deleting or resetting that context ends the sort, on error as well.
 *
 * A sort that can't be done here (no memory within the limit, a value without an encoding, an order
 * that the verification rejects) is handed over to PostgreSQL's tuplesort, at any point while rows
 * come in.  The caller sees no difference, except in GpuSortStats.handover.
 *
 * The rows of an index build are IndexTuples, ordered by their key columns and then by TID,
 * whatever the order of arrival.  Such a sort is never handed over: its caller is told that it has
 * failed, and lets PostgreSQL build the index.  A sort begun with gpusort_begin_optional() is not
 * handed over either: its caller is told that it has failed, and does without it.
 */
#ifndef GPUSORT_SORT_H
#define GPUSORT_SORT_H

#include "access/attnum.h"
#include "access/htup.h"
#include "access/itup.h"
#include "access/tupdesc.h"
#include "executor/tuptable.h"
#include "portability/instr_time.h"
#include "utils/relcache.h"

#include "engine/gs_engine.h"
#include "keys/key_codec.h"
#include "service/service.h"
#include "settings.h"
#include "stats/stats.h"
#include "team/workers.h"

/* ---------- the life of a sort: begin, perform, reset, end ---------- */

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

typedef struct GpuSort GpuSort;

/* A row that is made of its keys (key_rows.c) has at most this many columns. */
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
 * Advance *progress to the end of its stage while the rows are sorted.  NULL, which is the initial
 * state, must be passed before *progress ceases to exist.
 */
extern void gpusort_show_progress(GpuSort *sort, gs_progress *progress);

/*
 * Shows others how many of the rows, which are in order, have been returned or written
 * (pg_stat_gpusort_activity).
 */
extern void gpusort_show_returned(GpuSort *sort, uint64 rows);

/* Sort the rows, all of which have been put. */
extern void gpusort_perform(GpuSort *sort);

/*
 * Perform two sorts at once, if gpusortd puts the rows of both in one order.  Then only views of
 * the two can be had (sort_view.h), and gpusort_is_merged() is true.  Returns false if gpusortd
 * does not do it; then neither is sorted.
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

/* ---------- limits: how much memory a sort may have ---------- */

/*
 * gpusort_memory_limit() returns how many bytes of private memory one sort may use: work_mem *
 * hash_mem_multiplier, but no more than the machine has.  gpusort_sort_pool_limit() returns how
 * many bytes of the pool one sort may use, if they are free.
 */
extern size_t gpusort_memory_limit(void);
extern size_t gpusort_sort_pool_limit(void);

/* Returns how many bytes of the pool a sort would get that begins now, given what others have. */
extern size_t gpusort_sort_pool_available(void);

/*
 * Returns `bytes`, or less if the machine has less memory, or if a row store can't address as much.
 */
extern size_t gpusort_possible_bytes(size_t bytes);

/* ---------- rows of a table's tuples: what they consist of ---------- */

/*
 * A row is made of a tuple of the table and of values that were computed from it.  Each column of
 * the row is either an attribute of the tuple or one of the values.
 */

typedef struct GpuSortRowColumns
{
	TupleDesc	table;			/* descriptor of the tuples */
	int			ncolumns;		/* of the rows */
	/* by column: number of the table's attribute, or 0 for the next of the values */
	AttrNumber *attnos;

	/* the values of the current row, set anew for each tuple */
	int			nvalues;
	Datum	   *values;			/* varlenas among them must not be expanded objects */
	bool	   *isnull;
} GpuSortRowColumns;

/* ---------- putting rows: what the caller of a sort puts into it ---------- */

/* Put a row into a sort.  The slot's contents are copied. */
extern void gpusort_put_slot(GpuSort *sort, TupleTableSlot *slot);

/*
 * Put a row into a part (sort_parts.h).  Returns false if there is no room for the row, or no
 * encoding.  gpusort_put_heap_tuple() and gpusort_put_index_values() are for parts as well.
 */
extern bool gpusort_put_part_slot(GpuSort *part, TupleTableSlot *slot);

/*
 * Put a row into a sort that is never handed over (gpusort_begin_optional()).  Returns false if the
 * sort must be given up, for the reason that its statistics give.
 */
extern bool gpusort_put_optional_slot(GpuSort *sort, TupleTableSlot *slot);

/*
 * Put a tuple on a page, of a table whose descriptor is the sort's.  Returns false if that is not
 * possible without deforming the tuple; it must come in a slot then.
 */
extern bool gpusort_put_heap_tuple(GpuSort *sort, HeapTuple tuple);

/*
 * Say that tuples on pages, from now on, are rows as they lie.  That is assumed in the beginning,
 * so the sort of one table need not call it.
 */
extern void gpusort_sort_select_tuples(GpuSort *sort);

/*
 * gpusort_sort_select_columns() says that rows, from now on, are made of columns of tuples on
 * pages, together with other values; `columns` must stay.  It returns false if the sort can't make
 * such rows.  gpusort_put_heap_columns() then puts the row made of a tuple on a page and of the
 * present values.  It returns false if the row must come in a slot.
 */
extern bool gpusort_sort_select_columns(GpuSort *sort, const GpuSortRowColumns *columns);
extern bool gpusort_put_heap_columns(GpuSort *sort, HeapTuple tuple);

/*
 * Form the index tuple of a row and put it.  Returns false if the sort must be given up.  Rows that
 * are not alive don't count for uniqueness: see gpusort_tuple_is_dead().
 */
extern bool gpusort_put_index_values(GpuSort *sort, const Datum *values, const bool *isnull,
									 ItemPointer tid, bool alive);

/*
 * Put an index tuple that another index sort has stored.  Returns false if the sort must be given
 * up.
 */
extern bool gpusort_put_index_tuple(GpuSort *sort, IndexTuple tuple);

/*
 * Put a tuple that a sort has stored and written to a run.  It does not count as another row.
 * Returns false if there is no room for it.
 */
extern bool gpusort_put_stored_tuple(GpuSort *sort, const void *tuple);

/* ---------- fetching rows: what a sort has to show, by position ---------- */

/*
 * Have the row at a position, which exists, in memory.  Then the rows at positions *from .. *to - 1
 * are, and pointers to rows that were fetched before, from other positions, may be invalid.
 */
extern void gpusort_fetch_window(GpuSort *sort, uint64 position, uint64 *from, uint64 *to);

/*
 * Let rows be made of their keys when they are fetched, if all of their columns are sort columns
 * whose keys tell the values.  Returns whether they will be; if not, rows are stored.  To be called
 * only while the sort has no rows, with wanted = false if others look into the result
 * (sort_view.h).  Rows are also stored if the sort has a bound or is verified, or if a GPU will
 * probably have rows in order.
 */
extern bool gpusort_make_rows_of_keys(GpuSort *sort, bool wanted);

/*
 * Store the pointers of rows at positions from .. from + count - 1 in rows[], and prefetch what
 * that takes for the block after them.  Prefetching the tuples themselves (MinimalTuples or
 * IndexTuples) is up to the caller.  The pointers stay valid until another window is asked for, or
 * until the sort is reset or ended.  Rows that are made of their keys lie in room[], so their
 * pointers are also valid no longer than that is.  Not to be called if gpusort_tuplesort() is not
 * NULL.
 */
extern void gpusort_fetch_block(GpuSort *sort, uint64 from, int count,
								GpuSortRowRoom *room, void **rows);

/*
 * Make sorts need nothing of gpusortd any more, and wait for that: those that live in a memory
 * context or in one below it.  For a query that stops, and may go on at any time.
 */
extern void gpusort_rest(MemoryContext context);

/* Returns the average length of a row in the row store. */
extern size_t gpusort_row_bytes(const GpuSort *sort);

/*
 * Returns the stored tuples of an index sort without key columns, which lie end to end in *bytes
 * bytes.  Valid until the next tuple is put.
 */
extern const void *gpusort_stored_rows(const GpuSort *sort, Size *bytes);

/* ---------- moving out: a result that nobody reads now goes to temporary files ---------- */

/*
 * Returns whether the rows of a sort that was performed should be moved to files, and can be: other
 * sessions lack memory of the pool while this one has more than its even part.
 */
extern bool gpusort_should_move_out(const GpuSort *sort);

/*
 * Move the rows to files.  Rows keep their positions, but pointers to them become invalid.  Raises
 * the errors that writing temporary files raises.
 */
extern void gpusort_move_out(GpuSort *sort);

/* ---------- notes: counting sorts that are done, and logging them if they took long ---------- */

/*
 * Count a sort that was performed, or that of an index build that is done, and log it if it took
 * long.  collect_time and load_time are what its caller took beside gpusort_perform(): to collect
 * the rows, and to write pages of an index or a table.  Called once for each sort, by the process
 * that has performed it.  What the sort does afterwards, such as reading runs back, is counted when
 * it is reset or ended.
 */
extern void gpusort_note_sort(GpuSort *sort, instr_time collect_time, instr_time load_time);

/* ---------- merged sorts: two sorts whose rows gpusortd puts in one order ---------- */

/*
 * A join of two sorted sides merges them.  If gpusortd sorts the rows of both sides by one job,
 * they come out merged, and the bitmap of equal neighbours says which rows have the same key
 * (engine/gs_merged.h).  So nobody has to compare keys again, nor to make keys of rows.
 *
 * This takes keys that can be compared by nothing but the words that the engine sees: words of the
 * same codec, and no string that goes on behind its word.  Rows stay where they are, and both sorts
 * have views as ever; only the order is common.
 */

/*
 * Returns whether it is likely that sorts of these specifications can be merged, and that it pays.
 * The answer may differ between processes of a query.
 */
extern bool gpusort_may_merge(const GpuSortSpec *const specs[2], const TupleDesc descs[2]);

/* ---------- dead rows: their mark in index tuples ---------- */

/*
 * Rows of an index build that are dead, but not to all transactions, go into the index and don't
 * count for uniqueness.  So their tuples carry a mark in the row store.  It is the bit that is
 * reserved for the index access method, and the tuples in the index must not have it.
 */

static inline void
gpusort_mark_dead(IndexTuple tuple)
{
	tuple->t_info |= INDEX_AM_RESERVED_BIT;
}

static inline bool
gpusort_tuple_is_dead(IndexTuple tuple)
{
	return (tuple->t_info & INDEX_AM_RESERVED_BIT) != 0;
}

static inline void
gpusort_unmark_tuple(IndexTuple tuple)
{
	tuple->t_info &= ~INDEX_AM_RESERVED_BIT;
}

/* Removes all marks from the tuples of a sort, once uniqueness has been checked. */
extern void gpusort_unmark_dead(GpuSort *sort);

/* ---------- fixed offsets: attributes that lie at the same place in every tuple ---------- */

/*
 * Returns where attribute attno (from 1) begins in the data of a tuple without nulls, or -1 if that
 * differs between tuples.  A varlena may or may not be aligned, so its offset is that before
 * alignment.
 */
extern int	gpusort_fixed_offset(TupleDesc desc, AttrNumber attno);

/* ---------- first words: those of rows' sort keys, made anew from their values ---------- */

/*
 * Some code needs the first key word of a value that does not go into a sort, or whose words are
 * gone.  GpuSortFirstWord makes it.  The first words of two sorts in the same order (operator
 * family, direction, collation) can be compared with each other, even if their columns are of
 * different types of the family, provided that gpusort_first_words_compare() says so.
 */

typedef struct GpuSortFirstWord
{
	GpuSortEncoder encoder;
	GpuSortKeyMemory memory;
	uint64		flip;			/* xor-ed to the word: all ones for descending order */
	int			integer_bytes;	/* width if the value is an integer, else 0 */
	bool		exact;			/* two values with the same word are equal */
} GpuSortFirstWord;

/*
 * Returns whether the first words of two columns, of these types and sorted by these operators, can
 * be compared with each other.
 */
extern bool gpusort_first_words_compare(Oid sortop, Oid type, Oid other_sortop, Oid other_type,
										Oid collation);

/*
 * Prepares *word for making the first words of one such column, with memory of the current context.
 */
extern void gpusort_begin_first_word(GpuSortFirstWord *word, Oid sortop, Oid type, Oid collation);

/*
 * Returns the first word of a value, which must not be null.  The value is detoasted in the current
 * context.
 */
extern uint64 gpusort_first_word(GpuSortFirstWord *word, Datum value);

/* ---------- a team: several processes that put the rows of one sort in order ---------- */

/*
 * One process has a sort, with all rows in the pool, and runs the engine on them.  Other processes,
 * which share the team's memory, help: they map the planes and the workspace, and take part in the
 * engine's phases (engine/host/gs_sort.h).  They also take stretches of the order in which
 * ties are to be refined, or which is to be verified (team_stretches.c).
 *
 *	before others see the team	gpusort_team_init()
 *	process that has the sort	gpusort_use_team(), gpusort_perform() ..., gpusort_team_dismiss()
 *	processes that help			gpusort_team_help(), which returns when the team is dismissed
 *
 * A process that helps may come at any time, and nobody waits for it to come.  Once it helps, the
 * others wait for it at the end of each phase; if it fails or is lost, the query fails.
 */

/* A team, in dynamic shared memory. */
typedef struct GpuSortTeam GpuSortTeam;

extern Size gpusort_team_bytes(void);

/* Initialise a team in which `expected` processes are sure to help.  Others may help as well. */
extern void gpusort_team_init(GpuSortTeam *team, int expected);

/* Returns the declaration of a member that is a team which nobody is sure to help. */
extern GpuSortMember gpusort_team_member(void);

/*
 * Have at most `participants` processes, this one among them, put the rows of a sort in order, if
 * there are so many rows that it pays.
 */
extern void gpusort_use_team(GpuSort *sort, GpuSortTeam *team, int participants);

/* Let the processes that help, or will come to help, return. */
extern void gpusort_team_dismiss(GpuSortTeam *team);

/* Where sorts are forced, in tests, fewer rows than this are still sorted by one process. */
#define GPUSORT_FORCED_TEAM_ROWS	16

/*
 * Returns whether it pays to have processes help that are there anyway.  Fewer rows stay in the
 * caches, and then one process is not slower than two that map the rows and meet after each phase.
 */
static inline bool
gpusort_team_pays(double rows)
{
	return rows >= (gpusort_force ? GPUSORT_FORCED_TEAM_ROWS : gpusort_min_sort_worker_rows / 2);
}

/* Help the process that has the team's sort with all its jobs, until it dismisses the team. */
extern void gpusort_team_help(GpuSortTeam *team);

#endif							/* GPUSORT_SORT_H */
