/*
 * sort_put.c
 *		Putting rows: the tuple goes into the row store, its keys into the planes; see sort.h.
 *
 * What is done for a row: one copy of the tuple, one deforming of the attributes up to the last
 * sort column, one call of a codec for each sort column, one word written to each plane.  Nothing
 * is palloc'd unless a key has to be detoasted.  Tuples that come straight from a page
 * (sort_input.c) are not deformed at all if the sort columns lie at the same places in every tuple.
 * If a row is put together in the row store, its keys are looked up there.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/tupmacs.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/tuplesort.h"

#include "pg_compat.h"
#include "settings.h"
#include "sort/keys_private.h"
#include "sort/memory_private.h"
#include "sort/order_private.h"
#include "sort/rows_private.h"
#include "sort/service_private.h"
#include "sort/sort.h"
#include "sort/spill_private.h"
#include "sort/state_private.h"

#define FAULT_ROW		100

/* Encodes the sort columns from a slot that holds the row's values. */
static bool
put_slot_keys(GpuSort *sort, TupleTableSlot *slot, const GpuSortStoredRow *row, uint32 id)
{
	slot_getsomeattrs(slot, sort->keys.max_attno);
	for (int i = 0; i < sort->keys.ncolumns; i++)
	{
		GpuSortColumn *column = &sort->keys.columns[i];
		int			att = column->attno - 1;

		if (!gpusort_put_key(sort, column, id, slot->tts_values[att], slot->tts_isnull[att], row))
			return false;
	}
	return true;
}

/*
 * Encodes the sort columns, which are the first attributes of an index tuple.  They are read from
 * the tuple if it is the source of its row, else from values[].
 */
static bool
put_index_keys(GpuSort *sort, const Datum *values, const bool *isnull,
			   const GpuSortStoredRow *row, uint32 id)
{
	IndexTuple	tuple = (IndexTuple) row->source;

	for (int i = 0; i < sort->keys.ncolumns; i++)
	{
		bool		is_null;
		Datum		value;

		if (tuple != NULL)
			value = index_getattr(tuple, i + 1, sort->desc, &is_null);
		else
		{
			value = values[i];
			is_null = isnull[i];
		}
		if (!gpusort_put_key(sort, &sort->keys.columns[i], id, value, is_null, row))
			return false;
	}
	return true;
}

/* Encodes the sort columns from where they lie in a tuple without nulls. */
static pg_always_inline bool
put_fixed_keys(GpuSort *sort, HeapTupleHeader tuple, const GpuSortStoredRow *row, uint32 id)
{
	const char *data = (const char *) tuple + tuple->t_hoff;

	for (int i = 0; i < sort->keys.ncolumns; i++)
	{
		GpuSortColumn *column = &sort->keys.columns[i];
		int			offset = column->fixed_offset;

		if (column->attlen == -1)
			offset = att_align_pointer(offset, column->attalign, -1, data + offset);
		if (!gpusort_put_stored_key(sort, column, id, data + offset, row))
			return false;
	}
	return true;
}

/* Encodes the sort columns from where their values were found; NULL stands for a null. */
static pg_always_inline bool
put_found_keys(GpuSort *sort, const char *const *found, uint32 id)
{
	for (int i = 0; i < sort->keys.ncolumns; i++)
	{
		GpuSortColumn *column = &sort->keys.columns[i];
		const char *value = found[column->attno - 1];

		if (!(value == NULL ? gpusort_put_key(sort, column, id, (Datum) 0, true, NULL) :
			  gpusort_put_stored_key(sort, column, id, value, NULL)))
			return false;
	}
	return true;
}

/* Encodes the sort columns from their offsets in the stored row; 0 stands for a null. */
static pg_always_inline bool
put_placed_keys(GpuSort *sort, const uint32 *offsets, const GpuSortStoredRow *row, uint32 id)
{
	for (int i = 0; i < sort->keys.ncolumns; i++)
	{
		GpuSortColumn *column = &sort->keys.columns[i];
		uint32		offset = offsets[column->attno - 1];

		if (!(offset == 0 ? gpusort_put_key(sort, column, id, (Datum) 0, true, row) :
			  gpusort_put_stored_key(sort, column, id, row->copy + offset, row)))
			return false;
	}
	return true;
}

