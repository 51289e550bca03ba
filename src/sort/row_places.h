/*
 * row_places.h
 *		Where the rows of a sort lie: finding a row by its id.
 *
 * A row's id is its place in the order of arrival.  Rows lie in the row store, in the order of
 * their ids as a rule, and a table of references tells where each begins.  As long as all rows have
 * the same length, the place follows from the id, which saves the cache miss for the reference.  If
 * several processes have collected the rows (sort_parts.h), their parts lie one behind the other,
 * and a row's place follows from its id and from where its granule begins.
 *
 * Public, as a part of sort_view.h.
 */
#ifndef GPUSORT_ROW_PLACES_H
#define GPUSORT_ROW_PLACES_H

#include "protocol/gsd_pool.h"

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

#endif							/* GPUSORT_ROW_PLACES_H */
