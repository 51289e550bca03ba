/*
 * load_order.c
 *		Which partition each row of an input went to; see load_order.h.
 */
#include "postgres.h"

#include "load/load_order.h"
#include "settings.h"

/* The leaves of this many rows are kept in memory; in tests, of fewer rows. */
#define MEMORY_ROWS		((uint64) (gpusort_force ? 20000 : 2 * 1024 * 1024))

/* The leaves of this many rows are read from the file at a time. */
#define BUFFER_ROWS		((uint64) 4096)

/* ---------- writing ---------- */

void
gpusort_order_grow(GpuSortLoadOrder *order, uint64 more)
{
	uint64		rows = order->kept + more;

	if (order->leaves == NULL)
	{
		order->room = Max(rows, 1024);
		order->leaves =
			MemoryContextAllocHuge(order->context, order->room * sizeof(GpuSortLeafNumber));
	}
	else if (rows > order->room)
	{
		order->room = 2 * rows;
		order->leaves = repalloc_huge(order->leaves, order->room * sizeof(GpuSortLeafNumber));
	}
}

/* Writes the rows in memory to the file. */
static void
file_rows(GpuSortLoadOrder *order)
{
	if (order->file == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(order->context);

		order->file = BufFileCreateTemp(false);
		MemoryContextSwitchTo(old);
	}
	BufFileWrite(order->file, order->leaves, order->kept * sizeof(GpuSortLeafNumber));
	order->filed += order->kept;
	order->kept = 0;
}

void
gpusort_order_join(GpuSortLoadOrder *order, const GpuSortLeafNumber *leaves, uint64 count)
{
	if (count == 0)
		return;
	if (order->kept > 0 && order->kept + count > MEMORY_ROWS)
		file_rows(order);
	gpusort_order_grow(order, count);
	memcpy(order->leaves + order->kept, leaves, count * sizeof(GpuSortLeafNumber));
	order->kept += count;
	for (uint64 i = 0; order->rows != NULL && i < count; i++)
		order->rows[leaves[i]]++;
}

dsa_pointer
gpusort_order_leave(const GpuSortLoadOrder *order)
{
	Size		bytes = order->kept * sizeof(GpuSortLeafNumber);
	dsa_pointer left;

	if (bytes == 0)
		return InvalidDsaPointer;
	left = dsa_allocate(order->area, bytes);
	memcpy(dsa_get_address(order->area, left), order->leaves, bytes);
	return left;
}

void
gpusort_order_take(GpuSortLoadOrder *order, dsa_pointer left, uint64 count)
{
	if (left == InvalidDsaPointer)
		return;
	gpusort_order_join(order, dsa_get_address(order->area, left), count);
	dsa_free(order->area, left);
}

void
gpusort_order_clear(GpuSortLoadOrder *order)
{
	if (order->file != NULL)
		BufFileClose(order->file);
	order->file = NULL;
	order->filed = order->kept = 0;
}

/* ---------- reading ---------- */

void
gpusort_order_read(GpuSortOrderReader *reader, const GpuSortLoadOrder *order)
{
	*reader = (GpuSortOrderReader) {
		.order = order
	};
	if (order->file == NULL)
		return;
	reader->buffer = palloc(BUFFER_ROWS * sizeof(GpuSortLeafNumber));
	if (BufFileSeek(order->file, 0, 0, SEEK_SET) != 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not rewind a temporary file")));
}

static void
fill_buffer(GpuSortOrderReader *reader)
{
	const GpuSortLoadOrder *order = reader->order;
	Size		bytes;

	reader->begin = reader->next;
	reader->end = Min(reader->begin + BUFFER_ROWS, order->filed);
	bytes = (reader->end - reader->begin) * sizeof(GpuSortLeafNumber);
	if (BufFileRead(order->file, reader->buffer, bytes) != bytes)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not read a temporary file")));
}

GpuSortLeafNumber
gpusort_order_next(GpuSortOrderReader *reader)
{
	const GpuSortLoadOrder *order = reader->order;
	uint64		row = reader->next;

	Assert(row < order->filed + order->kept);
	if (row >= order->filed)
	{
		reader->next++;
		return order->leaves[row - order->filed];
	}
	if (row == reader->end)
		fill_buffer(reader);
	reader->next++;
	return reader->buffer[row - reader->begin];
}

void
gpusort_order_end(GpuSortOrderReader *reader)
{
	if (reader->buffer != NULL)
		pfree(reader->buffer);
}
