/*
 * load_entries.c
 *		Inserting the entries of new rows into btree indexes in use, in the order of their keys; see
 *		load_indexes_private.h.
 *
 * So each leaf page of an index is looked for and changed once, and not as often as rows happen to
 * belong there.  Other sessions may read and write the table meanwhile, as they may beside
 * PostgreSQL's COPY.
 *
 * An entry is inserted into a unique index as for a deferred constraint: the index takes it at
 * once, and tells whether there may be another row with the same key.  If so, the entry is checked
 * at once, which waits for other transactions as PostgreSQL's COPY does.  A check at the end would
 * have two loads of the same keys wait for each other; so one of them waits, at the first key that
 * both have, for the other one, which is past it.  Among our own rows, those with equal keys are
 * inserted in the order of their lines, so the same ones are refused as in COPY.
 */
#include "postgres.h"

#include "access/detoast.h"
#include "access/genam.h"
#include "access/nbtree.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/index.h"
#include "catalog/pg_am.h"
#include "commands/copyfrom_internal.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/resowner.h"

#include "btree/btree_page.h"
#include "load/load_indexes_private.h"
#include "pg_compat/tables.h"

/* This many entries are fetched from the sort at a time. */
#define ENTRIES_FETCHED		64

/* ---------- a leaf, open with its indexes ---------- */

/* Begins to read the rows of a leaf from the first one on. */
static void
rewind_rows(GpuSortOpenLeaf *leaf)
{
	/* what is allocated for reading lives as long as the leaf */
	MemoryContext old = MemoryContextSwitchTo(GetMemoryChunkContext(leaf));

	gpusort_table_own_rows_end(&leaf->rows);
	gpusort_table_own_rows_begin(&leaf->rows, leaf->table, &leaf->state->task->owner,
						   leaf->state->leaves.leaves[leaf->number - 1].first_block);
	MemoryContextSwitchTo(old);
}

GpuSortOpenLeaf *
gpusort_load_leaf_open(const GpuSortLoadState *state, GpuSortLeafNumber number)
{
	GpuSortOpenLeaf *leaf = palloc0(sizeof(GpuSortOpenLeaf));

	leaf->state = state;
	leaf->number = number;
	leaf->table = table_open(state->leaves.leaves[number - 1].table, NoLock);
	leaf->result = makeNode(ResultRelInfo);
	InitResultRelInfo(leaf->result, leaf->table, 1, NULL, 0);
	ExecOpenIndices(leaf->result, false);
	leaf->slot = MakeSingleTupleTableSlot(RelationGetDescr(leaf->table), &TTSOpsHeapTuple);
	rewind_rows(leaf);
	return leaf;
}

bool
gpusort_load_leaf_next_row(GpuSortOpenLeaf *leaf)
{
	ExecClearTuple(leaf->slot);
	if (!gpusort_table_own_rows_next(&leaf->rows, &leaf->row))
		return false;
	ExecStoreHeapTuple(&leaf->row, leaf->slot, false);
	return true;
}

void
gpusort_load_leaf_close(GpuSortOpenLeaf *leaf)
{
	gpusort_table_own_rows_end(&leaf->rows);
	ExecDropSingleTupleTableSlot(leaf->slot);
	ExecCloseIndices(leaf->result);
	table_close(leaf->table, NoLock);
}

/* ---------- doing in a subtransaction what may fail where COPY would not ---------- */

/* Returns whether the current error is that temporary files exceed temp_file_limit. */
static bool
files_are_too_large(void)
{
	return geterrcode() == ERRCODE_CONFIGURATION_LIMIT_EXCEEDED;
}

/*
 * Returns whether the current error may be one that COPY raises at some row, or one that inserting
 * entries one by one, which needs no temporary files, would not raise.
 */
