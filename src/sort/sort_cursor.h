/*
 * sort_cursor.h
 *		Returning the rows of a sort, in order, from a node's slot.
 *
 * Pointers to rows are fetched in blocks, and the rows of a block are prefetched, all at once,
 * while the rows of the previous block are returned.  Prefetched all at once, as many cache misses
 * and page table walks are under way as the processor can have.  Prefetched one by one, with the
 * work for another row in between, only two or three would be, each of them waiting for its page to
 * be found, which takes longest where the pool has small pages.  A row costs a pointer from the
 * block, five stores into the slot and one prefetched cache miss: nothing is copied and nothing
 * palloc'd.  Positions, mark and direction behave as tuplesort's do.
 *
 * A cursor reads a sort that was performed, or, in another process, a view of one; of either it
 * reads all rows, or those between two positions.  A sort that was handed over is read through its
 * tuplesort.
 */
#ifndef GPUSORT_SORT_CURSOR_H
#define GPUSORT_SORT_CURSOR_H

#include "access/htup_details.h"
#include "executor/tuptable.h"
#include "utils/tuplesort.h"

#include "pg_compat.h"
#include "prefetch.h"
#include "sort/sort.h"
#include "sort/sort_view.h"

/* A block: pointers to consecutive rows in sorted order. */
#define GPUSORT_EMIT_BLOCK 64

typedef struct GpuSortBlock
{
	uint64		from;			/* position of the first row */
	int			count;			/* 0: no rows are loaded */
	void	   *rows[GPUSORT_EMIT_BLOCK];
	GpuSortRowRoom room[GPUSORT_EMIT_BLOCK];	/* where rows that are made of their keys lie */
} GpuSortBlock;

typedef struct GpuSortCursor
{
	/* what is read: either a sort or a view; the other is NULL */
	GpuSort    *sort;
	const GpuSortView *view;
	Tuplesortstate *tuplesort;	/* the one that the sort was handed over to, or NULL */
	uint64		end;			/* position behind the last row */

	/* rows at these positions are in memory: window_from .. window_to - 1 */
	uint64		window_from;
	uint64		window_to;
	size_t		read_bytes;		/* up to where the reader deforms rows; 0: not at all */

	/*
	 * The position: the number of rows before the next one.  at_end is set when a fetch has found
	 * no more rows.  As in tuplesort, the row returned last is the one at next - 1.
	 */
	uint64		next;
	bool		at_end;

	/* the marked position */
	uint64		mark_next;
	bool		mark_at_end;

	/* the rows being returned, and the next ones, which are being prefetched */
	GpuSortBlock *block;
	GpuSortBlock *ahead;
	GpuSortBlock blocks[2];
} GpuSortCursor;

/* Goes to position `from`; rows from position `end` on will not be returned. */
static inline void
gpusort_cursor_limit(GpuSortCursor *cursor, uint64 from, uint64 end)
{
	cursor->next = from;
	cursor->end = end;
	cursor->at_end = false;
	cursor->read_bytes = 0;
	cursor->block = &cursor->blocks[0];
	cursor->ahead = &cursor->blocks[1];
	cursor->block->count = cursor->ahead->count = 0;
}

static inline void
gpusort_cursor_open_sort(GpuSortCursor *cursor, GpuSort *sort)
{
	cursor->sort = sort;
	cursor->view = NULL;
	cursor->tuplesort = gpusort_tuplesort(sort);
	cursor->window_from = cursor->window_to = 0;
	gpusort_cursor_limit(cursor, 0, gpusort_rows(sort));
}

/*
 * Opens a cursor on a view, which may be NULL.  It returns no rows until gpusort_cursor_limit()
 * sets where to read.
 */
static inline void
gpusort_cursor_open_view(GpuSortCursor *cursor, const GpuSortView *view)
{
	cursor->sort = NULL;
	cursor->view = view;
	cursor->tuplesort = NULL;
	cursor->window_from = 0;
	cursor->window_to = PG_UINT64_MAX;
	gpusort_cursor_limit(cursor, 0, 0);
}

/*
 * Stores a tuple in a minimal tuple slot.  The tuple must live longer than it stays in the slot.
 * This is ExecStoreMinimalTuple() for a slot that needs no clean-up.
 */
static inline void
gpusort_store_tuple(TupleTableSlot *slot, MinimalTuple tuple)
{
	MinimalTupleTableSlot *mslot = (MinimalTupleTableSlot *) slot;

	if (unlikely(TTS_SHOULDFREE(slot)))
		ExecClearTuple(slot);
	slot->tts_nvalid = 0;
	slot->tts_flags &= ~TTS_FLAG_EMPTY;
	mslot->off = 0;
	mslot->mintuple = tuple;
	mslot->minhdr.t_len = tuple->t_len + MINIMAL_TUPLE_OFFSET;
	mslot->minhdr.t_data = (HeapTupleHeader) ((char *) tuple - MINIMAL_TUPLE_OFFSET);
}

/*
 * Notes how far the reader has deformed the row in the slot, so that further rows are prefetched up
 * to there.  A reader that copies rows whole cannot be told from one that ignores them; neither
 * moves the slot's offset.
 */
static inline void
gpusort_cursor_note_reader(GpuSortCursor *cursor, const TupleTableSlot *slot)
{
	cursor->read_bytes = TTS_EMPTY(slot) || slot->tts_nvalid == 0 ? 0
		: MAXALIGN(SizeofMinimalTupleHeader) + ((const MinimalTupleTableSlot *) slot)->off;
}

