/*
 * ops_planes.c
 *		plane_stats() and pack() on both devices.
 */
#include <stdlib.h>
#include <string.h>

#include "keys.h"
#include "ops_cases.h"
#include "tap.h"

#define MAX_PLANES	4

static const uint64_t row_counts[] = {
	1, 2, 63, 64, 65, 255, 256, 257, 2047, 2048, 2049, 4095, 4096, 4097, 10000,
	GS_SEGMENT_ROWS - 1, GS_SEGMENT_ROWS, GS_SEGMENT_ROWS + 1, 3 * GS_SEGMENT_ROWS + 777
};

#define ROW_COUNTS	(sizeof(row_counts) / sizeof(row_counts[0]))

static const key_shape shapes[] = {
	KEYS_UNIFORM64, KEYS_UNIFORM16, KEYS_ZERO, KEYS_NORMAL, KEYS_SHARED_LOW, KEYS_SHARED_HIGH,
	KEYS_EXTREMES, KEYS_OUTLIER, KEYS_HEX, KEYS_NAMES
};

#define SHAPES		(sizeof(shapes) / sizeof(shapes[0]))

/* A plane in plain memory. */
typedef struct plane
{
	uint64_t   *words;
	uint64_t   *nulls;			/* NULL: none */
	uint64_t	null_words;
} plane;

/* 0: no bitmap, 1: an empty one, 2: some, 3: many, 4: all */
static void
make_plane(plane *p, uint64_t nrows, key_shape shape, unsigned null_kind)
{
	p->words = malloc(nrows * sizeof(uint64_t));
	p->null_words = (nrows + 63) / 64;
	p->nulls = NULL;
	keys_fill(p->words, nrows, shape, random_below(1000));
	if (null_kind == 0)
		return;
	p->nulls = calloc(p->null_words, sizeof(uint64_t));
	for (uint64_t i = 0; i < nrows; i++)
		if (null_kind == 4 || (null_kind == 3 && random_below(4) != 0) ||
			(null_kind == 2 && random_below(200) == 0))
			p->nulls[i / 64] |= UINT64_C(1) << (i % 64);
}

static void
free_plane(plane *p)
{
	free(p->words);
	free(p->nulls);
}

static gs_plane_rows
put_plane(side *s, const plane *p, uint64_t nrows, segment_places places)
{
	gs_plane_rows rows = {
		.words = side_segments(s, p->words, nrows, GS_SEGMENT_ROWS, places),
	};

	if (p->nulls != NULL)
		rows.nulls = side_segments(s, p->nulls, p->null_words, GS_SEGMENT_ROWS / 64, places);
	return rows;
}

typedef struct plane_facts
{
	gs_plane_stats stats;
	gs_alphabets alphabets;
} plane_facts;

static plane_facts
facts_on(side *s, const plane *p, uint64_t nrows, segment_places places, bool bytes)
{
	plane_facts facts = {.stats = GS_PLANE_STATS_INIT};
	plane_facts *memory = side_put(s, &facts, sizeof(facts));
	gs_rows		rows = {.first_row = GS_SEGMENT_ROWS, .nrows = nrows};

	must(s, s->device->ops->plane_stats(s->device, GS_QUEUE_WORK, rows,
										put_plane(s, p, nrows, places), &memory->stats,
										bytes ? &memory->alphabets : NULL), "plane_stats");
	side_get(s, &facts, memory, sizeof(facts));
	side_clear(s);
	return facts;
}

void
test_stats(bool small)
{
	for (unsigned n = 0; n < ROW_COUNTS; n++)
		for (unsigned kind = 0; kind < 5; kind++)
		{
			uint64_t	nrows = row_counts[n];
			segment_places places = random_below(SEGMENT_PLACES);
			plane		p;
			plane_facts facts[2];
			bool		bytes = random_below(2);

			if (small && nrows > 20000)
				continue;
			make_plane(&p, nrows, shapes[random_below(SHAPES)], kind);
			for (int i = 0; i < 2; i++)
				facts[i] = facts_on(&ops_sides()[i], &p, nrows, places, bytes);
			tap_ok(memcmp(&facts[0], &facts[1], sizeof(facts[0])) == 0,
				   "plane_stats of %llu rows, nulls %u, places %d%s", (unsigned long long) nrows,
				   kind, places, bytes ? ", bytes" : "");
			free_plane(&p);
		}
}