static bool
one_by_one_is_next(void *arg)
{
	if (files_are_too_large())
		return true;
	switch (ERRCODE_TO_CATEGORY(geterrcode()))
	{
		case ERRCODE_INTEGRITY_CONSTRAINT_VIOLATION:
		case ERRCODE_PROGRAM_LIMIT_EXCEEDED:
		case ERRCODE_DATA_EXCEPTION:
		case ERRCODE_FEATURE_NOT_SUPPORTED:
			return true;
		default:
			return false;
	}
}

/*
 * Calls do_it(arg) in a subtransaction, and returns whether that has succeeded.  After an error,
 * is_expected(arg) tells whether it is raised again.
 */
static bool
try_to(void (*do_it) (void *arg), void *arg, bool (*is_expected) (void *arg))
{
	MemoryContext context = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;
	volatile bool done = true;

	BeginInternalSubTransaction(NULL);
	MemoryContextSwitchTo(context);
	PG_TRY();
	{
		do_it(arg);
		ReleaseCurrentSubTransaction();
	}
	PG_CATCH();
	{
		ErrorData  *error = NULL;

		MemoryContextSwitchTo(context);
		if (!is_expected(arg))
			error = CopyErrorData();
		FlushErrorState();
		RollbackAndReleaseCurrentSubTransaction();
		MemoryContextSwitchTo(context);
		CurrentResourceOwner = owner;
		if (error != NULL)
			ReThrowError(error);
		done = false;
	}
	PG_END_TRY();
	MemoryContextSwitchTo(context);
	CurrentResourceOwner = owner;
	return done;
}

bool
gpusort_load_try(void (*do_it) (void *arg), void *arg)
{
	return try_to(do_it, arg, one_by_one_is_next);
}

/* ---------- collecting entries ---------- */

typedef struct SortedEntries
{
	GpuSortOpenLeaf *leaf;
	Relation	index;
	IndexInfo  *info;
	GpuSortEntrySort *sort;
	Size		fixed_bytes;	/* of an entry, without its varlenas */
	bool		any_varlena;
	bool		some_inserted;	/* the index may have some of the entries */
	bool		all_inserted;
	IndexTuple	refused;		/* by the index; NULL: no entry was refused */
} SortedEntries;

static void
note_lengths(SortedEntries *sorted)
{
	TupleDesc	desc = RelationGetDescr(sorted->index);

	sorted->fixed_bytes = sizeof(IndexTupleData) + sizeof(IndexAttributeBitMapData);
	for (int i = 0; i < desc->natts; i++)
	{
		int			length = TupleDescAttr(desc, i)->attlen;

		sorted->any_varlena |= length == -1;
		sorted->fixed_bytes += MAXIMUM_ALIGNOF + Max(length, 0);
	}
}

/* Returns whether an entry may be too long for the index, if its values can't be compressed. */
static bool
may_be_too_long(const SortedEntries *sorted, const Datum *values, const bool *isnull)
{
	TupleDesc	desc = RelationGetDescr(sorted->index);
	Size		bytes = sorted->fixed_bytes;

	for (int i = 0; i < desc->natts && sorted->any_varlena; i++)
	{
		if (!isnull[i] && TupleDescAttr(desc, i)->attlen == -1)
			bytes += toast_raw_datum_size(values[i]);
	}
	return bytes > GPUSORT_PAGE_MAX_TUPLE;
}

typedef enum Collected
{
	COLLECTED_ALL,
	COLLECTED_TOO_MANY,			/* the sort can't take all entries */
	COLLECTED_TOO_LONG			/* an entry may be too long for the index */
} Collected;

/* Puts the entries of all rows into the sort. */
static Collected
collect(SortedEntries *sorted)
{
	GpuSortOpenLeaf *leaf = sorted->leaf;
	Datum		values[INDEX_MAX_KEYS];
	bool		isnull[INDEX_MAX_KEYS];

	rewind_rows(leaf);
	while (gpusort_load_leaf_next_row(leaf))
	{
		FormIndexDatum(sorted->info, leaf->slot, NULL, values, isnull);
		if (may_be_too_long(sorted, values, isnull))
			return COLLECTED_TOO_LONG;
		if (!gpusort_entry_sort_put(sorted->sort, values, isnull, &leaf->slot->tts_tid))
			return COLLECTED_TOO_MANY;
	}
	return COLLECTED_ALL;
}

