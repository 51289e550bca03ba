/*
 * load_lines.c
 *		The lines of an input, which of them end a row of the table, and which partition each row
 *		went to; see load_rows_private.h.
 */
#include "postgres.h"

#include "utils/guc.h"

#include "load/load_rows_private.h"
#include "settings.h"

/*
 * The leaves of this many rows are kept in memory; in tests, of fewer rows.  Where temporary files
 * are limited, all are: PostgreSQL's COPY needs no file, and so must not fail for one.
 */
#define MEMORY_ROWS		((uint64) (gpusort_force ? 20000 : 2 * 1024 * 1024))

/* The leaves of this many rows are read from the file at a time. */
#define BUFFER_ROWS		((uint64) 4096)

/* ---------- the order of rows: writing ---------- */

void
gpusort_load_order_grow(GpuSortLoadOrder *order, uint64 more)
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
gpusort_load_order_join(GpuSortLoadOrder *order, const GpuSortLeafNumber *leaves, uint64 count)
{
	if (count == 0)
		return;
	if (order->kept > 0 && order->kept + count > MEMORY_ROWS && temp_file_limit < 0)
		file_rows(order);
	gpusort_load_order_grow(order, count);
	memcpy(order->leaves + order->kept, leaves, count * sizeof(GpuSortLeafNumber));
	order->kept += count;
	for (uint64 i = 0; order->rows != NULL && i < count; i++)
		order->rows[leaves[i]]++;
}

dsa_pointer
gpusort_load_order_leave(const GpuSortLoadOrder *order)
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
gpusort_load_order_take(GpuSortLoadOrder *order, dsa_pointer left, uint64 count)
{
	if (left == InvalidDsaPointer)
		return;
	gpusort_load_order_join(order, dsa_get_address(order->area, left), count);
	dsa_free(order->area, left);
}

/* Forgets all rows. */
static void
gpusort_load_order_clear(GpuSortLoadOrder *order)
{
	if (order->file != NULL)
		BufFileClose(order->file);
	order->file = NULL;
	order->filed = order->kept = 0;
}

/* ---------- lines ---------- */

/*
 * As long as each line is a row, only their number is kept.
 */

static void
make_room(GpuSortLoadLines *lines, uint64 more)
{
	Size		bytes = GPUSORT_LINES_BYTES(lines->count + more);

	if (lines->bits == NULL)
	{
		lines->room = Max(2 * bytes, 1024);
		lines->bits = MemoryContextAllocHuge(lines->context, lines->room);
		memset(lines->bits, 0xFF, GPUSORT_LINES_BYTES(lines->count));
	}
	else if (bytes > lines->room)
	{
		lines->room = 2 * bytes;
		lines->bits = repalloc_huge(lines->bits, lines->room);
	}
}

static inline bool
get_bit(const uint8 *bits, uint64 at)
{
	return (bits[at / 8] >> (at % 8) & 1) != 0;
}

static inline void
append_bit(GpuSortLoadLines *lines, bool bit)
{
	uint8	   *byte = &lines->bits[lines->count / 8];
	uint8		mask = 1 << (lines->count % 8);

	*byte = bit ? *byte | mask : *byte & ~mask;
	lines->count++;
}

void
gpusort_lines_join(GpuSortLoadLines *lines, uint64 count, const uint8 *bits)
{
	if (lines->bits == NULL && bits == NULL)
	{
		lines->count += count;
		return;
	}
	make_room(lines, count);
	for (uint64 i = 0; i < count; i++)
		append_bit(lines, bits == NULL || get_bit(bits, i));
}

/* ---------- lines: records ---------- */

void
gpusort_lines_begin(GpuSortLoadLines *lines, size_t nrecords)
{
	if (nrecords > lines->max_records)
	{
		if (lines->left_out != NULL)
			pfree(lines->left_out);
		lines->left_out = MemoryContextAlloc(lines->context, nrecords * sizeof(bool));
		lines->max_records = nrecords;
	}
	if (nrecords > 0)
		memset(lines->left_out, 0, nrecords * sizeof(bool));
}

