/*
 * plan_test.c
 *		The bucket plan, on keys in memory instead of devices.
 *
 * Each case counts what the plan wants by looking at all keys, checks what is
 * promised of leaves, cuts, buckets and bins, then scatters the rows by trees and
 * positions, round by round, sorts the buckets on the bits that they say, and
 * compares with a stable sort.  With --small, of each shape some of the widths are left out, of its
 * neighbours others.
 */
#include <stdlib.h>
#include <string.h>

#include "engine/gs_engine.h"
#include "engine/device/gs_bucket_private.h"
#include "keys.h"
#include "tap.h"

static bool small_run;

#define LENGTH(array)	(sizeof(array) / sizeof((array)[0]))

typedef struct row
{
	uint64_t	key;
	uint64_t	id;
} row;

typedef struct plan_case
{
	gs_plan_args args;
	const uint64_t *keys;		/* below 2^width */
	bool		crowded;		/* more is wanted than the tree can hold */
} plan_case;

typedef struct context
{
	const plan_case *c;
	gs_bucket_plan *plan;
	row		   *sorted;			/* what should come out */
	row		   *scattered;		/* id UINT64_MAX: nothing there yet */
	row		   *spare;
	const char *fault;			/* the first */
} context;

static void
check(context *x, bool passed, const char *what)
{
	if (!passed && x->fault == NULL)
		x->fault = what;
}

/* Stable, on the lowest bits of the key; *rows and *spare may change places. */
static void
sort_rows(row *rows, row *spare, uint64_t count, unsigned bits)
{
	for (unsigned bit = 0; bit < bits; bit++)
	{
		uint64_t	zeros = 0;
		uint64_t	ones = 0;

		for (uint64_t i = 0; i < count; i++)
			zeros += (~rows[i].key >> bit) & 1;
		ones = zeros;
		zeros = 0;
		for (uint64_t i = 0; i < count; i++)
			spare[rows[i].key >> bit & 1 ? ones++ : zeros++] = rows[i];
		memcpy(rows, spare, count * sizeof(row));
	}
}

/* Rows lie on devices in blocks of nearly equal size. */
static uint64_t
device_begin(const gs_plan_args *args, unsigned device)
{
	return args->nrows * device / args->ndevices;
}

static bool
has_prefix(const gs_counted *counted, unsigned width, uint64_t key)
{
	unsigned	shift = counted->digit_shift + counted->digit_bits;

	return shift == width ? counted->prefix == 0 : key >> shift == counted->prefix;
}

/* One pass of counting.  False when nothing is wanted. */
static bool
count_wanted(context *x)
{
	static uint64_t counts[GS_MAX_DEVICES][GS_MAX_COUNTED][GS_DEVICE_DIGITS];
	const uint64_t (*pointers[GS_MAX_DEVICES])[GS_DEVICE_DIGITS];
	const gs_plan_args *args = &x->c->args;
	gs_counted	counted[GS_MAX_COUNTED];
	unsigned	wanted = gs_plan_wanted(x->plan, counted);

	check(x, wanted <= GS_MAX_COUNTED, "too much is wanted");
	if (wanted == 0)
		return false;
	memset(counts, 0, sizeof(counts));
	for (unsigned device = 0; device < args->ndevices; device++)
	{
		pointers[device] = (const uint64_t (*)[GS_DEVICE_DIGITS]) counts[device];
		for (uint64_t i = device_begin(args, device); i < device_begin(args, device + 1); i++)
			for (unsigned w = 0; w < wanted; w++)
				if (has_prefix(&counted[w], args->width, x->c->keys[i]))
					counts[device][w][x->c->keys[i] >> counted[w].digit_shift &
									  gs_low_mask(counted[w].digit_bits)]++;
	}
	check(x, gs_plan_counted(x->plan, pointers) == GS_OK, "counts refused");
	return true;
}

static uint64_t
low_key(const gs_leaf *leaf)
{
	return leaf->shift == 64 ? 0 : leaf->prefix << leaf->shift;
}

