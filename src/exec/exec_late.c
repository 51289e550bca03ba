/*
 * exec_late.c
 *		Fetching rows from their table in sorted order.
 *
 * A late GpuSort (plan_late.c) sorts rows that consist of a TID and the sort columns.  When a row
 * is to be returned, the table's row is fetched by its TID, under the query's snapshot, and
 * projected as the scan would have done it.  Sort expressions have been evaluated for the sort;
 * their values are taken from the sorted row.
 *
 * The table's row is still there.  The scan has seen it under the same snapshot, which the executor
 * keeps registered, so neither pruning nor VACUUM may remove the row or reuse its line pointer,
 * even if some transaction, this one included, has updated or deleted it since.  Commands that move
 * rows elsewhere (CLUSTER, VACUUM FULL, rewriting, TRUNCATE) need a lock that conflicts with the
 * scan's, and in this session fail while the query has the table open.  A cursor that outlives its
 * transaction is read to its end before the transaction ends.
 *
 * Rows come from anywhere in the table, so each would cost half a dozen cache misses one after the
 * other (sorted row, three in the table of buffers, buffer header, line pointer, tuple), or a read.
 * Therefore the next rows are looked at in advance, in a ring.  When a row enters the ring, we look
 * up which buffer holds its page, or PrefetchBuffer() begins to read the page; a few rows before
 * its turn the tuple is brought into the processor's cache.  No more reads are begun at a time than
 * effective_io_concurrency allows.  We remember where pages were found, so that the table of
 * buffers is searched once for a page instead of once for a row; if a buffer has come to hold
 * another page, that is noticed when the buffer is pinned.
 *
 * Only one page is pinned at a time, that of the row returned last.
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/tableam.h"
#include "executor/executor.h"
#include "pgstat.h"
#include "port/pg_bitutils.h"
#include "storage/buf_internals.h"
#include "storage/bufmgr.h"
#include "utils/rel.h"
#include "utils/spccache.h"

#include "exec/exec_private.h"
#include "pg_compat/executor.h"
#include "pg_compat/pages.h"
#include "prefetch.h"

/*
 * How many rows are looked at in advance, a power of two; and how many rows ahead a tuple is
 * prefetched.
 */
#define ROWS_AHEAD		64
#define TUPLES_AHEAD	16

/*
 * How many cache lines of a tuple are prefetched; the processor prefetches further lines by itself.
 */
#define TUPLE_LINES		4
#define LINE_BYTES		64

/*
 * Limits of the number of pages whose buffers are remembered, in 8 bytes each; in between, as many
 * as fit into the private memory that the sort leaves.
 */
#define MAX_PAGES		(1 << 20)
#define MIN_PAGES		64

/* The buffer that a page was last found in.  Several pages share an entry. */
typedef struct LatePage
{
	BlockNumber block;
	Buffer		buffer;			/* invalid: the entry is empty */
} LatePage;

/* A row in the ring, which will be fetched. */
typedef struct LateRow
{
	ItemPointerData tid;
	Buffer		buffer;			/* where its page was found, not pinned; or invalid */
	bool		reading;		/* a read of its page was begun */
	MinimalTuple sorted;		/* the sorted row that stands for it */
} LateRow;

struct GpuSortLate
{
	MemoryContext memory;

	/* where rows are fetched from */
	Relation	table;
	Snapshot	snapshot;

	/* how rows are returned */
	ExprContext *context;
	ProjectionInfo *projection; /* NULL: the table's rows are returned as they are */
	bool		carries;		/* some columns are taken from the sorted row */
	TupleTableSlot *sorted;		/* holds the sorted row */
	TupleTableSlot *fetched;	/* holds the table's row */
	HeapTupleData tuple;		/* what `fetched` refers to */
	TupleTableSlot *result;

	/* the ring: rows at positions first .. last - 1, each at its position modulo ROWS_AHEAD */
	uint64		first;
	uint64		last;
	LateRow		ahead[ROWS_AHEAD];

	/* where pages are, and the reads under way */
	LatePage   *pages;			/* NULL: not allocated yet */
	uint32		page_mask;
	int			reads;			/* how many rows in the ring have `reading` set */
	int			max_reads;
};

/*
 * Returns whether the columns make up the table's rows as they are stored.  That is not so if a
 * column's values may be missing from stored rows (atthasmissing), since a copy of such a row would
 * lack them.
 */