/* Prefetches the rows of a block where they begin and where their reader will stop. */
static inline void
gpusort_cursor_prefetch(const GpuSortCursor *cursor, const GpuSortBlock *block)
{
	size_t		last = cursor->read_bytes - 1;

	for (int i = 0; i < block->count; i++)
		prefetch_line(block->rows[i]);
	if (cursor->read_bytes > 0)
		for (int i = 0; i < block->count; i++)
			prefetch_line((char *) block->rows[i] + last);
}

/*
 * Loads the block of pointers that begins at position `from`, as far as its rows are in memory and
 * before the cursor's end.  The block is empty if there are no such rows.
 */
static inline void
gpusort_cursor_load(GpuSortCursor *cursor, GpuSortBlock *block, uint64 from)
{
	uint64		to = from - from % GPUSORT_EMIT_BLOCK + GPUSORT_EMIT_BLOCK;

	to = Min(to, Min(cursor->end, cursor->window_to));
	block->from = from;
	block->count = from < to ? (int) (to - from) : 0;
	if (block->count == 0)
		return;
	if (cursor->view != NULL)
		gpusort_view_fetch(cursor->view, from, block->count, block->rows);
	else
		gpusort_fetch_block(cursor->sort, from, block->count, block->room, block->rows);
	gpusort_cursor_prefetch(cursor, block);
}

/* Forgets the loaded blocks, since the rows in memory are about to go. */
static inline void
gpusort_cursor_close_window(GpuSortCursor *cursor)
{
	cursor->block->count = cursor->ahead->count = 0;
	cursor->window_from = cursor->window_to = 0;
}

/*
 * Brings the row at a position into memory; pointers to rows outside the new window are no longer
 * valid.
 */
static inline void
gpusort_cursor_move_window(GpuSortCursor *cursor, uint64 position)
{
	gpusort_cursor_close_window(cursor);
	gpusort_fetch_window(cursor->sort, position, &cursor->window_from, &cursor->window_to);
}

/* Returns the row at a position, which must exist. */
static inline MinimalTuple
gpusort_cursor_row(GpuSortCursor *cursor, uint64 position)
{
	GpuSortBlock *block = cursor->block;
	uint64		i = position - block->from;

	if (unlikely(i >= (uint64) block->count))
	{
		GpuSortBlock *ahead = cursor->ahead;
		uint64		aligned = position - position % GPUSORT_EMIT_BLOCK;
		uint64		from;

		if (unlikely(position < cursor->window_from || position >= cursor->window_to))
			gpusort_cursor_move_window(cursor, position);
		from = Max(aligned, cursor->window_from);
		if (ahead->count == 0 || ahead->from != from)
			gpusort_cursor_load(cursor, ahead, from);
		cursor->block = ahead;
		cursor->ahead = block;
		gpusort_cursor_load(cursor, block, aligned + GPUSORT_EMIT_BLOCK);
		block = ahead;
		i = position - from;
	}
	return block->rows[i];
}

/*
 * Moves one row in the direction of the scan, to the row at next - 1.  Returns false if there is
 * none.  Must not be called for a tuplesort.
 */
static inline bool
gpusort_cursor_move(GpuSortCursor *cursor, bool forward)
{
	if (likely(forward))
	{
		if (unlikely(cursor->next >= cursor->end))
		{
			cursor->at_end = true;
			return false;
		}
		cursor->next++;
	}
	else
	{
		/* after the end the last row comes again, otherwise the row before the one returned last */
		if (cursor->next == 0)
			return false;
		if (cursor->at_end)
			cursor->at_end = false;
		else if (--cursor->next == 0)
			return false;
	}
	return true;
}

/*
 * The slow path of gpusort_cursor_fetch(): the next row is not in the current block, or there is
 * none.
 */
static pg_noinline bool
gpusort_cursor_fetch_other(GpuSortCursor *cursor, bool forward, TupleTableSlot *slot)
{
	if (unlikely(cursor->tuplesort != NULL))
		return tuplesort_gettupleslot(cursor->tuplesort, forward, false, slot, NULL);
	if (unlikely(!gpusort_cursor_move(cursor, forward)))
		return false;
	gpusort_cursor_note_reader(cursor, slot);
	gpusort_store_tuple(slot, gpusort_cursor_row(cursor, cursor->next - 1));
	return true;
}

/* Stores the next row in the direction of the scan in the slot.  Returns false if there is none. */
static pg_always_inline bool
gpusort_cursor_fetch(GpuSortCursor *cursor, bool forward, TupleTableSlot *slot)
{
	const GpuSortBlock *block = cursor->block;
	uint64		i = cursor->next - block->from;

	/* no block has rows at or behind the end, and a tuplesort has no blocks */
	if (unlikely(!forward || i >= (uint64) block->count))
		return gpusort_cursor_fetch_other(cursor, forward, slot);
	cursor->next++;
	gpusort_store_tuple(slot, block->rows[i]);
	return true;
}

/* Goes back to the first row.  A tuplesort must have been begun with random access. */
static inline void
gpusort_cursor_rewind(GpuSortCursor *cursor)
{
	cursor->next = 0;
	cursor->at_end = false;
	if (cursor->tuplesort != NULL)
		tuplesort_rescan(cursor->tuplesort);
}

static inline void
gpusort_cursor_mark(GpuSortCursor *cursor)
{
	if (cursor->tuplesort != NULL)
		tuplesort_markpos(cursor->tuplesort);
	cursor->mark_next = cursor->next;
	cursor->mark_at_end = cursor->at_end;
}

static inline void
gpusort_cursor_restore(GpuSortCursor *cursor)
{
	if (cursor->tuplesort != NULL)
		tuplesort_restorepos(cursor->tuplesort);
	cursor->next = cursor->mark_next;
	cursor->at_end = cursor->mark_at_end;
}

#endif							/* GPUSORT_SORT_CURSOR_H */