static void
check_leaves(context *x)
{
	const gs_leaf *leaves;
	unsigned	nleaves = gs_plan_leaves(x->plan, &leaves);
	const gs_plan_args *args = &x->c->args;
	uint64_t	position = 0;

	for (unsigned i = 0; i < nleaves; i++)
	{
		const gs_leaf *leaf = &leaves[i];
		uint64_t	counts[GS_MAX_DEVICES] = {0};

		check(x, leaf->begin == position && leaf->nrows > 0, "leaves have gaps");
		for (uint64_t p = position; p < position + leaf->nrows && p < args->nrows; p++)
		{
			unsigned	device = 0;

			while (x->sorted[p].id >= device_begin(args, device + 1))
				device++;
			counts[device]++;
			check(x, ((x->sorted[p].key ^ low_key(leaf)) & ~gs_low_mask(leaf->shift)) == 0,
				  "a row in the wrong leaf");
		}
		check(x, memcmp(counts, leaf->counts, sizeof(counts)) == 0, "counts by device");
		position += leaf->nrows;
	}
	check(x, position == args->nrows, "leaves are not all rows");
}

/* The leaf that a position falls inside of, or NULL at an edge. */
static const gs_leaf *
leaf_around(const gs_bucket_plan *plan, uint64_t position)
{
	const gs_leaf *leaves;
	unsigned	nleaves = gs_plan_leaves(plan, &leaves);

	for (unsigned i = 0; i < nleaves; i++)
		if (leaves[i].begin < position && position < leaves[i].begin + leaves[i].nrows)
			return &leaves[i];
	return NULL;
}

static void
check_cuts(context *x)
{
	const gs_plan_args *args = &x->c->args;
	const uint64_t *cuts = gs_plan_cuts(x->plan);
	uint64_t	epsilon = args->nrows / args->nshares / 200;

	check(x, cuts[0] == 0 && cuts[args->nshares] == args->nrows, "outermost cuts");
	for (unsigned k = 1; k <= args->nshares; k++)
	{
		uint64_t	ideal = args->nrows * k / args->nshares;
		uint64_t	distance = cuts[k] > ideal ? cuts[k] - ideal : ideal - cuts[k];
		const gs_leaf *inside = leaf_around(x->plan, cuts[k]);
		const gs_leaf *around = leaf_around(x->plan, ideal);

		check(x, cuts[k - 1] <= cuts[k], "cuts out of order");
		check(x, cuts[k] - cuts[k - 1] <= args->capacity_rows, "share above its capacity");
		check(x, inside == NULL || (inside->shift == 0 && !args->more_bits),
			  "a cut through rows that differ");
		check(x, distance <= epsilon || x->c->crowded ||
			  (around != NULL && around->shift == 0 && args->more_bits &&
			   (cuts[k] == around->begin || cuts[k] == around->begin + around->nrows)),
			  "a cut too far from where it should be");
	}
}

static void
check_buckets(context *x)
{
	const gs_plan_args *args = &x->c->args;
	const uint64_t *cuts = gs_plan_cuts(x->plan);
	const gs_bucket *buckets;
	unsigned	nbuckets = gs_plan_buckets(x->plan, &buckets);
	uint64_t	position = 0;

	for (unsigned i = 0; i < nbuckets; i++)
	{
		const gs_bucket *b = &buckets[i];

		check(x, b->begin == position && b->begin < b->end, "buckets have gaps");
		check(x, b->share < args->nshares && cuts[b->share] <= b->begin &&
			  b->end <= cuts[b->share + 1], "a bucket outside of its share");
		check(x, b->bits <= args->width, "more bits than there are");
		for (uint64_t p = b->begin + 1; p < b->end && b->bits < 64; p++)
			check(x, x->sorted[p].key >> b->bits == x->sorted[p - 1].key >> b->bits,
				  "a bucket needs more bits");
		position = b->end;
	}
	check(x, position == args->nrows, "buckets are not all rows");
}

static unsigned
find_bin(context *x, const gs_bin_tree *tree, uint64_t key)
{
	unsigned	node = 0;

	for (unsigned steps = 0; steps < 64; steps++)
	{
		unsigned	digit = key >> tree->nodes[node].digit_shift &
			gs_low_mask(tree->nodes[node].digit_bits);
		unsigned	entry = tree->entries[node][digit];

		if (!(entry & GS_TREE_NODE))
			return entry;
		node = entry & ~GS_TREE_NODE;
		check(x, node < tree->nnodes, "a node that is none");
		if (x->fault != NULL)
			break;
	}
	return GS_BIN_NONE;
}

