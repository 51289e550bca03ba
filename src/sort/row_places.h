/*
 * row_places.h
 *		Where the rows of a sort lie: finding one by its id.
 *
 * A row's id is its place in the order of arrival.  Rows lie in one store, in the order of
 * their ids as a rule, and the table of references says where each begins.  As long as all
 * rows have the same length, the place follows from the id, without a cache miss for the
 * reference.  Of rows that several processes have collected (sort_parts.h) the same is true
 * by granules, many of which may have been put one behind the other.
 *
 * Public, as a part of sort_view.h.
 */
#ifndef GPUSORT_ROW_PLACES_H
#define GPUSORT_ROW_PLACES_H

#include "protocol/gsd_pool.h"

/* A granule is so many rows that they fill whole extents in every plane. */
#define GPUSORT_GRANULE_SHIFT	(GSD_EXTENT_SHIFT - 2)
#define GPUSORT_GRANULE_ROWS	(UINT64CONST(1) << GPUSORT_GRANULE_SHIFT)

typedef struct GpuSortRowPlaces
{
	char	   *base;			/* of the row store */
	uint32	   *refs;			/* where each row begins, in units */
	size_t		unit;			/* rows begin at multiples of so many bytes */
	bool		uniform;		/* row id lies at id * stride: refs are not needed */
	size_t		stride;
	uint64		granule_rows;	/* rows below this lie in granules, stride apart */
	size_t	   *granule_offsets;	/* of the first row of each granule */
} GpuSortRowPlaces;

/* Is the place of a row known without looking at its reference? */
static inline bool
gpusort_place_is_known(const GpuSortRowPlaces *places, uint32 id)
{
	return places->uniform || id < places->granule_rows;
}

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

#endif							/* GPUSORT_ROW_PLACES_H */
