/*
 * load_entry_sort.c
 *		New entries of a btree index, in its order; see load_indexes_private.h.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/tuplesort.h"

#include "elapsed.h"
#include "index/index.h"
#include "load/load_indexes_private.h"
#include "pg_compat/tables.h"
#include "settings.h"
#include "sort/sort.h"
#include "sort/sort_result.h"
#include "sort/sort_view.h"

struct GpuSortEntrySort
{
	Relation	index;
	GpuSort    *own;			/* our sort; or NULL, and the server's is used */
	Tuplesortstate *server;

	instr_time	begun;
	uint64		position;		/* of the next entry, in our sort's result */
	uint64		from;			/* the part of this result that the view shows */
	uint64		to;
	GpuSortView view;
};

/* Begins our own sort, or returns NULL if the server's has to be used. */
static GpuSort *
begin_own(Relation index, uint64 rows)
{
	GpuSortSpec spec;
	const char *reason;

	if (!gpusort_enable_index_build || (rows < (uint64) gpusort_min_rows && !gpusort_force) ||
		!gpusort_index_sort_spec(index, &spec, &reason))
		return NULL;
	spec.expected_rows = rows;
	return gpusort_begin_index(index, &spec, (size_t) maintenance_work_mem * 1024);
}

GpuSortEntrySort *
gpusort_entry_sort_begin(Relation heap, Relation index, uint64 rows, bool careful)
{
	GpuSortEntrySort *sort = palloc0(sizeof(GpuSortEntrySort));

	sort->index = index;
	INSTR_TIME_SET_CURRENT(sort->begun);
	if (!careful)
		sort->own = begin_own(index, rows);
	if (sort->own == NULL)
		sort->server = tuplesort_begin_index_btree(heap, index, false, false, maintenance_work_mem,
												   NULL, TUPLESORT_NONE);
	return sort;
}

bool
gpusort_entry_sort_put(GpuSortEntrySort *sort, const Datum *values, const bool *isnull,
					   ItemPointer tid)
{
	if (sort->own != NULL)
		return gpusort_put_index_values(sort->own, values, isnull, tid, true);
	tuplesort_putindextuplevalues(sort->server, sort->index, tid, unconstify(Datum *, values),
								  unconstify(bool *, isnull));
	return true;
}

bool
gpusort_entry_sort_perform(GpuSortEntrySort *sort)
{
	instr_time	collected;
	instr_time	none;

	if (sort->own == NULL)
	{
		tuplesort_performsort(sort->server);
		return true;
	}
	collected = gpusort_elapsed(sort->begun);
	INSTR_TIME_SET_ZERO(none);
	gpusort_perform(sort->own);
	gpusort_note_sort(sort->own, collected, none);
	return gpusort_get_stats(sort->own)->handover == GPUSORT_HANDOVER_NONE;
}

static int
next_of_own(GpuSortEntrySort *sort, void **entries, int most)
{
	int			count;

	if (sort->position == gpusort_rows(sort->own))
		return 0;
	if (sort->position == sort->to)
	{
		sort->from = sort->position;
		sort->to = gpusort_result_window(sort->own, sort->from, &sort->view);
	}
	count = (int) Min((uint64) most, sort->to - sort->position);
	gpusort_view_fetch(&sort->view, sort->position - sort->from, count, entries);
	sort->position += count;
	return count;
}

int
gpusort_entry_sort_next(GpuSortEntrySort *sort, void **entries, int most)
{
	if (sort->own != NULL)
		return next_of_own(sort, entries, most);
	entries[0] = tuplesort_getindextuple(sort->server, true);
	return entries[0] != NULL ? 1 : 0;
}

void
gpusort_entry_sort_end(GpuSortEntrySort *sort)
{
	if (sort->own != NULL)
		gpusort_end(sort->own);
	else
		tuplesort_end(sort->server);
	pfree(sort);
}
