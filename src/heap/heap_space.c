/*
 * heap_space.c
 *		Whether rows have room in what a table has; see heap_space.h.
 *
 * By the free space map, which knows what VACUUM has found: that of some pages, evenly spaced.
 */
#include "postgres.h"

#include "storage/bufmgr.h"
#include "storage/freespace.h"

#include "heap/heap_space.h"

/* A thousand look-ups take a fraction of a millisecond. */
#define LOOKED_AT	1024

/* So much of the bytes may have had room. */
#define WASTE		(1.0 / 16)

bool
gpusort_heap_has_space(Relation heap, double bytes)
{
	BlockNumber blocks = RelationGetNumberOfBlocks(heap);
	BlockNumber looked_at = Min(blocks, LOOKED_AT);
	double		space = 0;

	for (BlockNumber i = 0; i < looked_at; i++)
		space += GetRecordedFreeSpace(heap, (BlockNumber) ((uint64) i * blocks / looked_at));
	return looked_at > 0 && space / looked_at * blocks > bytes * WASTE;
}
