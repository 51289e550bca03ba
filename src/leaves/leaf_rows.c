/*
 * leaf_rows.c
 *		The rows of a join of two indexes; see leaves_private.h.
 *
 * Both sides are merged by the words of their keys.  The inner rows of one word are a group; every
 * outer row with that word is joined with all of it.  A group ends on the inner side's current
 * page, or on the page before it.  If it begins on an earlier page, and columns of it are wanted,
 * all its pages but the last are held as long as they fit into work_mem.  A longer group is read
 * from the index again for each outer row, as PostgreSQL's merge join goes back to a mark: no file
 * is written.
 */
#include "postgres.h"

#include "access/nbtree.h"
#include "executor/executor.h"
#include "executor/instrument.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "exec/exec.h"
#include "leaves/leaves_private.h"

#define OUTER GPUSORT_LEAF_OUTER
#define INNER GPUSORT_LEAF_INNER

/* ---------- one side ---------- */

/* Returns the row that the child scan would return for an item, in the scan's slot. */
static TupleTableSlot *
load_item(GpuSortLeafSide *side, const GpuSortLeafPage *page, int item)
{
	IndexOnlyScanState *scan = side->scan;
	TupleTableSlot *slot = scan->ss.ss_ScanTupleSlot;
	ProjectionInfo *projection = scan->ss.ps.ps_ProjInfo;
	ExprContext *econtext = scan->ss.ps.ps_ExprContext;

	ExecClearTuple(slot);
	index_deform_tuple(gpusort_leaf_item(page, item), RelationGetDescr(scan->ioss_RelationDesc),
					   slot->tts_values, slot->tts_isnull);
	ExecStoreVirtualTuple(slot);
	if (projection == NULL)
		return slot;
	ResetExprContext(econtext);
	econtext->ecxt_scantuple = slot;
	return ExecProject(projection);
}

/*
 * Removes the items that don't satisfy the scan's own conditions; a GpuSortLeafReader's filter().
 */
static void
filter_page(void *arg, GpuSortLeafPage *page)
{
	IndexOnlyScanState *scan = arg;
	ExprContext *econtext = scan->ss.ps.ps_ExprContext;
	TupleTableSlot *slot = scan->ss.ss_ScanTupleSlot;
	int			kept = 0;

	for (int i = 0; i < page->nitems; i++)
	{
		ResetExprContext(econtext);
		ExecClearTuple(slot);
		index_deform_tuple(gpusort_leaf_item(page, i), RelationGetDescr(scan->ioss_RelationDesc),
						   slot->tts_values, slot->tts_isnull);
		econtext->ecxt_scantuple = ExecStoreVirtualTuple(slot);
		if (!ExecQual(scan->ss.ps.qual, econtext))
		{
			InstrCountFiltered1(scan, page->nrows[i]);
			continue;
		}
		page->words[kept] = page->words[i];
		page->offsets[kept] = page->offsets[i];
		page->nrows[kept++] = page->nrows[i];
	}
	page->nitems = kept;
}

/*
 * Goes to the next page of a side; words below `from` are not wanted any more.  Returns false if
 * there is none; the current page then has no items any more.
 */
static bool
next_page(GpuSortLeafRows *rows, GpuSortLeafEnd end, uint64 from)
{
	GpuSortLeafSide *side = &rows->sides[end];
	GpuSortLeafReader *reader = &side->reader;
	uint64		before = reader->nfetches;
	uint64		nrows = 0;
	bool		found;

	gpusort_start_in_child(&side->scan->ss.ps);
	found = gpusort_next_leaf(reader, from);
	if (!found)
		reader->page->nitems = 0;
	for (int i = 0; i < reader->page->nitems; i++)
		nrows += reader->page->nrows[i];
	InstrCountTuples2(side->scan, reader->nfetches - before);
	gpusort_stop_in_child(&side->scan->ss.ps, (double) nrows);
	side->at = 0;
	rows->nread[end] += nrows;
	return found;
}

/* Returns whether a side has a current item, after going to the next page if need be. */
static inline bool
has_item(GpuSortLeafRows *rows, GpuSortLeafEnd end)
{
	GpuSortLeafSide *side = &rows->sides[end];

	return side->at < side->reader.page->nitems || next_page(rows, end, 0);
}

