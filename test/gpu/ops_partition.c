/*
 * ops_partition.c
 *		histogram() and scatter() on both devices.
 */
#include <stdlib.h>
#include <string.h>

#include "engine/gs_engine.h"
#include "keys.h"
#include "ops_cases.h"
#include "tap.h"

static const uint64_t row_counts[] = {
	1, 31, 33, 511, 512, 513, 3071, 3072, 3073, 6143, 6144, 6145, 20000,
	GS_SEGMENT_ROWS, GS_SEGMENT_ROWS + 1, 4 * GS_SEGMENT_ROWS + 777
};

#define ROW_COUNTS	(sizeof(row_counts) / sizeof(row_counts[0]))

static const key_shape shapes[] = {
	KEYS_UNIFORM64, KEYS_ZERO, KEYS_ZIPF1, KEYS_SORTED_WIDE, KEYS_AND4, KEYS_TWO_VALUES,
	KEYS_STAIRCASE
};

#define SHAPES		(sizeof(shapes) / sizeof(shapes[0]))

/* Words, and how keys are made of them. */
typedef struct key_case
{
	uint64_t	nrows;
	segment_places places;
	key_shape	shape;
	uint64_t   *words;
	gs_keys		keys;			/* without its pointers */
} key_case;

static uint64_t
key_at(const key_case *c, uint64_t row)
{
	return (c->words[row] - c->keys.min) >> c->keys.shift;
}

static void
make_keys(key_case *c, uint64_t nrows)
{
	uint64_t	max = 0;

	c->nrows = nrows;
	c->places = random_below(SEGMENT_PLACES);
	c->shape = shapes[random_below(SHAPES)];
	c->words = malloc(nrows * sizeof(uint64_t));
	keys_fill(c->words, nrows, c->shape, random_below(1000));
	c->keys = (gs_keys) {.min = UINT64_MAX, .shift = (unsigned) random_below(8)};
	for (uint64_t i = 0; i < nrows; i++)
		c->keys.min = c->words[i] < c->keys.min ? c->words[i] : c->keys.min;
	for (uint64_t i = 0; i < nrows; i++)
		max = key_at(c, i) > max ? key_at(c, i) : max;
	c->keys.width = max == 0 ? 1 : gs_bit_width(max);
}

static gs_keys
put_keys(side *s, const key_case *c)
{
	gs_keys		keys = c->keys;

	keys.words = side_segments(s, c->words, c->nrows, GS_SEGMENT_ROWS, c->places);
	return keys;
}

/* The counted prefix of `depth` digits at which a random row is found. */
static gs_counted
random_prefix(const key_case *c, unsigned depth)
{
	gs_counted	counted = {.digit_shift = c->keys.width};

	for (unsigned i = 0; i < depth && counted.digit_shift > 0; i++)
	{
		counted.digit_bits = counted.digit_shift < 8 ? counted.digit_shift :
			1 + (unsigned) random_below(8);
		counted.digit_shift -= counted.digit_bits;
	}
	if (counted.digit_shift + counted.digit_bits < 64)
		counted.prefix = key_at(c, random_below(c->nrows)) >>
			(counted.digit_shift + counted.digit_bits);
	return counted;
}

static void
histogram_on(side *s, const key_case *c, unsigned ncounted, const gs_counted *counted,
			 uint64_t (*counts)[GS_DEVICE_DIGITS])
{
	const gs_device_ops *ops = s->device->ops;
	size_t		bytes = ncounted * sizeof(*counts);
	gs_rows		rows = {.first_row = 2 * GS_SEGMENT_ROWS, .nrows = c->nrows};
	void	   *tile_counts = NULL;
	void	   *memory;

	memset(counts, 0, bytes);
	counts[0][3] = UINT64_C(1) << 40;
	memory = side_put(s, counts, bytes);
	if (ncounted == 1)
		tile_counts = side_alloc(s, ops->tile_counts_bytes(s->device, rows));
	must(s, ops->histogram(s->device, GS_QUEUE_WORK, rows, put_keys(s, c), ncounted, counted,
						   memory, tile_counts), "histogram");
	side_get(s, counts, memory, bytes);
	side_clear(s);
}

