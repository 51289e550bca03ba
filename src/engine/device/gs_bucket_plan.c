/*
 * gs_bucket_plan.c
 *		Which keys go to which share: the prefix tree and what to count next.
 *
 * RMG sort moves the rows of a spanning bucket to count them by their next digit.  Here rows stay
 * where they are, and a pass over all keys counts those below up to GS_MAX_COUNTED prefixes.  So
 * keys are read once more, but nothing is written, and rows move only once, when all counts are
 * known.
 *
 * What is counted:
 *	- the root, unless there is but one share and few rows: then the only leaf
 *	  has all rows;
 *	- leaves that *span* a cut: the cut falls inside, beyond epsilon from both edges;
 *	- *large* leaves, above 1/8 of a share: a share should consist of several
 *	  buckets, so that one can be downloaded while the next is sorted, and keys
 *	  that occur very often turn out not to need sorting.
 * Spanning leaves are counted first.  Large ones are a matter of speed only, so at most
 * GS_MAX_COUNTED of them are counted in all, and they leave half of a round's tree to spanning
 * ones.
 *
 * Each pass takes a leaf 8 bits further down, so there are at most 8 passes; a leaf without bits
 * left is never counted again.  A leaf that spans but could not be counted, because the tree is
 * full, is cut at its nearer edge.
 *
 * The rows of a round, ndevices consecutive shares, are scattered by one tree, of
 * GS_MAX_TREE_NODES.  That is why nodes are counted by rounds, as if all cuts were ideal.  It makes
 * no difference that they are not: a cut only moves within the leaf that it falls into, whose nodes
 * both rounds beside the cut have.
 */
#include <stdlib.h>
#include <string.h>

#include "engine/device/gs_bucket_private.h"

/* A leaf that has more than this part of a share is large. */
#define LARGE_DIVISOR	8

static bool
reserve_leaves(gs_bucket_plan *plan, unsigned count)
{
	unsigned	room = plan->leaf_room == 0 ? GS_DEVICE_DIGITS : plan->leaf_room;
	gs_leaf    *leaves;
	gs_leaf_place *places;

	while (room < count)
		room *= 2;
	if (room == plan->leaf_room)
		return true;
	leaves = realloc(plan->leaves, room * sizeof(*leaves));
	if (leaves != NULL)
		plan->leaves = leaves;
	places = realloc(plan->places, room * sizeof(*places));
	if (places != NULL)
		plan->places = places;
	if (leaves == NULL || places == NULL)
		return false;
	plan->leaf_room = room;
	return true;
}

gs_bucket_plan *
gs_plan_begin(const gs_plan_args *args)
{
	gs_bucket_plan *plan = calloc(1, sizeof(*plan));

	if (plan == NULL)
		return NULL;
	plan->args = *args;
	plan->share_rows = args->nrows / args->nshares;
	plan->rounds = (args->nshares + args->ndevices - 1) / args->ndevices;
	plan->nodes = malloc(GS_MAX_PLAN_NODES * sizeof(*plan->nodes));
	plan->round_nodes = calloc(plan->rounds, sizeof(*plan->round_nodes));
	plan->cuts = calloc(args->nshares + 1, sizeof(*plan->cuts));
	if (plan->nodes == NULL || plan->round_nodes == NULL || plan->cuts == NULL ||
		!reserve_leaves(plan, 1))
	{
		gs_plan_end(plan);
		return NULL;
	}
	plan->leaves[0] = (gs_leaf) {.shift = args->width, .nrows = args->nrows};
	plan->leaves[0].counts[0] = args->nrows;
	plan->places[0] = (gs_leaf_place) {0, 0};
	plan->nleaves = args->nrows > 0 ? 1 : 0;
	return plan;
}

void
gs_plan_end(gs_bucket_plan *plan)
{
	if (plan == NULL)
		return;
	free(plan->nodes);
	free(plan->round_nodes);
	free(plan->cuts);
	free(plan->leaves);
	free(plan->places);
	free(plan->buckets);
	free(plan);
}

/* Returns the last round that has rows before a position, if all cuts are ideal. */
static unsigned
last_round_before(const gs_bucket_plan *plan, uint64_t position)
{
	unsigned	low = 0;
	unsigned	high = plan->rounds - 1;

	while (low < high)
	{
		unsigned	middle = low + (high - low + 1) / 2;

		if (gs_plan_round_begin(plan, middle) < position)
			low = middle;
		else
			high = middle - 1;
	}
	return low;
}

