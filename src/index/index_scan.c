/*
 * index_scan.c
 *		Reads the table of an index build, by the server or page by page; see
 *		index_read_private.h.
 *
 * table_index_build_scan() takes and releases the page's lock twice for each row, evaluates the
 * index's columns as if they were expressions, and costs more than all that comes after it.  Most
 * pages don't need its care: their rows are plainly alive, and none of them is a member of a HOT
 * chain, so that every row is its own root.  Such pages are read here: we take the lock once and
 * list the live rows, and then take the rows from the page while it is only pinned, which keeps it
 * from being pruned.
 *
 * Pages with anything else on them (HOT chains, redirected line pointers, rows that are recently
 * dead, or being written by a transaction) go to the server's own scan, which works on any range of
 * blocks.  Where many such pages lie together, it gets more of them at a time.
 *
 * Builds that see the table through a snapshot (CONCURRENTLY) are not read here, since each range
 * would get a snapshot of its own; neither are those with expressions or predicates.
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

#include "index/index_build_private.h"
#include "index/index_read_private.h"
#include "pg_compat/tables.h"
#include "settings.h"
#include "sort/sort.h"
#include "team/workers.h"

/* ---------- blocks ---------- */

/* Number of pages that a process takes at a time, if several processes read. */
#define CHUNK_PAGES			32

void
gpusort_blocks_init(GpuSortSharedBlocks *shared)
{
	pg_atomic_init_u32(&shared->next, 0);
	pg_atomic_init_u32(&shared->read, 0);
}

/* Prepare to read the `total` pages of the table page by page. */
static void
gpusort_blocks_begin(GpuSortIndexBlocks *blocks, BlockNumber total)
{
	blocks->total = total;
	gpusort_blocks_report(blocks);
}

/*
 * Take the next pages for this process to read, *from .. *end - 1.  Returns false if there are none
 * left.
 */
static bool
gpusort_blocks_take(GpuSortIndexBlocks *blocks, BlockNumber *from, BlockNumber *end)
{
	if (blocks->shared == NULL)
	{
		*from = blocks->taken;
		*end = blocks->taken = blocks->total;
		return *from < *end;
	}

	/* each process adds to a counter that has passed the end at most once, so this can't wrap */
	*from = pg_atomic_read_u32(&blocks->shared->next);
	if (*from < blocks->total)
		*from = pg_atomic_fetch_add_u32(&blocks->shared->next, CHUNK_PAGES);
	if (*from >= blocks->total)
		return false;
	*end = *from + Min(blocks->total - *from, CHUNK_PAGES);
	return true;
}

/* Note that this process has read so many pages more. */
static void
gpusort_blocks_count(GpuSortIndexBlocks *blocks, BlockNumber pages)
{
	blocks->read += pages;
	if (blocks->shared != NULL)
		pg_atomic_fetch_add_u32(&blocks->shared->read, pages);
	gpusort_blocks_report(blocks);
}

/* Keep all processes from taking any more pages. */
static void
gpusort_blocks_stop(GpuSortIndexBlocks *blocks)
{
	blocks->taken = blocks->total;
	if (blocks->shared != NULL)
		pg_atomic_write_u32(&blocks->shared->next, blocks->total);
}

BlockNumber
gpusort_blocks_read(const GpuSortIndexBlocks *blocks)
{
	return blocks->shared != NULL ? pg_atomic_read_u32(&blocks->shared->read) : blocks->read;
}

void
gpusort_blocks_report(const GpuSortIndexBlocks *blocks)
{
	if (blocks->reports && blocks->total > 0)
		gpusort_progress_pages(gpusort_blocks_read(blocks), blocks->total);
}

/* ---------- forecast ---------- */

/*
 * Whether the rows of a table will fit into memory is forecast from those read so far.
 *
 * An index build is begun if the statistics say that the rows fit.  If the statistics are wrong,
 * or other sorts have taken what was free of the pool meanwhile, it is better to give the build
 * up after a part of the table than at its end, since PostgreSQL's build has to read the table
 * from the start.
 */

/*
 * There is no forecast before all processes together have read 1/MIN_PART of the table and at least
 * MIN_PAGES pages, and the leader itself MIN_PAGES.
 */
#define MIN_PART			16
#define MIN_PAGES			32

/*
 * The pages that are left are assumed to hold fewer rows than those read so far, by this fraction.
 */
