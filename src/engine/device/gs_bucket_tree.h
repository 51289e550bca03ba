/*
 * gs_bucket_tree.h
 *		A bucket plan from inside: shared by the files that make one.
 */
#ifndef GS_BUCKET_TREE_H
#define GS_BUCKET_TREE_H

#include "engine/gs_bits.h"
#include "engine/device/gs_bucket_plan.h"

/*
 * Most prefixes that one plan counts.  A round's tree has fewer, see
 * GS_MAX_TREE_NODES, but a plan may have many rounds.
 */
#define GS_MAX_PLAN_NODES	512

/*
 * A leaf that holds less than this part of a share on the wrong side of a cut is
 * left alone (RMG sort's epsilon, section 3.2).
 */
#define GS_EPSILON_DIVISOR	200

/* A prefix that was counted; [0] is the root. */
typedef struct gs_plan_node
{
	gs_counted	counted;
	uint64_t	begin;			/* position of its first row */
	uint64_t	nrows;
	unsigned	parent;			/* whose entry parent_digit leads here */
	unsigned	parent_digit;
	uint16_t	entries[GS_DEVICE_DIGITS];	/* scratch of gs_plan_bins() */
} gs_plan_node;

/* Where the tree ends in leaf i. */
typedef struct gs_leaf_place
{
	unsigned	node;
	unsigned	digit;
} gs_leaf_place;

struct gs_bucket_plan
{
	gs_plan_args args;
	uint64_t	share_rows;		/* ideal, rounded down */
	unsigned	rounds;			/* of ndevices shares each */

	/* the tree: leaves that have rows, in order; both arrays have leaf_room */
	unsigned	nleaves;
	unsigned	leaf_room;
	gs_leaf    *leaves;
	gs_leaf_place *places;
	unsigned	nnodes;
	gs_plan_node *nodes;		/* GS_MAX_PLAN_NODES */
	unsigned   *round_nodes;	/* nodes with rows of each round */
	unsigned	large_nodes;	/* counted for being large, not for a cut */
	unsigned	passes;

	/* leaves that are being counted, in order */
	unsigned	nwanted;
	unsigned	wanted[GS_MAX_COUNTED];

	/* set by gs_plan_finish() */
	uint64_t   *cuts;			/* nshares + 1 */
	unsigned	nbuckets;
	unsigned	bucket_room;
	gs_bucket  *buckets;
};

/* Where a cut would fall if rows could be cut anywhere; nrows is below 2^48. */
static inline uint64_t
gs_plan_ideal_cut(const gs_bucket_plan *plan, unsigned share)
{
	return plan->args.nrows * share / plan->args.nshares;
}

/* Where round r begins if all cuts are ideal. */
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

/* May rows of the leaf be told apart no further, so that any cut is right? */
static inline bool
gs_leaf_divisible(const gs_bucket_plan *plan, const gs_leaf *leaf)
{
	return leaf->shift == 0 && !plan->args.more_bits;
}

/* The edge of a leaf that is nearer to a position inside. */
static inline uint64_t
gs_leaf_nearest_edge(const gs_leaf *leaf, uint64_t position)
{
	return position - leaf->begin <= gs_leaf_end(leaf) - position
		? leaf->begin : gs_leaf_end(leaf);
}

/* The leaf that holds a position below nrows. */
extern unsigned gs_plan_leaf_at(const gs_bucket_plan *plan, uint64_t position);

/* Is a cut there as good as at one of the edges of the leaf it falls into? */
extern bool gs_plan_near_edge(const gs_bucket_plan *plan, const gs_leaf *leaf,
							  uint64_t position);

#endif							/* GS_BUCKET_TREE_H */
