/*
 * table_space.c
 *		Estimates whether rows have room in the free space of a table; see table.h.
 *
 * The estimate is made from the free space map, which VACUUM fills, by looking at some pages,
 * evenly spaced.  The size of rows is that of the time when the table was last vacuumed or
 * analysed.
 */
#include "postgres.h"

#include "access/visibilitymap.h"
#include "storage/bufmgr.h"
#include "storage/freespace.h"

#include "table/table.h"

/*
 * Maximum and minimum number of pages to look up.  A thousand look-ups take a fraction of a
 * millisecond, and inserting a few rows does not take much longer than that.
 */
#define LOOKED_AT	1024
#define LEAST_LOOKED_AT	64

/*
 * Rows should not be appended if the free space has room for more than this fraction of their
 * bytes.
 */
#define WASTE		(1.0 / 16)

/* Size that is assumed for rows of a table without statistics. */
#define UNKNOWN_ROW_BYTES	(BLCKSZ / 5)

/*
 * Returns about how many bytes a row takes on a page, if pages have mean_space bytes free on
 * average.
 */
static double
row_bytes(Relation heap, double mean_space)
{
	Form_pg_class form = heap->rd_rel;

	return form->relpages > 0 && form->reltuples > 0
		? (BLCKSZ - mean_space) * form->relpages / form->reltuples
		: UNKNOWN_ROW_BYTES;
}

/*
 * Returns how many pages to look up: more if the rows need only a few of many pages, but not so
 * many that looking them up costs much compared to inserting the rows.
 */
static BlockNumber
pages_to_look_at(BlockNumber blocks, double bytes)
{
	double		enough = LEAST_LOOKED_AT * Max(1.0, (double) blocks * BLCKSZ / bytes);
	double		affordable = Max(LEAST_LOOKED_AT, bytes / 1024);

	return (BlockNumber) Min(Min(blocks, LOOKED_AT), Min(enough, affordable));
}

/*
 * Returns whether appended rows would go on in this page, because it is the last one and not
 * all-visible.
 */
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

/*
 * Space on a page counts only if it is enough for a row, and without what the fillfactor keeps
 * free.
 */
bool
gpusort_table_has_space(Relation heap, double bytes)
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

		all += spaces[i] = is_continued(heap, block, blocks) ? 0
			: (uint16) GetRecordedFreeSpace(heap, block);
	}
	least = kept + row_bytes(heap, all / looked_at);
	for (BlockNumber i = 0; i < looked_at; i++)
		if (spaces[i] >= least)
			space += spaces[i] - kept;
	return space / looked_at * blocks > bytes * WASTE;
}
