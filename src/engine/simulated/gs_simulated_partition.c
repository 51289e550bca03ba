/*
 * gs_simulated_partition.c
 *		What the simulated device does to rows in the order of arrival: statistics,
 *		packing, histograms, scattering.
 *
 * These are operations of gs_device_ops, on the caller's own memory and in one thread.
 */
#include <string.h>

#include "engine/gs_engine.h"
#include "engine/gs_layout.h"
#include "engine/simulated/gs_simulated_private.h"

/* Returns how many rows are in a segment of some rows. */
static inline uint64_t
segment_rows(gs_rows rows, uint64_t segment)
{
	uint64_t	left = rows.nrows - (segment << GS_SEGMENT_SHIFT);

	return left < GS_SEGMENT_ROWS ? left : GS_SEGMENT_ROWS;
}

static inline uint64_t
read_key(const gs_keys *keys, uint64_t word)
{
	return (word - keys->min) >> keys->shift;
}

void
gs_simulated_stats(gs_rows rows, gs_plane_rows plane, gs_plane_stats *stats,
				   gs_alphabets *alphabets)
{
	for (uint64_t s = 0; s < gs_rows_segments(rows); s++)
	{
		gs_plane	segment = {
			.words = plane.words[s],
			.nulls = plane.nulls == NULL ? NULL : plane.nulls[s],
		};

		gs_plane_stats_fold(stats, &segment, 0, segment_rows(rows, s));
		if (alphabets != NULL)
			gs_alphabets_fold(alphabets, &segment, 0, segment_rows(rows, s));
	}
}

/* Makes a section that reads segment s of the planes. */
static void
section_of_segment(gs_section *to, gs_field *fields, const gs_section *section,
				   const gs_plane_rows *planes, uint64_t s)
{
	*to = *section;
	for (unsigned i = 0; i < section->npieces; i++)
	{
		fields[i] = *section->pieces[i].field;
		fields[i].words = planes[i].words == NULL ? NULL : planes[i].words[s];
		fields[i].nulls = planes[i].nulls == NULL ? NULL : planes[i].nulls[s];
		to->pieces[i].field = &fields[i];
	}
}

void
gs_simulated_pack(gs_rows rows, const gs_section *section, const gs_plane_rows *planes,
				  uint64_t *const *packed)
{
	uint64_t	keys[GS_PACK_BLOCK_ROWS];
	gs_field	fields[GS_SECTION_MAX_BITS];
	gs_section	local;

	for (uint64_t s = 0; s < gs_rows_segments(rows); s++)
	{
		uint64_t	nrows = segment_rows(rows, s);

		section_of_segment(&local, fields, section, planes, s);
		for (uint64_t row = 0; row < nrows; row += GS_PACK_BLOCK_ROWS)
		{
			unsigned	count = nrows - row < GS_PACK_BLOCK_ROWS ? (unsigned) (nrows - row)
				: GS_PACK_BLOCK_ROWS;

			/* keys may take the place of words */
			gs_pack_keys(keys, &local, row, count);
			memcpy(packed[s] + row, keys, count * sizeof(*keys));
		}
	}
}

static void
count_segment(const uint64_t *words, uint64_t nrows, const gs_keys *keys,
			  const gs_counted *counted, uint64_t *counts)
{
	const unsigned prefix_shift = counted->digit_shift + counted->digit_bits;
	const uint64_t mask = gs_low_mask(counted->digit_bits);
	const bool	all = prefix_shift >= keys->width;

	for (uint64_t i = 0; i < nrows; i++)
	{
		uint64_t	key = read_key(keys, words[i]);

		if (all || key >> prefix_shift == counted->prefix)
			counts[key >> counted->digit_shift & mask]++;
	}
}

void
gs_simulated_histogram(gs_rows rows, gs_keys keys, unsigned ncounted, const gs_counted *counted,
					   uint64_t (*counts)[GS_DEVICE_DIGITS])
{
	for (uint64_t s = 0; s < gs_rows_segments(rows); s++)
		for (unsigned i = 0; i < ncounted; i++)
			count_segment(keys.words[s], segment_rows(rows, s), &keys, &counted[i], counts[i]);
}

static inline unsigned
find_bin(const gs_bin_tree *tree, uint64_t key)
{
	unsigned	entry = GS_TREE_NODE;

	while (entry & GS_TREE_NODE)
	{
		unsigned	node = entry & ~GS_TREE_NODE;

		entry = tree->entries[node][key >> tree->nodes[node].digit_shift &
									gs_low_mask(tree->nodes[node].digit_bits)];
	}
	return entry;
}

/* Returns the target that a position belongs to, or NULL. */
static const gs_target *
find_target(const gs_scatter *scatter, uint64_t position)
{
	for (unsigned t = 0; t < scatter->ntargets; t++)
	{
		const gs_target *target = &scatter->targets[t];

		if (position - target->begin < target->nrows)
			return target;
	}
	return NULL;
}

static inline void
put_pair(gs_pairs pairs, unsigned id_bytes, uint64_t at, uint64_t key, uint64_t id)
{
	pairs.keys[at] = key;
	if (id_bytes == 4)
		((uint32_t *) pairs.ids)[at] = (uint32_t) id;
	else
		((uint64_t *) pairs.ids)[at] = id;
}

static void
scatter_segment(const gs_scatter *scatter, uint64_t s)
{
	const gs_target *target = scatter->targets;
	const uint64_t *words = scatter->keys.words[s];
	uint64_t	first_id = scatter->rows.first_row + (s << GS_SEGMENT_SHIFT);
	uint64_t	nrows = segment_rows(scatter->rows, s);

	for (uint64_t i = 0; i < nrows; i++)
	{
		uint64_t	key = read_key(&scatter->keys, words[i]);
		unsigned	bin = find_bin(scatter->tree, key);
		uint64_t	position;

		if (bin == GS_BIN_NONE)
			continue;
		position = scatter->positions[bin]++;
		if (target == NULL || position - target->begin >= target->nrows)
			target = find_target(scatter, position);
		if (target != NULL)
			put_pair(target->pairs, scatter->id_bytes, position - target->begin, key,
					 first_id + i);
	}
}

void
gs_simulated_scatter(const gs_scatter *scatter)
{
	for (uint64_t s = 0; s < gs_rows_segments(scatter->rows) && scatter->ntargets > 0; s++)
		scatter_segment(scatter, s);
}

void
gs_simulated_sum_rows(gs_rows rows, gs_keys keys, gs_row_sums *sums)
{
	for (uint64_t i = 0; i < rows.nrows; i++)
	{
		uint64_t	id = rows.first_row + i;

		if (keys.words == NULL)
			sums->ids += gs_mixed_id(id);
		else
			gs_sum_row(sums, read_key(&keys, keys.words[i >> GS_SEGMENT_SHIFT]
									  [i & (GS_SEGMENT_ROWS - 1)]), id);
	}
}
