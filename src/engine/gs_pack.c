/*
 * gs_pack.c
 *		Reads the bits of a section out of the planes.
 *
 * There are two access patterns.  gs_pack_rows() reads consecutive rows, a block that stays in the
 * first-level cache at a time, piece by piece, so that every inner loop is a few instructions on
 * one plane.  gs_repack_items() reads the rows whose ids a run of tied items has, row by row, and
 * prefetches their words some rows ahead: the planes are larger than the caches, and a row's words
 * are nowhere near the next row's.
 */
#include "engine/gs_engine.h"
#include "engine/gs_layout.h"
#include "prefetch.h"

/* Words are prefetched so many items ahead of the one that is being read. */
#define PREFETCH_ITEMS		24

static inline uint64_t
row_is_null(const uint64_t *nulls, uint64_t row)
{
	return (nulls[row >> 6] >> (row & 63)) & 1;
}

/* Returns all ones for a row that is not null, else 0. */
static inline uint64_t
valid_mask(const uint64_t *nulls, uint64_t row)
{
	return row_is_null(nulls, row) - 1;
}

/* Returns the bits of a piece, from a word or from its number. */
static inline uint64_t
value_bits(const gs_piece *piece, uint64_t value)
{
	return ((value - piece->field->min) >> (piece->field->shift + piece->shift)) & piece->mask;
}

static inline uint64_t
word_bits(const gs_piece *piece, uint64_t word)
{
	const gs_numbering *numbering = piece->field->numbering;

	return value_bits(piece, numbering == NULL ? word : gs_number(numbering, word));
}

/*
 * Returns the words of rows or, if they are numbered, their numbers, which are written to `room`:
 * an array for GS_PACK_BLOCK_ROWS of them.
 */
static const uint64_t *
read_values(const gs_piece *piece, uint64_t first_row, unsigned count, uint64_t *room)
{
	const uint64_t *words = piece->field->words + first_row;
	const gs_numbering *numbering = piece->field->numbering;

	if (numbering == NULL)
		return words;
	for (unsigned i = 0; i < count; i++)
		room[i] = gs_number(numbering, words[i]);
	return room;
}

/* Makes room for `width` more bits, 1 .. 64, at the low end of a key. */
static inline uint64_t
shift_in(uint64_t key, unsigned width)
{
	return key << (width - 1) << 1;
}

static void
append_words(uint64_t *keys, const gs_piece *piece, uint64_t first_row, unsigned count)
{
	uint64_t	room[GS_PACK_BLOCK_ROWS];
	const uint64_t *values = read_values(piece, first_row, count, room);
	const uint64_t min = piece->field->min;
	const unsigned shift = piece->field->shift + piece->shift;
	const unsigned width = piece->width;
	const uint64_t mask = piece->mask;

	for (unsigned i = 0; i < count; i++)
		keys[i] = shift_in(keys[i], width) | (((values[i] - min) >> shift) & mask);
}

/* Does the same as append_words(), but a null row's bits are zeros. */
static void
append_nullable_words(uint64_t *keys, const gs_piece *piece, uint64_t first_row, unsigned count)
{
	const uint64_t *words = piece->field->words;
	const uint64_t *nulls = piece->field->nulls;

	for (unsigned i = 0; i < count; i += 64)
	{
		uint64_t	row = first_row + i;
		unsigned	group = count - i < 64 ? count - i : 64;
		uint64_t	bits = nulls[row >> 6];

		if (bits == 0)
		{
			append_words(keys + i, piece, row, group);
			continue;
		}
		for (unsigned j = 0; j < group; j++)
		{
			uint64_t	valid = ((bits >> j) & 1) - 1;

			keys[i + j] = shift_in(keys[i + j], piece->width) |
				(word_bits(piece, words[row + j]) & valid);
		}
	}
}

static void
append_null_flags(uint64_t *keys, const gs_piece *piece, uint64_t first_row, unsigned count)
{
	const uint64_t *nulls = piece->field->nulls;
	const uint64_t invert = piece->field->flag_invert;

	for (unsigned i = 0; i < count; i++)
		keys[i] = keys[i] << 1 | (row_is_null(nulls, first_row + i) ^ invert);
}

