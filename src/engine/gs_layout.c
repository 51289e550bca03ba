/*
 * gs_layout.c
 *		Finds the bits that vary, and cuts them into sections.
 *
 * Each plane is read once, front to back, for four folds over the words of its
 * non-null rows: minimum, maximum, AND and OR.  The first two give the bits
 * that are left at the top after the minimum has been subtracted, the last two
 * the low bits on which all rows agree (whole numbers stored as float8 have
 * dozens).  Subtracting the minimum turns shared low bits into zeros, so they
 * can be shifted out without changing the order.
 *
 * Null rows take part in no fold, whatever their words contain.  The bitmap is
 * read a word at a time; 64 rows of which none is null run through the same
 * loop as a plane without a bitmap, and mixed words are folded without
 * branches, so random nulls cost no mispredictions.
 *
 * A plane of which every row is null, or no row, needs no null flag.  A plane
 * with one value needs no word bits.  What is left becomes fields.
 *
 * If a plane is numbered (gs_numbering.c), the numbers take the place of the words.
 */
#include "engine/gs_engine.h"
#include "engine/gs_layout.h"

static inline uint64_t
min_u64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static inline uint64_t
max_u64(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/*
 * Folds words that belong to non-null rows into stats.  Two independent chains of operations hide
 * the latency of compare and conditional move.
 */
static void
fold_words(gs_plane_stats *stats, const uint64_t *words, uint64_t count)
{
	gs_plane_stats a = *stats;
	gs_plane_stats b = *stats;
	uint64_t	i;

	for (i = 0; i + 2 <= count; i += 2)
	{
		a.min = min_u64(a.min, words[i]);
		a.max = max_u64(a.max, words[i]);
		a.all_and &= words[i];
		a.all_or |= words[i];
		b.min = min_u64(b.min, words[i + 1]);
		b.max = max_u64(b.max, words[i + 1]);
		b.all_and &= words[i + 1];
		b.all_or |= words[i + 1];
	}
	if (i < count)
	{
		a.min = min_u64(a.min, words[i]);
		a.max = max_u64(a.max, words[i]);
		a.all_and &= words[i];
		a.all_or |= words[i];
	}
	stats->min = min_u64(a.min, b.min);
	stats->max = max_u64(a.max, b.max);
	stats->all_and = a.all_and & b.all_and;
	stats->all_or = a.all_or | b.all_or;
}

/* Folds up to 64 words; bit i of nulls excludes words[i]. */
static void
fold_mixed_words(gs_plane_stats *stats, const uint64_t *words, uint64_t nulls,
				 unsigned count)
{
	gs_plane_stats a = *stats;

	for (unsigned i = 0; i < count; i++)
	{
		uint64_t	null_mask = -((nulls >> i) & 1);
		uint64_t	high = words[i] | null_mask;
		uint64_t	low = words[i] & ~null_mask;

		a.min = min_u64(a.min, high);
		a.max = max_u64(a.max, low);
		a.all_and &= high;
		a.all_or |= low;
	}
	*stats = a;
}

/* Folds rows [begin, end) of a plane; begin is a multiple of 64. */
void
gs_plane_stats_fold(gs_plane_stats *stats, const gs_plane *plane, uint64_t begin, uint64_t end)
{
	if (plane->nulls == NULL)
	{
		fold_words(stats, plane->words + begin, end - begin);
		return;
	}
	for (uint64_t row = begin; row < end; row += 64)
	{
		unsigned	count = (unsigned) min_u64(64, end - row);
		uint64_t	valid = gs_low_mask(count);
		uint64_t	nulls = plane->nulls[row >> 6] & valid;

		stats->nulls += gs_popcount(nulls);
		if (nulls == 0)
			fold_words(stats, plane->words + row, count);
		else if (nulls != valid)
			fold_mixed_words(stats, plane->words + row, nulls, count);
	}
}

static void
add_field(gs_layout *layout, gs_field field)
{
	layout->fields[layout->nfields++] = field;
	layout->key_bits += field.width;
}

void
gs_layout_clear(gs_layout *layout)
{
	layout->key_bits = 0;
	layout->nfields = 0;
}

/*
 * Appends the fields of a plane that has these statistics.  Only null_order and numbering of *plane
 * matter here; its other pointers, which may be NULL, are passed on to code that reads words by
 * them.
 */
void
gs_layout_add_plane(gs_layout *layout, unsigned index, const gs_plane *plane,
					const gs_plane_stats *stats, uint64_t nrows)
{
	if (stats->nulls == nrows)
		return;

	if (stats->nulls > 0 && plane->null_order != GS_NULLS_NONE)
		add_field(layout, (gs_field) {
			.plane = index,
			.is_null_flag = true,
			.nulls = plane->nulls,
			.flag_invert = plane->null_order == GS_NULLS_FIRST,
			.width = 1,
		});

	if (stats->min != stats->max)
	{
		const gs_numbering *numbering = plane->numbering;
		unsigned	shift = gs_trailing_zeros(stats->all_and ^ stats->all_or);
		uint64_t	min = stats->min;
		uint64_t	max = stats->max;

		if (numbering != NULL)
		{
			shift = 0;
			min = gs_number(numbering, min);
			max = gs_number(numbering, max);
		}
		add_field(layout, (gs_field) {
			.plane = index,
			.nullable = stats->nulls > 0,
			.words = plane->words,
			.nulls = stats->nulls > 0 ? plane->nulls : NULL,
			.numbering = numbering,
			.min = min,
			.shift = shift,
			.width = gs_bit_width(max - min) - shift,
		});
	}
}

gs_unpacking
gs_layout_find_word(const gs_layout *layout, unsigned plane, uint64_t only_word)
{
	gs_unpacking unpacking = {.min = only_word};
	unsigned	below = 0;

	for (unsigned i = layout->nfields; i-- > 0;)
	{
		const gs_field *field = &layout->fields[i];

		if (field->plane == plane && field->is_null_flag)
		{
			unpacking.flag = UINT64_C(1) << below;
			unpacking.flag_of_null = field->flag_invert ? 0 : unpacking.flag;
		}
		else if (field->plane == plane)
		{
			unpacking.width = field->width;
			unpacking.key_shift = below;
			unpacking.shift = field->shift;
			unpacking.mask = gs_low_mask(field->width);
			unpacking.min = field->min;
		}
		below += field->width;
	}
	return unpacking;
}

gs_cursor
gs_layout_start(const gs_layout *layout)
{
	return (gs_cursor) {.bits_left = layout->key_bits};
}

/*
 * Describes the next `width` bits of the key as a section, and moves the cursor behind them.  There
 * must be so many bits, and at most GS_SECTION_MAX_BITS.
 */
void
gs_section_build(gs_section *section, const gs_layout *layout, gs_cursor *cursor, unsigned width)
{
	section->width = width;
	section->npieces = 0;
	cursor->bits_left -= width;

	while (width > 0)
	{
		const gs_field *field = &layout->fields[cursor->field];
		unsigned	left = field->width - cursor->field_used;
		unsigned	take = left < width ? left : width;

		section->pieces[section->npieces++] = (gs_piece) {
			.field = field,
			.shift = left - take,
			.width = take,
			.mask = gs_low_mask(take),
		};
		width -= take;
		cursor->field_used += take;
		if (cursor->field_used == field->width)
		{
			cursor->field++;
			cursor->field_used = 0;
		}
	}
}
