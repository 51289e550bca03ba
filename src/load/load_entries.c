/*
 * load_entries.c
 *		The entries of new rows in the indexes of a table that is in use; see
 *		load_indexes_private.h.
 *
 * An entry is inserted into a unique index as for a deferred constraint: the index takes it at
 * once, and tells whether there may be another row with the same key.  If so, the entry is then
 * checked, which waits for other transactions as PostgreSQL's COPY does.  Among our own rows, those
 * with equal keys are inserted in the order of their lines, so the same ones are refused as in
 * COPY.
 *
 * Indexes of other kinds, on expressions or with predicates are given their entries row by row, in
 * the order of the lines.
 */
#include "postgres.h"

#include "access/detoast.h"
#include "access/genam.h"
#include "access/heaptoast.h"
#include "access/nbtree.h"
#include "access/table.h"
#include "access/toast_internals.h"
#include "catalog/index.h"
#include "catalog/pg_am.h"
#include "commands/copyfrom_internal.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "btree/btree_page.h"
#include "load/load_indexes_private.h"
#include "pg_compat/tables.h"
#include "table/table.h"

/* This many entries are fetched from the sort at a time. */
#define ENTRIES_FETCHED		64

/*
 * An entry of more bytes than this may be too long for a page, if its values can't be compressed.
 */
#define LONG_ENTRY_BYTES	(BLCKSZ / 4)

/* ---------- all indexes ---------- */

typedef struct LoadEntries
{
	const GpuSortLoadState *state;
	GpuSortFilledTable filled;
	EState	   *estate;
	ResultRelInfo *target;		/* has the table's indexes */
	TupleTableSlot *slot;
	MemoryContext entry_context;	/* reset after each few entries */
	GpuSortRefusal refusal;
	MemoryContext outer;
} LoadEntries;

static void
begin_rows(const LoadEntries *entries, GpuSortOwnRows *rows)
{
	gpusort_table_own_rows_begin(rows, entries->filled.table, &entries->state->task->owner,
								 entries->filled.first_block);
}

/* Stores a row in the slot. */
static void
store_row(const LoadEntries *entries, HeapTuple row)
{
	ExecStoreHeapTuple(row, entries->slot, false);
	entries->slot->tts_tid = row->t_self;
}

static GpuSortRefusingIndex
get_index(const LoadEntries *entries, int number)
{
	return (GpuSortRefusingIndex)
	{
		.number = number,
		.relation = entries->target->ri_IndexRelationDescs[number],
		.info = entries->target->ri_IndexRelationInfo[number]
	};
}

bool
gpusort_load_entries_are_sorted(Relation index, const IndexInfo *info)
{
	return index->rd_rel->relam == BTREE_AM_OID && info->ii_Expressions == NIL &&
		info->ii_Predicate == NIL;
}

static bool
is_sorted(const GpuSortRefusingIndex *index)
{
	return gpusort_load_entries_are_sorted(index->relation, index->info);
}

/* ---------- an index whose entries are sorted ---------- */

typedef struct SortedEntries
{
	LoadEntries *entries;
	GpuSortRefusingIndex index;
	GpuSortEntrySort *sort;
	bool		careful;
	Size		fixed_bytes;	/* of an entry, without its varlenas */
	bool		any_varlena;
	ItemPointerData last_long;	/* the last row that was tried as its entry is too long */
} SortedEntries;

static void
note_lengths(SortedEntries *sorted)
{
	TupleDesc	desc = RelationGetDescr(sorted->index.relation);

	sorted->fixed_bytes = sizeof(IndexTupleData) + sizeof(IndexAttributeBitMapData);
	for (int i = 0; i < desc->natts; i++)
	{
		int			length = TupleDescAttr(desc, i)->attlen;

		sorted->any_varlena |= length == -1;
		sorted->fixed_bytes += MAXIMUM_ALIGNOF + Max(length, 0);
	}
}

static bool
may_be_long(const SortedEntries *sorted, const Datum *values, const bool *isnull)
{
	TupleDesc	desc = RelationGetDescr(sorted->index.relation);
	Size		bytes = sorted->fixed_bytes;

	for (int i = 0; i < desc->natts && sorted->any_varlena; i++)
	{
		if (!isnull[i] && TupleDescAttr(desc, i)->attlen == -1)
			bytes += toast_raw_datum_size(values[i]);
	}
	return bytes > LONG_ENTRY_BYTES;
}

/*
 * Compresses long values as index_form_tuple() would, so that this is done only once; returns how
 * long the entry is.
 */
