/*
 * table_map.h
 *		Looks up which pages of a table are all-visible, in any order.
 *
 * The server's scans keep one page of the visibility map pinned, which has the bits of 256 MB of
 * the table.  Entries of an index that is in another order than its table lead from one page of the
 * map to another, so that nearly each of them takes a look into the buffer table, a pin and an
 * unpin, and all processes that scan change the same few counts.  So all pages of the map stay
 * pinned here that have been asked about, as long as they are not too many.  Nobody waits for such
 * pins: the map is changed under its pages' locks, and truncated under a lock on the table that
 * readers exclude.
 *
 * Bits are read from the shared page each time, by the server's function.  So what it promises to
 * the server's index-only scans holds here, too: who has read an entry of the index, and asks for
 * its page's bit afterwards, sees the bit cleared if the entry's row was not visible to all then.
 */
#ifndef GPUSORT_TABLE_MAP_H
#define GPUSORT_TABLE_MAP_H

#include "access/visibilitymap.h"
#include "storage/bufpage.h"
#include "utils/rel.h"

#include "pg_compat.h"

/* How many of a table's blocks a page of the visibility map has bits of. */
#define GPUSORT_MAP_PAGE_BLOCKS	\
	((BLCKSZ - MAXALIGN(SizeOfPageHeaderData)) * BITS_PER_BYTE / BITS_PER_HEAPBLOCK)

typedef struct GpuSortTableMap
{
	Relation	heap;
	uint32		max_pins;
	Buffer	   *pins;			/* page n of the map is at n % max_pins; or others, or none */
} GpuSortTableMap;

/* Begins to look at a table's map.  Allocates in the current context. */
extern void gpusort_table_map_begin(GpuSortTableMap *map, Relation heap);

/* Releases the pins, if there are any. */
extern void gpusort_table_map_end(GpuSortTableMap *map);

/* Returns whether a page of the table is all-visible now. */
static pg_always_inline bool
gpusort_table_map_is_all_visible(GpuSortTableMap *map, BlockNumber block)
{
	uint32		page = block / GPUSORT_MAP_PAGE_BLOCKS;

	if (unlikely(page >= map->max_pins))
		page %= map->max_pins;
	return VM_ALL_VISIBLE(map->heap, block, &map->pins[page]);
}

/*
 * Returns the share of lookups, of rows of a table of so many pages that lie anywhere, that have to
 * pin a page of the map.
 */
extern double gpusort_table_map_pinning_share(BlockNumber table_pages);

#endif							/* GPUSORT_TABLE_MAP_H */
