/*
 * collect_scan.c
 *		Draining the input of a sort; tables page by page.
 *
 * An input node is normally read with ExecProcNode, row by row.  If it is a
 * plain sequential scan of a heap, most of what that costs (40 of 65 ns a row:
 * calls through four layers, a slot filled and emptied, instrumentation) can be
 * saved: table_scan_getnextslot() has pinned the page and listed its visible
 * tuples when it returns a page's first one, so the others are taken from the
 * page itself, and the scan is told that they have been read.
 *
 * The scan stays the child's own: its snapshot, its scan descriptor (also a
 * parallel one), its place in synchronised scans, predicate locks, statistics,
 * quals, projection and instrumentation.  Only the loop over a page is ours.
 * Not done for anything else than a heap read in page mode under an MVCC
 * snapshot, nor for EvalPlanQual rechecks.
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/relscan.h"
#include "access/tableam.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/bufmgr.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "collect_scan.h"

/* Is the child, which has returned its first row, a scan that we can continue? */
static bool
is_plain_scan(PlanState *child)
{
	TableScanDesc scan;

	if (!IsA(child, SeqScanState) || child->state->es_epq_active != NULL)
		return false;
	scan = ((SeqScanState *) child)->ss.ss_currentScanDesc;
	return scan != NULL &&
		scan->rs_rd->rd_tableam == GetHeapamTableAmRoutine() &&
		(scan->rs_flags & SO_ALLOW_PAGEMODE) != 0 &&
		scan->rs_nkeys == 0 &&
		IsMVCCSnapshot(scan->rs_snapshot) &&
		TTS_IS_BUFFERTUPLE(((SeqScanState *) child)->ss.ss_ScanTupleSlot);
}

/*
 * Put a tuple that is in the scan slot through the node's qual and projection,
 * as ExecScan() does, and into the sort.  True if it passed the qual.
 */
static bool
put_scanned(GpuSort *sort, ScanState *node)
{
	ExprContext *econtext = node->ps.ps_ExprContext;

	ResetExprContext(econtext);
	econtext->ecxt_scantuple = node->ss_ScanTupleSlot;
	if (node->ps.qual != NULL && !ExecQual(node->ps.qual, econtext))
	{
		InstrCountFiltered1(node, 1);
		return false;
	}
	gpusort_put_slot(sort, node->ps.ps_ProjInfo != NULL ?
					 ExecProject(node->ps.ps_ProjInfo) : node->ss_ScanTupleSlot);
	return true;
}

/*
 * Put the visible tuples of the scan's current page behind the current one into
 * the sort, and move the scan behind them.  Returns how many passed the qual.
 */
static uint64
put_rest_of_page(GpuSort *sort, ScanState *node, bool plain)
{
	HeapScanDesc scan = (HeapScanDesc) node->ss_currentScanDesc;
	Page		page = BufferGetPage(scan->rs_cbuf);
	HeapTupleData tuple;
	uint64		passed = 0;

	tuple.t_tableOid = RelationGetRelid(scan->rs_base.rs_rd);
	for (int i = (int) scan->rs_cindex + 1; i < (int) scan->rs_ntuples; i++)
	{
		OffsetNumber offset = scan->rs_vistuples[i];
		ItemId		item = PageGetItemId(page, offset);

		tuple.t_data = (HeapTupleHeader) PageGetItem(page, item);
		tuple.t_len = ItemIdGetLength(item);
		pgstat_count_heap_getnext(scan->rs_base.rs_rd);
		if (plain && gpusort_put_heap_tuple(sort, &tuple))
		{
			passed++;
			continue;
		}
		ItemPointerSet(&tuple.t_self, BufferGetBlockNumber(scan->rs_cbuf), offset);
		ExecStoreBufferHeapTuple(&tuple, node->ss_ScanTupleSlot, scan->rs_cbuf);
		passed += put_scanned(sort, node);
	}

	/* the slot must not keep referring to our tuple */
	ExecClearTuple(node->ss_ScanTupleSlot);
	scan->rs_cindex = scan->rs_ntuples - 1;
	return passed;
}

/*
 * Let the scan go to the next page with visible tuples and put the first one into
 * its slot; false if there is none.  Charged to the node, together with the rows
 * that were taken from it since the last time.
 */
static bool
next_page(ScanState *node, uint64 rows)
{
	Instrumentation *instrument = node->ps.instrument;
	bool		found;

	if (instrument != NULL)
		InstrStartNode(instrument);
	found = table_scan_getnextslot(node->ss_currentScanDesc, ForwardScanDirection,
								   node->ss_ScanTupleSlot);
	if (instrument != NULL)
		InstrStopNode(instrument, rows);
	return found;
}

/* Continue a sequential scan whose first row has been taken. */
static void
drain_scan(GpuSort *sort, SeqScanState *child)
{
	ScanState  *node = &child->ss;
	bool		plain = node->ps.qual == NULL && node->ps.ps_ProjInfo == NULL;
	bool		found;
	uint64		rows = 0;

	do
	{
		CHECK_FOR_INTERRUPTS();
		rows += put_rest_of_page(sort, node, plain);
		found = next_page(node, rows);
		rows = found ? put_scanned(sort, node) : 0;
	} while (found);
}

void
gpusort_drain(GpuSort *sort, PlanState *child)
{
	for (;;)
	{
		TupleTableSlot *slot = ExecProcNode(child);

		if (TupIsNull(slot))
			return;
		gpusort_put_slot(sort, slot);
		if (is_plain_scan(child))
		{
			drain_scan(sort, (SeqScanState *) child);
			return;
		}
	}
}