static void
check_tree(context *x, const gs_bin_tree *tree, bool digits)
{
	check(x, tree->nnodes >= 1 && tree->nnodes <= GS_MAX_TREE_NODES, "nodes of a tree");
	check(x, tree->nbins >= 1 && tree->nbins <= GS_MAX_BINS, "bins");
	for (unsigned digit = 0; digit < GS_DEVICE_DIGITS && digits; digit++)
		check(x, tree->nnodes == 1 &&
			  (tree->entries[0][digit] == digit || tree->entries[0][digit] == GS_BIN_NONE),
			  "digits are not the bins");
}

static void
scatter_round(context *x, unsigned first, unsigned last)
{
	static gs_bin_tree tree;
	static uint64_t positions[GS_MAX_DEVICES + 1][GS_MAX_BINS];
	static uint64_t starts[GS_MAX_DEVICES + 1][GS_MAX_BINS];
	const gs_plan_args *args = &x->c->args;
	const uint64_t *cuts = gs_plan_cuts(x->plan);
	bool		digits;

	gs_plan_bins(x->plan, first, last, &tree, positions, &digits);
	memcpy(starts, positions, sizeof(starts));
	check_tree(x, &tree, digits);
	for (unsigned device = 0; device < args->ndevices; device++)
		for (uint64_t i = device_begin(args, device);
			 i < device_begin(args, device + 1) && x->fault == NULL; i++)
		{
			unsigned	bin = find_bin(x, &tree, x->c->keys[i]);
			uint64_t	position;

			check(x, bin == GS_BIN_NONE || bin < tree.nbins, "a bin that is none");
			if (bin == GS_BIN_NONE || x->fault != NULL)
				continue;
			position = positions[device][bin]++;
			if (position < cuts[first] || position >= cuts[last + 1])
				continue;
			check(x, x->scattered[position].id == UINT64_MAX, "two rows at one place");
			x->scattered[position] = (row) {x->c->keys[i], i};
		}
	for (unsigned device = 0; device < args->ndevices; device++)
		for (unsigned bin = 0; bin < tree.nbins; bin++)
			check(x, positions[device][bin] == starts[device + 1][bin], "where rows of a bin end");
}

static void
check_result(context *x)
{
	const gs_plan_args *args = &x->c->args;
	const gs_bucket *buckets;
	unsigned	nbuckets = gs_plan_buckets(x->plan, &buckets);

	for (unsigned share = 0; share < args->nshares; share += args->ndevices)
		scatter_round(x, share, share + args->ndevices <= args->nshares
					  ? share + args->ndevices - 1 : args->nshares - 1);
	for (unsigned i = 0; i < nbuckets && x->fault == NULL; i++)
		sort_rows(x->scattered + buckets[i].begin, x->spare, buckets[i].end - buckets[i].begin,
				  buckets[i].bits);
	check(x, memcmp(x->scattered, x->sorted, args->nrows * sizeof(row)) == 0, "wrong order");
}

static gs_status
run_plan(context *x)
{
	gs_status	status;

	x->plan = gs_plan_begin(&x->c->args);
	while (x->fault == NULL && count_wanted(x))
		check(x, gs_plan_passes(x->plan) <= 64, "does not end");
	if (x->fault != NULL)
		return GS_OK;
	check_leaves(x);
	status = gs_plan_finish(x->plan);
	if (status != GS_OK)
		return status;
	check_cuts(x);
	check_buckets(x);
	check_result(x);
	return GS_OK;
}

