/*
 * index_pages.c
 *		Reading the heap of an index build page by page.
 *
 * table_index_build_scan() takes and releases the page's lock twice for each row,
 * evaluates the index's columns as if they were expressions, and costs more than
 * all that comes after it.  Most pages don't need its care: their rows are plainly
 * alive and none of them is a member of a HOT chain, so that every row is its own
 * root.  Those are read here: the lock is taken once, the live rows are listed, and
 * while the page is only pinned (which keeps it from being pruned) they are taken
 * from it.
 *
 * Pages with anything else on them (HOT chains, redirected line pointers, rows that
 * are recently dead, or being written by somebody) go to the server's own scan,
 * which works on any range of blocks.  Where many such pages lie together it gets
 * more of them at a time.
 *
 * Not for builds that see the table through a snapshot (CONCURRENTLY), since each
 * range would get a snapshot of its own; not for expressions and predicates.
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/htup_details.h"
#include "access/tableam.h"
#include "access/tupmacs.h"
#include "access/xact.h"
#include "executor/tuptable.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/bufmgr.h"
#include "storage/procarray.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "index/index_build.h"
#include "index/index_collect.h"
#include "index/index_parallel.h"
#include "sort/fixed_offset.h"

/* Most pages that the server's scan gets without a look at them. */
#define MAX_CAREFUL_PAGES	64

/* Where an index column lies in a table row without nulls; see fixed_offset. */
typedef struct SourceColumn
{
	AttrNumber	attno;
	int			offset;			/* -1: varies */
	int16		attlen;
	bool		attbyval;
	char		attalign;
} SourceColumn;

typedef struct PageScan
{
	GpuSortIndexBuild *build;
	BufferAccessStrategy strategy;
	TransactionId oldest_xmin;
	BlockNumber nblocks;
	bool		progress;		/* to be reported */
	TupleTableSlot *slot;		/* for rows that have to be deformed */
	bool		fixed;			/* all columns have a fixed offset */
	AttrNumber	max_attno;
	int			ncolumns;
	SourceColumn columns[INDEX_MAX_KEYS];
	double		live;			/* rows */
} PageScan;

bool
gpusort_index_can_read_pages(const GpuSortIndexBuild *build)
{
	const IndexInfo *info = build->info;

	if (build->heap->rd_tableam != GetHeapamTableAmRoutine() || info->ii_Concurrent ||
		info->ii_Expressions != NIL || info->ii_Predicate != NIL)
		return false;
	for (int i = 0; i < info->ii_NumIndexAttrs; i++)
		if (info->ii_IndexAttrNumbers[i] <= 0)
			return false;
	return true;
}

static void
begin_page_scan(PageScan *scan, GpuSortIndexBuild *build)
{
	Relation	heap = build->heap;
	TupleDesc	desc = RelationGetDescr(heap);

	memset(scan, 0, sizeof(*scan));
	scan->build = build;
	scan->nblocks = RelationGetNumberOfBlocks(heap);
	scan->oldest_xmin = GetOldestNonRemovableTransactionId(heap);
	if (!RelationUsesLocalBuffers(heap) && scan->nblocks > NBuffers / 4)
		scan->strategy = GetAccessStrategy(BAS_BULKREAD);
	scan->slot = MakeSingleTupleTableSlot(desc, &TTSOpsBufferHeapTuple);
	scan->fixed = true;
	scan->ncolumns = build->info->ii_NumIndexAttrs;
	for (int i = 0; i < scan->ncolumns; i++)
	{
		SourceColumn *column = &scan->columns[i];
		AttrNumber	attno = build->info->ii_IndexAttrNumbers[i];
		Form_pg_attribute att = TupleDescAttr(desc, attno - 1);

		column->attno = attno;
		column->offset = gpusort_fixed_offset(desc, attno);
		column->attlen = att->attlen;
		column->attbyval = att->attbyval;
		column->attalign = att->attalign;
		scan->fixed &= column->offset >= 0;
		scan->max_attno = Max(scan->max_attno, attno);
	}
	pgstat_count_heap_scan(heap);
}

