/*
 * gs_simulated_rows.c
 *		How the simulated device copies rows into another order.
 */
#include <string.h>

#include "engine/simulated/gs_simulated_private.h"

static const uint64_t *
stored_word(const gs_stored_rows *rows, uint64_t offset)
{
	return rows->slabs[offset >> GS_SLAB_SHIFT] + (offset & (GS_SLAB_BYTES - 1)) / sizeof(uint64_t);
}

/*
 * Returns how many units a row with a length of its own takes; 0 if its id or reference leads
 * nowhere.
 */
static uint64_t
row_units(const gs_stored_rows *rows, uint32_t id)
{
	uint64_t	offset;
	uint64_t	length;

	if (id >= rows->nrows)
		return 0;
	offset = (uint64_t) rows->refs[id] * rows->unit;
	if (offset >= rows->bytes)
		return 0;
	length = gs_row_bytes(rows->length, *stored_word(rows, offset));
	if (length > rows->bytes - offset)
		length = rows->bytes - offset;
	return (length + rows->unit - 1) / rows->unit;
}

uint64_t
gs_simulated_place_rows(const gs_gather *gather)
{
	uint64_t	units = 0;

	for (uint64_t i = 0; i < gather->nrows; i++)
		gather->ends[i] = units += row_units(&gather->from, gather->ids[i]);
	return units;
}

/* Copies words that may lie in several slabs; those behind the last slab are left out. */
static void
copy_words(uint64_t *to, const gs_stored_rows *rows, uint64_t offset, uint64_t bytes)
{
	if (offset >= rows->bytes)
		return;
	if (bytes > rows->bytes - offset)
		bytes = rows->bytes - offset;
	while (bytes > 0)
	{
		uint64_t	count = GS_SLAB_BYTES - (offset & (GS_SLAB_BYTES - 1));

		count = count < bytes ? count : bytes;
		memcpy(to, stored_word(rows, offset), count);
		to += count / sizeof(uint64_t);
		offset += count;
		bytes -= count;
	}
}

void
gs_simulated_gather_rows(const gs_gather *gather)
{
	const gs_stored_rows *from = &gather->from;
	uint64_t	begin = 0;

	for (uint64_t i = 0; i < gather->nrows; i++)
	{
		uint32_t	id = gather->ids[i] < from->nrows ? gather->ids[i] : 0;

		if (from->stride > 0)
		{
			copy_words((uint64_t *) gather->rows + i * (from->stride / 8), from, id * from->stride,
					   from->stride);
			continue;
		}
		gather->refs[i] = gather->first_ref + (uint32_t) begin;
		copy_words((uint64_t *) gather->rows + begin * (from->unit / 8), from,
				   (uint64_t) from->refs[id] * from->unit, (gather->ends[i] - begin) * from->unit);
		begin = gather->ends[i];
	}
}
