/*
 * ops_order.c
 *		sort(), and what is done to rows in order, on both devices.
 */
#include <stdlib.h>
#include <string.h>

#include "engine/gs_engine.h"
#include "keys.h"
#include "ops_cases.h"
#include "tap.h"

static const uint64_t row_counts[] = {
	1, 2, 3, 31, 32, 33, 255, 256, 257, 1000, 6145, 10000, 100000, 1000003
};

#define ROW_COUNTS	(sizeof(row_counts) / sizeof(row_counts[0]))

static void *
make_ids(unsigned id_bytes, uint64_t nrows)
{
	void	   *ids = malloc(nrows * id_bytes);

	for (uint64_t i = 0; i < nrows; i++)
		if (id_bytes == 4)
			((uint32_t *) ids)[i] = (uint32_t) (i * 2654435761u);
		else
			((uint64_t *) ids)[i] = i << 33 | i;
	return ids;
}

/* Sorts in place. */
static void
sort_on(side *s, uint64_t *keys, void *ids, unsigned id_bytes, uint64_t nrows, unsigned low_bit,
		unsigned bits)
{
	const gs_device_ops *ops = s->device->ops;
	size_t		key_bytes = nrows * sizeof(uint64_t);
	gs_pairs	pairs = {side_put(s, keys, key_bytes), side_put(s, ids, nrows * id_bytes)};
	gs_pairs	spare = {side_alloc(s, key_bytes), side_alloc(s, nrows * id_bytes)};
	void	   *temp = side_alloc(s, ops->sort_temp_bytes(s->device, id_bytes, nrows));
	bool		in_spare;

	must(s, ops->sort(s->device, GS_QUEUE_WORK, pairs, spare, id_bytes, nrows, low_bit, bits,
					  temp, &in_spare), "sort");
	side_get(s, keys, in_spare ? spare.keys : pairs.keys, key_bytes);
	side_get(s, ids, in_spare ? spare.ids : pairs.ids, nrows * id_bytes);
	side_clear(s);
}

void
test_sort(bool small)
{
	static const unsigned bit_counts[] = {0, 1, 7, 8, 9, 33, 64};

	for (unsigned n = 0; n < ROW_COUNTS * 7; n++)
	{
		uint64_t	nrows = row_counts[n / 7];
		unsigned	bits = bit_counts[n % 7];
		unsigned	low_bit = random_below(bits + 1) & (n % 2 ? ~0u : 0u);
		unsigned	id_bytes = random_below(2) ? 4 : 8;
		uint64_t   *keys[2];
		void	   *ids[2];

		if (small && nrows > 10000)
			continue;
		for (int i = 0; i < 2; i++)
		{
			keys[i] = malloc(nrows * sizeof(uint64_t));
			keys_fill(keys[i], nrows, n % 3 == 0 ? KEYS_ZIPF1 : KEYS_UNIFORM64, n);
			ids[i] = make_ids(id_bytes, nrows);
			sort_on(&ops_sides()[i], keys[i], ids[i], id_bytes, nrows, low_bit, bits);
		}
		tap_ok(memcmp(keys[0], keys[1], nrows * sizeof(uint64_t)) == 0 &&
			   memcmp(ids[0], ids[1], nrows * id_bytes) == 0,
			   "sort %llu rows by bits %u to %u, ids of %u bytes", (unsigned long long) nrows,
			   low_bit, bits, id_bytes);
		for (int i = 0; i < 2; i++)
		{
			free(keys[i]);
			free(ids[i]);
		}
	}
}

/*
 * Keys in the order of the bits from low_bit up: runs of 1 .. longest rows, of
 * which those of more than GS_SHORT_RUN are out of order only if long_unsorted.
 */
static void
make_runs(uint64_t *keys, uint64_t nrows, unsigned low_bit, unsigned longest, bool long_unsorted)
{
	uint64_t	run = 3;

	for (uint64_t i = 0; i < nrows; run++)
	{
		uint64_t	end = i + 1 + random_below(longest);
		bool		ascending = end - i > GS_SHORT_RUN && !long_unsorted;

		for (uint64_t n = 0; i < end && i < nrows; i++, n++)
			keys[i] = run << low_bit |
				(ascending ? n / 2 : random_below(UINT64_C(1) << low_bit) & ~(n & 1));
	}
}