static Collected
collect_and_sort(SortedEntries *sorted, bool careful)
{
	const GpuSortOpenLeaf *leaf = sorted->leaf;
	uint64		rows = gpusort_load_leaf_rows(leaf->state, leaf->number);
	Collected	collected;

	sorted->sort = gpusort_entry_sort_begin(leaf->table, sorted->index, rows, careful);
	collected = collect(sorted);
	if (collected == COLLECTED_ALL && !gpusort_entry_sort_perform(sorted->sort))
		collected = COLLECTED_TOO_MANY;
	if (collected != COLLECTED_ALL)
		gpusort_entry_sort_end(sorted->sort);
	return collected;
}

/* ---------- inserting entries ---------- */

/* Returns the line of a row. */
static uint64
find_line(GpuSortOpenLeaf *leaf, ItemPointer tid)
{
	const GpuSortLoadState *state = leaf->state;
	uint64		place = 1;

	rewind_rows(leaf);
	while (gpusort_load_leaf_next_row(leaf) && !ItemPointerEquals(&leaf->slot->tts_tid, tid))
		place++;
	return state->first_line + gpusort_lines_of_row(&state->lines, leaf->number, place);
}

typedef struct CheckedEntry
{
	const SortedEntries *sorted;
	IndexTuple	entry;
} CheckedEntry;

static void
check_entry(void *arg)
{
	const CheckedEntry *checked = arg;
	const SortedEntries *sorted = checked->sorted;
	Datum		values[INDEX_MAX_KEYS];
	bool		isnull[INDEX_MAX_KEYS];

	index_deform_tuple(checked->entry, RelationGetDescr(sorted->index), values, isnull);
	index_insert(sorted->index, values, isnull, &checked->entry->t_tid, sorted->leaf->table,
				 UNIQUE_CHECK_EXISTING, false, sorted->info);
}

/*
 * Returns whether an entry that is in the index, beside one that may have the same key, is refused.
 * An error that ends the wait for another transaction is about the line of the row.
 */
static bool
is_refused(const SortedEntries *sorted, IndexTuple entry)
{
	CopyFromState copy = sorted->leaf->state->copy;
	uint64		outer_line = copy->cur_lineno;
	CheckedEntry checked = {sorted, entry};
	bool		passed;

	copy->cur_lineno = find_line(sorted->leaf, &entry->t_tid);
	passed = gpusort_load_try(check_entry, &checked);
	copy->cur_lineno = outer_line;
	return !passed;
}

/* Inserts entries until one is refused, and returns this one, or NULL. */
static IndexTuple
insert_entries(const SortedEntries *sorted, void **entries, int count)
{
	bool		is_unique = sorted->index->rd_index->indisunique;

	for (int i = 0; i < count; i++)
	{
		IndexTuple	entry = entries[i];

		if (!_bt_doinsert(sorted->index, entry,
						  is_unique ? UNIQUE_CHECK_PARTIAL : UNIQUE_CHECK_NO, false,
						  sorted->leaf->table) &&
			is_unique && is_refused(sorted, entry))
			return entry;
	}
	return NULL;
}

/* Inserts all entries; returns the one that was refused, or NULL. */
static IndexTuple
insert_all(const SortedEntries *sorted)
{
	MemoryContext outer = CurrentMemoryContext;
	MemoryContext context = AllocSetContextCreate(outer, "gpusort COPY index entries", ALLOCSET_DEFAULT_SIZES);
	IndexTuple	refused = NULL;
	void	   *block[ENTRIES_FETCHED];
	int			count;

	while (refused == NULL &&
		   (count = gpusort_entry_sort_next(sorted->sort, block, ENTRIES_FETCHED)) > 0)
	{
		CHECK_FOR_INTERRUPTS();
		MemoryContextSwitchTo(context);
		refused = insert_entries(sorted, block, count);
		MemoryContextSwitchTo(outer);
		MemoryContextReset(context);
	}
	MemoryContextDelete(context);
	return refused;
}

