/*
 * parts_layout.h
 *		What the participants of a shared sort have in common.
 *
 * It lies in one extent of the pool: counters, and for each part that
 * is finished what it is made of, as extents by number.
 *
 * A part numbers its rows from 0 and counts offsets from the beginning of its own row
 * store.  To be joined without touching a row, parts of planes must become parts of
 * planes, and offsets must be those of the whole:
 *
 *	- A *granule* is so many rows that each plane of them fills whole extents: one of
 *	  row references, two of words.  Full granules are mapped into the planes of the sort,
 *	  one part's after the other's.  What is left of each part, less than a granule, is
 *	  copied behind them.
 *	- Row stores are mapped one behind the other.  A part that is finished gets its
 *	  place there from a counter and moves its references by as much, so that this
 *	  is done by all participants side by side.
 *
 * Extents for the sort's workspace are taken by the parts, along with those of their
 * planes, and adopted without ever having been mapped.
 *
 * Private to src/sort.
 */
#ifndef GPUSORT_PARTS_LAYOUT_H
#define GPUSORT_PARTS_LAYOUT_H

#include "storage/fileset.h"

#include "sort/sort_parts.h"
#include "sort/sort_state.h"

#define EXTENT_BYTES	((size_t) GSD_EXTENT_BYTES)

/* Roles of ranges that a sort may have. */
#define ROLES			GPUSORT_PLANE_ROLE(GPUSORT_MAX_KEYS, 0)

/* list[first .. first + count) */
typedef struct PartExtents
{
	uint32		first;
	uint32		count;
} PartExtents;

/* A part that is finished, in the terms of GpuSort. */
typedef struct PartEntry
{
	uint64		nrows;
	uint32		first_row_extent;	/* its place in the row store of all */
	bool		uniform;
	size_t		stride;
	GpuSortIndexFacts index;
	GpuSortStringFacts columns[GPUSORT_MAX_KEYS];
	PartExtents extents[ROLES];
} PartEntry;

struct GpuSortParts
{
	/* fixed */
	uint32		owner;
	uint32		max_extents;
	size_t		reserve_bytes;	/* of the row store of all */
	size_t		row_unit;
	uint32		max_parts;
	double		all_rows;		/* that are expected */
	FileSet		files;			/* the leader's */
	bool		may_spill;
	GpuSortRequest asked;		/* of each part */

	/* counters: of what has been given out so far */
	pg_atomic_uint32 extents;
	pg_atomic_uint64 rows;		/* room in planes */
	pg_atomic_uint32 row_extents;
	pg_atomic_uint32 listed;
	pg_atomic_uint32 nparts;
	pg_atomic_uint32 shares;	/* processes that divide max_extents when they are crowded */
	pg_atomic_uint32 crowded;	/* 1: some part has spilled, so no one takes more than its share */

	/* files of runs, numbered from 0, and what is in those that are finished */
	pg_atomic_uint32 nfiles;
	pg_atomic_uint32 nruns;
	pg_atomic_uint64 spilled_rows;
	pg_atomic_uint64 spilled_bytes;
	pg_atomic_uint64 kept_bytes;
	pg_atomic_uint32 kept_extents;

	/* max_parts of them, and behind them the list of extents */
	PartEntry	entries[FLEXIBLE_ARRAY_MEMBER];
};

/* Numbers of the extents that parts are made of. */
static inline uint32 *
parts_list(GpuSortParts *parts)
{
	return (uint32 *) &parts->entries[parts->max_parts];
}

#endif							/* GPUSORT_PARTS_LAYOUT_H */
