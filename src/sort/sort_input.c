/*
 * sort_input.c
 *		Draining the input of a sort, tables page by page.
 *
 * An input node is normally read with ExecProcNode(), row by row.  If it is a plain sequential scan
 * of a heap, most of what that costs (40 of 65 ns a row: calls through four layers, a slot filled
 * and emptied, instrumentation) can be saved: when table_scan_getnextslot() returns the first tuple
 * of a page, it has pinned the page and listed its visible tuples.  So the other tuples are taken
 * from the page itself, and the scan is told that they have been read.
 *
 * Tuples go to the sort as they lie on the page.  If the scan projects, the sort copies the columns
 * that are wanted, and expressions are evaluated here (input_projection.c).
 *
 * When the sort refuses a row, reading stops in the middle of the page, with the scan's position at
 * that row, and goes on from there.
 *
 * An Append returns the rows of one child after the other, unchanged.  When it has returned a
 * child's first row, and that child is a plain scan, the rest of the child is read here, and the
 * Append is told to choose the next child, as it does when a child has ended.  So partitions are
 * read page by page, too, each with its own projection, by one process or by workers that share
 * them.  The same goes for subqueries that filter nothing, such as members of a UNION ALL whose
 * columns are cast, and a UNION ALL as a whole.  An Append that has asynchronous children returns
 * rows in any order and is left alone.
 *
 * The scan stays the child's own: its snapshot, its scan descriptor (also a parallel one), its
 * place in synchronised scans, predicate locks, statistics, quals, projection and instrumentation.
 * Only the loop over a page is ours.  A scan is read so only if it reads a heap in page mode under
 * an MVCC snapshot, and not in EvalPlanQual rechecks.
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/relscan.h"
#include "access/tableam.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "pg_compat/executor.h"
#include "prefetch.h"
#include "sort/projection_private.h"
#include "sort/rows_private.h"
#include "sort/sort.h"
#include "sort/sort_input.h"
#include "sort/state_private.h"

/*
 * When the input is read row by row, others are told how many rows have come after every
 * WATCH_ROWS.
 */
#define WATCH_ROWS		1024

/*
 * Tuples of a page are prefetched this many tuples before they are put: the page may be in no
 * cache.
 */
#define TUPLES_AHEAD	16

/*
 * Returns the child that an Append is reading, or the subquery of a SubqueryScan.  NULL if the node
 * is neither, or if the child can't be told.
 */
static PlanState *
current_child(PlanState *node)
{
	AppendState *append = (AppendState *) node;

	if (IsA(node, SubqueryScanState))
		return ((SubqueryScanState *) node)->subplan;
	if (!IsA(node, AppendState) || append->as_nasyncplans > 0)
		return NULL;
	return append->appendplans[append->as_whichplan];
}

/* Returns whether a node that has returned its first row is a scan that we can continue. */
static bool
is_plain_scan(PlanState *node)
{
	TableScanDesc scan;

	if (!IsA(node, SeqScanState) || node->state->es_epq_active != NULL)
		return false;
	scan = ((SeqScanState *) node)->ss.ss_currentScanDesc;
	return scan != NULL &&
		scan->rs_rd->rd_tableam == GetHeapamTableAmRoutine() &&
		(scan->rs_flags & SO_ALLOW_PAGEMODE) != 0 &&
		scan->rs_nkeys == 0 &&
		IsMVCCSnapshot(scan->rs_snapshot) &&
		TTS_IS_BUFFERTUPLE(((SeqScanState *) node)->ss.ss_ScanTupleSlot);
}

/* Returns the projection of a scan's tuples, or NULL. */
static GpuSortProjection *
find_projection(const GpuSortInput *input, const PlanState *scan)
{
	ListCell   *lc;

	foreach(lc, input->projections)
	{
		GpuSortProjection *projection = lfirst(lc);

		if (&projection->node->ps == scan)
			return projection;
	}
	return NULL;
}

/*
 * Chooses how tuples on a page are put into the sort.  If it can, the sort makes rows of them as
 * the scan would, and expressions are evaluated before.
 */
