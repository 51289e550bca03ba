/*
 * gs_bucket_cuts.c
 *		The finished plan: cuts between shares, buckets, and the tree of bins.
 *
 * Every bucket costs a few launches and transfers, so neighbouring leaves of a share are *fused*
 * into one bucket (RMG sort, section 3.3): always while they have fewer than bucket_rows rows
 * together, and up to 1/16 of a share as long as no row has to go through more passes of 8 bits for
 * it.  A bucket is sorted from the highest bit in which its first and its last prefix differ down.
 *
 * Rows are scattered by *bins*.  Rows of one bucket need not be told apart then, so a bin is all
 * leaves of a bucket.  But where only the root was counted, bins are the digits of the root,
 * because the histogram has left the counts by tile in that case.  The tree that leads keys to bins
 * is that of the leaves, without the nodes that lead to one bin only.
 *
 * A leaf of equal keys that was cut is one bin, and a bucket in each of its shares.
 */
#include <stdlib.h>
#include <string.h>

#include "engine/device/gs_bucket_private.h"

/* Buckets that are larger than this part of a share are not fused for the sake of launches. */
#define FUSED_DIVISOR	16

/* The entry of a digit that no row has; only used while a tree is being made. */
#define BIN_EMPTY		0x7ffeu

static uint64_t
choose_cut(const gs_bucket_plan *plan, unsigned share)
{
	uint64_t	cut = gs_plan_ideal_cut(plan, share);
	const gs_leaf *leaf = &plan->leaves[gs_plan_leaf_at(plan, cut)];

	if (gs_leaf_divisible(plan, leaf) && !gs_plan_near_edge(plan, leaf, cut))
		return cut;
	return gs_leaf_nearest_edge(leaf, cut);
}

static gs_status
choose_cuts(gs_bucket_plan *plan)
{
	unsigned	nshares = plan->args.nshares;

	for (unsigned share = 1; share < nshares && plan->nleaves > 0; share++)
		plan->cuts[share] = choose_cut(plan, share);
	plan->cuts[nshares] = plan->args.nrows;
	for (unsigned share = 0; share < nshares; share++)
		if (plan->cuts[share + 1] - plan->cuts[share] > plan->args.capacity_rows)
			return GS_NO_SPACE;
	return GS_OK;
}

/* Returns whether a leaf of equal keys was cut where a share begins. */
bool
gs_plan_cut_ties(const gs_bucket_plan *plan, unsigned share)
{
	uint64_t	cut = plan->cuts[share];

	return cut < plan->args.nrows && plan->leaves[gs_plan_leaf_at(plan, cut)].begin < cut;
}

static bool
push_bucket(gs_bucket_plan *plan, gs_bucket bucket)
{
	if (plan->nbuckets == plan->bucket_room)
	{
		unsigned	room = plan->bucket_room == 0 ? GS_MAX_BINS : 2 * plan->bucket_room;
		gs_bucket  *buckets = realloc(plan->buckets, room * sizeof(*buckets));

		if (buckets == NULL)
			return false;
		plan->buckets = buckets;
		plan->bucket_room = room;
	}
	plan->buckets[plan->nbuckets++] = bucket;
	return true;
}

static inline uint64_t
lowest_key(const gs_leaf *leaf)
{
	return leaf->shift == 64 ? 0 : leaf->prefix << leaf->shift;
}

static inline uint64_t
highest_key(const gs_leaf *leaf)
{
	return lowest_key(leaf) | gs_low_mask(leaf->shift);
}

static inline unsigned
sort_passes(unsigned bits)
{
	return (bits + GS_DEVICE_DIGIT_BITS - 1) / GS_DEVICE_DIGIT_BITS;
}

/*
 * Returns whether a leaf that is to be sorted by leaf_bits bits may join `bucket`, to make `fused`.
 */
static bool
worth_fusing(const gs_bucket_plan *plan, const gs_bucket *bucket, unsigned leaf_bits,
			 const gs_bucket *fused, uint64_t floor_rows)
{
	uint64_t	rows = fused->end - fused->begin;

	if (rows <= floor_rows)
		return true;
	return rows <= plan->share_rows / FUSED_DIVISOR &&
		sort_passes(fused->bits) <= sort_passes(bucket->bits) &&
		sort_passes(fused->bits) <= sort_passes(leaf_bits);
}

/*
 * Appends the buckets of a share; leaves are fused up to floor_rows.  Returns false if memory is
 * out.
 */