#define DOUBT				0.25

/*
 * Returns whether the rows of the pages that have not been read are unlikely to fit.  The leader
 * calls this now and then while it reads; the answer is false until it has read enough pages to be
 * sure.
 */
static bool
gpusort_forecast_no_room(const GpuSortIndexReader *reader)
{
	const GpuSortIndexBlocks *blocks = &reader->blocks;
	const GpuSortIndexRows *rows = &reader->rows;
	BlockNumber read = gpusort_blocks_read(blocks);
	GpuSort    *sort = rows->part != NULL ? rows->part : rows->sort;
	double		rows_a_page;

	/*
	 * we can count the leader's own rows only while the leader's sort does not mix them with
	 * workers' rows
	 */
	if (gpusort_may_spill((size_t) maintenance_work_mem * 1024) || gpusort_force ||
		rows->part_full ||
		(rows->part == NULL && blocks->shared != NULL))
		return false;
	if (read < Max(blocks->total / MIN_PART, MIN_PAGES) || blocks->read < MIN_PAGES)
		return false;
	rows_a_page = (double) gpusort_rows(sort) / blocks->read;
	return !gpusort_would_fit(sort, rows_a_page * (read + (1 - DOUBT) * (blocks->total - read)),
							  (size_t) maintenance_work_mem * 1024);
}

/* ---------- the reader ---------- */

/* Put a row into the sort; the callback of table_index_build_scan().  `state` is the reader. */
static void
gpusort_reader_put_row(Relation index, ItemPointer tid, Datum *values, bool *isnull, bool alive,
					   void *state)
{
	GpuSortIndexReader *reader = state;

	gpusort_index_put_values(&reader->rows, values, isnull, tid,
							 alive || !reader->target.info->ii_Unique);
	gpusort_reader_exchange(reader);
}

/* ---------- page by page ---------- */

/*
 * Maximum number of pages that the server's scan gets at a time, without our looking at them first.
 */
#define MAX_CAREFUL_PAGES	64

/* Number of pages after which the leader makes another forecast. */
#define FORECAST_PAGES		32

/* Where an index column lies in a table row without nulls; see gpusort_fixed_offset(). */
typedef struct SourceColumn
{
	AttrNumber	attno;
	int			offset;			/* -1 if it varies */
	int16		attlen;
	bool		attbyval;
	char		attalign;
} SourceColumn;

typedef struct SourceColumns
{
	bool		fixed;			/* all columns have a fixed offset */
	AttrNumber	max_attno;
	int			count;
	SourceColumn columns[INDEX_MAX_KEYS];
} SourceColumns;

typedef struct PageScan
{
	GpuSortIndexReader *reader;
	Relation	heap;
	BufferAccessStrategy strategy;
	TransactionId oldest_xmin;
	TransactionId own_xid;		/* inserted a row read before, and is the current one; or invalid */
	TupleTableSlot *slot;		/* for rows that have to be deformed */
	SourceColumns source;
	double		live;			/* live rows read so far */
} PageScan;

bool
gpusort_index_can_read_pages(const GpuSortIndexTarget *target)
{
	const IndexInfo *info = target->info;

	if (target->heap->rd_tableam != GetHeapamTableAmRoutine() || info->ii_Concurrent ||
		info->ii_Expressions != NIL || info->ii_Predicate != NIL)
		return false;
	for (int i = 0; i < info->ii_NumIndexAttrs; i++)
		if (info->ii_IndexAttrNumbers[i] <= 0)
			return false;
	return true;
}

static void
find_source_columns(SourceColumns *source, TupleDesc desc, const IndexInfo *info)
{
	source->fixed = true;
	source->max_attno = 0;
	source->count = info->ii_NumIndexAttrs;
	for (int i = 0; i < source->count; i++)
	{
		SourceColumn *column = &source->columns[i];
		AttrNumber	attno = info->ii_IndexAttrNumbers[i];
		Form_pg_attribute att = TupleDescAttr(desc, attno - 1);

		column->attno = attno;
		column->offset = gpusort_fixed_offset(desc, attno);
		column->attlen = att->attlen;
		column->attbyval = att->attbyval;
		column->attalign = att->attalign;
		source->fixed &= column->offset >= 0;
		source->max_attno = Max(source->max_attno, attno);
	}
}