static void
choose_put_tuple(GpuSortInput *input)
{
	GpuSortProjection *projection = find_projection(input, &input->scan->ps);
	bool		selected;

	input->evaluate = NULL;
	input->subquery = projection != NULL && projection->top != &input->scan->ps ? projection : NULL;
	input->put_tuple = NULL;
	if (input->sort == NULL)
		return;
	if (projection == NULL && input->scan->ps.ps_ProjInfo == NULL)
	{
		gpusort_sort_select_tuples(input->sort);
		input->put_tuple = gpusort_put_heap_tuple;
		return;
	}
	selected = projection != NULL && gpusort_sort_select_columns(input->sort, &projection->columns);
	if (selected)
		input->put_tuple = gpusort_put_heap_columns;
	if ((selected || input->subquery != NULL) && projection->columns.nvalues > 0)
		input->evaluate = projection;
}

/* Returns whether a scan below subqueries has a projection that does what all of these do. */
static bool
is_of_subquery(const GpuSortInput *input, const PlanState *scan)
{
	const GpuSortProjection *projection = find_projection(input, scan);

	return input->sort != NULL && projection != NULL && projection->top != scan;
}

/*
 * Goes on, after the child has returned a row, with the scan that the row comes from, if that is a
 * plain one.
 */
static void
begin_pages(GpuSortInput *input)
{
	PlanState  *node = input->child;
	bool		in_subquery = false;
	PlanState  *below;

	while ((below = current_child(node)) != NULL)
	{
		in_subquery |= IsA(node, SubqueryScanState);
		node = below;
	}
	if (!is_plain_scan(node) || (in_subquery && !is_of_subquery(input, node)))
		return;
	input->scan = (ScanState *) node;
	choose_put_tuple(input);
}

/* Puts a tuple on a page into the sort.  Returns false if it must become a row first. */
static inline bool
put_tuple(GpuSortInput *input, HeapTuple tuple)
{
	if (input->put_tuple == NULL || !input->put_tuple(input->sort, tuple))
		return false;
	input->taken++;
	input->from_pages++;
	return true;
}

/*
 * Puts tuples on a page into the sort: the first ones, as many as it takes all at once.  Returns
 * how many these are.
 */
static inline int
put_tuples(GpuSortInput *input, Page page, const OffsetNumber *offsets, int count)
{
	int			taken;

	if (input->put_tuple == NULL)
		return 0;
	taken = gpusort_put_page_keys(input->sort, page, offsets, count);
	input->taken += taken;
	input->from_pages += taken;
	input->uncharged += taken;
	return taken;
}

/* Puts a row into the sort.  Returns false if the sort refuses it. */
static inline bool
put_row(GpuSortInput *input, TupleTableSlot *slot)
{
	if (input->sort == NULL ||
		(input->is_part && !gpusort_put_part_slot(input->sort, slot)))
		return false;
	if (!input->is_part)
		gpusort_put_slot(input->sort, slot);
	input->taken++;
	if (input->taken % WATCH_ROWS == 0)
		gpusort_show_rows(input->sort);
	return true;
}

/*
 * Puts the tuple in the scan slot through the node's qual and projection, as ExecScan() does, and
 * into the sort.  Returns the row if the sort refuses it, else NULL.
 */
static TupleTableSlot *
put_scanned(GpuSortInput *input)
{
	ScanState  *node = input->scan;
	ExprContext *econtext = node->ps.ps_ExprContext;
	TupleTableSlot *row = node->ss_ScanTupleSlot;

	ResetExprContext(econtext);
	econtext->ecxt_scantuple = row;
	if (node->ps.qual != NULL && !ExecQual(node->ps.qual, econtext))
	{
		InstrCountFiltered1(node, 1);
		return NULL;
	}
	input->uncharged++;
	if (input->evaluate != NULL)
		gpusort_evaluate_projection(input->evaluate);
	if (put_tuple(input, ((HeapTupleTableSlot *) row)->tuple))
		return NULL;
	/*
	 * the sort has refused the tuple: make a row of the values that were evaluated, so that none is
	 * twice
	 */
	if (input->evaluate != NULL)
		row = gpusort_projected_row(input->evaluate);
	else if (input->subquery != NULL)
		row = gpusort_projected_row(input->subquery);
	else if (node->ps.ps_ProjInfo != NULL)
		row = ExecProject(node->ps.ps_ProjInfo);
	return put_row(input, row) ? NULL : row;
}

