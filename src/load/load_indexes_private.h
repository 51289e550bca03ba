/*
 * load_indexes_private.h
 *		The indexes of tables that are loaded, filled when the rows are there.
 */
#ifndef GPUSORT_LOAD_INDEXES_PRIVATE_H
#define GPUSORT_LOAD_INDEXES_PRIVATE_H

#include "access/genam.h"
#include "nodes/execnodes.h"
#include "storage/itemptr.h"
#include "utils/elog.h"
#include "utils/relcache.h"

#include "load/load_state_private.h"

/* ---------- whether it can be done ---------- */

/*
 * Whether the indexes of a table can be filled when its rows are there, and the locks for it.
 */

/*
 * Returns whether a table has no indexes, or has no rows yet and only indexes that can be built
 * afterwards.
 */
extern bool gpusort_load_indexes_are_ours(Relation table);

/*
 * Locks a table and its indexes, so that no other session can write to the table or use the
 * indexes.  Returns false, with nothing locked, if some other session has conflicting locks, or has
 * put rows into the table.
 */
extern bool gpusort_load_lock_indexes(Relation table);

/*
 * Returns whether entries can be inserted when all rows are there into all indexes of a table in
 * use, and whether gpusort.copy_indexes allows it.
 */
extern bool gpusort_load_entries_are_ours(Relation table);

/* ---------- doing in a subtransaction what may fail because of a row ---------- */

/*
 * Calls do_it(arg) in a subtransaction of its own, and in the caller's memory context.  Returns
 * NULL if that has succeeded.  If an error is raised, all is undone, and is_expected() tells, while
 * the error is the current one, what becomes of it: an expected error is returned, allocated in
 * error_context, and any other is raised again.  The caller's memory context and resource owner are
 * current again afterwards.
 */
extern ErrorData *gpusort_load_try(void (*do_it) (void *arg), void *arg, bool (*is_expected) (void),
								   MemoryContext error_context);

/* ---------- the first row that an index of a table in use refuses ---------- */

/*
 * Entries are put into one index after the other, each in the order of its keys, while PostgreSQL's
 * COPY inserts row by row, and ends at the first row that an index refuses.  So when an index
 * refuses a row, its error is kept until no row before this one can be refused any more.
 */

/* A table, or a partition, whose indexes are given entries. */
typedef struct GpuSortFilledTable
{
	Relation	table;
	BlockNumber first_block;	/* our rows are in this block and behind */
	GpuSortLeafNumber leaf;
	uint64		rows;			/* about how many of its rows are ours */
} GpuSortFilledTable;

#define GPUSORT_MOST_SUSPECTS	64

typedef struct GpuSortRefusal
{
	const GpuSortLoadState *state;
	const GpuSortFilledTable *filled;
	MemoryContext context;
	ErrorData  *error;			/* the index's error; NULL: no row was refused so far */
	ItemPointerData tid;		/* the row that is refused */
	int			index;			/* the number of the index that refuses it */
	int			tried;			/* how many entries were tried, as they might be refused */

	/*
	 * rows in front of the refused one that an index may refuse, too: the first ones, in their
	 * order
	 */
	int			nsuspects;
	ItemPointerData suspects[GPUSORT_MOST_SUSPECTS];
} GpuSortRefusal;

/* An index, and its number among the indexes of the table. */
typedef struct GpuSortRefusingIndex
{
	int			number;
	Relation	relation;
	IndexInfo  *info;
} GpuSortRefusingIndex;

/*
 * Returns whether what an index says of a row still matters.  It does not if a row in front of this
 * one was refused, or this row itself by an index with a smaller number.
 */
static inline bool
gpusort_refusal_row_matters(const GpuSortRefusal *refusal, const ItemPointerData *tid, int index)
{
	int			order;

	if (refusal->error == NULL)
		return true;
	order = ItemPointerCompare(unconstify(ItemPointerData *, tid),
							   unconstify(ItemPointerData *, &refusal->tid));
	return order < 0 || (order == 0 && index < refusal->index);
}

/* Why an index may refuse an entry. */
typedef enum GpuSortRefusable
{
	GPUSORT_ENTRY_THERE,		/* it is in the index, and its key may be a duplicate */
	GPUSORT_ENTRY_TOO_LONG		/* it is not in the index, and probably too long for it */
} GpuSortRefusable;