/* Sorts in place; returns what the operation says of long runs. */
static uint32_t
sort_runs_on(side *s, uint64_t *keys, void *ids, unsigned id_bytes, uint64_t nrows,
			 unsigned low_bit)
{
	const gs_device_ops *ops = s->device->ops;
	gs_pairs	pairs = {side_put(s, keys, nrows * sizeof(uint64_t)),
	side_put(s, ids, nrows * id_bytes)};
	void	   *temp = side_alloc(s, ops->sort_temp_bytes(s->device, id_bytes, nrows));
	uint32_t	unsorted = 0;
	uint32_t   *flag = side_put(s, &unsorted, sizeof(unsorted));

	must(s, ops->sort_runs(s->device, GS_QUEUE_WORK, pairs, id_bytes, nrows, low_bit, temp,
						   flag), "sort_runs");
	side_get(s, keys, pairs.keys, nrows * sizeof(uint64_t));
	side_get(s, ids, pairs.ids, nrows * id_bytes);
	side_get(s, &unsorted, flag, sizeof(unsorted));
	side_clear(s);
	return unsorted;
}

void
test_sort_runs(bool small)
{
	static const unsigned longest_runs[] = {
		1, 2, GS_SHORT_RUN, GS_SHORT_RUN + 1, 1000, GS_LONG_RUN, GS_LONG_RUN + 100
	};

	for (unsigned n = 0; n < ROW_COUNTS * 14; n++)
	{
		uint64_t	nrows = row_counts[n / 14];
		unsigned	longest = longest_runs[n % 7];
		bool		long_unsorted = n / 7 % 2;
		unsigned	low_bit = 12 + (unsigned) random_below(20);
		unsigned	id_bytes = random_below(2) ? 4 : 8;
		uint64_t   *keys[2];
		void	   *ids[2];
		uint32_t	unsorted[2];

		if (small && nrows > 10000)
			continue;
		for (int i = 0; i < 2; i++)
		{
			keys[i] = malloc(nrows * sizeof(uint64_t));
			ids[i] = make_ids(id_bytes, nrows);
		}
		make_runs(keys[0], nrows, low_bit, longest, long_unsorted);
		memcpy(keys[1], keys[0], nrows * sizeof(uint64_t));
		for (int i = 0; i < 2; i++)
			unsorted[i] = sort_runs_on(&ops_sides()[i], keys[i], ids[i], id_bytes, nrows, low_bit);
		/* which of too many long runs are sorted is the device's choice */
		tap_ok(unsorted[0] == unsorted[1] &&
			   (unsorted[0] || (memcmp(keys[0], keys[1], nrows * sizeof(uint64_t)) == 0 &&
								memcmp(ids[0], ids[1], nrows * id_bytes) == 0)),
			   "sort runs of up to %u of %llu rows, ids of %u bytes%s", longest,
			   (unsigned long long) nrows, id_bytes, unsorted[0] ? ", too long ones" : "");
		for (int i = 0; i < 2; i++)
		{
			free(keys[i]);
			free(ids[i]);
		}
	}
}

/* Rows in key order, many of them tied, of a job with one plane of words. */
typedef struct ties_case
{
	uint64_t	nrows;
	unsigned	id_bytes;
	bool		tied;			/* row 0 with one before */
	unsigned	first_bit;
	uint64_t   *keys;			/* in order */
	void	   *ids;			/* a permutation of the rows */
	uint32_t   *positions;		/* another, or NULL */
	uint64_t   *words;			/* of the plane, by row */
	gs_numbering numbering;		/* of the words, or not */
	gs_layout	layout;
	gs_section	section;
} ties_case;

/* What the operations leave. */
typedef struct ties_result
{
	uint64_t	bitmap_words;
	uint32_t   *bitmap;
	gs_tie_counts counts;
	uint32_t   *to_positions;
	uint64_t   *to_keys;
	void	   *to_ids;
	void	   *put;
} ties_result;

