/*
 * sort_lent.h
 *		A sort of one process, lent to other processes that look into its rows in order.
 *
 * Each of these processes has a sort of its own, which consists of the lent sort's memory, mapped:
 * the rows and what points to them, the order, and which rows are equal.  That sort has no memory
 * of the pool to give back, takes no rows, and is gone with its memory context.
 *
 * Private to src/sort.
 */
#ifndef GPUSORT_SORT_LENT_H
#define GPUSORT_SORT_LENT_H

#include "lib/stringinfo.h"

#include "sort/sort_state.h"
#include "sort/team_layout.h"

/* A range of a lent sort. */
typedef struct LentRange
{
	int			role;
	TeamPiece	piece;
	size_t		bytes;
} LentRange;

/*
 * The description of a lent sort, in shared memory.  The data that its offsets point to follow it;
 * offsets count from the beginning of this struct.
 */
typedef struct LentSort
{
	GpuSortKind kind;
	int			nkeys;
	int			natts;			/* attributes of rows */
	bool		index_rows;
	bool		tells_equal;
	bool		tids_ordered;
	uint64		nrows;
	size_t		rows_used;
	GpuSortRowPlaces places;	/* its pointers are not valid */
	bool		refines;		/* ties are to be refined, with planes and workspace */
	int			refine_column;
	int			participants;
	size_t		memory_bytes;	/* private memory that each process may use */
	/* bytes that the strings of each column share, and that its prefixes leave out */
	size_t		bases;
	int			order_role;		/* role of the range in which the row ids in order lie */
	size_t		order_offset;	/* where in that range they begin */
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
 * Append the description of a sort to `to`, and the numbers of the extents that it consists of to
 * `list`.  refines: others are to refine ties, not just to look at rows.  Returns false if some of
 * the sort is private memory.
 */
extern bool gpusort_lend(GpuSort *sort, bool refines, StringInfo to, StringInfo list);

/*
 * Returns a sort of this process that consists of a lent sort's memory, until the current memory
 * context is reset.  Returns NULL if there is no address space for it.
 */
extern GpuSort *gpusort_borrow(const TeamJob *job, const LentSort *lent);

#endif							/* GPUSORT_SORT_LENT_H */