/*
 * Adds a leaf to those to be counted, unless a tree that needs it has `limit` nodes already;
 * returns whether it is one of those now.
 */
static bool
want_leaf(gs_bucket_plan *plan, unsigned leaf_index, unsigned limit)
{
	const gs_leaf *leaf = &plan->leaves[leaf_index];
	unsigned	first = last_round_before(plan, leaf->begin + 1);
	unsigned	last = last_round_before(plan, gs_leaf_end(leaf));

	for (unsigned i = 0; i < plan->nwanted; i++)
		if (plan->wanted[i] == leaf_index)
			return true;
	if (plan->nwanted == GS_MAX_COUNTED || plan->nnodes + plan->nwanted == GS_MAX_PLAN_NODES)
		return false;
	for (unsigned round = first; round <= last; round++)
		if (plan->round_nodes[round] >= limit)
			return false;
	for (unsigned round = first; round <= last; round++)
		plan->round_nodes[round]++;
	plan->wanted[plan->nwanted++] = leaf_index;
	return true;
}

static void
want_spanning(gs_bucket_plan *plan)
{
	for (unsigned share = 1; share < plan->args.nshares; share++)
	{
		uint64_t	cut = gs_plan_ideal_cut(plan, share);
		unsigned	index = gs_plan_leaf_at(plan, cut);
		const gs_leaf *leaf = &plan->leaves[index];

		if (leaf->shift > 0 && !gs_plan_near_edge(plan, leaf, cut))
			want_leaf(plan, index, GS_MAX_TREE_NODES);
	}
}

/*
 * Returns, of the leaves with bits left, the one that comes after `last` by size, or nleaves if
 * there is none.
 */
static unsigned
next_largest(const gs_bucket_plan *plan, unsigned last)
{
	unsigned	found = plan->nleaves;

	for (unsigned i = 0; i < plan->nleaves; i++)
	{
		const gs_leaf *leaf = &plan->leaves[i];
		const gs_leaf *previous = last < plan->nleaves ? &plan->leaves[last] : NULL;
		bool		after = previous == NULL || leaf->nrows < previous->nrows ||
			(leaf->nrows == previous->nrows && i > last);

		if (leaf->shift > 0 && after &&
			(found == plan->nleaves || leaf->nrows > plan->leaves[found].nrows))
			found = i;
	}
	return found;
}

static void
want_large(gs_bucket_plan *plan)
{
	uint64_t	limit = plan->share_rows / LARGE_DIVISOR;
	unsigned	index = plan->nleaves;

	if (limit < plan->args.bucket_rows)
		limit = plan->args.bucket_rows;
	while (plan->large_nodes < GS_MAX_COUNTED)
	{
		unsigned	wanted = plan->nwanted;

		index = next_largest(plan, index);
		if (index == plan->nleaves || plan->leaves[index].nrows <= limit ||
			!want_leaf(plan, index, GS_MAX_TREE_NODES / 2))
			return;
		plan->large_nodes += plan->nwanted - wanted;
	}
}

static int
compare_unsigned(const void *a, const void *b)
{
	unsigned	x = *(const unsigned *) a;
	unsigned	y = *(const unsigned *) b;

	return x < y ? -1 : x > y;
}

static gs_counted
counted_below(const gs_leaf *leaf)
{
	unsigned	bits = leaf->shift < GS_DEVICE_DIGIT_BITS ? leaf->shift : GS_DEVICE_DIGIT_BITS;

	return (gs_counted) {
		.prefix = leaf->prefix,
		.digit_shift = leaf->shift - bits,
		.digit_bits = bits,
	};
}

unsigned
gs_plan_wanted(gs_bucket_plan *plan, gs_counted *counted)
{
	const gs_plan_args *args = &plan->args;

	plan->nwanted = 0;
	if (args->nrows == 0)
		return 0;
	if (plan->nnodes > 0)
	{
		want_spanning(plan);
		want_large(plan);
	}
	else if (args->nshares > 1 || args->ndevices > 1 || args->nrows / 2 > args->bucket_rows)
		want_leaf(plan, 0, GS_MAX_TREE_NODES);

	qsort(plan->wanted, plan->nwanted, sizeof(plan->wanted[0]), compare_unsigned);
	for (unsigned i = 0; i < plan->nwanted; i++)
		counted[i] = counted_below(&plan->leaves[plan->wanted[i]]);
	return plan->nwanted;
}