static void
make_ties_case(ties_case *c, uint64_t nrows, unsigned repeats)
{
	gs_plane	plane = {.null_order = GS_NULLS_NONE};
	gs_plane_stats stats = GS_PLANE_STATS_INIT;
	gs_alphabets alphabets = {0};
	gs_cursor	cursor;
	uint64_t	key = 5;

	c->nrows = nrows;
	c->id_bytes = random_below(2) ? 4 : 8;
	c->tied = random_below(2);
	c->first_bit = (unsigned) random_below(100);
	c->keys = malloc(nrows * sizeof(uint64_t));
	c->ids = malloc(nrows * c->id_bytes);
	c->positions = random_below(2) ? malloc(nrows * sizeof(uint32_t)) : NULL;
	c->words = malloc(nrows * sizeof(uint64_t));
	keys_fill(c->words, nrows, random_below(2) ? KEYS_UNIFORM40 : KEYS_NAMES, nrows);
	for (uint64_t i = 0; i < nrows; i++)
	{
		uint64_t	id = nrows - 1 - i;

		key += random_below(repeats) == 0;
		c->keys[i] = key;
		if (c->id_bytes == 4)
			((uint32_t *) c->ids)[i] = (uint32_t) id;
		else
			((uint64_t *) c->ids)[i] = id;
		if (c->positions != NULL)
			c->positions[i] = (uint32_t) (i ^ 1) < nrows ? (uint32_t) (i ^ 1) : (uint32_t) i;
		stats.min = stats.min < c->words[i] ? stats.min : c->words[i];
		stats.max = stats.max > c->words[i] ? stats.max : c->words[i];
		stats.all_and &= c->words[i];
		stats.all_or |= c->words[i];
	}
	plane.words = c->words;
	gs_alphabets_fold(&alphabets, &plane, 0, nrows);
	if (gs_numbering_make(&c->numbering, &stats, &alphabets))
		plane.numbering = &c->numbering;
	gs_layout_clear(&c->layout);
	gs_layout_add_plane(&c->layout, 0, &plane, &stats, nrows);
	c->section.width = 0;
	c->section.npieces = 0;
	if (c->layout.key_bits > 0)
	{
		cursor = gs_layout_start(&c->layout);
		gs_section_build(&c->section, &c->layout, &cursor, (unsigned) c->layout.key_bits);
	}
}

static void
take_on(side *s, const ties_case *c, ties_result *r, gs_pairs from, const uint32_t *positions,
		const uint64_t *ranks)
{
	const gs_device_ops *ops = s->device->ops;
	uint64_t	segments = (c->nrows + GS_SEGMENT_ROWS - 1) / GS_SEGMENT_ROWS;
	gs_plane_rows plane = {
		.words = side_segments(s, c->words, c->nrows, GS_SEGMENT_ROWS, SEGMENTS_ON_HOST),
	};
	gs_pairs	to = {
		side_alloc(s, r->counts.rows * sizeof(uint64_t)),
		side_alloc(s, r->counts.rows * c->id_bytes)
	};
	uint32_t   *to_positions = side_alloc(s, r->counts.rows * sizeof(uint32_t));

	must(s, ops->take_ties(s->device, GS_QUEUE_WORK, from, positions, ranks, c->nrows,
						   c->id_bytes, &c->section, &plane, segments, to_positions, to),
		 "take_ties");
	must(s, ops->put_ids(s->device, GS_QUEUE_WORK, from.ids, to_positions, to.ids, c->id_bytes,
						 r->counts.rows), "put_ids");
	side_get(s, r->to_positions, to_positions, r->counts.rows * sizeof(uint32_t));
	side_get(s, r->to_keys, to.keys, r->counts.rows * sizeof(uint64_t));
	side_get(s, r->to_ids, to.ids, r->counts.rows * c->id_bytes);
}