static Size
compress(const SortedEntries *sorted, Datum *values, bool *isnull)
{
	TupleDesc	desc = RelationGetDescr(sorted->index.relation);
	bool		any_null = false;

	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);
		Datum		compressed;

		any_null |= isnull[i];
		if (isnull[i] || att->attlen != -1)
			continue;
		if (VARATT_IS_EXTERNAL(DatumGetPointer(values[i])))
			values[i] = PointerGetDatum(detoast_external_attr((struct varlena *)
															  DatumGetPointer(values[i])));
		if (VARATT_IS_EXTENDED(DatumGetPointer(values[i])) ||
			VARSIZE(DatumGetPointer(values[i])) <= TOAST_INDEX_TARGET ||
			(att->attstorage != TYPSTORAGE_EXTENDED && att->attstorage != TYPSTORAGE_MAIN))
			continue;
		compressed = toast_compress_datum(values[i], att->attcompression);
		if (DatumGetPointer(compressed) != NULL)
			values[i] = compressed;
	}
	return MAXALIGN(MAXALIGN(sizeof(IndexTupleData) +
							 (any_null ? sizeof(IndexAttributeBitMapData) : 0)) +
					heap_compute_data_size(desc, values, isnull));
}

static void
try_entry(SortedEntries *sorted, Datum *values, bool *isnull, ItemPointer tid,
		  GpuSortRefusable what)
{
	MemoryContext old = MemoryContextSwitchTo(sorted->entries->entry_context);

	gpusort_refusal_try(&sorted->entries->refusal, &sorted->index, values, isnull, tid, what);
	MemoryContextSwitchTo(old);
}

/*
 * Puts an entry that may be too long.  If it is, the index is made to refuse it, because the sort
 * would raise an error.  An old index, which has room for a few bytes more, may accept it: then it
 * is in the index, and must not be tried again.
 */
static bool
put_long(SortedEntries *sorted, Datum *values, bool *isnull, ItemPointer tid)
{
	MemoryContext context = sorted->entries->entry_context;
	MemoryContext old = MemoryContextSwitchTo(context);
	Size		bytes = compress(sorted, values, isnull);
	bool		all = true;

	MemoryContextSwitchTo(old);
	if (bytes > GPUSORT_PAGE_MAX_TUPLE)
	{
		if (!ItemPointerIsValid(&sorted->last_long) ||
			ItemPointerCompare(tid, &sorted->last_long) > 0)
		{
			try_entry(sorted, values, isnull, tid, GPUSORT_ENTRY_TOO_LONG);
			sorted->last_long = *tid;
		}
	}
	else
		all = gpusort_entry_sort_put(sorted->sort, values, isnull, tid);
	MemoryContextReset(context);
	return all;
}

static bool
collect_row(SortedEntries *sorted, HeapTuple row)
{
	LoadEntries *entries = sorted->entries;
	Datum		values[INDEX_MAX_KEYS];
	bool		isnull[INDEX_MAX_KEYS];

	store_row(entries, row);
	FormIndexDatum(sorted->index.info, entries->slot, entries->estate, values, isnull);
	if (may_be_long(sorted, values, isnull))
		return put_long(sorted, values, isnull, &row->t_self);
	return gpusort_entry_sort_put(sorted->sort, values, isnull, &row->t_self);
}

/* Puts the entries of all rows into the sort; returns false if the sort can't take all of them. */
static bool
collect(SortedEntries *sorted)
{
	const LoadEntries *entries = sorted->entries;
	GpuSortOwnRows rows;
	HeapTupleData row;
	bool		all = true;

	begin_rows(entries, &rows);
	while (all && gpusort_table_own_rows_next(&rows, &row))
	{
		/* nothing has to be known of the rows behind one that was refused */
		if (!gpusort_refusal_row_matters(&entries->refusal, &row.t_self, sorted->index.number))
			break;
		all = collect_row(sorted, &row);
	}
	ExecClearTuple(entries->slot);
	gpusort_table_own_rows_end(&rows);
	return all;
}

/*
 * Inserts an entry.  The first one that may be refused is tried at once: if it has to wait for
 * another session, that session must not wait for one of our entries meanwhile.
 */
static void
insert_entry(SortedEntries *sorted, IndexTuple entry)
{
	LoadEntries *entries = sorted->entries;
	GpuSortRefusal *refusal = &entries->refusal;
	Relation	index = sorted->index.relation;
	bool		is_unique = index->rd_index->indisunique;
	Datum		values[INDEX_MAX_KEYS];
	bool		isnull[INDEX_MAX_KEYS];

	if (!gpusort_refusal_row_matters(refusal, &entry->t_tid, sorted->index.number) ||
		_bt_doinsert(index, entry, is_unique ? UNIQUE_CHECK_PARTIAL : UNIQUE_CHECK_NO, false,
					 entries->filled.table) || !is_unique)
		return;
	if (refusal->error != NULL)
	{
		gpusort_refusal_suspect(refusal, &entry->t_tid);
		return;
	}
	index_deform_tuple(entry, RelationGetDescr(index), values, isnull);
	try_entry(sorted, values, isnull, &entry->t_tid, GPUSORT_ENTRY_THERE);
}