static bool
are_whole_rows(List *columns, TupleDesc desc)
{
	if (list_length(columns) != desc->natts)
		return false;
	for (int i = 0; i < desc->natts; i++)
	{
		Var		   *var = (Var *) list_nth_node(TargetEntry, columns, i)->expr;
		Form_pg_attribute att = TupleDescAttr(desc, i);

		if (!IsA(var, Var) || var->varno == OUTER_VAR || var->varattno != i + 1 ||
			var->vartype != att->atttypid || att->attisdropped || att->atthasmissing)
			return false;
	}
	return true;
}

/* Returns whether any column is taken from the sorted row. */
static bool
carries_values(List *columns)
{
	ListCell   *lc;

	foreach(lc, columns)
	{
		Var		   *var = (Var *) lfirst_node(TargetEntry, lc)->expr;

		if (IsA(var, Var) && var->varno == OUTER_VAR)
			return true;
	}
	return false;
}

GpuSortLate *
gpusort_begin_late(CustomScanState *css, const ScanState *table_scan, MemoryContext context)
{
	GpuSortLate *late = palloc0(sizeof(GpuSortLate));
	PlanState  *ps = &css->ss.ps;
	EState	   *estate = ps->state;
	List	   *columns = ((CustomScan *) ps->plan)->custom_scan_tlist;

	Assert(estate->es_epq_active == NULL);
	late->memory = context;
	late->table = table_scan->ss_currentRelation;
	late->snapshot = estate->es_snapshot;
	late->context = ps->ps_ExprContext;
	late->max_reads = get_tablespace_io_concurrency(late->table->rd_rel->reltablespace);
	late->carries = carries_values(columns);
	late->sorted = ExecInitExtraTupleSlot(estate, ExecGetResultType(outerPlanState(css)),
										  &TTSOpsMinimalTuple);
	late->fetched = ExecInitExtraTupleSlot(estate, RelationGetDescr(late->table),
										   table_slot_callbacks(late->table));
	late->result = late->fetched;

	/* what the projection is compiled for: JIT chooses its deforming code by these fields */
	ps->scandesc = RelationGetDescr(late->table);
	ps->scanops = late->fetched->tts_ops;
	ps->scanopsfixed = true;
	ps->scanopsset = true;
	ps->outerops = late->sorted->tts_ops;
	ps->outeropsfixed = true;
	ps->outeropsset = true;
	if (!are_whole_rows(columns, RelationGetDescr(late->table)))
	{
		late->result = ps->ps_ResultTupleSlot;
		late->projection = ExecBuildProjectionInfo(columns, late->context, late->result, ps,
												   RelationGetDescr(late->table));
	}
	ps->resultops = late->result->tts_ops;
	ps->resultopsfixed = true;
	ps->resultopsset = true;
	return late;
}

void
gpusort_reset_late(GpuSortLate *late)
{
	late->first = late->last = 0;
	late->reads = 0;
}

TupleTableSlot *
gpusort_clear_late(GpuSortLate *late)
{
	ExecClearTuple(late->sorted);
	ExecClearTuple(late->fetched);
	return ExecClearTuple(late->result);
}

/* ---------- pages ---------- */

/* Makes the table of remembered pages: as many as the relation has, or as there is memory for. */
static void
make_pages(GpuSortLate *late, GpuSort *sort)
{
	uint32		blocks = RelationGetNumberOfBlocks(late->table);
	uint32		count = pg_nextpower2_32(Max(Min(blocks, MAX_PAGES), MIN_PAGES));

	while (count > MIN_PAGES && count * sizeof(LatePage) > gpusort_memory_left(sort))
		count /= 2;
	late->pages = MemoryContextAllocZero(late->memory, count * sizeof(LatePage));
	late->page_mask = count - 1;
	gpusort_charge(sort, count * sizeof(LatePage));
}

static inline LatePage *
page_entry(GpuSortLate *late, BlockNumber block)
{
	return &late->pages[block & late->page_mask];
}

/* Returns the buffer that the page was last found in, or InvalidBuffer if that is not known. */
static inline Buffer
page_buffer(GpuSortLate *late, BlockNumber block)
{
	LatePage   *page = page_entry(late, block);

	return page->block == block ? page->buffer : InvalidBuffer;
}

static inline void
remember_page(GpuSortLate *late, BlockNumber block, Buffer buffer)
{
	*page_entry(late, block) = (LatePage) {.block = block, .buffer = buffer};
}

