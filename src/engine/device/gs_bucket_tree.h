/*
 * gs_bucket_tree.h
 *		The structs of a bucket plan, for the files that make one.
 */
#ifndef GS_BUCKET_TREE_H
#define GS_BUCKET_TREE_H

#include "engine/gs_bits.h"
#include "engine/device/gs_bucket_plan.h"

/*
 * Most prefixes that one plan counts.  A round's tree has fewer, see GS_MAX_TREE_NODES, but a plan
 * may have many rounds.
 */
#define GS_MAX_PLAN_NODES	512

/*
 * A leaf is not counted for a cut if no more than this part of a share would be on the wrong side
 * of it (RMG sort's epsilon, section 3.2).
 */
#define GS_EPSILON_DIVISOR	200

/* A prefix that was counted; nodes[0] is the root. */
typedef struct gs_plan_node
{
	gs_counted	counted;
	uint64_t	begin;			/* position of its first row */
	uint64_t	nrows;
	unsigned	parent;			/* the node whose entry parent_digit leads here */
	unsigned	parent_digit;
	uint16_t	entries[GS_DEVICE_DIGITS];	/* scratch memory of gs_plan_bins() */
} gs_plan_node;

/* Which node's digit leads to a leaf. */
typedef struct gs_leaf_place
{
	unsigned	node;
	unsigned	digit;
} gs_leaf_place;

struct gs_bucket_plan
{
	gs_plan_args args;
	uint64_t	share_rows;		/* ideal size of a share, rounded down */
	unsigned	rounds;			/* number of rounds, of ndevices shares each */

	/* the tree: leaves that have rows, in order; both arrays have leaf_room */
	unsigned	nleaves;
	unsigned	leaf_room;
	gs_leaf    *leaves;
	gs_leaf_place *places;
	unsigned	nnodes;
	gs_plan_node *nodes;		/* room for GS_MAX_PLAN_NODES */
	unsigned   *round_nodes;	/* number of nodes that have rows of each round */
	unsigned	large_nodes;	/* number of nodes that were counted for being large */
	unsigned	passes;

	/* leaves that are being counted, in order */
	unsigned	nwanted;
	unsigned	wanted[GS_MAX_COUNTED];

	/* set by gs_plan_finish() */
	uint64_t   *cuts;			/* nshares + 1 positions */
	unsigned	nbuckets;
	unsigned	bucket_room;
	gs_bucket  *buckets;
};

/* Returns where a cut would fall if rows could be cut anywhere; nrows is below 2^48. */
static inline uint64_t
gs_plan_ideal_cut(const gs_bucket_plan *plan, unsigned share)
{
	return plan->args.nrows * share / plan->args.nshares;
}

/* Returns where a round begins if all cuts are ideal. */
static inline uint64_t
gs_plan_round_begin(const gs_bucket_plan *plan, unsigned round)
{
	unsigned	share = round * plan->args.ndevices;

	return gs_plan_ideal_cut(plan, share < plan->args.nshares ? share : plan->args.nshares);
}

static inline uint64_t
gs_leaf_end(const gs_leaf *leaf)
{
	return leaf->begin + leaf->nrows;
}

/* Returns whether a leaf may be cut anywhere, since all of its rows have the same key. */
static inline bool
gs_leaf_divisible(const gs_bucket_plan *plan, const gs_leaf *leaf)
{
	return leaf->shift == 0 && !plan->args.more_bits;
}

/* Returns the edge of a leaf that is nearer to a position inside. */
static inline uint64_t
gs_leaf_nearest_edge(const gs_leaf *leaf, uint64_t position)
{
	return position - leaf->begin <= gs_leaf_end(leaf) - position
		? leaf->begin : gs_leaf_end(leaf);
}

/* Returns the number of the leaf that holds a position below nrows. */
extern unsigned gs_plan_leaf_at(const gs_bucket_plan *plan, uint64_t position);

/*
 * Returns whether one of the edges of a leaf is so near to a position in it that the cut may be
 * there.
 */
extern bool gs_plan_near_edge(const gs_bucket_plan *plan, const gs_leaf *leaf,
							  uint64_t position);

#endif							/* GS_BUCKET_TREE_H */
