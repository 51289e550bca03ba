/*
 * page_keys.c
 *		Putting the keys of all tuples on a page at once; see rows_private.h.
 */
#include "postgres.h"

#include "access/htup_details.h"

#include "sort/rows_private.h"
#include "sort/state_private.h"

void
gpusort_place_page_keys(GpuSort *sort)
{
	GpuSortKeyRows *key_rows = &sort->key_rows;
	AttrNumber	natts = 0;

	key_rows->page_natts = 0;
	if (!key_rows->used)
		return;
	for (int i = 0; i < sort->desc->natts; i++)
	{
		GpuSortKeyRowColumn *column = &key_rows->columns[i];
		AttrNumber	attno = column->column->attno;

		column->page_offset = column->column->fixed_offset;
		if (sort->rows.selection != NULL)
			attno = gpusort_row_store_selected(sort, attno, &column->page_offset);
		if (column->column->integer_bytes == 0 || column->page_offset < 0)
			return;
		natts = Max(natts, attno);
	}
	key_rows->page_natts = natts;
}

/*
 * Sets data[] to where the values of each tuple begin.  Stops at the first tuple with a null, or
 * with fewer than natts attributes, and returns the number of tuples before it.
 */
static int
find_data(Page page, const OffsetNumber *offsets, int count, AttrNumber natts, const char **data)
{
	for (int i = 0; i < count; i++)
	{
		HeapTupleHeader tuple = (HeapTupleHeader) PageGetItem(page,
															  PageGetItemId(page, offsets[i]));

		if ((tuple->t_infomask & HEAP_HASNULL) != 0 || HeapTupleHeaderGetNatts(tuple) < natts)
			return i;
		data[i] = (const char *) tuple + tuple->t_hoff;
	}
	return count;
}

/* Puts the words of one column for `count` rows, the first of which gets row id `id`. */
static void
put_words(const GpuSortKeyRowColumn *from, uint32 id, const char *const *data, int count)
{
	const GpuSortColumn *column = from->column;
	uint64	   *words = RANGE_U64(column->words[0]) + id;
	int			offset = from->page_offset;
	uint64		flip = column->flip;

	if (column->integer_bytes == sizeof(int64))
		for (int i = 0; i < count; i++)
			words[i] = word_from_int64(*(const int64 *) (data[i] + offset)) ^ flip;
	else
		for (int i = 0; i < count; i++)
			words[i] = word_from_int64(*(const int32 *) (data[i] + offset)) ^ flip;
}

/*
 * Clears those words of the column's bitmap of nulls that begin with one of `count` rows, from row
 * `id` on, none of which has nulls.
 */
static void
begin_null_words(const GpuSortColumn *column, uint32 id, int count)
{
	uint64		end = ((uint64) id + count + 63) / 64;

	if (column->nulls == NULL)
		return;
	for (uint64 i = ((uint64) id + 63) / 64; i < end; i++)
		RANGE_U64(column->nulls)[i] = 0;
}

int
gpusort_put_page_keys(GpuSort *sort, Page page, const OffsetNumber *offsets, int count)
{
	const GpuSortKeyRows *key_rows = &sort->key_rows;
	uint32		id = (uint32) sort->rows.count;
	const char *data[MaxHeapTuplesPerPage];

	if (key_rows->page_natts == 0 || !key_rows->used || sort->tuplesort != NULL ||
		gpusort_inject_fault == GPUSORT_FAULT_CODEC || gpusort_inject_fault == GPUSORT_FAULT_MEMORY)
		return 0;
	Assert(count <= MaxHeapTuplesPerPage);
	count = (int) Min((uint64) count, sort->memory.capacity - sort->rows.count);
	count = find_data(page, offsets, count, key_rows->page_natts, data);
	for (int i = 0; i < sort->desc->natts; i++)
	{
		put_words(&key_rows->columns[i], id, data, count);
		begin_null_words(key_rows->columns[i].column, id, count);
	}
	sort->rows.count += count;
	sort->stats.rows += count;
	return count;
}
