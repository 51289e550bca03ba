/*
 * exec_unique.c
 *		Executing a GpuSort Unique node, which returns the first of equal rows.
 *
 * The sort knows which rows are equal to the row before, so these rows are not touched.  The other
 * rows are gone through in three steps, so that no cache miss is waited for: the references of some
 * rows are prefetched, then the rows themselves, and then they are returned, from where they lie.
 */
#include "postgres.h"

#include "executor/executor.h"
#include "miscadmin.h"
#include "port/pg_bitutils.h"

#include "exec/exec.h"
#include "exec/exec_private.h"
#include "exec/groups_private.h"
#include "pg_compat/executor.h"
#include "plan/plan_node.h"
#include "sort/sort_cursor.h"

/* Some rows that are to be returned: their row ids, and later pointers to them. */
typedef struct UniqueBlock
{
	int			count;
	uint32		ids[GPUSORT_EMIT_BLOCK];
	MinimalTuple rows[GPUSORT_EMIT_BLOCK];
} UniqueBlock;

typedef struct GpuSortUniqueState
{
	CustomScanState css;		/* must be first field */
	GpuSortUniqueRows rows;

	/* positions of the current stretch that have not been looked at */
	uint64		next;
	uint64		end;

	/*
	 * Blocks of rows whose references have been prefetched (known), whose tuples have been
	 * prefetched (ahead), and which are being returned (block).
	 */
	UniqueBlock blocks[3];
	UniqueBlock *known;
	UniqueBlock *ahead;
	UniqueBlock *block;
	int			at;				/* index of the next row in `block` */
} GpuSortUniqueState;

static void begin_node(CustomScanState *css, EState *estate, int eflags);
static TupleTableSlot *exec_node(CustomScanState *css);
static void end_node(CustomScanState *css);
static void rescan_node(CustomScanState *css);
static void explain_node(CustomScanState *css, List *ancestors, ExplainState *es);

static const CustomExecMethods exec_methods = {
	.CustomName = GPUSORT_UNIQUE_NODE,
	.BeginCustomScan = begin_node,
	.ExecCustomScan = exec_node,
	.EndCustomScan = end_node,
	.ReScanCustomScan = rescan_node,
	.ExplainCustomScan = explain_node
};

Node *
gpusort_create_unique_state(CustomScan *scan)
{
	GpuSortUniqueState *node = palloc0(sizeof(GpuSortUniqueState));

	NodeSetTag(node, T_CustomScanState);
	node->css.methods = &exec_methods;
	gpusort_set_slot_ops(&node->css, &TTSOpsMinimalTuple);
	return (Node *) node;
}

/* ---------- rows in memory ---------- */

/*
 * Returns a word of the bitmap with the bits set of those positions, from `next` to the end of the
 * word, whose rows are not equal to the row before.
 */
static uint64
first_ones(const GpuSortUniqueState *node)
{
	uint64		bits = ~node->rows.view.equal[node->next / 64];

	bits &= PG_UINT64_MAX << (node->next % 64);
	if (node->end / 64 == node->next / 64)
		bits &= (UINT64CONST(1) << (node->end % 64)) - 1;
	return bits;
}

/*
 * Fills a block with the ids of the next rows, of this stretch or further ones, and prefetches
 * their references.  The block is empty if there are no more rows.
 */
static void
find_rows(GpuSortUniqueState *node, UniqueBlock *block)
{
	const GpuSortView *view = &node->rows.view;

	block->count = 0;
	while (block->count < GPUSORT_EMIT_BLOCK)
	{
		uint64		word = node->next / 64 * 64;
		uint64		bits;

		if (node->next >= node->end &&
			!gpusort_next_unique_stretch(&node->rows, &node->next, &node->end))
			break;
		word = node->next / 64 * 64;
		CHECK_FOR_INTERRUPTS();
		for (bits = first_ones(node); bits != 0 && block->count < GPUSORT_EMIT_BLOCK;
			 bits &= bits - 1)
		{
			uint64		position = word + pg_rightmost_one_pos64(bits);

			block->ids[block->count++] = view->order != NULL ? view->order[position]
				: (uint32) position;
		}
		node->next = bits != 0 ? word + pg_rightmost_one_pos64(bits) : Min(word + 64, node->end);
	}
	for (int i = 0; i < block->count; i++)
		if (!gpusort_place_is_known(&view->places, block->ids[i]))
			prefetch_line(&view->places.refs[block->ids[i]]);
}

static void
find_places(GpuSortUniqueState *node, UniqueBlock *block)
{
	for (int i = 0; i < block->count; i++)
	{
		block->rows[i] = gpusort_row_at(&node->rows.view.places, block->ids[i]);
		prefetch_line(block->rows[i]);
	}
}

/* Moves on to the next block.  Returns false if there is none. */
static bool
move_on(GpuSortUniqueState *node)
{
	UniqueBlock *returned = node->block;

	node->block = node->ahead;
	node->ahead = node->known;
	node->known = returned;
	find_places(node, node->ahead);
	find_rows(node, node->known);
	node->at = 0;
	return node->block->count > 0;
}

static void
begin_rows(GpuSortUniqueState *node)
{
	node->next = node->end = 0;
	node->block = &node->blocks[0];
	node->ahead = &node->blocks[1];
	node->known = &node->blocks[2];
	node->block->count = node->at = 0;
	find_rows(node, node->ahead);
	find_rows(node, node->known);
	find_places(node, node->ahead);
}

/* ---------- the node ---------- */

static TupleTableSlot *
exec_proc_node(PlanState *ps)
{
	GpuSortUniqueState *node = (GpuSortUniqueState *) ps;
	TupleTableSlot *slot = node->css.ss.ss_ScanTupleSlot;

	CHECK_FOR_INTERRUPTS();

	if (unlikely(!node->rows.opened) && gpusort_open_unique_rows(&node->rows))
		begin_rows(node);
	if (unlikely(!node->rows.is_view))
		return gpusort_next_unique_row(&node->rows, slot) ? slot : ExecClearTuple(slot);
	if (unlikely(node->at >= node->block->count) && !move_on(node))
		return ExecClearTuple(slot);
	gpusort_store_tuple(slot, node->block->rows[node->at++]);
	return slot;
}

static TupleTableSlot *
exec_node(CustomScanState *css)
{
	return exec_proc_node(&css->ss.ps);
}

static void
begin_node(CustomScanState *css, EState *estate, int eflags)
{
	GpuSortUniqueState *node = (GpuSortUniqueState *) css;

	gpusort_begin_child(css, estate, eflags);
	gpusort_return_scanned_rows(css);
	gpusort_begin_unique_rows(&node->rows, css);
	css->ss.ps.ExecProcNode = exec_proc_node;
}

static void
end_node(CustomScanState *css)
{
	ExecClearTuple(css->ss.ss_ScanTupleSlot);
	ExecEndNode(outerPlanState(css));
}

static void
rescan_node(CustomScanState *css)
{
	ExecClearTuple(css->ss.ss_ScanTupleSlot);
	gpusort_rescan_unique_rows(&((GpuSortUniqueState *) css)->rows);
}

static void
explain_node(CustomScanState *css, List *ancestors, ExplainState *es)
{
	gpusort_explain_unique_rows(&((GpuSortUniqueState *) css)->rows, es);
}