/*
 * Makes room for more rows in the planes.  Lets gpusortd have the rows that are there, unless they
 * may yet be trimmed.
 */
static pg_noinline bool
enlarge_planes(GpuSort *sort)
{
	if (!sort->parts.is_part && sort->bound.trim_at == 0)
		gpusort_sort_service_feed(sort);
	return gpusort_grow_planes(sort);
}

static bool trim_rows(GpuSort *sort);

/* Makes room in the planes, which are full, for one more row at least. */
static pg_noinline bool
make_room(GpuSort *sort)
{
	if (gpusort_should_trim(sort) && !trim_rows(sort))
		return false;
	return sort->rows.count < sort->memory.capacity || enlarge_planes(sort);
}

/* Makes sure that one more row fits into the planes.  Returns false if it does not. */
static inline bool
begin_row(GpuSort *sort)
{
	if (unlikely(sort->rows.count == sort->memory.capacity) && !make_room(sort))
		return false;
	if (unlikely(gpusort_inject_fault == GPUSORT_FAULT_CODEC && sort->rows.count >= FAULT_ROW))
	{
		sort->keys.value_refused = true;
		return false;
	}
	return !unlikely(gpusort_inject_fault == GPUSORT_FAULT_MEMORY && sort->key_rows.used &&
					 sort->rows.count >= FAULT_ROW);
}

/* Notes where the next row lies. */
static inline void
put_row_ref(GpuSort *sort, uint32 id, size_t offset)
{
	sort->rows.places.refs[id] = (uint32) (offset >> sort->rows.shift);
	if (unlikely(id == 1))
		sort->rows.places.stride = offset;
	sort->rows.places.uniform &= offset == id * sort->rows.places.stride;
}

/* Where the values of a row are to be found, in one of these five ways. */
typedef struct RowValues
{
	TupleTableSlot *slot;
	HeapTupleHeader tuple;		/* a tuple that has them at fixed places */
	const uint32 *offsets;		/* where they lie in the stored row, by attribute; 0: null */
	/* where they lie, by attribute, of a row that is not stored; NULL: null */
	const char *const *found;
	const Datum *values;		/* attributes of an index tuple */
	const bool *isnull;
} RowValues;

/*
 * Undoes what keys of row `id` have left behind, because the row is dropped or a key could not be
 * made.
 */
static pg_noinline void
forget_row(GpuSort *sort, uint32 id, size_t rows_used_before)
{
	for (int i = 0; i < sort->keys.ncolumns; i++)
	{
		GpuSortColumn *column = &sort->keys.columns[i];

		if (column->nulls != NULL)
			RANGE_U64(column->nulls)[id >> 6] &= ~(UINT64CONST(1) << (id & 63));
		if (KEY_REF_OFFSET(column->facts.common_ref) >= rows_used_before)
			column->facts.common_ref = 0;
	}
	sort->rows.used = rows_used_before;
}

/*
 * Encodes the keys of the stored row behind the last, and counts the row in, or drops it.  Returns
 * false, with no trace left of the row, if a key can't be made.  Callers know how values are found,
 * so each has code for that way only.
 */
static pg_always_inline bool
finish_row(GpuSort *sort, const RowValues *values, const GpuSortStoredRow *row,
		   size_t rows_used_before)
{
	uint32		id = (uint32) sort->rows.count;
	MemoryContext old = CurrentMemoryContext;
	bool		stored;

	if (!sort->key_rows.used)
		put_row_ref(sort, id, row->offset);
	if (sort->keys.any_bytes)
		old = MemoryContextSwitchTo(sort->scratch);
	if (values->slot != NULL)
		stored = put_slot_keys(sort, values->slot, row, id);
	else if (values->tuple != NULL)
		stored = put_fixed_keys(sort, values->tuple, row, id);
	else if (values->found != NULL)
		stored = put_found_keys(sort, values->found, id);
	else if (values->offsets != NULL)
		stored = put_placed_keys(sort, values->offsets, row, id);
	else
		stored = put_index_keys(sort, values->values, values->isnull, row, id);
	if (sort->keys.any_bytes)
	{
		MemoryContextSwitchTo(old);
		MemoryContextReset(sort->scratch);
		stored = stored && gpusort_encoders_fit(sort);
	}
	if (unlikely(!stored))
	{
		forget_row(sort, id, rows_used_before);
		return false;
	}
	if (sort->bound.trimmed && gpusort_is_beyond_bound(sort, id))
	{
		forget_row(sort, id, rows_used_before);
		sort->stats.dropped_rows++;
		return true;
	}
	sort->rows.count++;
	return true;
}