/* Appends the lines of a record. */
static void
add_record(GpuSortLoadLines *lines, uint64 count, bool is_row)
{
	make_room(lines, count);
	for (uint64 i = 1; i <= count; i++)
		append_bit(lines, is_row && i == count);
}

static uint64
count_lines(const gs_records *records, const gs_dialect *dialect, const char *data, size_t record)
{
	size_t		end = gs_record_end(records, record);
	uint64		lines = 1;

	for (size_t at = gs_record_begin(records, dialect, record); dialect->csv && at < end; at++)
		lines += data[at] == gs_line_byte(dialect);
	return lines;
}

void
gpusort_lines_note(GpuSortLoadLines *lines, const gs_records *records, const gs_dialect *dialect,
				   const char *data, size_t nrecords, uint64 count, bool some_left_out)
{
	if (!some_left_out && count == nrecords)
	{
		gpusort_lines_join(lines, count, NULL);
		return;
	}
	for (size_t i = 0; i < nrecords; i++)
		add_record(lines, count_lines(records, dialect, data, i),
				   !some_left_out || !lines->left_out[i]);
}

/* ---------- lines: rows ---------- */

void
gpusort_lines_clear(GpuSortLoadLines *lines)
{
	if (lines->bits != NULL)
		pfree(lines->bits);
	lines->bits = NULL;
	lines->count = 0;
	gpusort_load_order_clear(&lines->order);
}

/* ---------- reading ---------- */

void
gpusort_lines_read(GpuSortLineReader *reader, const GpuSortLoadLines *lines)
{
	*reader = (GpuSortLineReader) {
		.lines = lines
	};
	if (lines->order.file == NULL)
		return;
	reader->buffer = palloc(BUFFER_ROWS * sizeof(GpuSortLeafNumber));
	if (BufFileSeek(lines->order.file, 0, 0, SEEK_SET) != 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not rewind a temporary file")));
}

static void
fill_buffer(GpuSortLineReader *reader)
{
	const GpuSortLoadOrder *order = &reader->lines->order;
	Size		bytes;

	reader->begin = reader->row;
	reader->end = Min(reader->begin + BUFFER_ROWS, order->filed);
	bytes = (reader->end - reader->begin) * sizeof(GpuSortLeafNumber);
	if (BufFileRead(order->file, reader->buffer, bytes) != bytes)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not read a temporary file")));
}

/* Returns the leaf of the row that is read next. */
static GpuSortLeafNumber
get_leaf(GpuSortLineReader *reader)
{
	const GpuSortLoadOrder *order = &reader->lines->order;

	Assert(reader->row < order->filed + order->kept);
	if (reader->row >= order->filed)
		return order->leaves[reader->row - order->filed];
	if (reader->row == reader->end)
		fill_buffer(reader);
	return reader->buffer[reader->row - reader->begin];
}

GpuSortLeafNumber
gpusort_lines_next(GpuSortLineReader *reader)
{
	const GpuSortLoadLines *lines = reader->lines;
	GpuSortLeafNumber leaf = GPUSORT_ONLY_LEAF;

	while (lines->bits != NULL && reader->line + 1 < lines->count &&
		   !get_bit(lines->bits, reader->line))
		reader->line++;
	reader->line++;
	if (lines->order.rows != NULL)
		leaf = get_leaf(reader);
	reader->row++;
	return leaf;
}

void
gpusort_lines_read_end(GpuSortLineReader *reader)
{
	if (reader->buffer != NULL)
		pfree(reader->buffer);
}

uint64
gpusort_lines_of_row(const GpuSortLoadLines *lines, GpuSortLeafNumber leaf, uint64 place)
{
	GpuSortLineReader reader;

	gpusort_lines_read(&reader, lines);
	while (place > 0)
		place -= gpusort_lines_next(&reader) == leaf;
	gpusort_lines_read_end(&reader);
	return reader.line;
}