static void
end_page_scan(PageScan *scan)
{
	ExecDropSingleTupleTableSlot(scan->slot);
	if (scan->strategy != NULL)
		FreeAccessStrategy(scan->strategy);
}

typedef enum RowState
{
	ROW_LIVE,
	ROW_DEAD,					/* to everybody */
	ROW_DIFFICULT
} RowState;

static RowState
row_state(const PageScan *scan, HeapTuple tuple, Buffer buffer, bool all_visible)
{
	const uint16 committed = HEAP_XMIN_COMMITTED | HEAP_XMAX_INVALID;

	if (HeapTupleIsHeapOnly(tuple) || HeapTupleIsHotUpdated(tuple))
		return ROW_DIFFICULT;
	if (all_visible || (tuple->t_data->t_infomask & committed) == committed)
		return ROW_LIVE;
	switch (HeapTupleSatisfiesVacuum(tuple, scan->oldest_xmin, buffer))
	{
		case HEAPTUPLE_LIVE:
			return ROW_LIVE;
		case HEAPTUPLE_DEAD:
			return ROW_DEAD;
		case HEAPTUPLE_INSERT_IN_PROGRESS:
			/* the server's scan takes our own ones for alive, too */
			return TransactionIdIsCurrentTransactionId(HeapTupleHeaderGetXmin(tuple->t_data))
				? ROW_LIVE : ROW_DIFFICULT;
		default:
			return ROW_DIFFICULT;
	}
}

/*
 * List the live rows of a page, which is pinned; returns how many, or -1 if the
 * page needs the server's care.
 */
static int
list_live_rows(const PageScan *scan, Buffer buffer, OffsetNumber *offsets)
{
	Page		page = BufferGetPage(buffer);
	BlockNumber block = BufferGetBlockNumber(buffer);
	OffsetNumber last;
	HeapTupleData tuple;
	bool		all_visible;
	int			count = 0;

	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	last = PageGetMaxOffsetNumber(page);
	all_visible = PageIsAllVisible(page);
	tuple.t_tableOid = RelationGetRelid(scan->build->heap);
	for (OffsetNumber offset = FirstOffsetNumber; offset <= last && count >= 0; offset++)
	{
		ItemId		item = PageGetItemId(page, offset);
		RowState	state;

		if (!ItemIdIsNormal(item))
		{
			if (ItemIdIsRedirected(item))
				count = -1;
			continue;
		}
		tuple.t_data = (HeapTupleHeader) PageGetItem(page, item);
		tuple.t_len = ItemIdGetLength(item);
		ItemPointerSet(&tuple.t_self, block, offset);
		state = row_state(scan, &tuple, buffer, all_visible);
		if (state == ROW_LIVE)
			offsets[count++] = offset;
		else if (state == ROW_DIFFICULT)
			count = -1;
	}
	LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
	return count;
}

/* Get the index columns of a row without deforming it, if that is possible. */
static inline bool
fetch_fixed(const PageScan *scan, HeapTuple tuple, Datum *values)
{
	const char *data = (const char *) tuple->t_data + tuple->t_data->t_hoff;

	if (!scan->fixed || HeapTupleHasNulls(tuple) ||
		HeapTupleHeaderGetNatts(tuple->t_data) < scan->max_attno)
		return false;
	for (int i = 0; i < scan->ncolumns; i++)
	{
		const SourceColumn *column = &scan->columns[i];
		int			offset = column->offset;

		if (column->attlen == -1)
			offset = att_align_pointer(offset, column->attalign, -1, data + offset);
		values[i] = fetch_att(data + offset, column->attbyval, column->attlen);
	}
	return true;
}