/* *passes may be NULL. */
static bool
case_passes(const plan_case *c, gs_status expected, unsigned *passes)
{
	const gs_plan_args *args = &c->args;
	size_t		bytes = (args->nrows + 1) * sizeof(row);
	context		x = {.c = c, .sorted = malloc(bytes), .scattered = malloc(bytes),
	.spare = malloc(bytes)};
	gs_status	status;

	for (uint64_t i = 0; i < args->nrows; i++)
		x.sorted[i] = (row) {c->keys[i], i};
	sort_rows(x.sorted, x.spare, args->nrows, args->width);
	memset(x.scattered, 0xff, bytes);

	status = run_plan(&x);
	if (status != expected && x.fault == NULL)
		x.fault = gs_status_text(status);
	if (x.fault != NULL)
		tap_note("%s: %llu rows, %u bits, %u devices, %u shares, more bits %d, bucket_rows %llu",
				 x.fault, (unsigned long long) args->nrows, args->width, args->ndevices,
				 args->nshares, args->more_bits, (unsigned long long) args->bucket_rows);
	if (passes != NULL)
		*passes = gs_plan_passes(x.plan);
	gs_plan_end(x.plan);
	free(x.sorted);
	free(x.scattered);
	free(x.spare);
	return x.fault == NULL;
}

static plan_case
plain_case(const uint64_t *keys, uint64_t nrows, unsigned width)
{
	return (plan_case) {
		.keys = keys,
		.args = {
			.nrows = nrows, .width = width, .ndevices = 1, .nshares = 1,
			.capacity_rows = UINT64_MAX, .bucket_rows = 10,
		},
	};
}

#define ROWS	2000

static uint64_t keys[20 * ROWS];

/* Keys of a shape, the topmost bits of each. */
static void
fill_keys(key_shape shape, uint64_t nrows, unsigned width)
{
	keys_fill(keys, nrows, shape, nrows + width);
	for (uint64_t i = 0; i < nrows; i++)
		keys[i] >>= 64 - width;
}

static bool
groups_pass(uint64_t nrows, unsigned width)
{
	static const unsigned groups[][2] = {	/* devices, shares */
		{1, 1}, {1, 2}, {1, 5}, {2, 2}, {3, 3}, {4, 4}, {5, 5}, {7, 14}, {8, 8}, {8, 64}, {2, 64},
		{16, 16},
	};
	bool		passed = true;

	for (size_t i = 0; i < LENGTH(groups); i++)
		for (int variant = 0; variant < 4; variant++)
		{
			plan_case	c = plain_case(keys, nrows, width);

			c.args.ndevices = groups[i][0];
			c.args.nshares = groups[i][1];
			c.args.more_bits = variant & 1;
			c.args.bucket_rows = variant & 2 ? 0 : 100;
			c.crowded = c.args.nshares > 8;
			passed &= case_passes(&c, GS_OK, NULL);
		}
	return passed;
}

static void
test_shapes(void)
{
	static const unsigned widths[] = {64, 33, 20, 9, 8, 1};

	for (int shape = 0; shape < KEY_SHAPES; shape++)
	{
		bool		passed = true;

		for (size_t w = 0; w < LENGTH(widths); w++)
		{
			if (small_run && (w + (size_t) shape) % 3 != 0)
				continue;
			fill_keys((key_shape) shape, ROWS, widths[w]);
			passed &= groups_pass(ROWS, widths[w]);
		}
		tap_ok(passed, "%s", key_shape_name((key_shape) shape));
	}
}

static void
test_sizes(void)
{
	bool		passed = true;

	for (uint64_t nrows = 0; nrows < 40; nrows++)
	{
		fill_keys(KEYS_UNIFORM64, nrows, 64);
		passed &= groups_pass(nrows, 64);
		fill_keys(KEYS_ZERO, nrows, 7);
		passed &= groups_pass(nrows, 7);
	}
	tap_ok(passed, "a few rows");
}

static void
expect_passes(plan_case c, unsigned expected, const char *what)
{
	unsigned	passes = 0;
	bool		passed = case_passes(&c, GS_OK, &passes);

	tap_ok(passed && passes == expected, "%s: %u passes", what, expected);
	if (passes != expected)
		tap_note("got %u", passes);
}

