/*
 * extent_mapping.h
 *		Maps extents of another process, one behind the other.
 */
#ifndef GPUSORT_EXTENT_MAPPING_H
#define GPUSORT_EXTENT_MAPPING_H

/*
 * Maps extents in the order of the list, at an address that is aligned to an extent, for reading,
 * and for writing if `writable`.  Returns NULL if there is no address space for them.  The caller
 * must unmap them with gpusort_mapping_end() before their owner gives them back.
 */
extern char *gpusort_mapping_make(const uint32 *list, uint32 count, bool writable);
extern void gpusort_mapping_end(char *base, uint32 count);

/*
 * Maps extents in the same way for reading, with private memory of the size of `more` extents
 * behind them.
 */
extern char *gpusort_mapping_make_before(const uint32 *list, uint32 count, uint32 more);

/*
 * Has the pages of the first `bytes` bytes of a mapping mapped at once, for a caller that is going
 * to use them all: that is an order of magnitude cheaper than a fault for each page.  The kernel
 * maps them as if they were read, many at a time; since the memory is shared, they can be written
 * to, too.
 */
extern void gpusort_mapping_populate(char *base, size_t bytes);

#endif							/* GPUSORT_EXTENT_MAPPING_H */