static void
begin_page_scan(PageScan *scan, GpuSortIndexReader *reader)
{
	Relation	heap = reader->target.heap;
	TupleDesc	desc = RelationGetDescr(heap);
	BlockNumber nblocks = RelationGetNumberOfBlocks(heap);

	scan->reader = reader;
	scan->heap = heap;
	scan->oldest_xmin = GetOldestNonRemovableTransactionId(heap);
	scan->own_xid = InvalidTransactionId;
	scan->strategy = NULL;
	if (!RelationUsesLocalBuffers(heap) && nblocks > NBuffers / 4)
		scan->strategy = GetAccessStrategy(BAS_BULKREAD);
	scan->slot = MakeSingleTupleTableSlot(desc, &TTSOpsBufferHeapTuple);
	scan->live = 0;
	find_source_columns(&scan->source, desc, reader->target.info);
	gpusort_blocks_begin(&reader->blocks, nblocks);
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
	ROW_DEAD,					/* dead to all transactions */
	ROW_DIFFICULT
} RowState;

/*
 * Returns whether a row is plainly alive or dead, or needs the server's scan.  The page is locked.
 */
static RowState
row_state(PageScan *scan, HeapTuple tuple, Buffer buffer, bool all_visible)
{
	const uint16 committed = HEAP_XMIN_COMMITTED | HEAP_XMAX_INVALID;
	const uint16 hints = committed | HEAP_XMIN_INVALID | HEAP_MOVED;
	TransactionId xmin = HeapTupleHeaderGetRawXmin(tuple->t_data);

	if (HeapTupleIsHeapOnly(tuple) || HeapTupleIsHotUpdated(tuple))
		return ROW_DIFFICULT;
	if (all_visible || (tuple->t_data->t_infomask & committed) == committed)
		return ROW_LIVE;
	/* after a load in this transaction, all rows are of the same */
	if (xmin == scan->own_xid && TransactionIdIsValid(xmin) &&
		(tuple->t_data->t_infomask & hints) == HEAP_XMAX_INVALID)
		return ROW_LIVE;
	switch (HeapTupleSatisfiesVacuum(tuple, scan->oldest_xmin, buffer))
	{
		case HEAPTUPLE_LIVE:
			return ROW_LIVE;
		case HEAPTUPLE_DEAD:
			return ROW_DEAD;
		case HEAPTUPLE_INSERT_IN_PROGRESS:
			/* the server's scan, too, takes rows that this transaction is inserting for alive */
			if (!TransactionIdIsCurrentTransactionId(xmin))
				return ROW_DIFFICULT;
			scan->own_xid = xmin;
			return ROW_LIVE;
		default:
			return ROW_DIFFICULT;
	}
}

/*
 * List the live rows of a pinned page in `offsets`.  Returns their number, or -1 if the page needs
 * the server's scan.
 */
static int
list_live_rows(PageScan *scan, Buffer buffer, OffsetNumber *offsets)
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
	tuple.t_tableOid = RelationGetRelid(scan->heap);
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

/*
 * Get the values of the index columns without deforming the row.  Returns false if that is not
 * possible.
 */