/* Tells the scan that the tuples of its page have been read up to this index. */
static void
move_scan(HeapScanDesc scan, int index)
{
	gpusort_count_heap_tuples(scan->rs_base.rs_rd, index - (int) scan->rs_cindex);
	scan->rs_cindex = index;
}

/* Prefetches visible tuple i of the page, if there are so many. */
static inline void
look_ahead(HeapScanDesc scan, Page page, int i)
{
	if (i < (int) scan->rs_ntuples)
		prefetch_line(PageGetItem(page, PageGetItemId(page, scan->rs_vistuples[i])));
}

/*
 * Puts the visible tuples of the scan's current page, from the one behind the current one on, into
 * the sort, and moves the scan to the last of them.  If the sort refuses a row, moves the scan to
 * its tuple and returns the row.
 */
static TupleTableSlot *
put_rest_of_page(GpuSortInput *input)
{
	ScanState  *node = input->scan;
	HeapScanDesc scan = (HeapScanDesc) node->ss_currentScanDesc;
	bool		as_it_lies = node->ps.qual == NULL && input->evaluate == NULL;
	Page		page = BufferGetPage(scan->rs_cbuf);
	HeapTuple	tuple = &input->tuple;

	tuple->t_tableOid = RelationGetRelid(scan->rs_base.rs_rd);
	for (int i = 1; i < TUPLES_AHEAD && input->put_tuple != NULL; i++)
		look_ahead(scan, page, (int) scan->rs_cindex + i);
	for (int i = (int) scan->rs_cindex + 1; i < (int) scan->rs_ntuples; i++)
	{
		OffsetNumber offset = scan->rs_vistuples[i];
		ItemId		item = PageGetItemId(page, offset);
		TupleTableSlot *refused;
		int			taken = 0;

		look_ahead(scan, page, i + TUPLES_AHEAD - 1);
		if (as_it_lies)
			taken = put_tuples(input, page, &scan->rs_vistuples[i], (int) scan->rs_ntuples - i);
		if (taken > 0)
		{
			i += taken - 1;
			continue;
		}
		tuple->t_data = (HeapTupleHeader) PageGetItem(page, item);
		tuple->t_len = ItemIdGetLength(item);
		if (as_it_lies && put_tuple(input, tuple))
		{
			input->uncharged++;
			continue;
		}
		ItemPointerSet(&tuple->t_self, BufferGetBlockNumber(scan->rs_cbuf), offset);
		ExecStoreBufferHeapTuple(tuple, node->ss_ScanTupleSlot, scan->rs_cbuf);
		refused = put_scanned(input);
		if (unlikely(refused != NULL))
		{
			move_scan(scan, i);
			return refused;
		}
	}

	/* the slot must not keep referring to our tuple */
	ExecClearTuple(node->ss_ScanTupleSlot);
	move_scan(scan, (int) scan->rs_ntuples - 1);
	return NULL;
}

/*
 * Lets the scan go to the next page with visible tuples and put the first one into its slot.
 * Returns false if there is none.  The time is charged to the scan and to the nodes above it, from
 * `node` down, together with the rows that were taken from the scan since the last time.
 */
static bool
next_page(GpuSortInput *input, PlanState *node)
{
	GpuSortNodeInstrumentation *instrument = node->instrument;
	PlanState  *below = current_child(node);
	bool		found;

	if (instrument != NULL)
		InstrStartNode(instrument);
	if (below != NULL)
		found = next_page(input, below);
	else
		found = table_scan_getnextslot(input->scan->ss_currentScanDesc, ForwardScanDirection,
									   input->scan->ss_ScanTupleSlot);
	if (instrument != NULL)
		InstrStopNode(instrument, input->uncharged);
	return found;
}

/*
 * Continues a sequential scan behind a row that has been taken or refused.  Returns the next row
 * that is refused, or NULL at the end of the scan.
 */