static void
insert_all(SortedEntries *sorted)
{
	LoadEntries *entries = sorted->entries;
	void	   *block[ENTRIES_FETCHED];
	int			count;

	while ((count = gpusort_entry_sort_next(sorted->sort, block, ENTRIES_FETCHED)) > 0)
	{
		MemoryContext old = MemoryContextSwitchTo(entries->entry_context);

		CHECK_FOR_INTERRUPTS();
		for (int i = 0; i < count; i++)
			insert_entry(sorted, block[i]);
		MemoryContextSwitchTo(old);
		MemoryContextReset(entries->entry_context);
	}
}

/* Tries the entry of a row that is known by its TID. */
static void
try_suspect(SortedEntries *sorted, ItemPointer tid)
{
	LoadEntries *entries = sorted->entries;
	Datum		values[INDEX_MAX_KEYS];
	bool		isnull[INDEX_MAX_KEYS];
	GpuSortOwnRows rows;
	HeapTupleData row;

	gpusort_table_own_rows_begin(&rows, entries->filled.table, &entries->state->task->owner,
								 ItemPointerGetBlockNumber(tid));
	do
	{
		if (!gpusort_table_own_rows_next(&rows, &row))
			elog(ERROR, "a row that was loaded is not in table \"%s\"", RelationGetRelationName(entries->filled.table));
	} while (!ItemPointerEquals(&row.t_self, tid));
	store_row(entries, &row);
	FormIndexDatum(sorted->index.info, entries->slot, entries->estate, values, isnull);
	try_entry(sorted, values, isnull, tid, GPUSORT_ENTRY_THERE);
	ExecClearTuple(entries->slot);
	gpusort_table_own_rows_end(&rows);
	MemoryContextReset(entries->entry_context);
}

/*
 * Tries the rows that may be refused, from the first one on, until one is refused.  If there were
 * more of them than could be kept, and all that were kept are accepted, because the rows of other
 * sessions with the same keys have been rolled back, then the error that is raised may be that of a
 * row behind the first one to be refused.
 */
static void
try_suspects(SortedEntries *sorted)
{
	GpuSortRefusal *refusal = &sorted->entries->refusal;

	for (int i = 0; i < refusal->nsuspects; i++)
	{
		if (!gpusort_refusal_row_matters(refusal, &refusal->suspects[i], sorted->index.number))
			break;
		try_suspect(sorted, &refusal->suspects[i]);
	}
	refusal->nsuspects = 0;
}

/*
 * Collects and sorts the entries.  Returns false if the sort can't take all of them; none of them
 * is in the index then.
 */
static bool
collect_and_sort(SortedEntries *sorted)
{
	sorted->sort = gpusort_entry_sort_begin(sorted->entries->filled.table, sorted->index.relation,
											sorted->entries->filled.rows, sorted->careful);
	if (collect(sorted) && gpusort_entry_sort_perform(sorted->sort))
		return true;
	gpusort_entry_sort_end(sorted->sort);
	return false;
}

static void
put_sorted(LoadEntries *entries, const GpuSortRefusingIndex *index)
{
	SortedEntries sorted = {.entries = entries,.index = *index};
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "gpusort COPY index", ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);

	note_lengths(&sorted);
	ItemPointerSetInvalid(&sorted.last_long);
	if (!collect_and_sort(&sorted))
	{
		sorted.careful = true;
		(void) collect_and_sort(&sorted);
	}
	insert_all(&sorted);
	gpusort_entry_sort_end(sorted.sort);
	try_suspects(&sorted);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
}

/* ---------- other indexes, row by row ---------- */

static void
put_entry(LoadEntries *entries, const GpuSortRefusingIndex *index, ItemPointer tid)
{
	IndexInfo  *info = index->info;
	ExprContext *context = GetPerTupleExprContext(entries->estate);
	Datum		values[INDEX_MAX_KEYS];
	bool		isnull[INDEX_MAX_KEYS];

	if (info->ii_Predicate != NIL && !ExecQual(info->ii_PredicateState, context))
		return;
	FormIndexDatum(info, entries->slot, entries->estate, values, isnull);
	index_insert(index->relation, values, isnull, tid, entries->filled.table,
				 index->relation->rd_index->indisunique ? UNIQUE_CHECK_YES : UNIQUE_CHECK_NO, false,
				 info);
}

static void
put_row(LoadEntries *entries, HeapTuple row)
{
	MemoryContext old = MemoryContextSwitchTo(GetPerTupleMemoryContext(entries->estate));

	store_row(entries, row);
	for (int i = 0; i < entries->target->ri_NumIndices; i++)
	{
		GpuSortRefusingIndex index = get_index(entries, i);

		if (index.info->ii_ReadyForInserts && !is_sorted(&index) &&
			gpusort_refusal_row_matters(&entries->refusal, &row->t_self, i))
			put_entry(entries, &index, &row->t_self);
	}
	MemoryContextSwitchTo(old);
	ResetPerTupleExprContext(entries->estate);
}

