/*
 * extent_mapping.h
 *		Extents of another process, mapped here one behind the other.
 */
#ifndef GPUSORT_EXTENT_MAPPING_H
#define GPUSORT_EXTENT_MAPPING_H

/*
 * Map extents in the order of the list, at an address that is aligned to an extent, to be read, and
 * written to if writable.  NULL if there is no address space for them.  The caller unmaps them
 * before their owner gives them back.
 */
extern char *gpusort_mapping_make(const uint32 *list, uint32 count, bool writable);
extern void gpusort_mapping_end(char *base, uint32 count);

/* The same, to be read, with private memory of as much as so many extents behind them. */
extern char *gpusort_mapping_make_before(const uint32 *list, uint32 count, uint32 more);

/*
 * Have the pages of the first bytes mapped at once, which is an order of magnitude cheaper than a
 * fault for each, where all of them are going to be used.  They are mapped as if they were read,
 * many at a time; pages that others share may be written to all the same.
 */
extern void gpusort_mapping_populate(char *base, size_t bytes);

#endif							/* GPUSORT_EXTENT_MAPPING_H */