/*
 * Appends the children of leaf `old`, by digits, with the rows that counts[device][i] says.
 * Returns false if these do not add up to the leaf's rows.
 */
static bool
append_children(gs_bucket_plan *plan, const gs_leaf *old, unsigned node, unsigned i,
				const uint64_t (*const *counts)[GS_DEVICE_DIGITS])
{
	const gs_counted *counted = &plan->nodes[node].counted;
	uint64_t	position = old->begin;

	for (unsigned digit = 0; digit < 1u << counted->digit_bits; digit++)
	{
		gs_leaf    *leaf = &plan->leaves[plan->nleaves];

		*leaf = (gs_leaf) {
			.prefix = old->prefix << counted->digit_bits | digit,
			.shift = counted->digit_shift,
			.begin = position,
		};
		for (unsigned device = 0; device < plan->args.ndevices; device++)
		{
			leaf->counts[device] = counts[device][i][digit];
			leaf->nrows += leaf->counts[device];
		}
		if (leaf->nrows == 0)
			continue;
		position += leaf->nrows;
		plan->places[plan->nleaves++] = (gs_leaf_place) {node, digit};
	}
	return position == gs_leaf_end(old);
}

static unsigned
add_node(gs_bucket_plan *plan, const gs_leaf *leaf, gs_leaf_place place)
{
	plan->nodes[plan->nnodes] = (gs_plan_node) {
		.counted = counted_below(leaf),
		.begin = leaf->begin,
		.nrows = leaf->nrows,
		.parent = place.node,
		.parent_digit = place.digit,
	};
	return plan->nnodes++;
}

gs_status
gs_plan_counted(gs_bucket_plan *plan, const uint64_t (*const *counts)[GS_DEVICE_DIGITS])
{
	unsigned	old_count = plan->nleaves;
	unsigned	most = old_count + plan->nwanted * GS_DEVICE_DIGITS;
	unsigned	next = 0;
	gs_leaf    *old_leaves;
	gs_leaf_place *old_places;
	bool		passed = true;

	/* the old leaves are moved behind the room for the new ones */
	if (!reserve_leaves(plan, most + old_count))
		return GS_NO_SPACE;
	old_leaves = plan->leaves + most;
	old_places = plan->places + most;
	memcpy(old_leaves, plan->leaves, old_count * sizeof(*old_leaves));
	memcpy(old_places, plan->places, old_count * sizeof(*old_places));

	plan->passes++;
	plan->nleaves = 0;
	for (unsigned i = 0; i < old_count && passed; i++)
	{
		if (next < plan->nwanted && plan->wanted[next] == i)
		{
			unsigned	node = add_node(plan, &old_leaves[i], old_places[i]);

			passed = append_children(plan, &old_leaves[i], node, next++, counts);
			continue;
		}
		plan->places[plan->nleaves] = old_places[i];
		plan->leaves[plan->nleaves++] = old_leaves[i];
	}
	plan->nwanted = 0;
	return passed ? GS_OK : GS_INVALID;
}

unsigned
gs_plan_passes(const gs_bucket_plan *plan)
{
	return plan->passes;
}

unsigned
gs_plan_leaves(const gs_bucket_plan *plan, const gs_leaf **leaves)
{
	*leaves = plan->leaves;
	return plan->nleaves;
}

const uint64_t *
gs_plan_cuts(const gs_bucket_plan *plan)
{
	return plan->cuts;
}

unsigned
gs_plan_buckets(const gs_bucket_plan *plan, const gs_bucket **buckets)
{
	*buckets = plan->buckets;
	return plan->nbuckets;
}

/* ---------- leaves, and their edges ---------- */

unsigned
gs_plan_leaf_at(const gs_bucket_plan *plan, uint64_t position)
{
	unsigned	low = 0;
	unsigned	high = plan->nleaves - 1;

	while (low < high)
	{
		unsigned	middle = low + (high - low) / 2;

		if (gs_leaf_end(&plan->leaves[middle]) <= position)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool
gs_plan_near_edge(const gs_bucket_plan *plan, const gs_leaf *leaf, uint64_t position)
{
	uint64_t	edge = gs_leaf_nearest_edge(leaf, position);
	uint64_t	distance = edge < position ? position - edge : edge - position;

	return distance <= plan->share_rows / GS_EPSILON_DIVISOR;
}
