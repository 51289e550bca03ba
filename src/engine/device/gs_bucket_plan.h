/*
 * gs_bucket_plan.h
 *		Which keys go to which share, from histograms alone (RMG sort, sections
 *		3.1 and 3.2).
 *
 * Pure: no device, no clock, no allocation beyond the caller's plan.
 *
 * The final order, positions 0 .. nrows - 1, is cut into *shares* of nearly
 * equal size: one for each device, or several when the rows take more than one
 * round.  Keys are known by the prefix tree that the histograms have spanned so
 * far; its *leaves*, in order, are ranges of keys with known counts on every
 * device.  A cut between two shares has to fall between two leaves, at most
 * epsilon from where it would be ideal; a leaf that lies across and is too
 * large for that is *spanning* and is counted again by its next digit.
 */
#ifndef GS_BUCKET_PLAN_H
#define GS_BUCKET_PLAN_H

#include "engine/device/gs_device.h"

#define GS_MAX_SHARES	1024

typedef struct gs_leaf
{
	uint64_t	prefix;			/* of the keys, right-aligned */
	unsigned	shift;			/* bits below the prefix: what is left to sort by */
	uint64_t	begin;			/* position of its first row */
	uint64_t	nrows;
	uint64_t	counts[GS_MAX_DEVICES];	/* by device that holds the rows now */
} gs_leaf;

/*
 * Rows of a share that are sorted together: positions [begin, end), ordered by
 * the lowest `bits` bits of the key; 0: they are in order already.
 */
typedef struct gs_bucket
{
	uint64_t	begin;
	uint64_t	end;
	unsigned	bits;
	unsigned	share;
} gs_bucket;

/* To be filled in before gs_plan_begin(). */
typedef struct gs_plan_args
{
	uint64_t	nrows;
	unsigned	width;			/* bits of the key's first section, 1 .. 64 */
	bool		more_bits;		/* the key goes on behind them: rows that agree in
								 * all of them must not be cut apart */
	unsigned	ndevices;
	unsigned	nshares;
	uint64_t	capacity_rows;	/* most rows of a share */
	uint64_t	bucket_rows;	/* fuse buckets below this whatever it costs */
} gs_plan_args;

typedef struct gs_bucket_plan gs_bucket_plan;

/* NULL: no memory. */
extern gs_bucket_plan *gs_plan_begin(const gs_plan_args *args);
extern void gs_plan_end(gs_bucket_plan *plan);

/*
 * What to count next, at most GS_MAX_COUNTED prefixes in one pass over the keys;
 * 0 when the plan is complete.
 */
extern unsigned gs_plan_wanted(gs_bucket_plan *plan, gs_counted *counted);

/*
 * The answer, for the prefixes last wanted: counts[device][i][digit].
 * GS_INVALID when it contradicts earlier ones, GS_NO_SPACE without memory.
 */
extern gs_status gs_plan_counted(gs_bucket_plan *plan,
								 const uint64_t (*const *counts)[GS_DEVICE_DIGITS]);

/* What the plan owns; cuts and buckets once it is finished (gs_bucket_cuts.h). */
extern unsigned gs_plan_passes(const gs_bucket_plan *plan);	/* histograms counted */
extern unsigned gs_plan_leaves(const gs_bucket_plan *plan, const gs_leaf **leaves);
extern const uint64_t *gs_plan_cuts(const gs_bucket_plan *plan);	/* nshares + 1 positions */
extern unsigned gs_plan_buckets(const gs_bucket_plan *plan, const gs_bucket **buckets);

#endif							/* GS_BUCKET_PLAN_H */