static void
fetch_deformed(const PageScan *scan, HeapTuple tuple, Buffer buffer, Datum *values, bool *isnull)
{
	ExecStoreBufferHeapTuple(tuple, scan->slot, buffer);
	slot_getsomeattrs(scan->slot, scan->max_attno);
	for (int i = 0; i < scan->ncolumns; i++)
	{
		int			att = scan->columns[i].attno - 1;

		values[i] = scan->slot->tts_values[att];
		isnull[i] = scan->slot->tts_isnull[att];
	}
}

/* Put the listed rows of a pinned page into the sort. */
static void
put_rows(PageScan *scan, Buffer buffer, const OffsetNumber *offsets, int count)
{
	Page		page = BufferGetPage(buffer);
	BlockNumber block = BufferGetBlockNumber(buffer);
	GpuSortIndexBuild *build = scan->build;
	const bool	no_nulls[INDEX_MAX_KEYS] = {0};
	bool		nulls[INDEX_MAX_KEYS];
	Datum		values[INDEX_MAX_KEYS];
	HeapTupleData tuple;

	tuple.t_tableOid = RelationGetRelid(build->heap);
	for (int i = 0; i < count && !build->failed; i++)
	{
		ItemId		item = PageGetItemId(page, offsets[i]);
		const bool *isnull = no_nulls;

		tuple.t_data = (HeapTupleHeader) PageGetItem(page, item);
		tuple.t_len = ItemIdGetLength(item);
		ItemPointerSet(&tuple.t_self, block, offsets[i]);
		pgstat_count_heap_getnext(build->heap);
		if (!fetch_fixed(scan, &tuple, values))
		{
			fetch_deformed(scan, &tuple, buffer, values, nulls);
			isnull = nulls;
		}
		gpusort_index_put(build, values, isnull, &tuple.t_self, true);
	}
	scan->live += count;
}

/* Read a page; false if it is one for the server's scan. */
static bool
read_page(PageScan *scan, BlockNumber block)
{
	Buffer		buffer = ReadBufferExtended(scan->build->heap, MAIN_FORKNUM, block, RBM_NORMAL,
											scan->strategy);
	OffsetNumber offsets[MaxHeapTuplesPerPage];
	int			count = list_live_rows(scan, buffer, offsets);

	if (count > 0)
		put_rows(scan, buffer, offsets, count);
	ExecClearTuple(scan->slot);
	ReleaseBuffer(buffer);
	return count >= 0;
}

/* Read the pages from .. end - 1. */
static void
read_range(PageScan *scan, BlockNumber from, BlockNumber end)
{
	GpuSortIndexBuild *build = scan->build;
	BlockNumber careful = 1;	/* pages for the server's next scan */
	BlockNumber block = from;

	while (block < end && !build->failed)
	{
		BlockNumber begin = block;

		CHECK_FOR_INTERRUPTS();
		if (read_page(scan, block))
		{
			careful = 1;
			block++;
		}
		else
		{
			BlockNumber pages = Min(careful, end - block);

			scan->live += table_index_build_range_scan(build->heap, build->index, build->info,
													   false, false, false, block, pages,
													   gpusort_index_put_row, build, NULL);
			careful = Min(careful * 2, MAX_CAREFUL_PAGES);
			block += pages;
		}
		gpusort_index_exchange_rows(build);
		if (scan->progress)
			gpusort_index_count_pages(build, block - begin, scan->nblocks);
	}
	/* workers would get into each other's way if they counted each page */
	if (!scan->progress)
		gpusort_index_count_pages(build, end - from, scan->nblocks);
}

double
gpusort_index_read_pages(GpuSortIndexBuild *build, bool progress)
{
	PageScan	scan;
	BlockNumber from;
	BlockNumber end = 0;

	begin_page_scan(&scan, build);
	scan.progress = progress;
	if (progress)
		gpusort_index_count_pages(build, 0, scan.nblocks);
	while (!build->failed && gpusort_index_next_pages(build, scan.nblocks, &from, &end))
		read_range(&scan, from, end);
	end_page_scan(&scan);
	return scan.live;
}
