/*
 * sort_lent.h
 *		A sort of one process, lent to others for looking into its rows in order.
 *
 * What they have is a sort of their own that consists of the lent one's memory, mapped: rows and
 * what points to them, the order, and which rows are equal.  It has no memory of the pool to give
 * back, takes no rows, and is gone with its memory context.
 *
 * Private to src/sort.
 */
#ifndef GPUSORT_SORT_LENT_H
#define GPUSORT_SORT_LENT_H

#include "lib/stringinfo.h"

#include "sort/sort_state.h"
#include "sort/team_layout.h"

/* A range of it. */
typedef struct LentRange
{
	int			role;
	TeamPiece	piece;
	size_t		bytes;
} LentRange;

/* In shared memory, followed by what its offsets, which count from here, point to. */
typedef struct LentSort
{
	GpuSortKind kind;
	int			nkeys;
	int			natts;			/* of rows */
	bool		index_rows;
	bool		tells_equal;
	bool		tids_ordered;
	uint64		nrows;
	size_t		rows_used;
	GpuSortRowPlaces places;	/* pointers are not valid */
	bool		refines;		/* its order is to be made, with planes and workspace: */
	int			refine_column;
	int			participants;
	size_t		memory_bytes;	/* private memory of each */
	size_t		bases;			/* where the prefixes of columns begin */
	int			order_role;		/* of the range that row ids in order lie in, */
	size_t		order_offset;	/* ... at this place */
	int			nranges;
	size_t		attnos;
	size_t		sortops;
	size_t		collations;
	size_t		nulls_first;
	size_t		desc;
	size_t		granules;
	size_t		ranges;
} LentSort;

/*
 * Append the description of a sort, and put the extents that it consists of into the list; for
 * ties to be refined, or to be looked at only.  False if some of it is private memory.
 */
extern bool gpusort_lend(GpuSort *sort, bool refines, StringInfo to, StringInfo list);

/*
 * Have the sort in this process, until the current memory context is reset; NULL if there is no
 * address space for it.
 */
extern GpuSort *gpusort_borrow(const TeamJob *job, const LentSort *lent);

#endif							/* GPUSORT_SORT_LENT_H */