/* Pins the page, at first trying the buffer where it was last found. */
static Buffer
pin_page(GpuSortLate *late, BlockNumber block)
{
	Buffer		buffer = page_buffer(late, block);

	/* local buffers are left out: PostgreSQL 15 looks for them among the shared buffers */
	if (BufferIsValid(buffer) && !BufferIsLocal(buffer) &&
		ReadRecentBuffer(*gpusort_relation_locator(late->table), MAIN_FORKNUM, block, buffer))
	{
		pgstat_count_buffer_read(late->table);
		pgstat_count_buffer_hit(late->table);
		return buffer;
	}
	buffer = ReadBuffer(late->table, block);
	remember_page(late, block, buffer);
	return buffer;
}

/*
 * Stores the tuple in the slot `fetched`, which keeps its page pinned.  Returns false if there is
 * no tuple that the snapshot sees.  This replaces heap_fetch(), which would search the table of
 * buffers, and take a predicate lock on the tuple at the serializable level; the scan holds one on
 * the whole relation.
 */
static bool
fetch_tuple(GpuSortLate *late, const ItemPointerData *tid)
{
	Buffer		buffer = pin_page(late, ItemPointerGetBlockNumber(tid));
	OffsetNumber offset = ItemPointerGetOffsetNumber(tid);
	HeapTupleData *tuple = &late->tuple;
	Page		page = BufferGetPage(buffer);
	bool		found = false;

	/*
	 * Nobody begins to move tuples in a page that another process has pinned, but somebody who had
	 * the only pin may be doing so just now.
	 */
	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	gpusort_test_for_old_snapshot(late->snapshot, late->table, page);
	if (offset <= PageGetMaxOffsetNumber(page) && ItemIdIsNormal(PageGetItemId(page, offset)))
	{
		ItemId		item = PageGetItemId(page, offset);

		tuple->t_self = *tid;
		tuple->t_tableOid = RelationGetRelid(late->table);
		tuple->t_len = ItemIdGetLength(item);
		tuple->t_data = (HeapTupleHeader) PageGetItem(page, item);
		found = HeapTupleSatisfiesVisibility(tuple, late->snapshot, buffer);
	}
	LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
	if (found)
		ExecStorePinnedBufferHeapTuple(tuple, late->fetched, buffer);
	else
		ReleaseBuffer(buffer);
	return found;
}

/*
 * Fetches a row and projects it.  If columns are taken from the sorted row, that is in its slot
 * already.
 */
static TupleTableSlot *
fetch(GpuSortLate *late, const ItemPointerData *tid)
{
	if (!fetch_tuple(late, tid))
		elog(ERROR, "gpusort: row (%u,%u) of table \"%s\" has disappeared",
			 ItemPointerGetBlockNumber(tid), ItemPointerGetOffsetNumber(tid),
			 RelationGetRelationName(late->table));
	if (late->projection == NULL)
		return late->fetched;
	ResetExprContext(late->context);
	late->context->ecxt_scantuple = late->fetched;
	late->context->ecxt_outertuple = late->sorted;
	return ExecProject(late->projection);
}

/* ---------- rows ahead ---------- */

/*
 * Returns the TID in a sorted row.  It is the first column, and never null, so it lies right behind
 * the header.
 */
static inline ItemPointer
tid_of(MinimalTuple row)
{
	return (ItemPointer) ((char *) row - MINIMAL_TUPLE_OFFSET + row->t_hoff);
}

/* Returns where the row's line pointer is, or was: the page is not pinned. */
static inline ItemId
line_pointer(const LateRow *row)
{
	return PageGetItemId(BufferGetPage(row->buffer), ItemPointerGetOffsetNumber(&row->tid));
}

/* Finds out which buffer holds the page of a row, or begins to read the page. */
static void
find_page(GpuSortLate *late, LateRow *row)
{
	BlockNumber block = ItemPointerGetBlockNumber(&row->tid);
	PrefetchBufferResult found = PrefetchBuffer(late->table, MAIN_FORKNUM, block);

	row->buffer = found.recent_buffer;
	row->reading = found.initiated_io;
	late->reads += found.initiated_io;
	if (BufferIsValid(row->buffer))
		remember_page(late, block, row->buffer);
}