/*
 * Inserts entries into the other indexes.  Stops at a row that was refused, after giving that row
 * its entries in the indexes in front of the one that has refused it.
 */
static void
put_others(LoadEntries *entries)
{
	const GpuSortLoadState *state = entries->state;
	GpuSortOwnRows rows;
	HeapTupleData row;
	uint64		line = 0;

	GetPerTupleExprContext(entries->estate)->ecxt_scantuple = entries->slot;
	state->copy->cur_lineno = state->first_line;
	begin_rows(entries, &rows);
	while (gpusort_table_own_rows_next(&rows, &row))
	{
		if (!gpusort_refusal_row_matters(&entries->refusal, &row.t_self, 0))
			break;
		state->copy->cur_lineno += gpusort_lines_to_row(&state->lines, &line);
		put_row(entries, &row);
	}
	ExecClearTuple(entries->slot);
	gpusort_table_own_rows_end(&rows);
}

/* ---------- all indexes of a table ---------- */

/*
 * Inserts entries into all indexes that get them in the order of keys.  Returns how many other
 * indexes there are.
 */
static int
put_all_sorted(LoadEntries *entries)
{
	int			others = 0;

	for (int i = 0; i < entries->target->ri_NumIndices; i++)
	{
		GpuSortRefusingIndex index = get_index(entries, i);

		if (!index.info->ii_ReadyForInserts)
			continue;
		if (is_sorted(&index))
			put_sorted(entries, &index);
		else if (index.info->ii_Predicate != NIL)
			index.info->ii_PredicateState =
				ExecPrepareQual(index.info->ii_Predicate, entries->estate);
		others += !is_sorted(&index);
	}
	return others;
}

/*
 * Opens the indexes of a table.  What is kept of a row that is refused lives as long as the
 * caller's memory context.
 */
static void
begin_entries(LoadEntries *entries, const GpuSortLoadState *state, const GpuSortFilledTable *filled)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "gpusort COPY indexes", ALLOCSET_DEFAULT_SIZES);

	entries->state = state;
	entries->filled = *filled;
	entries->refusal = (GpuSortRefusal) {
		.state = state,.filled = &entries->filled,.context = CurrentMemoryContext
	};
	entries->outer = MemoryContextSwitchTo(context);
	entries->estate = CreateExecutorState();
	entries->target = makeNode(ResultRelInfo);
	entries->entry_context = AllocSetContextCreate(context, "gpusort COPY index entries", ALLOCSET_DEFAULT_SIZES);
	entries->slot = MakeSingleTupleTableSlot(RelationGetDescr(filled->table), &TTSOpsHeapTuple);
	InitResultRelInfo(entries->target, filled->table, 1, NULL, 0);
	ExecOpenIndices(entries->target, false);
}

static void
end_entries(LoadEntries *entries)
{
	MemoryContext context = MemoryContextSwitchTo(entries->outer);

	ExecCloseIndices(entries->target);
	ExecDropSingleTupleTableSlot(entries->slot);
	FreeExecutorState(entries->estate);
	MemoryContextDelete(context);
}

void
gpusort_load_put_entries(const GpuSortLoadState *state)
{
	GpuSortFilledTable filled = {
		.table = state->statement->table,
		.first_block = state->first_block,
		.rows = state->counts.rows
	};
	LoadEntries entries = {0};
	int			others;

	if (state->counts.rows == 0)
		return;
	begin_entries(&entries, state, &filled);
	others = put_all_sorted(&entries);
	if (others > 0)
		put_others(&entries);
	ereport(DEBUG1,
			(errmsg_internal("gpusort inserted into %d indexes in the order of their keys, and into %d row by row; %d rows might have been refused",
							 entries.target->ri_NumIndices - others, others,
							 entries.refusal.tried)));
	gpusort_refusal_raise(&entries.refusal);
	end_entries(&entries);
}

bool
gpusort_load_put_leaf_entries(const GpuSortLoadState *state, GpuSortLeafNumber number,
							  GpuSortRefusedRow *first)
{
	const GpuSortLoadLeaf *leaf = &state->leaves.leaves[number - 1];
	GpuSortFilledTable filled = {
		.leaf = number,
		.first_block = leaf->first_block,
		.rows = state->lines.order.rows[number]
	};
	LoadEntries entries = {0};
	int			others;

	filled.table = table_open(leaf->table, NoLock);
	begin_entries(&entries, state, &filled);
	others = put_all_sorted(&entries);
	gpusort_refusal_keep_first(&entries.refusal, first);
	end_entries(&entries);
	table_close(filled.table, NoLock);
	return others > 0;
}