static inline uint64
word_at_hand(const GpuSortLeafSide *side)
{
	return side->reader.page->words[side->at];
}

/* ---------- groups of inner rows ---------- */

/* Adds the items of the inner side's current page that have the group's word to the group. */
static void
take_from_page(GpuSortLeafGroup *group, GpuSortLeafSide *side)
{
	const GpuSortLeafPage *page = side->reader.page;

	group->last_page = side->reader.page;
	while (side->at < page->nitems && page->words[side->at] == group->word)
		group->nrows += page->nrows[side->at++];
	group->last = side->at;
}

/*
 * Holds the page before the inner side's current one; the group has all items of it up to its end.
 * If the pages are too many, none is held, and the group is long.
 */
static void
hold_page(GpuSortLeafRows *rows)
{
	GpuSortLeafGroup *group = &rows->group;
	GpuSortLeafReader *reader = &rows->sides[INNER].reader;
	GpuSortLeafPage *spare;

	group->is_long |= (group->nheld + 1) * GPUSORT_LEAF_BYTES > work_mem * (Size) 1024;
	if (group->is_long)
		return;
	if (group->nheld == group->nmade)
	{
		MemoryContext old = MemoryContextSwitchTo(rows->context);

		group->held = group->held == NULL ? palloc(sizeof(GpuSortLeafPage *)) :
			repalloc(group->held, (group->nmade + 1) * sizeof(GpuSortLeafPage *));
		group->held[group->nmade++] = gpusort_make_leaf_page();
		MemoryContextSwitchTo(old);
	}
	spare = group->held[group->nheld];
	group->held[group->nheld++] = reader->other;
	reader->other = spare;
}

/* Makes a group of all inner rows with the word of the current item, and moves behind them. */
static void
take_group(GpuSortLeafRows *rows)
{
	GpuSortLeafSide *side = &rows->sides[INNER];
	GpuSortLeafGroup *group = &rows->group;

	group->word = word_at_hand(side);
	group->nrows = 0;
	group->first = side->at;
	group->nheld = 0;
	group->is_long = false;
	take_from_page(group, side);
	while (side->at == side->reader.page->nitems && next_page(rows, INNER, 0) &&
		   word_at_hand(side) == group->word)
	{
		if (side->wanted)
			hold_page(rows);
		take_from_page(group, side);
	}
	rows->nranges++;
}

/* Goes to the beginning of a page of the group, by its number; the last page has number nheld. */
static inline void
begin_page(GpuSortLeafGroup *group, int number)
{
	bool		is_last = number == group->nheld;

	group->page = is_last ? group->last_page : group->held[number];
	group->page_number = number;
	group->item = number == 0 ? group->first : 0;
	group->end = is_last ? group->last : group->page->nitems;
	group->row = 0;
}

/* Goes to the next page of a long group; returns false if there is none. */
static bool
read_page_again(GpuSortLeafRows *rows)
{
	GpuSortLeafGroup *group = &rows->group;
	uint64		before = group->again->nfetches;
	bool		found = gpusort_next_leaf(group->again, 0);

	InstrCountTuples2(rows->sides[INNER].scan, group->again->nfetches - before);
	group->page = group->again->page;
	group->item = 0;
	group->end = found ? group->page->nitems : 0;
	group->row = 0;
	return found;
}

static void
begin_reader(GpuSortLeafSide *side, GpuSortLeafReader *reader)
{
	IndexOnlyScanState *scan = side->scan;

	gpusort_begin_leaf_reader(reader, scan->ss.ss_currentRelation, scan->ioss_RelationDesc,
							  scan->ss.ps.state->es_snapshot, scan->ioss_TableSlot);
	if (scan->ss.ps.qual != NULL)
	{
		reader->filter = filter_page;
		reader->filter_arg = scan;
	}
}