static void
ties_on(side *s, const ties_case *c, ties_result *r)
{
	const gs_device_ops *ops = s->device->ops;
	gs_pairs	from = {
		side_put(s, c->keys, c->nrows * sizeof(uint64_t)),
		side_put(s, c->ids, c->nrows * c->id_bytes)
	};
	uint32_t   *positions = c->positions == NULL ? NULL :
		side_put(s, c->positions, c->nrows * sizeof(uint32_t));
	uint64_t   *ranks = side_alloc(s, c->nrows * sizeof(uint64_t));
	void	   *temp = side_alloc(s, ops->ties_temp_bytes(s->device, c->nrows));
	uint32_t   *bitmap;

	r->bitmap_words = (c->nrows + c->first_bit) / 32 + 2;
	r->bitmap = calloc(r->bitmap_words, sizeof(uint32_t));
	r->bitmap[0] = 1;
	r->bitmap[r->bitmap_words - 1] = 0xf0f0f0f0;
	bitmap = side_put(s, r->bitmap, r->bitmap_words * sizeof(uint32_t));
	must(s, ops->mark_equal(s->device, GS_QUEUE_WORK, from.keys, positions, c->nrows, c->tied,
							c->first_bit, bitmap), "mark_equal");
	side_get(s, r->bitmap, bitmap, r->bitmap_words * sizeof(uint32_t));

	must(s, ops->find_ties(s->device, GS_QUEUE_WORK, from.keys, c->nrows, ranks, temp,
						   &r->counts), "find_ties");
	r->to_positions = malloc(c->nrows * sizeof(uint32_t));
	r->to_keys = malloc(c->nrows * sizeof(uint64_t));
	r->to_ids = malloc(c->nrows * c->id_bytes);
	r->put = malloc(c->nrows * c->id_bytes);
	if (r->counts.rows > 0)
		take_on(s, c, r, from, positions, ranks);
	side_get(s, r->put, from.ids, c->nrows * c->id_bytes);
	side_clear(s);
}

static bool
same_ties(const ties_case *c, const ties_result *a, const ties_result *b)
{
	size_t		rows = a->counts.rows;

	return memcmp(a->bitmap, b->bitmap, a->bitmap_words * sizeof(uint32_t)) == 0 &&
		rows == b->counts.rows && a->counts.runs == b->counts.runs &&
		memcmp(a->to_positions, b->to_positions, rows * sizeof(uint32_t)) == 0 &&
		memcmp(a->to_keys, b->to_keys, rows * sizeof(uint64_t)) == 0 &&
		memcmp(a->to_ids, b->to_ids, rows * c->id_bytes) == 0 &&
		memcmp(a->put, b->put, c->nrows * c->id_bytes) == 0;
}

static void
free_ties(ties_case *c, ties_result *results)
{
	for (int i = 0; i < 2; i++)
	{
		free(results[i].bitmap);
		free(results[i].to_positions);
		free(results[i].to_keys);
		free(results[i].to_ids);
		free(results[i].put);
	}
	free(c->keys);
	free(c->ids);
	free(c->positions);
	free(c->words);
}

static bool
count_up_agrees(uint64_t nrows, unsigned id_bytes, uint64_t first)
{
	char	   *ids[2];
	bool		same;

	for (int i = 0; i < 2; i++)
	{
		side	   *s = &ops_sides()[i];
		void	   *memory = side_alloc(s, nrows * id_bytes);

		ids[i] = malloc(nrows * id_bytes);
		must(s, s->device->ops->count_up(s->device, GS_QUEUE_WORK, memory, id_bytes, first,
										 nrows), "count_up");
		side_get(s, ids[i], memory, nrows * id_bytes);
		side_clear(s);
	}
	same = memcmp(ids[0], ids[1], nrows * id_bytes) == 0;
	free(ids[0]);
	free(ids[1]);
	return same;
}

void
test_ties(bool small)
{
	for (unsigned n = 0; n < ROW_COUNTS * 4; n++)
	{
		static const unsigned repeats[] = {1, 2, 10, 1000000};
		static ties_case c;
		ties_result results[2];
		uint64_t	nrows = row_counts[n / 4];

		if (small && nrows > 10000)
			continue;
		make_ties_case(&c, nrows, repeats[n % 4]);
		for (int i = 0; i < 2; i++)
			ties_on(&ops_sides()[i], &c, &results[i]);
		tap_ok(same_ties(&c, &results[0], &results[1]),
			   "ties of %llu rows, %llu of them tied, ids of %u bytes%s",
			   (unsigned long long) nrows, (unsigned long long) results[0].counts.rows,
			   c.id_bytes, c.positions == NULL ? "" : ", placed");
		free_ties(&c, results);
		if (n % 4 == 0)
			tap_ok(count_up_agrees(nrows, n % 8 == 0 ? 4 : 8, 1000 * n), "count up %llu ids",
				   (unsigned long long) nrows);
	}
}

