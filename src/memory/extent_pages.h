/*
 * extent_pages.h
 *		Pages of memory behind an extent that is mapped.
 */
#ifndef GPUSORT_EXTENT_PAGES_H
#define GPUSORT_EXTENT_PAGES_H

/*
 * Have memory behind the bytes [from, to) of an extent that is owned and mapped at `start`;
 * those below `from` have it already.  All of it where that costs nothing more, which
 * gpusort_extent_is_populated() tells.  False if the system has no memory.
 */
extern bool gpusort_extent_populate(uint32 extent, char *start, size_t from, size_t to);

/* Is there memory behind all of it? */
extern bool gpusort_extent_is_populated(uint32 extent);

#endif							/* GPUSORT_EXTENT_PAGES_H */
