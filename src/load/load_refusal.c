/*
 * load_refusal.c
 *		The first row that an index of a table in use refuses; see load_indexes_private.h.
 */
#include "postgres.h"

#include "access/xact.h"
#include "commands/copyfrom_internal.h"
#include "utils/memutils.h"
#include "utils/resowner.h"

#include "load/load_indexes_private.h"
#include "table/table.h"

/* ---------- doing in a subtransaction what may fail because of a row ---------- */

ErrorData *
gpusort_load_try(void (*do_it) (void *arg), void *arg, bool (*is_expected) (void),
				 MemoryContext error_context)
{
	MemoryContext context = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;
	ErrorData  *volatile error = NULL;

	BeginInternalSubTransaction(NULL);
	MemoryContextSwitchTo(context);
	PG_TRY();
	{
		do_it(arg);
		ReleaseCurrentSubTransaction();
	}
	PG_CATCH();
	{
		bool		expected = is_expected();

		MemoryContextSwitchTo(error_context);
		error = CopyErrorData();
		FlushErrorState();
		RollbackAndReleaseCurrentSubTransaction();
		MemoryContextSwitchTo(context);
		CurrentResourceOwner = owner;
		if (!expected)
			ReThrowError(error);
	}
	PG_END_TRY();
	MemoryContextSwitchTo(context);
	CurrentResourceOwner = owner;
	return error;
}

/* ---------- the row that is refused ---------- */

/*
 * An entry that may be refused is tried in a subtransaction.  Nothing is tried of rows behind one
 * that was refused.
 */

/* Returns the place of a row among our rows in its table, counted from 1. */
static uint64
find_place(const GpuSortRefusal *refusal, ItemPointer tid)
{
	const GpuSortFilledTable *filled = refusal->filled;
	GpuSortOwnRows rows;
	HeapTupleData tuple;
	uint64		place = 0;

	gpusort_table_own_rows_begin(&rows, filled->table, &refusal->state->task->owner,
								 filled->first_block);
	while (gpusort_table_own_rows_next(&rows, &tuple))
	{
		place++;
		if (ItemPointerEquals(&tuple.t_self, tid))
			break;
	}
	gpusort_table_own_rows_end(&rows);
	return place;
}

/*
 * Returns the line of a row.  The lines of all rows before it are counted, those of rows in other
 * partitions among them.
 */
static uint64
find_line(const GpuSortRefusal *refusal, ItemPointer tid)
{
	const GpuSortLoadState *state = refusal->state;
	uint64		left = find_place(refusal, tid);
	uint64		line = state->first_line;
	uint64		at = 0;
	GpuSortOrderReader order;

	gpusort_load_order_read(&order, &state->lines.order);
	for (uint64 i = 0; left > 0 && i < state->counts.rows; i++)
	{
		line += gpusort_lines_to_row(&state->lines, &at);
		if (!state->task->partitioned || gpusort_load_order_next(&order) == refusal->filled->leaf)
			left--;
	}
	gpusort_load_order_end(&order);
	return line;
}

static bool
error_is_about_row(void)
{
	return geterrcode() == ERRCODE_UNIQUE_VIOLATION ||
		geterrcode() == ERRCODE_PROGRAM_LIMIT_EXCEEDED;
}

static void
note(GpuSortRefusal *refusal, ErrorData *error, ItemPointer tid, int index)
{
	if (refusal->error != NULL)
		FreeErrorData(refusal->error);
	refusal->error = error;
	refusal->tid = *tid;
	refusal->index = index;
}

void
gpusort_refusal_suspect(GpuSortRefusal *refusal, const ItemPointerData *tid)
{
	ItemPointer suspects = refusal->suspects;
	int			at = refusal->nsuspects;

	while (at > 0 && ItemPointerCompare(unconstify(ItemPointerData *, tid), &suspects[at - 1]) < 0)
		at--;
	if (at == GPUSORT_MOST_SUSPECTS)
		return;
	refusal->nsuspects = Min(refusal->nsuspects + 1, GPUSORT_MOST_SUSPECTS);
	memmove(suspects + at + 1, suspects + at,
			(refusal->nsuspects - at - 1) * sizeof(ItemPointerData));
	suspects[at] = *tid;
}

/* An entry to be tried. */
typedef struct Entry
{
	const GpuSortRefusingIndex *index;
	Relation	table;
	Datum	   *values;
	bool	   *isnull;
	ItemPointer tid;
	GpuSortRefusable what;
} Entry;

static void
try_entry(void *arg)
{
	const Entry *entry = arg;
	const GpuSortRefusingIndex *index = entry->index;
	IndexUniqueCheck check = entry->what == GPUSORT_ENTRY_THERE ? UNIQUE_CHECK_EXISTING
		: index->relation->rd_index->indisunique ? UNIQUE_CHECK_YES : UNIQUE_CHECK_NO;

	index_insert(index->relation, entry->values, entry->isnull, entry->tid, entry->table, check,
				 false, index->info);
}

void
gpusort_refusal_try(GpuSortRefusal *refusal, const GpuSortRefusingIndex *index, Datum *values,
					bool *isnull, ItemPointer tid, GpuSortRefusable what)
{
	CopyFromState copy = refusal->state->copy;
	uint64		outer_line = copy->cur_lineno;
	Entry		entry = {index, refusal->filled->table, values, isnull, tid, what};
	ErrorData  *error;

	/*
	 * an error from here on is about this line, whether the index refuses the row or somebody
	 * cancels the wait for another transaction
	 */
	copy->cur_lineno = find_line(refusal, tid);
	refusal->tried++;
	error = gpusort_load_try(try_entry, &entry, error_is_about_row, refusal->context);
	if (error != NULL)
		note(refusal, error, tid, index->number);
	copy->cur_lineno = outer_line;
}

void
gpusort_refusal_raise(const GpuSortRefusal *refusal)
{
	if (refusal->error != NULL)
		ReThrowError(refusal->error);
}

void
gpusort_refusal_keep_first(const GpuSortRefusal *refusal, GpuSortRefusedRow *first)
{
	ItemPointerData tid = refusal->tid;
	uint64		line;

	if (refusal->error == NULL)
		return;
	line = find_line(refusal, &tid);
	if (first->error != NULL && first->line < line)
		return;
	*first = (GpuSortRefusedRow) {
		.error = refusal->error,
		.line = line,
		.leaf = refusal->filled->leaf,
		.index = refusal->index
	};
}
