/*
 * sort_spill.c
 *		Writing sorted runs to temporary files; see spill_private.h.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "elapsed.h"
#include "interrupts.h"
#include "prefetch.h"
#include "settings.h"
#include "sort/memory_private.h"
#include "sort/order_private.h"
#include "sort/rows_private.h"
#include "sort/service_private.h"
#include "sort/sort_view.h"
#include "sort/spill_private.h"
#include "sort/state_private.h"

/* How many rows' pointers are looked up at a time, while the rows before them are written. */
#define BLOCK_ROWS	32

/* How much of a row is prefetched; the hardware fetches the rest. */
#define LINE_BYTES		64
#define PREFETCH_BYTES	(4 * LINE_BYTES)

/* Pointers of rows, and room for rows that are made of their keys. */
typedef struct Block
{
	void	   *rows[BLOCK_ROWS];
	GpuSortRowRoom room[BLOCK_ROWS];
} Block;

static int
load_block(GpuSort *sort, const GpuSortView *view, uint64 from, Block *block)
{
	uint64		left = sort->rows.count - from;
	int			count = (int) Min(left, BLOCK_ROWS);

	if (count == 0)
		return 0;
	if (sort->key_rows.used)
	{
		gpusort_make_key_rows(sort, from, count, (int) Min(left, 2 * BLOCK_ROWS), block->room,
							  block->rows);
		return count;
	}
	gpusort_view_fetch(view, from, count, block->rows);
	for (int i = 0; i < count; i++)
		for (size_t at = 0; at < Min(view->row_bytes, PREFETCH_BYTES); at += LINE_BYTES)
			prefetch_line((char *) block->rows[i] + at);
	return count;
}

void
gpusort_write_rows(GpuSort *sort, GpuSortRunFile *file)
{
	Block		blocks[2];
	GpuSortView view = {.nrows = 0};
	instr_time	start;
	uint64		bytes_before = file->bytes;
	uint64		kept_before = gpusort_run_file_kept(file);
	uint64		kept;
	uint64		from = 0;
	int			count;

	INSTR_TIME_SET_CURRENT(start);
	if (sort->key_rows.used)
		gpusort_await_all(sort);
	else
		gpusort_view(sort, &view);
	count = load_block(sort, &view, 0, &blocks[0]);
	for (int which = 0; count > 0; which ^= 1)
	{
		int			next = load_block(sort, &view, from + count, &blocks[which ^ 1]);

		if (from % GPUSORT_INTERRUPT_ROWS == 0)
			CHECK_FOR_INTERRUPTS();
		for (int i = 0; i < count; i++)
			gpusort_run_append(file, blocks[which].rows[i]);
		from += count;
		count = next;
	}
	kept = gpusort_run_file_kept(file) - kept_before;
	sort->stats.kept_bytes += kept;
	sort->stats.spilled_bytes += file->bytes - bytes_before - kept;
	gpusort_add_elapsed(&sort->stats.write_time, start);
}

GpuSortHandover
gpusort_spill_rows(GpuSort *sort)
{
	GpuSortSpill *spill = sort->runs.spill;
	GpuSortPhase outer;
	bool		is_large;
	GpuSortHandover why;

	why = gpusort_sort_rows(sort);
	/*
	 * Memory is full, so there may be none left for the refinement.  The rows are sorted by
	 * comparison then.  So are a part's if their order could not be refined or confirmed: that has
	 * left planes that are of no use when the part's rows are joined with others.
	 */
	if ((why == GPUSORT_HANDOVER_MEMORY || (why != GPUSORT_HANDOVER_NONE && sort->parts.is_part)) &&
		gpusort_has_order(sort))
	{
		gpusort_sort_by_comparison(sort);
		why = GPUSORT_HANDOVER_NONE;
	}
	if (why != GPUSORT_HANDOVER_NONE)
	{
		if (sort->parts.is_part)
			spill->refused = true;
		return why;
	}
	if (spill == NULL)
		spill = gpusort_make_spill(sort);
	if (spill->file == NULL)
		spill->file = gpusort_begin_run_file(sort);
	outer = gpusort_show_enter(sort, GPUSORT_PHASE_SPILL);
	gpusort_keep_runs(sort);
	gpusort_run_begin(spill->file);
	gpusort_write_rows(sort, spill->file);
	gpusort_run_end(spill->file);
	(void) gpusort_show_enter(sort, outer);
	if (spill->kept != NULL)
		sort->memory.kept_extents = spill->kept->nowned;
	spill->rows += sort->rows.count;
	sort->stats.runs++;
	gpusort_spill_plan_late(sort);
	is_large = gpusort_exceeds_buffer(sort, sort->memory.capacity, sort->rows.used);
	/*
	 * before gpusort_forget_rows(), which may reset the capacity for which the part has claimed
	 * rows
	 */
	if (sort->parts.is_part)
		gpusort_share_memory(sort);
	gpusort_forget_rows(sort);
	if (!sort->parts.is_part &&
		(is_large || gpusort_pool_is_uneven(&sort->memory.pool_account)))
		gpusort_rewind_ranges(sort);
	return GPUSORT_HANDOVER_NONE;
}

GpuSortHandover
gpusort_make_room(GpuSort *sort)
{
	GpuSortHandover why = gpusort_handover_cause(&sort->keys);

	if (why != GPUSORT_HANDOVER_MEMORY || !gpusort_may_spill(sort->memory.first_limit_bytes) ||
		(sort->parts.is_part && (sort->runs.spill == NULL || sort->runs.spill->refused)) ||
		sort->rows.count == 0 || sort->keys.ncolumns == 0)
		return why;
	return gpusort_spill_rows(sort);
}