/* What a device says of rows that are in order, but for some. */
static gs_order_check
check_on(side *s, const ties_case *c, bool has_keys, bool has_before, bool placed)
{
	size_t		id_bytes = c->id_bytes * c->nrows;
	uint64_t	key_before = 4;
	uint64_t	id_before = c->nrows;
	gs_order_check check = {.ties = 5, .sums = {1, 2}};
	gs_order_check *to = side_put(s, &check, sizeof(check));
	gs_checked_rows rows = {
		.rows = {has_keys ? side_put(s, c->keys, c->nrows * sizeof(uint64_t)) : NULL,
		side_put(s, c->ids, id_bytes)},
		.id_bytes = c->id_bytes,
		.nrows = c->nrows,
		.nids = c->nrows - c->nrows / 3,
	};

	if (has_before)
		rows.before = (gs_pairs) {side_put(s, &key_before, sizeof(key_before)),
		side_put(s, &id_before, sizeof(id_before))};
	if (placed && c->positions != NULL)
	{
		rows.positions = side_put(s, c->positions, c->nrows * sizeof(uint32_t));
		rows.placed = side_put(s, c->ids, id_bytes);
	}
	must(s, s->device->ops->check_rows(s->device, GS_QUEUE_WORK, &rows, to), "check_rows");
	side_get(s, &check, to, sizeof(check));
	side_clear(s);
	return check;
}

/* The rows of a case, some of them out of order. */
void
test_check(bool small)
{
	for (unsigned n = 0; n < ROW_COUNTS * 8; n++)
	{
		static ties_case c;
		ties_result none[2] = {{.bitmap = NULL}, {.bitmap = NULL}};
		gs_order_check checks[2];
		uint64_t	nrows = row_counts[n / 8];

		if (small && nrows > 10000)
			continue;
		make_ties_case(&c, nrows, n % 2 ? 10 : 1);
		for (uint64_t i = random_below(nrows); i < nrows; i += 1 + random_below(nrows))
			c.keys[i] = random_below(nrows);
		for (int i = 0; i < 2; i++)
			checks[i] = check_on(&ops_sides()[i], &c, n % 8 != 7, n & 2, n & 4);
		tap_ok(memcmp(&checks[0], &checks[1], sizeof(checks[0])) == 0,
			   "check %llu rows, %llu of them wrong, ids of %u bytes", (unsigned long long) nrows,
			   (unsigned long long) checks[0].descents, c.id_bytes);
		free_ties(&c, none);
	}
}

static gs_row_sums
sums_on(side *s, const uint64_t *words, gs_rows rows, gs_keys keys, segment_places places)
{
	gs_row_sums sums = {3, 4};
	gs_row_sums *to = side_put(s, &sums, sizeof(sums));

	if (words != NULL)
		keys.words = side_segments(s, words, rows.nrows, GS_SEGMENT_ROWS, places);
	must(s, s->device->ops->sum_rows(s->device, GS_QUEUE_WORK, rows, keys, to), "sum_rows");
	side_get(s, &sums, to, sizeof(sums));
	side_clear(s);
	return sums;
}

void
test_sums(bool small)
{
	for (unsigned n = 0; n < ROW_COUNTS * 4; n++)
	{
		gs_rows		rows = {GS_SEGMENT_ROWS * random_below(5), row_counts[n / 4]};
		gs_keys		keys = {.min = random_below(1000), .shift = (unsigned) random_below(9), .width = 64};
		segment_places places = (segment_places) (n % 4);
		uint64_t   *words = malloc(rows.nrows * sizeof(uint64_t));
		gs_row_sums sums[2];

		if (small && rows.nrows > 10000)
		{
			free(words);
			continue;
		}
		keys_fill(words, rows.nrows, KEYS_UNIFORM64, n);
		for (int i = 0; i < 2; i++)
			sums[i] = sums_on(&ops_sides()[i], n % 4 < SEGMENT_PLACES ? words : NULL, rows, keys,
							  places);
		tap_ok(memcmp(&sums[0], &sums[1], sizeof(sums[0])) == 0, "sums of %llu rows%s",
			   (unsigned long long) rows.nrows, n % 4 < SEGMENT_PLACES ? "" : ", ids only");
		free(words);
	}
}