/* Prefixes of one length are disjoint, of several they may not be. */
void
test_histogram(bool small)
{
	static uint64_t counts[2][GS_MAX_COUNTED][GS_DEVICE_DIGITS];
	static const unsigned numbers[] = {1, 1, 2, 5, GS_MAX_COUNTED};

	for (unsigned n = 0; n < ROW_COUNTS * 5; n++)
	{
		unsigned	ncounted = numbers[n % 5];
		gs_counted	counted[GS_MAX_COUNTED];
		key_case	c;

		if (small && row_counts[n / 5] > 20000)
			continue;
		make_keys(&c, row_counts[n / 5]);
		for (unsigned i = 0; i < ncounted; i++)
			counted[i] = random_prefix(&c, n % 5 == 0 ? 1 : 1 + (unsigned) random_below(3));
		for (int i = 0; i < 2; i++)
			histogram_on(&ops_sides()[i], &c, ncounted, counted, counts[i]);
		tap_ok(memcmp(counts[0], counts[1], ncounted * sizeof(counts[0][0])) == 0,
			   "histogram of %llu rows (%s) below %u prefixes, places %d",
			   (unsigned long long) c.nrows, key_shape_name(c.shape), ncounted, c.places);
		free(c.words);
	}
}

/* A random tree, whose bins are ascending. */
static void
grow_node(gs_bin_tree *tree, unsigned node, unsigned shift, unsigned depth)
{
	unsigned	bits = shift < 8 ? shift : depth == 0 ? 8 : 1 + (unsigned) random_below(8);

	tree->nodes[node].digit_bits = bits;
	tree->nodes[node].digit_shift = shift - bits;
	for (unsigned digit = 0; digit < 1u << bits; digit++)
	{
		uint16_t   *entry = &tree->entries[node][digit];
		uint64_t	choice = random_below(100);

		if (choice < 4)
			*entry = GS_BIN_NONE;
		else if (choice < 10 && shift > bits && depth < 4 && tree->nnodes < GS_MAX_TREE_NODES)
		{
			*entry = (uint16_t) (GS_TREE_NODE | tree->nnodes);
			grow_node(tree, tree->nnodes++, shift - bits, depth + 1);
		}
		else
		{
			if (choice < 80 && tree->nbins < GS_MAX_BINS)
				tree->nbins++;
			*entry = (uint16_t) (tree->nbins - 1);
		}
	}
}

static unsigned
bin_of(const gs_bin_tree *tree, uint64_t key)
{
	unsigned	node = 0;

	for (;;)
	{
		unsigned	entry = tree->entries[node][key >> tree->nodes[node].digit_shift &
												((1u << tree->nodes[node].digit_bits) - 1)];

		if (!(entry & GS_TREE_NODE))
			return entry;
		node = entry & ~GS_TREE_NODE;
	}
}

/* Targets are consecutive parts of one stretch of positions, from `begin` on. */
#define MAX_TARGETS		5

typedef struct scatter_case
{
	key_case	keys;
	unsigned	id_bytes;
	uint64_t	first_rows;		/* in the first of two calls */
	gs_bin_tree tree;
	uint64_t	positions[GS_MAX_BINS];
	unsigned	ntargets;
	uint64_t	cuts[MAX_TARGETS + 1];
	unsigned	on_host;		/* bit i is set if target i is in host memory */
} scatter_case;

typedef struct scatter_result
{
	uint64_t   *keys;
	void	   *ids;
	uint64_t	positions[GS_MAX_BINS];
} scatter_result;

static int
compare_positions(const void *a, const void *b)
{
	uint64_t	x = *(const uint64_t *) a;
	uint64_t	y = *(const uint64_t *) b;

	return x < y ? -1 : x > y;
}

static void
make_scatter(scatter_case *c, uint64_t nrows)
{
	uint64_t	position = UINT64_C(1) << 35;
	uint64_t	first = position;

	make_keys(&c->keys, nrows);
	c->id_bytes = random_below(2) ? 4 : 8;
	c->first_rows = nrows / GS_SEGMENT_ROWS / 2 * GS_SEGMENT_ROWS;
	memset(&c->tree, 0, sizeof(c->tree));
	c->tree.nbins = c->tree.nnodes = 1;
	grow_node(&c->tree, 0, c->keys.keys.width, random_below(3) == 0 ? 4 : 0);

	memset(c->positions, 0, sizeof(c->positions));
	for (uint64_t i = 0; i < nrows; i++)
	{
		unsigned	bin = bin_of(&c->tree, key_at(&c->keys, i));

		if (bin != GS_BIN_NONE)
			c->positions[bin]++;
	}
	for (unsigned bin = 0; bin < c->tree.nbins; bin++)
	{
		uint64_t	count = c->positions[bin];

		c->positions[bin] = position;
		position += count;
	}
	c->ntargets = 1 + (unsigned) random_below(MAX_TARGETS);
	for (unsigned i = 0; i <= c->ntargets; i++)
		c->cuts[i] = first + random_below(position - first + 1);
	if (random_below(2))
		c->cuts[0] = first;
	if (random_below(2))
		c->cuts[c->ntargets] = position;
	qsort(c->cuts, c->ntargets + 1, sizeof(uint64_t), compare_positions);
	c->on_host = random_below(2) ? 0 : (unsigned) random_below(1u << c->ntargets);
}