/*
 * Has an index check an entry that is there, or else insert it, in a subtransaction.  If the index
 * refuses the entry, notes that, and its error, in place of what was noted before.
 */
extern void gpusort_refusal_try(GpuSortRefusal *refusal, const GpuSortRefusingIndex *index,
								Datum *values, bool *isnull, ItemPointer tid,
								GpuSortRefusable what);

/*
 * Notes that a row in front of the one that was refused may be refused, too, so that it is tried
 * later.
 */
extern void gpusort_refusal_suspect(GpuSortRefusal *refusal, const ItemPointerData *tid);

/* Raises the error of the row that was refused, if there is one. */
extern void gpusort_refusal_raise(const GpuSortRefusal *refusal);

/* Of several partitions, the refused row whose line comes first. */
typedef struct GpuSortRefusedRow
{
	ErrorData  *error;			/* the index's error; NULL: no row was refused so far */
	uint64		line;
	GpuSortLeafNumber leaf;
	int			index;			/* the number of the index that refuses it */
} GpuSortRefusedRow;

/* Keeps the row that was refused in *first, unless the row there has an earlier line. */
extern void gpusort_refusal_keep_first(const GpuSortRefusal *refusal, GpuSortRefusedRow *first);

/* ---------- sorting new entries of a btree index into the order of the index ---------- */

typedef struct GpuSortEntrySort GpuSortEntrySort;

/*
 * Begins to sort about "rows" entries, which come from a table and belong into its index; allocates
 * in the current context.  gpusort's own sort may turn out to be unable to take all of them.  If
 * "careful" is true, the server's sort is used, which takes all.
 */
extern GpuSortEntrySort *gpusort_entry_sort_begin(Relation heap, Relation index, uint64 rows,
												  bool careful);

/*
 * Puts an entry into the sort.  Returns false if this sort can't take all entries: then the caller
 * has to begin a careful one.
 */
extern bool gpusort_entry_sort_put(GpuSortEntrySort *sort, const Datum *values, const bool *isnull,
								   ItemPointer tid);

/* Sorts the entries when all have been put; returns false as gpusort_entry_sort_put() does. */
extern bool gpusort_entry_sort_perform(GpuSortEntrySort *sort);

/*
 * Stores the next entries, which are IndexTuples, by key and TID, but not more than "most".  They
 * stay valid until the next call.  Returns how many there are.
 */
extern int	gpusort_entry_sort_next(GpuSortEntrySort *sort, void **entries, int most);

extern void gpusort_entry_sort_end(GpuSortEntrySort *sort);

/* ---------- the entries of new rows in the indexes of a table that is in use ---------- */

/*
 * Entries are inserted when all rows are there, and in btree indexes they are inserted in the order
 * of their keys: so each leaf page is looked for and changed once, and not as often as rows happen
 * to belong there.  Other sessions may read and write the table meanwhile, as they may beside
 * PostgreSQL's COPY.
 */

/*
 * Inserts the entries of all rows that were loaded.  If an index refuses a row, raises the error
 * that PostgreSQL's COPY would raise at the first such row, with its line.
 */
extern void gpusort_load_put_entries(const GpuSortLoadState *state);

/*
 * Inserts the entries of a partition's rows into those of its indexes that get them in the order of
 * their keys.  If an index refuses a row, keeps this row in *first, unless the row there has an
 * earlier line.  Returns whether the partition has other indexes, into which nothing was inserted
 * yet.
 */
extern bool gpusort_load_put_leaf_entries(const GpuSortLoadState *state, GpuSortLeafNumber leaf,
										  GpuSortRefusedRow *first);

/* Returns whether an index gets its entries in the order of its keys, and not row by row. */
extern bool gpusort_load_entries_are_sorted(Relation index, const IndexInfo *info);

/* ---------- filling the indexes of tables that were empty ---------- */

/*
 * Fills the indexes of the table that was loaded, or of its partitions.  If something is wrong with
 * a row, for example that its key is there already, raises the error that PostgreSQL's COPY would
 * raise at this row, with its line.
 */
extern void gpusort_load_build_indexes(GpuSortLoadState *state);

#endif							/* GPUSORT_LOAD_INDEXES_PRIVATE_H */
