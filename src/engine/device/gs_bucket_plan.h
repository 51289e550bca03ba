/*
 * gs_bucket_plan.h
 *		Which keys go to which share, from histograms alone (RMG sort, sections
 *		3.1 and 3.2).
 *
 * Nothing here uses a device or a clock, or allocates memory but for the plan.
 *
 * The final order, positions 0 .. nrows - 1, is cut into *shares* of nearly equal size: one for
 * each device, or several if the rows take more than one round.  Keys are known by the prefix tree
 * that the histograms have spanned so far.  Its *leaves*, in order, are ranges of keys with known
 * counts on every device.  A cut between two shares has to fall between two leaves, at most epsilon
 * from where it would be ideal.  A leaf that lies across a cut, and is too large for that, is
 * *spanning*, and is counted again by its next digit.
 */
#ifndef GS_BUCKET_PLAN_H
#define GS_BUCKET_PLAN_H

#include "engine/device/gs_device.h"

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
 * (gs_bucket_cuts.h).
 */
extern unsigned gs_plan_passes(const gs_bucket_plan *plan);	/* passes over the keys so far */
extern unsigned gs_plan_leaves(const gs_bucket_plan *plan, const gs_leaf **leaves);
extern const uint64_t *gs_plan_cuts(const gs_bucket_plan *plan);	/* nshares + 1 positions */
extern unsigned gs_plan_buckets(const gs_bucket_plan *plan, const gs_bucket **buckets);

#endif							/* GS_BUCKET_PLAN_H */