/* Tells in *values where the values of a tuple are. */
static void
look_into_tuple(GpuSort *sort, MinimalTuple tuple, RowValues *values)
{
	*values = (RowValues) {0};
	if (sort->keys.fixed && (tuple->t_infomask & HEAP_HASNULL) == 0 &&
		HeapTupleHeaderGetNatts(tuple) >= sort->keys.max_attno)
		values->tuple = (HeapTupleHeader) ((char *) tuple - MINIMAL_TUPLE_OFFSET);
	else
	{
		values->slot = gpusort_row_slot(sort);
		ExecStoreMinimalTuple(tuple, values->slot, false);
	}
}

/*
 * Tells in *values where the values of a row are that was made of a slot's: in the stored row,
 * where they will stay.
 */
static void
look_into_stored_row(GpuSort *sort, GpuSortStoredRow *row, RowValues *values)
{
	MinimalTuple tuple = (MinimalTuple) (sort->rows.places.base + row->offset);

	stored_row_is_source(&sort->rows, row, tuple->t_len);
	look_into_tuple(sort, tuple, values);
}

/*
 * Trims the rows to those that are wanted.  Returns false if a key could not be made again.  Then
 * the rows, which have no keys any more, were handed over.
 */
static bool
trim_rows(GpuSort *sort)
{
	bool		encoded = true;
	GpuSortTrim trim;
	GpuSortStoredRow row;

	gpusort_begin_trim(sort, &trim);
	while (gpusort_move_kept_row(sort, &trim, &row))
	{
		RowValues	values;

		look_into_stored_row(sort, &row, &values);
		if (encoded && finish_row(sort, &values, &row, sort->rows.used))
			continue;
		encoded = false;
		put_row_ref(sort, (uint32) sort->rows.count++, row.offset);
	}
	gpusort_end_trim(sort, &trim);
	if (encoded)
		return true;
	if (sort->parts.is_part)
		elog(ERROR, "gpusort: a key could not be made again");
	gpusort_hand_over(sort, gpusort_handover_cause(&sort->keys));
	return false;
}

/* Takes a row in.  Returns false if it did not fit, and then has left no trace of it. */
static bool
store_slot(GpuSort *sort, TupleTableSlot *slot)
{
	size_t		rows_used = sort->rows.used;
	RowValues	values = {.slot = slot};
	GpuSortStoredRow row;

	if (sort->bound.trimmed && gpusort_slot_is_beyond_bound(sort, slot))
	{
		sort->stats.dropped_rows++;
		return true;
	}
	if (!begin_row(sort) ||
		(!sort->key_rows.used && !gpusort_row_store_put(sort, slot, &row)))
		return false;
	if (sort->keys.any_bytes && row.source == NULL)
		look_into_stored_row(sort, &row, &values);
	return finish_row(sort, &values, &row, rows_used);
}

/* Does the same, and if there is no room, trims the rows first if that may help. */
static inline bool
take_slot(GpuSort *sort, TupleTableSlot *slot)
{
	return likely(store_slot(sort, slot)) ||
		(!sort->keys.value_refused && gpusort_may_trim(sort) && trim_rows(sort) &&
		 store_slot(sort, slot));
}

/*
 * Takes in a row that found no room, after spilling the rows that are there.  If that fails, hands
 * the sort over and returns false.
 */
static pg_noinline bool
take_refused_slot(GpuSort *sort, TupleTableSlot *slot)
{
	GpuSortHandover why;

	/* trimming may have handed over already */
	if (sort->tuplesort != NULL)
		return false;
	why = gpusort_make_room(sort);
	if (why == GPUSORT_HANDOVER_NONE)
	{
		if (take_slot(sort, slot))
			return true;
		why = gpusort_handover_cause(&sort->keys);
	}
	if (sort->tuplesort == NULL)
		gpusort_hand_over(sort, why);
	return false;
}

