/*
 * parts_private.h
 *		What the participants of a shared sort share; and a view of a sort in shared memory.
 */
#ifndef GPUSORT_PARTS_PRIVATE_H
#define GPUSORT_PARTS_PRIVATE_H

#include "storage/fileset.h"
#include "storage/shmem.h"
#include "storage/spin.h"

#include "memory/memory_range.h"
#include "memory/pool.h"
#include "sort/sort_parts.h"
#include "sort/sort_view.h"
#include "sort/state_private.h"

/* ---------- owner words of shared sorts ---------- */

/*
 * All extents of a shared sort carry the same owner word (gsd_pool.h), which consists of the
 * leader's pid and a number of the sort in that process.
 */

/*
 * Gives the account an owner word for a shared sort.  Returns false if all numbers of this process
 * are in use.
 */
extern bool gpusort_take_owner(GpuSortPoolAccount *account);

/*
 * Gives back all extents that carry the account's owner word, whichever process took them, and then
 * the word itself, so that the account is an ordinary sort's again.  Does nothing if it is that
 * already.
 */
extern void gpusort_give_owner(GpuSortPoolAccount *account);

/* ---------- what the participants of a shared sort have in common ---------- */

/*
 * A GpuSortParts lies in one extent of the pool.  It has counters, and an entry for each part that
 * is finished, which says what the part is made of, as numbers of extents.
 *
 * A part numbers its rows from 0, and counts offsets from the beginning of its own row store.  For
 * parts to be joined without touching a row, stretches of their planes must become stretches of the
 * sort's planes, and offsets must be those in the sort's row store:
 *
 *	- A *granule* is the number of rows that fill whole extents in every plane: one extent of row
 *	  references, two of words.  Full granules are mapped into the planes of the sort, one part's
 *	  behind the other's.  The rest of each part, less than a granule, is copied behind them.
 *	- Row stores are mapped one behind the other.  When a part is finished, it takes its place in
 *	  the sort's row store from a counter, and adds this place to its references.  So this is done
 *	  by all participants side by side.
 *
 * The extents for the sort's workspace are taken by the parts, together with those of their planes.
 * The sort adopts them without any process ever having mapped them before.
 */

/* Number of different roles that ranges of a sort may have. */
#define ROLES			GPUSORT_PLANE_ROLE(GPUSORT_MAX_KEYS, 0)

/* Extents of one range: elements first .. first + count - 1 of parts_list(). */
typedef struct PartExtents
{
	uint32		first;
	uint32		count;
} PartExtents;

/* A part that is finished.  The fields are those of the part's GpuSort. */
typedef struct PartEntry
{
	uint64		nrows;
	/* where the part's rows begin in the sort's row store, in extents */
	uint32		first_row_extent;
	bool		uniform;
	size_t		stride;
	GpuSortIndexFacts index;
	GpuSortStringFacts columns[GPUSORT_MAX_KEYS];
	PartExtents extents[ROLES];
} PartEntry;

struct GpuSortParts
{
	/* set when the shared sort is made */
	uint32		owner;			/* owner word of all extents (sort_ranges.c) */
	uint32		max_extents;	/* that all participants may have together */
	size_t		reserve_bytes;	/* address space of the sort's row store */
	size_t		row_unit;		/* rows begin at multiples of this many bytes */
	uint32		max_parts;
	double		all_rows;		/* rows that all participants are expected to collect */
	FileSet		files;			/* the leader's files, in which all participants put runs */
	bool		may_spill;
	GpuSortRequest asked;		/* what each part is asked for */

	/* counters of what parts have taken so far */
	pg_atomic_uint32 extents;	/* of the pool */
	pg_atomic_uint64 rows;		/* rows that parts have room for in their planes */
	pg_atomic_uint32 row_extents;	/* in the sort's row store, by finished parts */
	pg_atomic_uint32 listed;	/* elements of parts_list() */
	pg_atomic_uint32 nparts;	/* elements of entries[] */
	/* processes among which max_extents are divided if parts are shares_enforced */
	pg_atomic_uint32 shares;
	/* 1: some part has spilled, and no part may take more than its share any more */
	pg_atomic_uint32 shares_enforced;

	/* files of runs, numbered from 0, and what the finished files hold */
	pg_atomic_uint32 nfiles;
	pg_atomic_uint64 spilled_rows;
	pg_atomic_uint32 kept_extents;	/* of runs that stay in memory */

	/* what finished parts have counted */
	slock_t		stats_mutex;
	GpuSortStats stats;

	/* max_parts entries, followed by the list of extents */
	PartEntry	entries[FLEXIBLE_ARRAY_MEMBER];
};

/* Returns the list of extents, by number, that finished parts are made of. */
static inline uint32 *
parts_list(GpuSortParts *parts)
{
	return (uint32 *) &parts->entries[parts->max_parts];
}

/* ---------- a view of a sort in shared memory ---------- */

/* A part of list[], and the bytes of it that are used. */
typedef struct SharedPiece
{
	uint32		first;
	uint32		count;
	size_t		bytes;
	size_t		offset;	/* where the contents begin, counted from the first extent's begin */
} SharedPiece;

struct GpuSortSharedView
{
	GpuSortView view;			/* its pointers are not valid */
	SharedPiece	pieces[GPUSORT_VIEW_PIECES];
	/* numbers of extents, each once; the granules' offsets follow */
	uint32		list[FLEXIBLE_ARRAY_MEMBER];
};

static inline Size
shared_list_bytes(void)
{
	return MAXALIGN(offsetof(GpuSortSharedView, list) +
					mul_size(gpusort_pool->header->nextents, sizeof(uint32)));
}

static inline size_t *
shared_offsets(const GpuSortSharedView *shared)
{
	return (size_t *) ((char *) shared + shared_list_bytes());
}

#endif							/* GPUSORT_PARTS_PRIVATE_H */