/* Makes items in the common case that all bits come from one plane without nulls: by one loop. */
static void
pack_words(uint64_t *items, const gs_piece *piece, unsigned id_bits, uint64_t first_row,
		   unsigned count)
{
	uint64_t	room[GS_PACK_BLOCK_ROWS];
	const uint64_t *values = read_values(piece, first_row, count, room);
	const uint64_t min = piece->field->min;
	const unsigned shift = piece->field->shift + piece->shift;
	const uint64_t mask = piece->mask;

	for (unsigned i = 0; i < count; i++)
		items[i] = (((values[i] - min) >> shift) & mask) << id_bits | (first_row + i);
}

static void
append_piece(uint64_t *keys, const gs_piece *piece, uint64_t first_row, unsigned count)
{
	if (piece->field->is_null_flag)
		append_null_flags(keys, piece, first_row, count);
	else if (!piece->field->nullable)
		append_words(keys, piece, first_row, count);
	else
		append_nullable_words(keys, piece, first_row, count);
}

/*
 * Packs the section of `count` rows, from first_row on, which is a multiple of 64.  There are at
 * most GS_PACK_BLOCK_ROWS, so that their keys stay in the cache from piece to piece.
 */
void
gs_pack_keys(uint64_t *keys, const gs_section *section, uint64_t first_row, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		keys[i] = 0;
	for (unsigned p = 0; p < section->npieces; p++)
		append_piece(keys, &section->pieces[p], first_row, count);
}

/* Does the same, but makes items: keys with the row ids in the low id_bits. */
void
gs_pack_rows(uint64_t *items, const gs_section *section, unsigned id_bits, uint64_t first_row,
			 unsigned count)
{
	const gs_piece *first = &section->pieces[0];

	if (section->npieces == 1 && !first->field->is_null_flag && !first->field->nullable)
	{
		pack_words(items, first, id_bits, first_row, count);
		return;
	}
	gs_pack_keys(items, section, first_row, count);
	for (unsigned i = 0; i < count; i++)
		items[i] = items[i] << id_bits | (first_row + i);
}

static inline uint64_t
piece_value(const gs_piece *piece, uint64_t row)
{
	const gs_field *field = piece->field;

	if (field->is_null_flag)
		return row_is_null(field->nulls, row) ^ field->flag_invert;
	if (!field->nullable)
		return word_bits(piece, field->words[row]);
	return word_bits(piece, field->words[row]) & valid_mask(field->nulls, row);
}

/* Returns the section of one row. */
uint64_t
gs_pack_row(const gs_section *section, uint64_t row)
{
	uint64_t	key = 0;

	for (unsigned p = 0; p < section->npieces; p++)
		key = shift_in(key, section->pieces[p].width) | piece_value(&section->pieces[p], row);
	return key;
}

/* Prefetches the words that a section of a row is read from. */
void
gs_prefetch_section(const gs_section *section, uint64_t row)
{
	for (unsigned p = 0; p < section->npieces; p++)
	{
		const gs_field *field = section->pieces[p].field;

		if (!field->is_null_flag)
			prefetch_line(field->words + row);
		if (field->nulls != NULL)
			prefetch_line(field->nulls + (row >> 6));
	}
}

/* Repacks items in the common case that all bits come from one plane without nulls. */
static void
repack_words(uint64_t *items, const gs_piece *piece, unsigned id_bits, uint64_t count)
{
	const uint64_t *words = piece->field->words;
	const uint64_t id_mask = gs_low_mask(id_bits);

	for (uint64_t i = 0; i < count; i++)
	{
		uint64_t	row = items[i] & id_mask;

		if (i + PREFETCH_ITEMS < count)
			prefetch_line(words + (items[i + PREFETCH_ITEMS] & id_mask));
		items[i] = word_bits(piece, words[row]) << id_bits | row;
	}
}

/* Gives items the bits of another section of the same rows. */
void
gs_repack_items(uint64_t *items, const gs_section *section, unsigned id_bits, uint64_t count)
{
	const gs_piece *first = &section->pieces[0];
	const uint64_t id_mask = gs_low_mask(id_bits);

	if (section->npieces == 1 && !first->field->is_null_flag && !first->field->nullable)
	{
		repack_words(items, first, id_bits, count);
		return;
	}
	for (uint64_t i = 0; i < count; i++)
	{
		uint64_t	row = items[i] & id_mask;

		if (i + PREFETCH_ITEMS < count)
			gs_prefetch_section(section, items[i + PREFETCH_ITEMS] & id_mask);
		items[i] = gs_pack_row(section, row) << id_bits | row;
	}
}