/* ---------- an index ---------- */

bool
gpusort_entries_are_sorted(const GpuSortOpenLeaf *leaf, int index)
{
	const IndexInfo *info = leaf->result->ri_IndexRelationInfo[index];

	return info->ii_ReadyForInserts && info->ii_Expressions == NIL && info->ii_Predicate == NIL &&
		leaf->result->ri_IndexRelationDescs[index]->rd_rel->relam == BTREE_AM_OID;
}

/* Sorts and inserts all entries, unless one may be too long, or is refused. */
static void
sort_and_insert(void *arg)
{
	SortedEntries *sorted = arg;
	Collected	collected = collect_and_sort(sorted, false);
	IndexTuple	refused;

	if (collected == COLLECTED_TOO_MANY)
		collected = collect_and_sort(sorted, true);
	if (collected != COLLECTED_ALL)
		return;
	sorted->some_inserted = true;
	refused = insert_all(sorted);
	if (refused != NULL)
		sorted->refused = CopyIndexTuple(refused);
	sorted->all_inserted = refused == NULL;
	gpusort_entry_sort_end(sorted->sort);
}

/* Returns whether the current error leaves all entries to be inserted without being sorted. */
static bool
sort_is_too_large(void *arg)
{
	const SortedEntries *sorted = arg;

	return files_are_too_large() && !sorted->some_inserted;
}

/*
 * PostgreSQL's COPY needs no temporary files.  Where these are limited, the sort may need more than
 * there may be, which is found out in a subtransaction.
 */
bool
gpusort_entries_insert(GpuSortOpenLeaf *leaf, int index, GpuSortRefusedEntry *refused)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "gpusort COPY index", ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	SortedEntries sorted = {
		.leaf = leaf,
		.index = leaf->result->ri_IndexRelationDescs[index],
		.info = leaf->result->ri_IndexRelationInfo[index]
	};

	note_lengths(&sorted);
	if (temp_file_limit < 0)
		sort_and_insert(&sorted);
	else
		(void) try_to(sort_and_insert, &sorted, sort_is_too_large);
	MemoryContextSwitchTo(old);
	if (sorted.refused != NULL)
		*refused = (GpuSortRefusedEntry) {
			.leaf = leaf->number,.index = index,.entry = CopyIndexTuple(sorted.refused)
		};
	MemoryContextDelete(context);
	return sorted.all_inserted;
}

static int
compare_attribute(const ScanKeyData *key, Datum value, bool isnull)
{
	int			result;

	if (isnull || (key->sk_flags & SK_ISNULL) != 0)
	{
		if (isnull && (key->sk_flags & SK_ISNULL) != 0)
			return 0;
		return isnull == ((key->sk_flags & SK_BT_NULLS_FIRST) != 0) ? -1 : 1;
	}
	result = DatumGetInt32(FunctionCall2Coll(unconstify(FmgrInfo *, &key->sk_func),
											 key->sk_collation, value, key->sk_argument));
	if ((key->sk_flags & SK_BT_DESC) != 0)
		INVERT_COMPARE_RESULT(result);
	return result;
}

int
gpusort_entry_compare(Relation index, const Datum *values, const bool *isnull,
					  const ItemPointerData *tid, IndexTuple refused)
{
	BTScanInsert key = _bt_mkscankey(index, refused);
	int			result = 0;

	for (int i = 0; i < IndexRelationGetNumberOfKeyAttributes(index) && result == 0; i++)
		result = compare_attribute(&key->scankeys[i], values[i], isnull[i]);
	if (result == 0)
		result = ItemPointerCompare(unconstify(ItemPointerData *, tid), &refused->t_tid);
	pfree(key);
	return result;
}
