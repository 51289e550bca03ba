/*
 * load_lines.c
 *		The lines of an input, and which of them end a row of the table; see load_lines.h.
 *
 * As long as each line is a row, only their number is kept.
 */
#include "postgres.h"

#include "load/load_lines.h"

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

/* ---------- records ---------- */

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

/* ---------- rows ---------- */

void
gpusort_lines_clear(GpuSortLoadLines *lines)
{
	if (lines->bits != NULL)
		pfree(lines->bits);
	lines->bits = NULL;
	lines->count = 0;
	gpusort_order_clear(&lines->order);
}

uint64
gpusort_lines_to_row(const GpuSortLoadLines *lines, uint64 *at)
{
	uint64		begin = *at;

	if (lines->bits != NULL)
	{
		while (*at + 1 < lines->count && !get_bit(lines->bits, *at))
			(*at)++;
	}
	(*at)++;
	return *at - begin;
}