static void
scatter_call(side *s, scatter_case *c, gs_scatter *call, uint64_t first, uint64_t nrows)
{
	const gs_device_ops *ops = s->device->ops;
	key_case	part = c->keys;

	part.words += first;
	part.nrows = nrows;
	call->rows = (gs_rows) {.first_row = 5 * GS_SEGMENT_ROWS + first, .nrows = nrows};
	call->keys = put_keys(s, &part);
	call->temp = side_alloc(s, ops->scatter_temp_bytes(s->device, call->rows));
	must(s, ops->scatter(s->device, GS_QUEUE_WORK, call), "scatter");
}

/* Where no row belongs memory keeps a pattern. */
static void
scatter_on(side *s, scatter_case *c, scatter_result *r)
{
	uint64_t	npairs = c->cuts[c->ntargets] - c->cuts[0];
	gs_target	targets[MAX_TARGETS];
	gs_scatter	call = {
		.id_bytes = c->id_bytes,
		.tree = &c->tree,
		.positions = side_put(s, c->positions, sizeof(c->positions)),
		.ntargets = c->ntargets,
		.targets = targets,
	};
	uint64_t	words = npairs + 2; /* of keys, and at least as many as ids take */
	uint64_t   *keys[2];		/* in device memory, and in the host's */
	char	   *ids[2];

	r->keys = malloc(words * sizeof(uint64_t));
	r->ids = malloc(words * sizeof(uint64_t));
	memset(r->keys, 0x5a, words * sizeof(uint64_t));
	memset(r->ids, 0x5a, words * sizeof(uint64_t));
	keys[0] = side_put(s, r->keys, words * sizeof(uint64_t));
	ids[0] = side_put(s, r->ids, words * sizeof(uint64_t));
	keys[1] = (uint64_t *) side_segments(s, r->keys, words, words, SEGMENTS_ON_HOST)[0];
	ids[1] = (char *) side_segments(s, r->ids, words, words, SEGMENTS_ON_HOST)[0];
	for (unsigned i = 0; i < c->ntargets; i++)
	{
		uint64_t	at = c->cuts[i] - c->cuts[0] + 1;
		unsigned	host = c->on_host >> i & 1;

		targets[i] = (gs_target) {
			.begin = c->cuts[i],
			.nrows = c->cuts[i + 1] - c->cuts[i],
			.pairs = {keys[host] + at, ids[host] + at * c->id_bytes},
		};
	}
	if (c->first_rows > 0)
		scatter_call(s, c, &call, 0, c->first_rows);
	scatter_call(s, c, &call, c->first_rows, c->keys.nrows - c->first_rows);
	side_get(s, r->keys, keys[0], words * sizeof(uint64_t));
	side_get(s, r->ids, ids[0], words * sizeof(uint64_t));
	side_get(s, r->positions, call.positions, sizeof(r->positions));
	for (unsigned i = 0; i < c->ntargets; i++)
	{
		uint64_t	at = c->cuts[i] - c->cuts[0] + 1;

		if (!(c->on_host >> i & 1))
			continue;
		memcpy(r->keys + at, targets[i].pairs.keys, targets[i].nrows * sizeof(uint64_t));
		memcpy((char *) r->ids + at * c->id_bytes, targets[i].pairs.ids,
			   targets[i].nrows * c->id_bytes);
	}
	side_clear(s);
}

void
test_scatter(bool small)
{
	for (unsigned n = 0; n < ROW_COUNTS * 5; n++)
	{
		static scatter_case c;
		scatter_result results[2];
		uint64_t	npairs;

		if (small && row_counts[n / 5] > 20000)
			continue;
		make_scatter(&c, row_counts[n / 5]);
		npairs = c.cuts[c.ntargets] - c.cuts[0] + 2;
		for (int i = 0; i < 2; i++)
			scatter_on(&ops_sides()[i], &c, &results[i]);
		tap_ok(memcmp(results[0].keys, results[1].keys, npairs * sizeof(uint64_t)) == 0 &&
			   memcmp(results[0].ids, results[1].ids, npairs * c.id_bytes) == 0 &&
			   memcmp(results[0].positions, results[1].positions, sizeof(c.positions)) == 0,
			   "scatter %llu rows (%s) into %u bins by %u nodes, %u targets (in the host %x), "
			   "ids of %u bytes, places %d", (unsigned long long) c.keys.nrows, key_shape_name(c.keys.shape),
			   c.tree.nbins, c.tree.nnodes, c.ntargets, c.on_host, c.id_bytes, c.keys.places);
		for (int i = 0; i < 2; i++)
		{
			free(results[i].keys);
			free(results[i].ids);
		}
		free(c.keys.words);
	}
}
