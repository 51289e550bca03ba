/*
 * gs_bucket_private.h
 *		Which keys go to which share, from histograms alone (RMG sort, sections 3.1 and 3.2).
 */
#ifndef GS_BUCKET_PRIVATE_H
#define GS_BUCKET_PRIVATE_H

#include "engine/gs_engine.h"
#include "engine/device/gs_device.h"

/* ---------- plan: what is known of the keys so far ---------- */

/*
 * Nothing here uses a device or a clock, or allocates memory but for the plan.
 *
 * The final order, positions 0 .. nrows - 1, is cut into *shares* of nearly equal size: one for
 * each device, or several if the rows take more than one round.  Keys are known by the prefix tree
 * that the histograms have spanned so far.  Its *leaves*, in order, are ranges of keys with known
 * counts on every device.  A cut between two shares has to fall between two leaves, at most epsilon
 * from where it would be ideal.  A leaf that lies across a cut, and is too large for that, is
 * *spanning*, and is counted again by its next digit.
 */

#define GS_MAX_SHARES	1024

typedef struct gs_leaf
{
	uint64_t	prefix;			/* the highest bits of its keys, right-aligned */
	/* bits of the key below the prefix, by which its rows are left to be sorted */
	unsigned	shift;
	uint64_t	begin;			/* position of its first row */
	uint64_t	nrows;
	uint64_t	counts[GS_MAX_DEVICES];	/* its rows on each device, before they are scattered */
} gs_leaf;

/*
 * A bucket: rows of a share that are sorted together.  They are those at positions [begin, end),
 * and are ordered by the lowest `bits` bits of the key; with 0 bits they are in order already.
 */
typedef struct gs_bucket
{
	uint64_t	begin;
	uint64_t	end;
	unsigned	bits;
	unsigned	share;
} gs_bucket;

/* What the caller fills in before gs_plan_begin(). */
typedef struct gs_plan_args
{
	uint64_t	nrows;
	unsigned	width;			/* bits of the key's first section, 1 .. 64 */
	/* the key goes on behind these bits: rows that agree in all of them must not be cut apart */
	bool		more_bits;
	unsigned	ndevices;
	unsigned	nshares;
	uint64_t	capacity_rows;	/* most rows of a share */
	uint64_t	bucket_rows;	/* smaller buckets are fused whatever it costs */
} gs_plan_args;

typedef struct gs_bucket_plan gs_bucket_plan;

/* Begins a plan, in which nothing is counted yet; returns NULL if memory is out. */
extern gs_bucket_plan *gs_plan_begin(const gs_plan_args *args);
extern void gs_plan_end(gs_bucket_plan *plan);

/*
 * Returns how many prefixes are to be counted next, and sets counted[] to them.  They are at most
 * GS_MAX_COUNTED, for one pass over the keys, and 0 when the plan is complete.
 */
extern unsigned gs_plan_wanted(gs_bucket_plan *plan, gs_counted *counted);

/*
 * Takes the answer, counts[device][i][digit] for the prefixes that gs_plan_wanted() returned last.
 * Returns GS_INVALID if it contradicts earlier ones, GS_NO_SPACE if memory is out.
 */
extern gs_status gs_plan_counted(gs_bucket_plan *plan,
								 const uint64_t (*const *counts)[GS_DEVICE_DIGITS]);

/*
 * What the plan knows, in arrays that it owns.  Cuts and buckets are there once it is finished
 * (cuts, below).
 */
extern unsigned gs_plan_passes(const gs_bucket_plan *plan);	/* passes over the keys so far */
extern unsigned gs_plan_leaves(const gs_bucket_plan *plan, const gs_leaf **leaves);
extern const uint64_t *gs_plan_cuts(const gs_bucket_plan *plan);	/* nshares + 1 positions */
extern unsigned gs_plan_buckets(const gs_bucket_plan *plan, const gs_bucket **buckets);

/* ---------- tree: the structs of a plan, for the files that make one ---------- */

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

/* ---------- cuts: the finished plan, between shares, buckets, and the tree of bins ---------- */

/*
 * Chooses the cuts and the buckets, once nothing is to be counted any more.  Returns GS_NO_SPACE if
 * a share would exceed the capacity, or memory is out.
 */
extern gs_status gs_plan_finish(gs_bucket_plan *plan);

/*
 * Finishes a plan of which nothing was counted, by so many buckets in order, at most GS_MAX_BINS.
 * Returns GS_NO_SPACE if memory is out.
 */
extern gs_status gs_plan_take(gs_bucket_plan *plan, const gs_bucket *buckets, unsigned nbuckets);

/* Returns whether a leaf of equal keys was cut where a share begins. */
extern bool gs_plan_cut_ties(const gs_bucket_plan *plan, unsigned share);

/*
 * Finds how rows of the shares first_share to last_share get to their places.  These are at most
 * ndevices shares, and the first is a multiple of ndevices.  Sets the tree, and
 * positions[device][bin]: where the bin's rows that lie on each device begin, and for device ==
 * ndevices where the bin ends.  A bin of equal keys begins before the first share, or ends behind
 * the last, if its leaf was cut there; every other bin is in one bucket.  *digits is set if bins
 * are the digits of the root, so that the tile counts of its histogram can be used.
 */
extern void gs_plan_bins(const gs_bucket_plan *plan, unsigned first_share, unsigned last_share,
						 gs_bin_tree *tree, uint64_t (*positions)[GS_MAX_BINS], bool *digits);

#endif							/* GS_BUCKET_PRIVATE_H */