static TupleTableSlot *
drain_pages(GpuSortInput *input)
{
	TupleTableSlot *refused;

	do
	{
		bool		found;

		CHECK_FOR_INTERRUPTS();
		if (input->sort != NULL)
			gpusort_show_rows(input->sort);
		refused = put_rest_of_page(input);
		if (refused != NULL)
			return refused;
		found = next_page(input, input->child);
		input->uncharged = 0;
		if (!found)
			return NULL;
		refused = put_scanned(input);
	} while (refused == NULL);
	return refused;
}

/*
 * Lets an Append go on to its next child, when the scan that a node reads has ended.  Returns false
 * if there is none.
 */
static bool
choose_next(PlanState *node)
{
	PlanState  *below = current_child(node);

	return below != NULL &&
		(choose_next(below) ||
		 (IsA(node, AppendState) &&
		  ((AppendState *) node)->choose_next_subplan((AppendState *) node)));
}

/*
 * Returns the projections of the scans below a node, for which all subqueries in `above`, if it is
 * not NULL, are looked through.
 */
static List *
prepare_scans(PlanState *node, const GpuSortSubquery *above)
{
	List	   *projections = NIL;
	GpuSortProjection *projection;
	GpuSortSubquery subquery;

	check_stack_depth();
	if (IsA(node, AppendState))
	{
		AppendState *append = (AppendState *) node;

		for (int i = 0; i < append->as_nplans; i++)
			projections = list_concat(projections,
									  prepare_scans(append->appendplans[i], above));
	}
	else if (IsA(node, SubqueryScanState))
	{
		if (gpusort_look_through_subquery((SubqueryScanState *) node, above, &subquery))
			projections = prepare_scans(((SubqueryScanState *) node)->subplan, &subquery);
	}
	else if (IsA(node, SeqScanState))
	{
		projection = gpusort_begin_projection((ScanState *) node, above);
		if (projection != NULL)
			projections = list_make1(projection);
	}
	return projections;
}

List *
gpusort_prepare_input(PlanState *child)
{
	return prepare_scans(child, NULL);
}

uint64
gpusort_calls_saved(const List *projections)
{
	uint64		saved = 0;
	ListCell   *lc;

	foreach(lc, projections)
		saved += gpusort_projection_calls_saved(lfirst(lc));
	return saved;
}

/*
 * Returns the number of the column, among the first nwanted, that a later column repeats with the
 * same type; 0 if there is none.
 */
static AttrNumber
original_of(const GpuSortProjection *projection, int column, int nwanted)
{
	const AttrNumber *attnos = projection->columns.attnos;
	TupleDesc	desc = projection->node->ps.ps_ResultTupleDesc;

	for (int i = 0; i < nwanted; i++)
		if (attnos[column] != 0 && attnos[i] == attnos[column] &&
			TupleDescAttr(desc, i)->atttypid == TupleDescAttr(desc, column)->atttypid)
			return i + 1;
	return 0;
}

bool
gpusort_sort_by_originals(PlanState *child, const List *projections, int nwanted,
						  GpuSortSpec *spec)
{
	const GpuSortProjection *projection = projections == NIL ? NULL : linitial(projections);

	if (projection == NULL || &projection->node->ps != child)
		return false;
	for (int i = nwanted; i < projection->columns.ncolumns; i++)
		if (original_of(projection, i, nwanted) == 0)
			return false;
	for (int i = 0; i < spec->nkeys; i++)
		if (spec->attnos[i] > nwanted)
			spec->attnos[i] = original_of(projection, spec->attnos[i] - 1, nwanted);
	return true;
}

TupleTableSlot *
gpusort_drain_input(GpuSortInput *input)
{
	TupleTableSlot *slot;

	for (;;)
	{
		if (input->scan != NULL)
		{
			slot = drain_pages(input);
			if (slot != NULL)
				return slot;
			input->scan = NULL;
			if (!choose_next(input->child))
				return NULL;
		}
		slot = input->first != NULL ? input->first : ExecProcNode(input->child);
		input->first = NULL;
		if (TupIsNull(slot))
			return NULL;
		begin_pages(input);
		if (!put_row(input, slot))
			return slot;
	}
}
