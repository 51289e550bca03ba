/*
 * exec_cursor.h
 *		Returning the rows of a sort, in order, from a node's slot.
 *
 * Pointers of rows are fetched in blocks, and the rows of a block are prefetched while those
 * of the one before are returned: all at once, since then the processor has many on their way,
 * and pages looked up for as many as it can.  One after the other, with what is done for
 * a row in between, it has two or three; and a prefetch waits until its page is found, which takes
 * longest where the pool has small pages.  A row costs a pointer from the block, five stores
 * into the slot and one prefetched cache miss: nothing is copied and nothing palloc'd.
 * Positions, mark and direction behave as tuplesort's do.
 *
 * What is read is a sort that was performed, or, in another process, a view of one; and
 * of it all rows or those between two positions.  A sort that was handed over is read
 * through its tuplesort.
 */
#ifndef GPUSORT_EXEC_CURSOR_H
#define GPUSORT_EXEC_CURSOR_H

#include "access/htup_details.h"
#include "executor/tuptable.h"
#include "utils/tuplesort.h"

#include "pg_compat.h"
#include "prefetch.h"
#include "sort/sort.h"
#include "sort/sort_fetch.h"
#include "sort/sort_view.h"

/* Pointers of consecutive rows in sorted order. */
#define GPUSORT_EMIT_BLOCK 64

typedef struct GpuSortBlock
{
	uint64		from;			/* position of the first */
	int			count;			/* 0: none loaded */
	void	   *rows[GPUSORT_EMIT_BLOCK];
	GpuSortRowRoom room[GPUSORT_EMIT_BLOCK];	/* where rows lie that are made of their keys */
} GpuSortBlock;

typedef struct GpuSortCursor
{
	/* what is read: one of the two */
	GpuSort    *sort;
	const GpuSortView *view;
	Tuplesortstate *tuplesort;	/* that has taken over from the sort, or NULL */
	uint64		end;			/* position behind the last row */

	/* rows at these positions are in memory: window_from .. window_to - 1 */
	uint64		window_from;
	uint64		window_to;
	size_t		read_bytes;		/* so much was read of the last row of a block */

	/*
	 * Position: number of rows before the next one; at_end after a fetch found
	 * none.  As in tuplesort, the row returned last is the one at next - 1.
	 */
	uint64		next;
	bool		at_end;

	/* the mark, another position */
	uint64		mark_next;
	bool		mark_at_end;

	/* the rows being returned, and the next ones, which are being prefetched */
	GpuSortBlock *block;
	GpuSortBlock *ahead;
	GpuSortBlock blocks[2];
} GpuSortCursor;

/* Go to a position, and read no further than to another one. */
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

/* No row is in reach yet. */
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
 * Put a tuple that outlives its stay there into a minimal tuple slot:
 * ExecStoreMinimalTuple() for the case that needs no clean-up.
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
 * Note how far into the row in the slot its reader went.  One that copies rows whole, or ignores them,
 * is not seen.
 */
static inline void
gpusort_cursor_note_reader(GpuSortCursor *cursor, const TupleTableSlot *slot)
{
	cursor->read_bytes = TTS_EMPTY(slot) || slot->tts_nvalid == 0 ? 0
		: MAXALIGN(SizeofMinimalTupleHeader) + ((const MinimalTupleTableSlot *) slot)->off;
}

/* Touch the rows of a block where they begin and where their reader will end. */
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
 * Load the block of pointers that begins at a position, as far as rows are in memory; none if
 * there is none.
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

/* The rows in memory are about to go. */
static inline void
gpusort_cursor_close_window(GpuSortCursor *cursor)
{
	cursor->block->count = cursor->ahead->count = 0;
	cursor->window_from = cursor->window_to = 0;
}

/* Have the row at a position in memory; pointers to others are not valid any more. */
static inline void
gpusort_cursor_move_window(GpuSortCursor *cursor, uint64 position)
{
	gpusort_cursor_close_window(cursor);
	gpusort_fetch_window(cursor->sort, position, &cursor->window_from, &cursor->window_to);
}

/* The row at a position, which exists. */
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
 * Move one row in the direction of the scan, to the one at next - 1; false if there is
 * none.  Not for a tuplesort.
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
		/* after the end, the last row comes again; else the one before it */
		if (cursor->next == 0)
			return false;
		if (cursor->at_end)
			cursor->at_end = false;
		else if (--cursor->next == 0)
			return false;
	}
	return true;
}

/* The same where the next row is not in the block, or there is none. */
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

/* Return the next row in the direction of the scan; false if there is none. */
static pg_always_inline bool
gpusort_cursor_fetch(GpuSortCursor *cursor, bool forward, TupleTableSlot *slot)
{
	const GpuSortBlock *block = cursor->block;
	uint64		i = cursor->next - block->from;

	/* a block has no rows at the end or behind it, and a tuplesort no blocks */
	if (unlikely(!forward || i >= (uint64) block->count))
		return gpusort_cursor_fetch_other(cursor, forward, slot);
	cursor->next++;
	gpusort_store_tuple(slot, block->rows[i]);
	return true;
}

/* Back to the first row; a tuplesort must be able to. */
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

#endif							/* GPUSORT_EXEC_CURSOR_H */
