/*
 * extent_pages.h
 *		Pages of memory behind an extent that is mapped.
 */
#ifndef GPUSORT_EXTENT_PAGES_H
#define GPUSORT_EXTENT_PAGES_H

/*
 * Sees to it that there is memory behind the bytes [from, to) of an extent that is owned and mapped
 * at `start`; the bytes below `from` have memory already.  Populates the whole extent where that
 * costs no more, which gpusort_extent_is_populated() then tells.  Returns false if the system has
 * no memory.
 */
extern bool gpusort_extent_populate(uint32 extent, char *start, size_t from, size_t to);

/* Returns whether there is memory behind all of an extent. */
extern bool gpusort_extent_is_populated(uint32 extent);

#endif							/* GPUSORT_EXTENT_PAGES_H */