static inline bool
fetch_fixed(const SourceColumns *source, HeapTuple tuple, Datum *values)
{
	const char *data = (const char *) tuple->t_data + tuple->t_data->t_hoff;

	if (!source->fixed || HeapTupleHasNulls(tuple) ||
		HeapTupleHeaderGetNatts(tuple->t_data) < source->max_attno)
		return false;
	for (int i = 0; i < source->count; i++)
	{
		const SourceColumn *column = &source->columns[i];
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
	slot_getsomeattrs(scan->slot, scan->source.max_attno);
	for (int i = 0; i < scan->source.count; i++)
	{
		int			att = scan->source.columns[i].attno - 1;

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
	GpuSortIndexRows *rows = &scan->reader->rows;
	const bool	no_nulls[INDEX_MAX_KEYS] = {0};
	bool		nulls[INDEX_MAX_KEYS];
	Datum		values[INDEX_MAX_KEYS];
	HeapTupleData tuple;

	tuple.t_tableOid = RelationGetRelid(scan->heap);
	for (int i = 0; i < count && !rows->failed; i++)
	{
		ItemId		item = PageGetItemId(page, offsets[i]);
		const bool *isnull = no_nulls;

		tuple.t_data = (HeapTupleHeader) PageGetItem(page, item);
		tuple.t_len = ItemIdGetLength(item);
		ItemPointerSet(&tuple.t_self, block, offsets[i]);
		pgstat_count_heap_getnext(scan->heap);
		if (!fetch_fixed(&scan->source, &tuple, values))
		{
			fetch_deformed(scan, &tuple, buffer, values, nulls);
			isnull = nulls;
		}
		gpusort_index_put_values(rows, values, isnull, &tuple.t_self, true);
	}
	scan->live += count;
}

/* Read a page.  Returns false, with nothing read, if it needs the server's scan. */
static bool
read_page(PageScan *scan, BlockNumber block)
{
	Buffer		buffer = ReadBufferExtended(scan->heap, MAIN_FORKNUM, block, RBM_NORMAL,
											scan->strategy);
	OffsetNumber offsets[MaxHeapTuplesPerPage];
	int			count = list_live_rows(scan, buffer, offsets);

	if (count > 0)
		put_rows(scan, buffer, offsets, count);
	ExecClearTuple(scan->slot);
	ReleaseBuffer(buffer);
	return count >= 0;
}

/* Let the server's scan read some pages. */
static void
read_carefully(PageScan *scan, BlockNumber from, BlockNumber pages)
{
	const GpuSortIndexTarget *target = &scan->reader->target;

	scan->live += table_index_build_range_scan(target->heap, target->index, target->info, false,
											   false, false, from, pages, gpusort_reader_put_row,
											   scan->reader, NULL);
}

/*
 * Count pages that this process has read, and give the build up if the rest is not going to fit.
 * After a failure no process takes any more pages.
 */
static void
count_pages(GpuSortIndexReader *reader, BlockNumber pages)
{
	gpusort_blocks_count(&reader->blocks, pages);
	if (reader->blocks.reports && !reader->rows.failed &&
		reader->blocks.read / FORECAST_PAGES != (reader->blocks.read - pages) / FORECAST_PAGES)
		reader->rows.failed = reader->rows.hopeless = gpusort_forecast_no_room(reader);
	if (reader->rows.failed)
		gpusort_blocks_stop(&reader->blocks);
}

/* Read the pages from .. end - 1. */
static void
read_range(PageScan *scan, BlockNumber from, BlockNumber end)
{
	GpuSortIndexReader *reader = scan->reader;
	BlockNumber careful = 1;	/* number of pages that the server's scan gets next */
	BlockNumber block = from;

	while (block < end && !reader->rows.failed)
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

			read_carefully(scan, block, pages);
			careful = Min(careful * 2, MAX_CAREFUL_PAGES);
			block += pages;
		}
		gpusort_reader_exchange(reader);
		if (reader->blocks.reports)
			count_pages(reader, block - begin);
	}
	/* a worker counts its pages together, to keep processes from contending for the counter */
	if (!reader->blocks.reports)
		count_pages(reader, block - from);
}

/* Read the table, or this process's share of it, page by page.  Returns the number of live rows. */
static double
gpusort_index_read_pages(GpuSortIndexReader *reader)
{
	PageScan	scan;
	BlockNumber from;
	BlockNumber end;

	begin_page_scan(&scan, reader);
	while (!reader->rows.failed && gpusort_blocks_take(&reader->blocks, &from, &end))
		read_range(&scan, from, end);
	end_page_scan(&scan);
	return scan.live;
}

/* ---------- all of it ---------- */

static double
scan_by_server(GpuSortIndexReader *reader)
{
	const GpuSortIndexTarget *target = &reader->target;
	TableScanDesc scan = NULL;

	if (reader->scan != NULL)
		scan = gpusort_beginscan_parallel(target->heap, reader->scan);
	return table_index_build_scan(target->heap, target->index, target->info, true,
								  reader->blocks.reports, gpusort_reader_put_row, reader, scan);
}

double
gpusort_index_scan(GpuSortIndexReader *reader)
{
	double		live;

	if (reader->exchange != NULL)
		gpusort_worker_fault("rows of an index");
	gpusort_index_begin_part(&reader->rows, reader->target.index);
	live = reader->by_pages ? gpusort_index_read_pages(reader) : scan_by_server(reader);
	gpusort_index_finish_part(&reader->rows);
	return live;
}