/* Planes, their layout by the reference's statistics, and a section of it. */
typedef struct pack_case
{
	uint64_t	nrows;
	segment_places places;
	unsigned	nplanes;
	plane		planes[MAX_PLANES];
	gs_numbering numberings[MAX_PLANES];
	bool		in_place;		/* keys are written over the words */
	gs_layout	layout;
	gs_section	section;
} pack_case;

static void
make_pack_case(pack_case *c, uint64_t nrows, segment_places places)
{
	gs_cursor	cursor;
	gs_section	skipped;
	uint64_t	skip;

	c->nrows = nrows;
	c->places = places;
	c->nplanes = 1 + (unsigned) random_below(MAX_PLANES);
	gs_layout_clear(&c->layout);
	for (unsigned i = 0; i < c->nplanes; i++)
	{
		static const gs_null_order orders[] = {GS_NULLS_NONE, GS_NULLS_FIRST, GS_NULLS_LAST};
		gs_plane	empty = {.null_order = orders[random_below(3)]};
		plane_facts facts;

		make_plane(&c->planes[i], nrows, shapes[random_below(SHAPES)],
				   (unsigned) random_below(4));
		if (c->planes[i].nulls == NULL)
			empty.null_order = GS_NULLS_NONE;
		facts = facts_on(&ops_sides()[0], &c->planes[i], nrows, SEGMENTS_ADJOIN, true);
		if (random_below(2) &&
			gs_numbering_make(&c->numberings[i], &facts.stats, &facts.alphabets))
			empty.numbering = &c->numberings[i];
		gs_layout_add_plane(&c->layout, i, &empty, &facts.stats, nrows);
	}
	if (c->layout.key_bits == 0)
		return;
	cursor = gs_layout_start(&c->layout);
	skip = random_below(2) ? 0 : random_below(c->layout.key_bits < 64 ? c->layout.key_bits : 64);
	if (skip > 0)
		gs_section_build(&skipped, &c->layout, &cursor, (unsigned) skip);
	gs_section_build(&c->section, &c->layout, &cursor,
					 (unsigned) (cursor.bits_left < 64 ? cursor.bits_left : 64));
	c->in_place = c->section.npieces == 1 && places != SEGMENTS_ON_HOST;
}

static uint64_t *
pack_on(side *s, const pack_case *c)
{
	uint64_t   *keys = malloc(c->nrows * sizeof(uint64_t));
	gs_plane_rows planes[MAX_PLANES];
	gs_plane_rows by_piece[GS_SECTION_MAX_BITS];
	const uint64_t *const *packed;
	gs_rows		rows = {.first_row = 0, .nrows = c->nrows};

	for (unsigned i = 0; i < c->nplanes; i++)
		planes[i] = put_plane(s, &c->planes[i], c->nrows, c->places);
	for (unsigned i = 0; i < c->section.npieces; i++)
		by_piece[i] = planes[c->section.pieces[i].field->plane];
	packed = c->in_place ? by_piece[0].words :
		side_segments(s, c->planes[0].words, c->nrows, GS_SEGMENT_ROWS,
					  c->places == SEGMENTS_ON_HOST ? SEGMENTS_ADJOIN : c->places);
	must(s, s->device->ops->pack(s->device, GS_QUEUE_WORK, rows, &c->section, by_piece,
								 (uint64_t *const *) packed), "pack");
	side_get_segments(s, keys, packed, c->nrows, GS_SEGMENT_ROWS);
	side_clear(s);
	return keys;
}

void
test_pack(bool small)
{
	for (unsigned n = 0; n < 3 * ROW_COUNTS; n++)
	{
		static pack_case c;
		uint64_t	nrows = row_counts[n % ROW_COUNTS];
		uint64_t   *keys[2];

		if (small && nrows > 20000)
			continue;
		make_pack_case(&c, nrows, random_below(SEGMENT_PLACES));
		if (c.layout.key_bits > 0)
		{
			for (int i = 0; i < 2; i++)
				keys[i] = pack_on(&ops_sides()[i], &c);
			tap_ok(memcmp(keys[0], keys[1], nrows * sizeof(uint64_t)) == 0,
				   "pack %llu rows of %u planes, %u pieces, %u bits, places %d%s",
				   (unsigned long long) nrows, c.nplanes, c.section.npieces, c.section.width,
				   c.places, c.in_place ? ", in place" : "");
			free(keys[0]);
			free(keys[1]);
		}
		for (unsigned i = 0; i < c.nplanes; i++)
			free_plane(&c.planes[i]);
	}
}
