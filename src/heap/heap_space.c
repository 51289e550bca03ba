/*
 * heap_space.c
 *		Whether rows have room in what a table has; see heap_space.h.
 *
 * By the free space map, which knows what VACUUM has found: that of some pages, evenly spaced.  The size of rows is
 * known from when the table was last vacuumed or analysed.
 */
#include "postgres.h"

#include "storage/bufmgr.h"
#include "storage/freespace.h"

#include "heap/heap_space.h"

/* A thousand look-ups take a fraction of a millisecond. */
#define LOOKED_AT	1024

/* So much of the bytes may have had room. */
#define WASTE		(1.0 / 16)

/* About what a row takes, where pages have so much space on average; 0: not known. */
static double
row_bytes(Relation heap, double mean_space)
{
	Form_pg_class form = heap->rd_rel;

	return form->relpages > 0 && form->reltuples > 0 ? (BLCKSZ - mean_space) * form->relpages / form->reltuples : 0;
}

/* Space that is less than a row, or that the fillfactor keeps, is not for rows. */
bool
gpusort_heap_has_space(Relation heap, double bytes)
{
	BlockNumber blocks = RelationGetNumberOfBlocks(heap);
	BlockNumber looked_at = Min(blocks, LOOKED_AT);
	Size		kept = RelationGetTargetPageFreeSpace(heap, HEAP_DEFAULT_FILLFACTOR);
	uint16		spaces[LOOKED_AT];
	double		all = 0;
	double		space = 0;
	double		least;

	if (looked_at == 0)
		return false;
	for (BlockNumber i = 0; i < looked_at; i++)
		all += spaces[i] = (uint16) GetRecordedFreeSpace(heap, (BlockNumber) ((uint64) i * blocks / looked_at));
	least = kept + row_bytes(heap, all / looked_at);
	for (BlockNumber i = 0; i < looked_at; i++)
		if (spaces[i] >= least)
			space += spaces[i] - kept;
	return space / looked_at * blocks > bytes * WASTE;
}
