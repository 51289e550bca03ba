/*
 * exec_unique.c
 *		Executing a GpuSort Unique node, which returns the first of equal rows, and a GpuSort Count
 *		node, which counts different rows, or the rows of a join.
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
	GpuSortGroupsNode groups;	/* must be first field */

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

/* ---------- rows in memory ---------- */

/*
 * Returns a word of the bitmap with the bits set of those positions, from `next` to the end of the
 * word, whose rows are not equal to the row before.
 */
static uint64
first_ones(const GpuSortGroupsNode *groups)
{
	uint64		bits = ~groups->equal_rows[groups->next / 64];

	bits &= PG_UINT64_MAX << (groups->next % 64);
	if (groups->end / 64 == groups->next / 64)
		bits &= (UINT64CONST(1) << (groups->end % 64)) - 1;
	return bits;
}

/*
 * Fills a block with the ids of the next rows, of this stretch or further ones, and prefetches
 * their references.  The block is empty if there are no more rows.
 */
static void
find_rows(GpuSortGroupsNode *groups, UniqueBlock *block)
{
	const GpuSortView *view = &groups->view;

	block->count = 0;
	while (block->count < GPUSORT_EMIT_BLOCK)
	{
		uint64		word;
		uint64		bits;

		if (groups->next >= groups->end && !gpusort_next_stretch(groups))
			break;
		word = groups->next / 64 * 64;
		CHECK_FOR_INTERRUPTS();
		for (bits = first_ones(groups); bits != 0 && block->count < GPUSORT_EMIT_BLOCK;
			 bits &= bits - 1)
		{
			uint64		position = word + pg_rightmost_one_pos64(bits);

			block->ids[block->count++] = view->order != NULL ? view->order[position]
				: (uint32) position;
		}
		groups->next = bits != 0 ? word + pg_rightmost_one_pos64(bits)
			: Min(word + 64, groups->end);
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
		block->rows[i] = gpusort_row_at(&node->groups.view.places, block->ids[i]);
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
	find_rows(&node->groups, node->known);
	node->at = 0;
	return node->block->count > 0;
}

static void
begin_rows(GpuSortUniqueState *node)
{
	node->block = &node->blocks[0];
	node->ahead = &node->blocks[1];
	node->known = &node->blocks[2];
	node->block->count = node->at = 0;
	find_rows(&node->groups, node->ahead);
	find_rows(&node->groups, node->known);
	find_places(node, node->ahead);
}

/* ---------- GpuSort Unique ---------- */

static TupleTableSlot *
exec_unique_node(PlanState *ps)
{
	GpuSortUniqueState *node = (GpuSortUniqueState *) ps;
	GpuSortGroupsNode *groups = &node->groups;
	TupleTableSlot *slot = groups->css.ss.ss_ScanTupleSlot;

	CHECK_FOR_INTERRUPTS();

	if (unlikely(!groups->opened))
	{
		gpusort_open_groups(groups, NULL);
		if (groups->by_position)
			begin_rows(node);
	}
	if (unlikely(!groups->by_position))
		return gpusort_next_first_row(groups, slot) ? slot : ExecClearTuple(slot);
	if (unlikely(node->at >= node->block->count) && !move_on(node))
		return ExecClearTuple(slot);
	gpusort_store_tuple(slot, node->block->rows[node->at++]);
	return slot;
}

static void
begin_unique_node(CustomScanState *css, int eflags)
{
	gpusort_begin_groups((GpuSortGroupsNode *) css);
}

GpuSortNodeKind gpusort_unique_kind = {
	.methods = {
		.CustomName = GPUSORT_UNIQUE_NODE,
		.ReScanCustomScan = gpusort_rescan_groups,
		.ExplainCustomScan = gpusort_explain_equal_rows
	},
	.state_bytes = sizeof(GpuSortUniqueState),
	.returns_scanned_rows = true,
	.begin = begin_unique_node,
	.next = exec_unique_node,
	.release = gpusort_release_groups
};

/* ---------- GpuSort Count ---------- */

/*
 * Above a sort the node counts bits that the sort has set for equal rows.  It touches no row but
 * the first or the last one, to see whether one of the different values is null.  Above a join it
 * has the join count its rows instead of returning them.  The counts make up the scan tuple, with a
 * column for each count, whole or partial, and the node's target list has expressions of them.
 */

/* How many words of the bitmap are counted between two checks for interrupts. */
#define WORDS_AT_A_TIME 65536

typedef struct GpuSortCountState
{
	GpuSortGroupsNode groups;	/* must be first field */
	uint64		(*count_join) (PlanState *join);	/* NULL: the child is a sort, not a join */
	AttrNumber	attno;			/* the first sort column, and whether its nulls come first */
	bool		nulls_first;
} GpuSortCountState;

/* Returns how many bits are set at positions from .. end - 1. */
static uint64
count_bits(const uint64 *bits, uint64 from, uint64 end)
{
	uint64		count = 0;

	while (from < end)
	{
		uint64		to = Min(end, (from / 64 + WORDS_AT_A_TIME) * 64);

		CHECK_FOR_INTERRUPTS();
		for (; from < to && from % 64 != 0; from++)
			count += bits[from / 64] >> (from % 64) & 1;
		for (; from + 64 <= to; from += 64)
			count += pg_popcount64(bits[from / 64]);
		for (; from < to; from++)
			count += bits[from / 64] >> (from % 64) & 1;
	}
	return count;
}

/*
 * Returns whether there are nulls in the stretch.  All nulls lie at one end of the rows.
 */
static bool
has_nulls(GpuSortCountState *node)
{
	GpuSortGroupsNode *groups = &node->groups;
	uint64		position = node->nulls_first ? 0 : groups->view.nrows - 1;

	if (position < groups->next || position >= groups->end)
		return false;
	gpusort_store_tuple(groups->row, gpusort_view_row(&groups->view, position));
	return slot_attisnull(groups->row, node->attno);
}

static uint64
count_rows_of_join(GpuSortCountState *node)
{
	PlanState  *join = node->groups.child;
	uint64		nrows;

	gpusort_start_in_child(join);
	nrows = node->count_join(join);
	gpusort_stop_in_child(join, (double) nrows);
	return nrows;
}

/* Counts different rows, and those whose first column is null. */
static void
count_different_rows(GpuSortCountState *node, uint64 *nrows, uint64 *nnulls)
{
	GpuSortGroupsNode *groups = &node->groups;

	*nrows = *nnulls = 0;
	gpusort_open_groups(groups, NULL);
	while (groups->by_position && gpusort_next_stretch(groups))
	{
		*nrows += groups->end - groups->next -
			count_bits(groups->equal_rows, groups->next, groups->end);
		*nnulls += has_nulls(node);
	}
	while (!groups->by_position && gpusort_next_first_row(groups, groups->row))
	{
		(*nrows)++;
		*nnulls += slot_attisnull(groups->row, node->attno);
	}
	ExecClearTuple(groups->row);
}

static TupleTableSlot *
exec_count_node(PlanState *ps)
{
	GpuSortCountState *node = (GpuSortCountState *) ps;
	TupleTableSlot *slot = node->groups.css.ss.ss_ScanTupleSlot;
	const List *values = list_nth(((const CustomScan *) ps->plan)->custom_private,
								  GPUSORT_UNIQUE_VALUES);
	uint64		nrows;
	uint64		nnulls = 0;

	CHECK_FOR_INTERRUPTS();

	if (node->groups.done)
		return NULL;
	if (node->count_join != NULL)
		nrows = count_rows_of_join(node);
	else
		count_different_rows(node, &nrows, &nnulls);
	node->groups.done = true;
	ResetExprContext(ps->ps_ExprContext);
	ExecClearTuple(slot);
	for (int i = 0; i < slot->tts_tupleDescriptor->natts; i++)
	{
		slot->tts_values[i] = Int64GetDatum(list_nth_int(values, i) != 0 ? nrows - nnulls : nrows);
		slot->tts_isnull[i] = false;
	}
	return gpusort_return_group(&node->groups);
}

static void
begin_count_node(CustomScanState *css, int eflags)
{
	GpuSortCountState *node = (GpuSortCountState *) css;
	const CustomScan *child = castNode(CustomScan, outerPlan(css->ss.ps.plan));
	GpuSortSpec spec;
	ListCell   *lc;

	foreach(lc, ((const CustomScan *) css->ss.ps.plan)->custom_scan_tlist)
		gpusort_check_aggregate(castNode(Aggref, lfirst_node(TargetEntry, lc)->expr)->aggfnoid);
	gpusort_begin_groups(&node->groups);
	node->count_join = gpusort_node_kind_of(child)->count;
	if (node->count_join != NULL)
		return;
	gpusort_read_spec(child, &spec);
	node->attno = spec.attnos[0];
	node->nulls_first = spec.nulls_first[0];
}

GpuSortNodeKind gpusort_count_kind = {
	.methods = {
		.CustomName = GPUSORT_COUNT_NODE,
		.ReScanCustomScan = gpusort_rescan_groups,
		.ExplainCustomScan = gpusort_explain_equal_rows
	},
	.state_bytes = sizeof(GpuSortCountState),
	.begin = begin_count_node,
	.next = exec_count_node,
	.release = gpusort_release_groups
};