static bool
make_buckets(gs_bucket_plan *plan, unsigned share, uint64_t floor_rows)
{
	uint64_t	begin = plan->cuts[share];
	uint64_t	end = plan->cuts[share + 1];
	const gs_leaf *first = NULL;	/* first leaf of the bucket that the next leaf may join */

	if (begin == end)
		return true;
	for (unsigned i = gs_plan_leaf_at(plan, begin); i < plan->nleaves; i++)
	{
		const gs_leaf *leaf = &plan->leaves[i];
		gs_bucket	bucket = {leaf->begin, gs_leaf_end(leaf), leaf->shift, share};

		if (leaf->begin >= end)
			break;
		if (bucket.begin < begin || bucket.end > end)
		{
			bucket.begin = bucket.begin < begin ? begin : bucket.begin;
			bucket.end = bucket.end > end ? end : bucket.end;
			first = NULL;
		}
		else if (first != NULL)
		{
			gs_bucket  *last = &plan->buckets[plan->nbuckets - 1];
			gs_bucket	fused = {
				last->begin, bucket.end,
				gs_bit_width(lowest_key(first) ^ highest_key(leaf)), share
			};

			if (worth_fusing(plan, last, leaf->shift, &fused, floor_rows))
			{
				*last = fused;
				continue;
			}
			first = leaf;
		}
		else
			first = leaf;
		if (!push_bucket(plan, bucket))
			return false;
	}
	return true;
}

/*
 * Appends the buckets of a round.  The floor rises until there are no more buckets than there may
 * be bins.  Returns false if memory is out.
 */
static bool
make_round(gs_bucket_plan *plan, unsigned round)
{
	unsigned	begin = round * plan->args.ndevices;
	unsigned	end = begin + plan->args.ndevices;
	unsigned	nbuckets = plan->nbuckets;
	uint64_t	floor_rows = plan->args.bucket_rows;

	if (end > plan->args.nshares)
		end = plan->args.nshares;
	for (;;)
	{
		plan->nbuckets = nbuckets;
		for (unsigned share = begin; share < end; share++)
			if (!make_buckets(plan, share, floor_rows))
				return false;
		if (plan->nbuckets - nbuckets <= GS_MAX_BINS)
			return true;
		floor_rows = floor_rows == 0 ? 1 : 2 * floor_rows;
	}
}

gs_status
gs_plan_finish(gs_bucket_plan *plan)
{
	gs_status	status = choose_cuts(plan);

	for (unsigned round = 0; round < plan->rounds && status == GS_OK; round++)
		if (!make_round(plan, round))
			status = GS_NO_SPACE;
	return status;
}

gs_status
gs_plan_take(gs_bucket_plan *plan, const gs_bucket *buckets, unsigned nbuckets)
{
	unsigned	share = 0;

	plan->nleaves = nbuckets;
	for (unsigned i = 0; i < nbuckets; i++)
	{
		plan->leaves[i] = (gs_leaf) {
			.shift = buckets[i].bits,
			.begin = buckets[i].begin,
			.nrows = buckets[i].end - buckets[i].begin,
		};
		while (share < buckets[i].share)
			plan->cuts[++share] = buckets[i].begin;
		if (!push_bucket(plan, buckets[i]))
			return GS_NO_SPACE;
	}
	while (share < plan->args.nshares)
		plan->cuts[++share] = plan->args.nrows;
	return GS_OK;
}

/* Makes a tree that takes all rows to bin 0. */
static void
one_bin(const gs_bucket_plan *plan, gs_bin_tree *tree)
{
	unsigned	width = plan->args.width;

	tree->nbins = 1;
	tree->nnodes = 1;
	tree->nodes[0].digit_bits = width < GS_DEVICE_DIGIT_BITS ? width : GS_DEVICE_DIGIT_BITS;
	tree->nodes[0].digit_shift = width - tree->nodes[0].digit_bits;
	memset(tree->entries[0], 0, sizeof(tree->entries[0]));
}

/*
 * Gives the leaves of positions [begin, end) bins, in the entries of the nodes.  Sums up
 * positions[device][bin], which are numbers of rows for now, and sets begins[bin].  Returns the
 * number of bins.
 */
static unsigned
number_bins(const gs_bucket_plan *plan, uint64_t begin, uint64_t end,
			uint64_t (*positions)[GS_MAX_BINS], uint64_t *begins)
{
	bool		digits = plan->nnodes == 1;
	const gs_bucket *bucket = plan->buckets;
	const gs_bucket *last_bucket = NULL;
	unsigned	nbins = 0;

	for (unsigned i = 0; i < plan->nleaves; i++)
	{
		const gs_leaf *leaf = &plan->leaves[i];
		uint64_t	inside = leaf->begin < begin ? begin : leaf->begin;
		uint16_t   *entry = &plan->nodes[plan->places[i].node].entries[plan->places[i].digit];
		unsigned	bin;

		*entry = GS_BIN_NONE;
		if (gs_leaf_end(leaf) <= begin || leaf->begin >= end)
			continue;
		while (bucket->end <= inside)
			bucket++;
		if (digits)
			nbins = plan->places[i].digit + 1;
		else if (bucket != last_bucket)
			nbins++;
		bin = nbins - 1;
		if (digits || bucket != last_bucket)
			begins[bin] = leaf->begin;
		last_bucket = bucket;
		*entry = (uint16_t) bin;
		for (unsigned device = 0; device < plan->args.ndevices; device++)
			positions[device][bin] += leaf->counts[device];
	}
	return nbins;
}

