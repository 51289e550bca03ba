/*
 * sort_view.h
 *		The result of a sort, to be read by several processes at once.
 *
 * A view is what it takes to find the tuple at a position of a result.  Views of index sorts, and
 * of other sorts that were asked for it, also tell whether a row equals the one before.  The
 * process that has sorted makes a view of its sort.  If all memory that the view points to lies in
 * extents of the pool, that process can publish their numbers, and other processes attach: they map
 * the extents, read-only and at any address, side by side as in the sort's own ranges.
 *
 * Nobody but the sort owns the extents.  So the sort must not end, nor be reset, before the last
 * process has detached or is gone; unless the extents belong to a shared sort of another process
 * and are left to that (gpusort_leave_view()).
 *
 * Two sorts that are merged have one view each, which finds that sort's rows by row id.  There is
 * only one order, in the view of one of them, and it is that of the rows of both.
 */
#ifndef GPUSORT_SORT_VIEW_H
#define GPUSORT_SORT_VIEW_H

#include "engine/gs_merged.h"
#include "prefetch.h"
#include "protocol/gsd_pool.h"
#include "sort/sort.h"
#include "team/workers.h"

/* ---------- row places: finding a row by its id ---------- */

/*
 * A row's id is its place in the order of arrival.  Rows lie in the row store, in the order of
 * their ids as a rule, and a table of references tells where each begins.  As long as all rows have
 * the same length, the place follows from the id, which saves the cache miss for the reference.  If
 * several processes have collected the rows (sort_parts.h), their parts lie one behind the other,
 * and a row's place follows from its id and from where its granule begins.
 */

/* A granule is this many rows, which fill whole extents in every plane. */
#define GPUSORT_GRANULE_SHIFT	(GSD_EXTENT_SHIFT - 2)
#define GPUSORT_GRANULE_ROWS	(UINT64CONST(1) << GPUSORT_GRANULE_SHIFT)

typedef struct GpuSortRowPlaces
{
	char	   *base;			/* base of the row store */
	uint32	   *refs;			/* by row id: where the row begins, in units */
	size_t		unit;			/* bytes; rows begin at multiples of it */
	bool		uniform;		/* row `id` lies at id * stride, so refs are not needed */
	size_t		stride;			/* bytes from one row to the next, if uniform or within granules */
	/* rows with ids below this lie in granules, and refs are not needed for them */
	uint64		granule_rows;
	size_t	   *granule_offsets;	/* by granule: where its first row begins, in bytes */
} GpuSortRowPlaces;

/* Returns whether the place of a row is known without looking at its reference. */
static inline bool
gpusort_place_is_known(const GpuSortRowPlaces *places, uint32 id)
{
	return places->uniform || id < places->granule_rows;
}

/* Returns the row with this id. */
static inline void *
gpusort_row_at(const GpuSortRowPlaces *places, uint32 id)
{
	size_t		offset;

	if (places->uniform)
		offset = id * places->stride;
	else if (id < places->granule_rows)
		offset = places->granule_offsets[id >> GPUSORT_GRANULE_SHIFT] +
			(id & (GPUSORT_GRANULE_ROWS - 1)) * places->stride;
	else
		offset = (size_t) places->refs[id] * places->unit;
	return places->base + offset;
}

/* ---------- views ---------- */

/* The pieces of memory that a view consists of. */
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
	/* row ids by position; NULL: rows lie in order, and a position is an id */
	const uint32 *order;
	/*
	 * a bitmap: bit i is set if all key columns of the row at position i are equal to those of the
	 * row before, nulls included; NULL: it is not known which rows are equal
	 */
	const uint64 *equal;
	/*
	 * merged with another sort (sort.h): order and equal are those of the rows of both
	 * sorts, and only in the view of one of them
	 */
	bool		merged;
	bool		any_nulls;		/* of a merge: some row of either sort has a null in its key */
	gs_sides	sides;			/* of a merge: how the rows of both sorts are numbered */
	uint64		nrows;
	size_t		row_bytes;		/* average length of a row */
	size_t		tuple_bytes;	/* length of each tuple; 0: it varies */
} GpuSortView;

/*
 * Make a view of a sort of this process that was performed and not handed over.  Waits until all
 * rows are in place, and until no more will be reordered.
 */
extern void gpusort_view(GpuSort *sort, GpuSortView *view);

/*
 * A view in shared memory, which takes gpusort_view_shared_bytes().  Without a pool there are none.
 */
typedef struct GpuSortSharedView GpuSortSharedView;

extern Size gpusort_view_shared_bytes(void);

/*
 * Write a view of the sort into shared memory.  Returns false if some of the sort's memory is
 * private.
 */
extern bool gpusort_publish_view(GpuSort *sort, GpuSortSharedView *shared);

/* Returns the declaration of a member that is such a view. */
extern GpuSortMember gpusort_view_member(GpuSort *sort);

/*
 * Do the same for a sort to which a participant has joined parts (gpusort_parts_begin_joined()),
 * and leave its extents to the shared sort's leader, so that the sort need not stay.  It can only
 * be ended afterwards.  Returns false if the view can't be published, or if gpusortd has not let go
 * of the rows.
 */
extern bool gpusort_leave_view(GpuSort *sort, GpuSortSharedView *shared);

static inline void *
gpusort_view_row(const GpuSortView *view, uint64 position)
{
	uint32		id = view->order != NULL ? view->order[position] : (uint32) position;

	return gpusort_row_at(&view->places, id);
}

/* As gpusort_fetch_block(), for rows of a view. */
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

/* ---------- mapping a view of another process's sort ---------- */

/* The pieces of a view that a process has mapped. */
typedef struct GpuSortViewMapping
{
	char	   *base[GPUSORT_VIEW_PIECES];
	uint32		extents[GPUSORT_VIEW_PIECES];
} GpuSortViewMapping;

/* Map a view that another process has published.  Returns false if the system does not map it. */
extern bool gpusort_attach_view(const GpuSortSharedView *shared, GpuSortView *view,
								GpuSortViewMapping *mapping);
extern void gpusort_detach_view(GpuSortViewMapping *mapping);

/* ---------- cuts: where a sorted result may be cut ---------- */

/*
 * Rows which are equal in the first columns stay together.
 *
 * Every process that has a view of the result finds the same places.
 */

typedef struct GpuSortCutter GpuSortCutter;

/*
 * Begin to cut a view of minimal tuples, sorted by spec, between rows that differ in the first
 * ncolumns sort columns.  Returns a palloc'd cutter.  The view, the descriptor and the arrays of
 * the spec must live as long.
 */
extern GpuSortCutter *gpusort_begin_cuts(const GpuSortView *view, TupleDesc desc,
										 const GpuSortSpec *spec, int ncolumns);

/*
 * Returns the first position, from the given one on, whose row differs from the row before it, or
 * the number of rows if there is none.  Position 0 and positions behind the end are cuts
 * themselves.
 */
extern uint64 gpusort_find_cut(GpuSortCutter *cutter, uint64 position);

#endif							/* GPUSORT_SORT_VIEW_H */
