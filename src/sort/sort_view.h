/*
 * sort_view.h
 *		The result of a sort, to be read by several processes at once.
 *
 * A view is what it takes to find the tuple at a position, and, of an index sort and of others that
 * were asked for it, to see whether it equals the one before.  The process that has sorted makes one of its sort; if
 * all that it points to lies in extents of the pool, it can publish their numbers,
 * and others attach: they map the extents, read-only and anywhere, side by side as
 * in the sort's own ranges.
 *
 * Nobody but the sort owns the extents.  So the sort must not end, nor be reset,
 * before the last process has detached or is gone; unless they belong to a shared sort
 * of another process and are left to it (gpusort_leave_view()).
 *
 * Sorts that are merged have a view each, of their rows by number; of them in order there is
 * but one order, that of both.
 *
 * Public: other folders include it.
 */
#ifndef GPUSORT_SORT_VIEW_H
#define GPUSORT_SORT_VIEW_H

#include "engine/gs_merged.h"
#include "prefetch.h"
#include "sort/row_places.h"
#include "sort/sort.h"

/* What a view's memory consists of. */
typedef enum GpuSortViewPiece
{
	GPUSORT_VIEW_ROWS,
	GPUSORT_VIEW_ROW_REFS,
	GPUSORT_VIEW_ORDER,
	GPUSORT_VIEW_EQUAL,
	GPUSORT_VIEW_PIECES
} GpuSortViewPiece;

typedef struct GpuSortView
{
	GpuSortRowPlaces places;
	const uint32 *order;		/* row ids; NULL: rows lie in order, a position is an id */
	const uint64 *equal;		/* as gpusort_equal_rows(); NULL: nobody knows */
	bool		merged;			/* with another sort (sort_merged.h): order and equal are those
								 * of the rows of both, and in the view of one of them */
	bool		any_nulls;		/* ... some of which have a null in their key */
	gs_sides	sides;			/* ... numbered so */
	uint64		nrows;
	size_t		row_bytes;		/* average */
	size_t		tuple_bytes;	/* of each tuple; 0: that varies */
} GpuSortView;

/*
 * A view of a sort that was performed and not handed over, in its own process; waits
 * for all rows to be in place, and to be reordered.
 */
extern void gpusort_view(GpuSort *sort, GpuSortView *view);

/* In shared memory, of so many bytes; needs a pool. */
typedef struct GpuSortSharedView GpuSortSharedView;

extern Size gpusort_shared_view_bytes(void);

/* False if some of the sort's memory is private. */
extern bool gpusort_publish_view(GpuSort *sort, GpuSortSharedView *shared);

/*
 * The same for a sort that a participant has joined (gpusort_parts_begin_joined()), which
 * need not stay: the extents are left to the shared sort's leader.  The sort can only be
 * ended.  False if the view can't be published, or gpusortd has not let go of the rows.
 */
extern bool gpusort_leave_view(GpuSort *sort, GpuSortSharedView *shared);

static inline void *
gpusort_view_row(const GpuSortView *view, uint64 position)
{
	uint32		id = view->order != NULL ? view->order[position] : (uint32) position;

	return gpusort_row_at(&view->places, id);
}

/* As gpusort_fetch_block(). */
static inline void
gpusort_view_fetch(const GpuSortView *view, uint64 from, int count, void **rows)
{
	uint64		ahead_to = Min(view->nrows, from + 2 * (uint64) count);

	for (int i = 0; i < count; i++)
		rows[i] = gpusort_view_row(view, from + i);
	if (view->places.uniform || view->order == NULL)
		return;
	for (uint64 i = from + count; i < ahead_to; i++)
		if (!gpusort_place_is_known(&view->places, view->order[i]))
			prefetch_line(&view->places.refs[view->order[i]]);
}

static inline bool
gpusort_view_is_equal(const GpuSortView *view, uint64 position)
{
	return (view->equal[position / 64] >> (position % 64) & 1) != 0;
}

#endif							/* GPUSORT_SORT_VIEW_H */