/* Returns what all digits of a node lead to, or BIN_EMPTY if they lead to several places. */
static uint16_t
common_entry(const gs_plan_node *node)
{
	uint16_t	common = BIN_EMPTY;

	for (unsigned digit = 0; digit < 1u << node->counted.digit_bits; digit++)
	{
		if (node->entries[digit] == BIN_EMPTY)
			continue;
		if (common != BIN_EMPTY && node->entries[digit] != common)
			return BIN_EMPTY;
		common = node->entries[digit];
	}
	return common;
}

/* Copies a node into the tree, in which the plan's nodes have the numbers numbers[]. */
static void
copy_node(const gs_plan_node *node, const unsigned *numbers, gs_bin_tree *tree)
{
	unsigned	number = tree->nnodes++;

	tree->nodes[number].digit_shift = node->counted.digit_shift;
	tree->nodes[number].digit_bits = node->counted.digit_bits;
	for (unsigned digit = 0; digit < GS_DEVICE_DIGITS; digit++)
	{
		uint16_t	entry = node->entries[digit];

		if (entry & GS_TREE_NODE)
			entry = (uint16_t) (GS_TREE_NODE | numbers[entry & ~GS_TREE_NODE]);
		tree->entries[number][digit] = entry == BIN_EMPTY ? GS_BIN_NONE : entry;
	}
}

/*
 * Makes the tree of the nodes' entries.  Children come behind their parents, so that a loop that
 * goes backwards finds each node complete.  A node that leads to one place only is skipped.
 */
static void
make_tree(const gs_bucket_plan *plan, gs_bin_tree *tree)
{
	unsigned	numbers[GS_MAX_PLAN_NODES];
	uint16_t	common = BIN_EMPTY;
	unsigned	kept = 0;

	for (unsigned i = plan->nnodes; i-- > 0;)
	{
		gs_plan_node *node = &plan->nodes[i];

		common = common_entry(node);
		numbers[i] = common == BIN_EMPTY || i == 0 ? 1 : 0;
		if (i > 0)
			plan->nodes[node->parent].entries[node->parent_digit] =
				common == BIN_EMPTY ? (uint16_t) (GS_TREE_NODE | i) : common;
	}
	/* a root that leads to one node only is left out: the tree begins at that node */
	if (common != BIN_EMPTY && common & GS_TREE_NODE)
		numbers[0] = 0;
	for (unsigned i = 0; i < plan->nnodes; i++)
		numbers[i] = numbers[i] ? kept++ : GS_MAX_TREE_NODES;

	tree->nnodes = 0;
	for (unsigned i = 0; i < plan->nnodes; i++)
		if (numbers[i] < GS_MAX_TREE_NODES)
			copy_node(&plan->nodes[i], numbers, tree);
}

void
gs_plan_bins(const gs_bucket_plan *plan, unsigned first_share, unsigned last_share,
			 gs_bin_tree *tree, uint64_t (*positions)[GS_MAX_BINS], bool *digits)
{
	uint64_t	begins[GS_MAX_BINS] = {0};
	unsigned	nbins;

	*digits = plan->nnodes == 1;
	for (unsigned device = 0; device <= plan->args.ndevices; device++)
		memset(positions[device], 0, sizeof(positions[device]));
	if (plan->nnodes == 0)
	{
		one_bin(plan, tree);
		positions[1][0] = plan->args.nrows;
		return;
	}

	for (unsigned i = 0; i < plan->nnodes; i++)
		for (unsigned digit = 0; digit < GS_DEVICE_DIGITS; digit++)
			plan->nodes[i].entries[digit] = BIN_EMPTY;
	nbins = number_bins(plan, plan->cuts[first_share], plan->cuts[last_share + 1],
						positions, begins);
	tree->nbins = nbins > 0 ? nbins : 1;
	if (*digits)
	{
		tree->nnodes = 0;
		copy_node(&plan->nodes[0], NULL, tree);
	}
	else
		make_tree(plan, tree);

	for (unsigned bin = 0; bin < nbins; bin++)
	{
		uint64_t	position = begins[bin];

		for (unsigned device = 0; device <= plan->args.ndevices; device++)
		{
			uint64_t	rows = positions[device][bin];

			positions[device][bin] = position;
			position += rows;
		}
	}
}