void
gpusort_put_slot(GpuSort *sort, TupleTableSlot *slot)
{
	Assert(!sort->order.performed);

	sort->stats.rows++;
	if (sort->tuplesort != NULL ||
		(!take_slot(sort, slot) && !take_refused_slot(sort, slot)))
		tuplesort_puttupleslot(sort->tuplesort, slot);
}

bool
gpusort_put_part_slot(GpuSort *part, TupleTableSlot *slot)
{
	if (unlikely(!take_slot(part, slot)) &&
		(gpusort_make_room(part) != GPUSORT_HANDOVER_NONE || !take_slot(part, slot)))
		return false;
	part->stats.rows++;
	return true;
}

/* Counts a row in, or notes why it could not be taken in. */
static inline bool
count_optional_row(GpuSort *sort, GpuSortHandover why)
{
	if (likely(why == GPUSORT_HANDOVER_NONE))
		sort->stats.rows++;
	else
		sort->stats.handover = why;
	return why == GPUSORT_HANDOVER_NONE;
}

bool
gpusort_put_optional_slot(GpuSort *sort, TupleTableSlot *slot)
{
	GpuSortHandover why = GPUSORT_HANDOVER_NONE;

	if (unlikely(!take_slot(sort, slot)))
	{
		why = gpusort_make_room(sort);
		if (why == GPUSORT_HANDOVER_NONE && !take_slot(sort, slot))
			why = gpusort_handover_cause(&sort->keys);
	}
	return count_optional_row(sort, why);
}

/*
 * Drops a tuple on a page if it is beyond the bound.  Returns false if that can't be told here.
 * is_row: the tuple as it lies is a row of the sort.
 */
static pg_always_inline bool
drop_heap_tuple(GpuSort *sort, HeapTuple tuple, bool is_row)
{
	bool		by_word;

	if (!sort->bound.trimmed || sort->tuplesort != NULL)
		return false;
	by_word = gpusort_word_is_beyond_bound(sort, tuple->t_data);
	if (!by_word && !(is_row && gpusort_tuple_is_beyond_bound(sort, tuple)))
		return false;
	sort->stats.rows++;
	sort->stats.dropped_rows++;
	return true;
}

bool
gpusort_put_heap_tuple(GpuSort *sort, HeapTuple tuple)
{
	size_t		rows_used = sort->rows.used;
	GpuSortStoredRow row;

	if (drop_heap_tuple(sort, tuple, true))
		return true;
	if (!sort->keys.fixed || HeapTupleHasNulls(tuple) ||
		HeapTupleHeaderGetNatts(tuple->t_data) < sort->keys.max_attno ||
		sort->tuplesort != NULL)
		return false;
	if (!begin_row(sort) ||
		(!sort->key_rows.used && !gpusort_row_store_put_tuple(sort, tuple, &row)) ||
		!finish_row(sort, &(RowValues) {.tuple = tuple->t_data}, &row, rows_used))
		return false;
	sort->stats.rows++;
	return true;
}

void
gpusort_sort_select_tuples(GpuSort *sort)
{
	gpusort_row_store_select_none(sort);
	gpusort_place_bound(sort);
	gpusort_place_page_keys(sort);
}

bool
gpusort_sort_select_columns(GpuSort *sort, const GpuSortRowColumns *columns)
{
	if (!gpusort_row_store_select(sort, columns))
		return false;
	gpusort_place_bound(sort);
	gpusort_place_page_keys(sort);
	return true;
}

/* Takes in the keys of a tuple.  The row will be made of them. */
static bool
put_heap_keys(GpuSort *sort, HeapTuple tuple)
{
	const char *found[GPUSORT_KEY_ROW_COLUMNS];

	if (!begin_row(sort) || !gpusort_row_store_find_columns(sort, tuple, found) ||
		!finish_row(sort, &(RowValues) {.found = found}, NULL, sort->rows.used))
		return false;
	sort->stats.rows++;
	return true;
}

