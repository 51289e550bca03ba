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
#include "exec/groups_private.h"
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

/* ---------- the node ---------- */

static TupleTableSlot *
exec_proc_node(PlanState *ps)
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
begin_node(CustomScanState *css, int eflags)
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
	.begin = begin_node,
	.next = exec_proc_node,
	.release = gpusort_release_groups
};