/* Goes to the beginning of a long group. */
static void
seek_again(GpuSortLeafRows *rows)
{
	GpuSortLeafGroup *group = &rows->group;

	if (group->again == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(rows->context);
		GpuSortLeafReader *again = palloc0(sizeof(GpuSortLeafReader));

		begin_reader(&rows->sides[INNER], again);
		group->again = again;
		MemoryContextSwitchTo(old);
	}
	gpusort_seek_leaf(group->again, group->word, group->word + 1, group->word < PG_UINT64_MAX);
	(void) read_page_again(rows);
}

/* Goes to the beginning of the group, for the next outer row. */
static inline void
rewind_group(GpuSortLeafRows *rows)
{
	GpuSortLeafGroup *group = &rows->group;

	group->row = 0;
	if (!rows->sides[INNER].wanted)
		return;
	if (unlikely(group->is_long))
		seek_again(rows);
	else
		begin_page(group, 0);
}

static bool
next_page_of_group(GpuSortLeafRows *rows)
{
	GpuSortLeafGroup *group = &rows->group;

	if (group->is_long)
		return read_page_again(rows);
	if (group->page_number == group->nheld)
		return false;
	begin_page(group, group->page_number + 1);
	return true;
}

/* Goes to the group's next row; returns false if there are no more. */
static inline bool
next_inner_row(GpuSortLeafRows *rows)
{
	GpuSortLeafGroup *group = &rows->group;
	GpuSortLeafSide *side = &rows->sides[INNER];

	if (!side->wanted)
	{
		if (group->row == group->nrows)
			return false;
		group->row++;
		return true;
	}
	if (group->item < group->end && group->row == group->page->nrows[group->item])
	{
		group->item++;
		group->row = 0;
	}
	if (group->item == group->end && !next_page_of_group(rows))
		return false;
	if (group->row++ == 0)
		rows->ps->ps_ExprContext->ecxt_innertuple = load_item(side, group->page, group->item);
	return true;
}

/* ---------- outer rows ---------- */

/* Begins to join the current outer item, whose word is the group's. */
static inline void
begin_outer_item(GpuSortLeafRows *rows)
{
	GpuSortLeafSide *side = &rows->sides[OUTER];

	rows->in_group = true;
	rows->outer_row = 0;
	rows->nmatches += rows->group.nrows * side->reader.page->nrows[side->at];
	if (side->wanted)
		rows->ps->ps_ExprContext->ecxt_outertuple = load_item(side, side->reader.page, side->at);
	rewind_group(rows);
}

/* Goes to the next outer row; in_group tells whether it has the group's word. */
static inline void
next_outer_row(GpuSortLeafRows *rows)
{
	GpuSortLeafSide *side = &rows->sides[OUTER];

	if (++rows->outer_row < side->reader.page->nrows[side->at])
	{
		rewind_group(rows);
		return;
	}
	side->at++;
	rows->in_group = false;
	if (has_item(rows, OUTER) && word_at_hand(side) == rows->group.word)
		begin_outer_item(rows);
}

/* ---------- matches ---------- */

/*
 * Makes sure that both sides have a current item; returns false if a side has no more.  Pages whose
 * words are below the other side's current word are passed by.
 */
static inline bool
have_items(GpuSortLeafRows *rows)
{
	GpuSortLeafSide *outer = &rows->sides[OUTER];
	GpuSortLeafSide *inner = &rows->sides[INNER];

	if (outer->at == outer->reader.page->nitems &&
		!next_page(rows, OUTER, inner->at < inner->reader.page->nitems ? word_at_hand(inner) : 0))
		return false;
	return inner->at < inner->reader.page->nitems || next_page(rows, INNER, word_at_hand(outer));
}

/* Returns whether all words of a side's page are below the current word of the other side. */
static inline bool
ends_below(const GpuSortLeafSide *side, const GpuSortLeafSide *other)
{
	const GpuSortLeafPage *page = side->reader.page;

	return page->words[page->nitems - 1] < word_at_hand(other);
}

