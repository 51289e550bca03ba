/*
 * heap_space.c
 *		Whether rows have room in what a table has; see heap_space.h.
 *
 * By the free space map, which knows what VACUUM has found: that of some pages, evenly spaced.  The size of rows is
 * known from when the table was last vacuumed or analysed.
 */
#include "postgres.h"

#include "access/visibilitymap.h"
#include "storage/bufmgr.h"
#include "storage/freespace.h"

#include "heap/heap_space.h"

/* A thousand look-ups take a fraction of a millisecond, and few rows not much more. */
#define LOOKED_AT	1024
#define LEAST_LOOKED_AT	64

/* So much of the bytes may have had room. */
#define WASTE		(1.0 / 16)

/* If it is not known what a row takes. */
#define UNKNOWN_ROW_BYTES	(BLCKSZ / 5)

/* About what a row takes, where pages have so much space on average. */
static double
row_bytes(Relation heap, double mean_space)
{
	Form_pg_class form = heap->rd_rel;

	return form->relpages > 0 && form->reltuples > 0 ? (BLCKSZ - mean_space) * form->relpages / form->reltuples
		: UNKNOWN_ROW_BYTES;
}

/* More if few of many pages would do for the rows, but not more than is little work beside these. */
static BlockNumber
pages_to_look_at(BlockNumber blocks, double bytes)
{
	double		enough = LEAST_LOOKED_AT * Max(1.0, (double) blocks * BLCKSZ / bytes);
	double		affordable = Max(LEAST_LOOKED_AT, bytes / 1024);

	return (BlockNumber) Min(Min(blocks, LOOKED_AT), Min(enough, affordable));
}

/* Rows go on in the last page, if it is not all-visible. */
static bool
is_continued(Relation heap, BlockNumber block, BlockNumber blocks)
{
	Buffer		map = InvalidBuffer;
	uint8		bits;

	if (block != blocks - 1)
		return false;
	bits = visibilitymap_get_status(heap, block, &map);
	if (BufferIsValid(map))
		ReleaseBuffer(map);
	return (bits & VISIBILITYMAP_ALL_VISIBLE) == 0;
}

/* Space that is less than a row, or that the fillfactor keeps, is not for rows. */
bool
gpusort_heap_has_space(Relation heap, double bytes)
{
	BlockNumber blocks = RelationGetNumberOfBlocks(heap);
	BlockNumber looked_at = pages_to_look_at(blocks, bytes);
	Size		kept = RelationGetTargetPageFreeSpace(heap, HEAP_DEFAULT_FILLFACTOR);
	uint16		spaces[LOOKED_AT];
	double		all = 0;
	double		space = 0;
	double		least;

	if (looked_at == 0)
		return false;
	for (BlockNumber i = 0; i < looked_at; i++)
	{
		BlockNumber block = (BlockNumber) ((uint64) i * blocks / looked_at);

		all += spaces[i] = is_continued(heap, block, blocks) ? 0 : (uint16) GetRecordedFreeSpace(heap, block);
	}
	least = kept + row_bytes(heap, all / looked_at);
	for (BlockNumber i = 0; i < looked_at; i++)
		if (spaces[i] >= least)
			space += spaces[i] - kept;
	return space / looked_at * blocks > bytes * WASTE;
}