/* What is counted, and what is not. */
static void
test_passes(void)
{
	plan_case	c = plain_case(keys, 10 * ROWS, 64);

	fill_keys(KEYS_UNIFORM64, c.args.nrows, 64);
	c.args.bucket_rows = 5 * ROWS;
	expect_passes(c, 0, "one share of few rows");
	c.args.bucket_rows--;
	expect_passes(c, 1, "one share of more rows");
	c.args.bucket_rows = 5000;
	c.args.nshares = 2;
	expect_passes(c, 1, "uniform keys, two shares");
	c.args.ndevices = c.args.nshares = 8;
	expect_passes(c, 2, "uniform keys, eight shares");

	for (uint64_t i = 0; i < c.args.nrows; i++)
		keys[i] = 42;
	expect_passes(c, 8, "equal keys, counted to the last bit");
	c.args.ndevices = c.args.nshares = 1;
	expect_passes(c, 8, "equal keys, one share");
	c.args.bucket_rows = c.args.nrows;
	expect_passes(c, 0, "equal keys, one share of few rows");

	/* 16 keys that fill shares exactly, all below one prefix of 48 bits */
	c.args.bucket_rows = c.args.nrows / 10;
	c.args.ndevices = c.args.nshares = 8;
	for (uint64_t i = 0; i < c.args.nrows; i++)
		keys[i] = i % 16 << 8;
	expect_passes(c, 7, "cuts between keys that differ late");
}

/* Cuts that fall close to a leaf's edge, on either side of epsilon. */
static void
test_epsilon(void)
{
	plan_case	c = plain_case(keys, 20 * ROWS, 16);
	uint64_t	half = c.args.nrows / 2;
	uint64_t	epsilon = half / 200;

	c.args.nshares = 2;
	c.args.bucket_rows = c.args.nrows;
	for (int off = -1; off <= 1; off += 2)
		for (uint64_t extra = 0; extra < 2; extra++)
		{
			uint64_t	first = off < 0 ? half - epsilon - extra : half + epsilon + extra;

			for (uint64_t i = 0; i < c.args.nrows; i++)
				keys[i] = i < first ? 7 << 8 | i % 250 : 8 << 8 | i % 250;
			expect_passes(c, extra == 0 ? 1 : 2, off < 0 ? "an edge before the cut"
						  : "an edge behind the cut");
		}
}

static void
test_capacity(void)
{
	plan_case	c = plain_case(keys, ROWS, 64);

	fill_keys(KEYS_TWO_VALUES, ROWS, 64);
	c.args.nshares = 4;
	c.args.capacity_rows = ROWS / 4;
	tap_ok(case_passes(&c, GS_OK, NULL), "equal keys are cut to fit");
	c.args.more_bits = true;
	tap_ok(case_passes(&c, GS_NO_SPACE, NULL), "but not when the key goes on");
	fill_keys(KEYS_UNIFORM64, ROWS, 64);
	c.args.capacity_rows = ROWS / 4 + ROWS / 4 / 100;
	tap_ok(case_passes(&c, GS_OK, NULL), "twice epsilon is room enough");
	c.args.capacity_rows = ROWS / 5;
	tap_ok(case_passes(&c, GS_NO_SPACE, NULL), "too little room");
}

static void
test_contradiction(void)
{
	static uint64_t counts[1][GS_DEVICE_DIGITS];
	const uint64_t (*pointers[1])[GS_DEVICE_DIGITS] = {(const uint64_t (*)[GS_DEVICE_DIGITS]) counts};
	plan_case	c = plain_case(keys, ROWS, 64);
	gs_bucket_plan *plan = gs_plan_begin(&c.args);
	gs_counted	counted[GS_MAX_COUNTED];

	gs_plan_wanted(plan, counted);
	counts[0][7] = ROWS - 1;
	tap_ok(gs_plan_counted(plan, pointers) == GS_INVALID, "counts that do not add up");
	gs_plan_end(plan);
}

/* Every share border in a bucket of its own that goes down to the last digit. */
static void
test_crowded(void)
{
	plan_case	c = plain_case(keys, 20 * ROWS, 64);

	for (uint64_t i = 0; i < c.args.nrows; i++)
		keys[i] = i % 128 << 56 | i / 128 % 3;
	for (unsigned g = 1; g <= GS_MAX_DEVICES; g *= 4)
	{
		c.args.ndevices = g;
		c.args.nshares = 64;
		c.crowded = true;
		tap_ok(case_passes(&c, GS_OK, NULL), "a crowded tree, %u devices", g);
	}
}

int
main(int argc, char **argv)
{
	small_run = argc > 1 && strcmp(argv[1], "--small") == 0;
	test_sizes();
	test_shapes();
	test_passes();
	test_epsilon();
	test_capacity();
	test_contradiction();
	test_crowded();
	return tap_finish();
}