/* Called when a row enters the ring: prefetches its page's header and line pointer. */
static void
prefetch_page(GpuSortLate *late, LateRow *row)
{
	row->buffer = page_buffer(late, ItemPointerGetBlockNumber(&row->tid));
	if (!BufferIsValid(row->buffer))
		find_page(late, row);
	if (!BufferIsValid(row->buffer))
		return;
	if (!BufferIsLocal(row->buffer))
		prefetch_line(GetBufferDescriptor(row->buffer - 1));
	prefetch_line(line_pointer(row));
}

/*
 * Called some rows later: prefetches the row's tuple.  All this is read without pin or lock.  If
 * the buffer is given to another page meanwhile, something useless is prefetched, and nothing worse
 * happens.
 */
static void
prefetch_tuple(GpuSortLate *late, LateRow *row)
{
	const char *tuple;

	if (!BufferIsValid(row->buffer))
		return;
	if (!BufferIsLocal(row->buffer) &&
		GetBufferDescriptor(row->buffer - 1)->tag.blockNum != ItemPointerGetBlockNumber(&row->tid))
	{
		if (late->reads < late->max_reads)
			find_page(late, row);
		return;
	}
	tuple = (const char *) BufferGetPage(row->buffer) + ItemIdGetOffset(line_pointer(row));
	for (int i = 0; i < TUPLE_LINES; i++)
		prefetch_line(tuple + i * LINE_BYTES);
}

static inline LateRow *
row_ahead(GpuSortLate *late, uint64 position)
{
	return &late->ahead[position % ROWS_AHEAD];
}

/*
 * Puts the row at the next position into the ring.  The first row is needed right away, so it is
 * not prefetched.
 */
static void
enter_row(GpuSortLate *late, GpuSortCursor *cursor)
{
	LateRow    *row = row_ahead(late, late->last);

	row->sorted = gpusort_cursor_row(cursor, late->last);
	row->tid = *tid_of(row->sorted);
	row->buffer = InvalidBuffer;
	row->reading = false;
	if (late->last > late->first)
		prefetch_page(late, row);
	late->last++;
}

/*
 * Drops the rows before a position from the ring.  If the row at the position is not in the ring,
 * empties the ring and enters that row.
 */
static void
begin_ring_at(GpuSortLate *late, GpuSortCursor *cursor, uint64 position)
{
	if (position < late->first || position >= late->last)
	{
		late->first = late->last = position;
		late->reads = 0;
		enter_row(late, cursor);
	}
	for (; late->first < position; late->first++)
		late->reads -= row_ahead(late, late->first)->reading;
}

/*
 * Enters rows behind a position into the ring, as far as they are in memory, and prefetches a
 * tuple.
 */
static void
look_ahead(GpuSortLate *late, GpuSortCursor *cursor, uint64 position)
{
	uint64		end = Min(position + ROWS_AHEAD, Min(cursor->end, cursor->window_to));

	while (late->last < end && late->reads < late->max_reads)
		enter_row(late, cursor);
	if (position + TUPLES_AHEAD < late->last)
		prefetch_tuple(late, row_ahead(late, position + TUPLES_AHEAD));
}

/*
 * Returns the next row of a sort that was handed over, for which rows are not looked at in advance.
 */
static TupleTableSlot *
fetch_handed_over(GpuSortLate *late, Tuplesortstate *tuplesort, bool forward)
{
	bool		isnull;

	if (!tuplesort_gettupleslot(tuplesort, forward, false, late->sorted, NULL))
		return gpusort_clear_late(late);
	return fetch(late, (ItemPointer) DatumGetPointer(slot_getattr(late->sorted, 1, &isnull)));
}

TupleTableSlot *
gpusort_fetch_late(GpuSortLate *late, GpuSortCursor *cursor, bool forward)
{
	uint64		position;
	LateRow    *row;

	if (unlikely(late->pages == NULL))
		make_pages(late, cursor->sort);
	if (unlikely(cursor->tuplesort != NULL))
		return fetch_handed_over(late, cursor->tuplesort, forward);
	if (unlikely(!gpusort_cursor_move(cursor, forward)))
		return gpusort_clear_late(late);

	position = cursor->next - 1;
	begin_ring_at(late, cursor, position);
	if (forward)
		look_ahead(late, cursor, position);
	row = row_ahead(late, position);
	if (late->carries)
		gpusort_store_tuple(late->sorted, row->sorted);
	return fetch(late, &row->tid);
}