/* Goes to the next word that both sides have; returns false if there are no more. */
static bool
find_match(GpuSortLeafRows *rows)
{
	GpuSortLeafSide *outer = &rows->sides[OUTER];
	GpuSortLeafSide *inner = &rows->sides[INNER];

	while (have_items(rows))
	{
		const GpuSortLeafPage *outer_page = outer->reader.page;
		const GpuSortLeafPage *inner_page = inner->reader.page;
		int			i = outer->at;
		int			j = inner->at;

		if (outer_page->words[i] != inner_page->words[j])
		{
			if (ends_below(outer, inner))
				i = outer_page->nitems;
			else if (ends_below(inner, outer))
				j = inner_page->nitems;
		}
		while (i < outer_page->nitems && j < inner_page->nitems &&
			   outer_page->words[i] != inner_page->words[j])
		{
			bool		outer_is_less = outer_page->words[i] < inner_page->words[j];

			i += outer_is_less;
			j += !outer_is_less;
		}
		outer->at = i;
		inner->at = j;
		if (i < outer_page->nitems && j < inner_page->nitems)
			return true;
	}
	return false;
}

/* Passes by the rows with a word, from the current item on, and returns their number. */
static inline uint64
count_rows(GpuSortLeafRows *rows, GpuSortLeafEnd end, uint64 word)
{
	GpuSortLeafSide *side = &rows->sides[end];
	uint64		nrows = 0;

	do
	{
		nrows += side->reader.page->nrows[side->at++];
	} while (has_item(rows, end) && word_at_hand(side) == word);
	return nrows;
}

uint64
gpusort_count_leaf_rows(GpuSortLeafRows *rows)
{
	uint64		count = 0;

	Assert(rows->filter == NULL && rows->qual == NULL);
	while (find_match(rows))
	{
		uint64		word = word_at_hand(&rows->sides[OUTER]);
		uint64		nouter = count_rows(rows, OUTER, word);

		CHECK_FOR_INTERRUPTS();
		count += nouter * count_rows(rows, INNER, word);
		rows->nranges++;
	}
	rows->nmatches += count;
	return count;
}

/* ---------- rows ---------- */

void
gpusort_begin_leaf_rows(GpuSortLeafRows *rows)
{
	for (int i = 0; i < 2; i++)
	{
		GpuSortLeafSide *side = &rows->sides[i];

		begin_reader(side, &side->reader);
		side->at = 0;
	}
	rows->in_group = false;
}

void
gpusort_seek_leaf_rows(GpuSortLeafRows *rows, uint64 from, uint64 to, bool has_end)
{
	for (int i = 0; i < 2; i++)
	{
		gpusort_seek_leaf(&rows->sides[i].reader, from, to, has_end);
		rows->sides[i].at = 0;
	}
	rows->in_group = false;
}

/* Returns the row made of the current rows of both sides; NULL if a filter removes it. */
static inline TupleTableSlot *
return_row(GpuSortLeafRows *rows)
{
	ExprContext *econtext = rows->ps->ps_ExprContext;

	if (rows->filter != NULL && !ExecQual(rows->filter, econtext))
	{
		InstrCountFiltered1(rows->ps, 1);
		return NULL;
	}
	if (rows->qual != NULL && !ExecQual(rows->qual, econtext))
	{
		InstrCountFiltered2(rows->ps, 1);
		return NULL;
	}
	return ExecProject(rows->ps->ps_ProjInfo);
}

TupleTableSlot *
gpusort_next_leaf_row(GpuSortLeafRows *rows)
{
	for (;;)
	{
		TupleTableSlot *slot;

		ResetExprContext(rows->ps->ps_ExprContext);
		if (!rows->in_group)
		{
			if (!find_match(rows))
				return NULL;
			take_group(rows);
			begin_outer_item(rows);
		}
		if (!next_inner_row(rows))
		{
			next_outer_row(rows);
			continue;
		}
		slot = return_row(rows);
		if (slot != NULL)
			return slot;
		CHECK_FOR_INTERRUPTS();
	}
}

void
gpusort_clear_leaf_rows(GpuSortLeafRows *rows)
{
	GpuSortLeafGroup *group = &rows->group;

	if (group->again != NULL)
		gpusort_end_leaf_reader(group->again);
	group->again = NULL;
	group->held = NULL;
	group->nheld = group->nmade = 0;
	rows->in_group = false;
	for (int i = 0; i < 2; i++)
	{
		if (rows->sides[i].reader.page != NULL)
			gpusort_end_leaf_reader(&rows->sides[i].reader);
	}
}