bool
gpusort_put_heap_columns(GpuSort *sort, HeapTuple tuple)
{
	size_t		rows_used = sort->rows.used;
	RowValues	values = {0};
	GpuSortStoredRow row;

	if (drop_heap_tuple(sort, tuple, false))
		return true;
	if (sort->key_rows.used && sort->tuplesort == NULL)
		return put_heap_keys(sort, tuple);
	if (sort->tuplesort != NULL || !begin_row(sort) ||
		!gpusort_row_store_put_columns(sort, tuple, &row, &values.offsets) ||
		!finish_row(sort, &values, &row, rows_used))
		return false;
	sort->stats.rows++;
	return true;
}

/* Notes what a stored tuple of an index tells about all of them. */
static inline void
note_index_row(GpuSort *sort, IndexTuple tuple)
{
	uint64		word = tid_word(&tuple->t_tid);

	sort->index.any_dead |= gpusort_tuple_is_dead(tuple);
	sort->index.other_lengths |= IndexTupleSize(tuple) != sort->rows.template.length;
	sort->index.tids_ordered &= word >= sort->index.last_tid;
	sort->index.last_tid = word;
}

/*
 * Forms an index tuple in the row store.  Returns false if it did not fit, and then has left no
 * trace of it.
 */
static bool
take_index_values(GpuSort *sort, const Datum *values, const bool *isnull, ItemPointer tid,
				  bool alive)
{
	size_t		rows_used = sort->rows.used;
	GpuSortStoredRow row;
	IndexTuple	tuple;

	if (!begin_row(sort) ||
		!gpusort_row_store_put_index(sort, values, isnull, tid, &row) ||
		!finish_row(sort, &(RowValues) {.values = values, .isnull = isnull}, &row, rows_used))
		return false;
	tuple = (IndexTuple) (sort->rows.places.base + row.offset);
	if (unlikely(!alive))
		gpusort_mark_dead(tuple);
	note_index_row(sort, tuple);
	return true;
}

/* Does the same for an index tuple that is formed already. */
static bool
take_index_tuple(GpuSort *sort, IndexTuple tuple)
{
	size_t		rows_used = sort->rows.used;
	Size		size = IndexTupleSize(tuple);
	GpuSortStoredRow row;

	if (!begin_row(sort) || !gpusort_row_store_reserve(sort, size, &row.offset))
		return false;
	memcpy(sort->rows.places.base + row.offset, tuple, size);
	stored_row_is_source(&sort->rows, &row, size);
	if (!finish_row(sort, &(RowValues) {0}, &row, rows_used))
		return false;
	note_index_row(sort, tuple);
	return true;
}

bool
gpusort_put_index_values(GpuSort *sort, const Datum *values, const bool *isnull,
						 ItemPointer tid, bool alive)
{
	GpuSortHandover why = GPUSORT_HANDOVER_NONE;

	if (unlikely(!take_index_values(sort, values, isnull, tid, alive)))
	{
		why = gpusort_make_room(sort);
		if (why == GPUSORT_HANDOVER_NONE && !take_index_values(sort, values, isnull, tid, alive))
			why = gpusort_handover_cause(&sort->keys);
	}
	return count_optional_row(sort, why);
}

bool
gpusort_put_index_tuple(GpuSort *sort, IndexTuple tuple)
{
	GpuSortHandover why = GPUSORT_HANDOVER_NONE;

	if (unlikely(!take_index_tuple(sort, tuple)))
	{
		why = gpusort_make_room(sort);
		if (why == GPUSORT_HANDOVER_NONE && !take_index_tuple(sort, tuple))
			why = gpusort_handover_cause(&sort->keys);
	}
	return count_optional_row(sort, why);
}

bool
gpusort_put_stored_tuple(GpuSort *sort, const void *tuple)
{
	size_t		rows_used = sort->rows.used;
	GpuSortStoredRow row;
	RowValues	values;
	Size		size;

	if (sort->index_rows)
		return take_index_tuple(sort, (IndexTuple) tuple);
	if (sort->key_rows.used)
	{
		look_into_tuple(sort, (MinimalTuple) tuple, &values);
		return begin_row(sort) && finish_row(sort, &values, NULL, rows_used);
	}
	size = ((MinimalTuple) tuple)->t_len;
	if (!begin_row(sort) || !gpusort_row_store_reserve(sort, size, &row.offset))
		return false;
	memcpy(sort->rows.places.base + row.offset, tuple, size);
	look_into_stored_row(sort, &row, &values);
	return finish_row(sort, &values, &row, rows_used);
}
