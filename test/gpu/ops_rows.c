/*
 * ops_rows.c
 *		place_rows() and gather_rows() on both devices.
 */
#include <stdlib.h>
#include <string.h>

#include "keys.h"
#include "ops_cases.h"
#include "tap.h"

#define SLAB_WORDS	(GS_SLAB_BYTES / sizeof(uint64_t))

/* Stored rows, and which of them are wanted. */
typedef struct rows_case
{
	uint64_t	stored_rows;
	uint64_t	nrows;
	uint64_t	stride;			/* 0: rows have lengths of their own */
	unsigned	unit;
	gs_row_length length;
	uint64_t	words;
	uint64_t   *rows;
	uint32_t   *refs;
	uint32_t   *ids;
	uint64_t	to_words;		/* room for the rows wanted */
} rows_case;

typedef struct rows_result
{
	uint64_t	units;
	uint64_t   *ends;
	uint32_t   *refs;
	uint64_t   *rows;
} rows_result;

static void
put_length(const rows_case *c, uint64_t *row, uint64_t bytes)
{
	gs_row_length field = c->length;

	*row = (*row & ~(field.mask << field.shift)) | (bytes & field.mask) << field.shift;
}

/* nonsense: some numbers lead nowhere. */
static void
make_rows_case(rows_case *c, uint64_t nrows, uint64_t stride, bool nonsense)
{
	uint64_t	longest = stride > 0 ? stride : 200;

	c->stored_rows = c->nrows = nrows;
	c->stride = stride;
	c->unit = 8u << random_below(3);
	c->length = random_below(2) ? (gs_row_length) {48, 0x1fff} : (gs_row_length) {0, UINT32_MAX};
	c->rows = malloc(nrows * (longest + c->unit));
	c->refs = malloc(nrows * sizeof(uint32_t));
	c->ids = malloc(nrows * sizeof(uint32_t));
	c->words = 0;
	keys_fill(c->rows, nrows * (longest + c->unit) / 8, KEYS_UNIFORM64, nrows);
	for (uint64_t i = 0; i < nrows; i++)
	{
		uint64_t	unit_words = c->unit / 8;
		uint64_t	begin = (c->words + unit_words - 1) / unit_words * unit_words;
		uint32_t	length = (uint32_t) (stride > 0 ? stride : 4 + random_below(190));

		c->ids[i] = (uint32_t) random_below(nrows);
		if (stride > 0)
		{
			c->words += stride / 8;
			continue;
		}
		c->refs[i] = (uint32_t) (begin / unit_words);
		if (nonsense && i % 5 == 0)
			length = (uint32_t) random_below(UINT32_MAX);
		put_length(c, &c->rows[begin], length);
		c->words = begin + (4 + random_below(190) + 7) / 8;
	}
	for (uint64_t i = 0; nonsense && i < nrows; i += 3)
		c->ids[i] = (uint32_t) random_below(UINT32_MAX);
	for (uint64_t i = 0; nonsense && stride == 0 && i < nrows; i += 7)
		c->refs[i] = (uint32_t) random_below(UINT32_MAX);
}

static void
gather_on(side *s, const rows_case *c, rows_result *r, segment_places places)
{
	const gs_device_ops *ops = s->device->ops;
	gs_gather	gather = {
		.from = {
			.slabs = side_segments(s, c->rows, c->words, SLAB_WORDS, places),
			.bytes = c->words * 8,
			.nrows = c->stored_rows,
			.stride = c->stride,
			.refs = side_put(s, c->refs, c->stored_rows * sizeof(uint32_t)),
			.unit = c->unit,
			.length = c->length,
		},
		.nrows = c->nrows,
		.ids = side_put(s, c->ids, c->nrows * sizeof(uint32_t)),
		.first_ref = 17,
	};
	uint64_t	bytes = c->nrows * c->stride;
	void	   *zeros;

	r->ends = calloc(c->nrows, sizeof(uint64_t));
	r->refs = calloc(c->nrows, sizeof(uint32_t));
	gather.ends = side_put(s, r->ends, c->nrows * sizeof(uint64_t));
	gather.refs = side_put(s, r->refs, c->nrows * sizeof(uint32_t));
	gather.temp = side_alloc(s, ops->place_temp_bytes(s->device, c->nrows));
	r->units = 0;
	if (c->stride == 0)
	{
		must(s, ops->place_rows(s->device, GS_QUEUE_WORK, &gather, &r->units), "place_rows");
		bytes = r->units * c->unit;
	}
	zeros = calloc(bytes + 8, 1);
	r->rows = calloc(bytes + 8, 1);
	gather.rows = side_put(s, zeros, bytes + 8);
	must(s, ops->gather_rows(s->device, GS_QUEUE_WORK, &gather), "gather_rows");
	side_get(s, r->rows, gather.rows, bytes + 8);
	side_get(s, r->ends, gather.ends, c->nrows * sizeof(uint64_t));
	side_get(s, r->refs, gather.refs, c->nrows * sizeof(uint32_t));
	side_clear(s);
	free(zeros);
}

static bool
same_rows(const rows_case *c, const rows_result *a, const rows_result *b)
{
	uint64_t	bytes = c->stride > 0 ? c->nrows * c->stride : a->units * c->unit;

	return a->units == b->units && memcmp(a->rows, b->rows, bytes + 8) == 0 &&
		memcmp(a->ends, b->ends, c->nrows * sizeof(uint64_t)) == 0 &&
		memcmp(a->refs, b->refs, c->nrows * sizeof(uint32_t)) == 0;
}

void
test_rows(bool small)
{
	static const uint64_t row_counts[] = {1, 2, 31, 256, 1000, 10000, 300000};
	static const uint64_t strides[] = {8, 24, 64, 208, 0, 0};

	for (unsigned n = 0; n < 7 * 6 * 2; n++)
	{
		uint64_t	nrows = row_counts[n / 12];
		uint64_t	stride = strides[n / 2 % 6];
		bool		nonsense = n % 2;
		/* a length that is nonsense may be all there is */
		bool		too_much = nonsense && stride == 0 && nrows > 1000;
		rows_case	c;
		rows_result results[2];

		if ((small && nrows > 10000) || too_much)
			continue;
		make_rows_case(&c, nrows, stride, nonsense);
		for (int i = 0; i < 2; i++)
			gather_on(&ops_sides()[i], &c, &results[i],
					  random_below(2) ? SEGMENTS_ADJOIN : SEGMENTS_SHUFFLED);
		tap_ok(same_rows(&c, &results[0], &results[1]), "%llu rows %s, units of %u%s",
			   (unsigned long long) nrows, stride > 0 ? "of one length" : "of many lengths",
			   c.unit, nonsense ? ", with nonsense" : "");
		for (int i = 0; i < 2; i++)
		{
			free(results[i].ends);
			free(results[i].refs);
			free(results[i].rows);
		}
		free(c.rows);
		free(c.refs);
		free(c.ids);
	}
}
