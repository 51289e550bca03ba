/*
 * load_refusal.c
 *		The first row that an index of a table in use refuses; see load_refusal.h.
 *
 * An entry that may be refused is tried in a subtransaction.  Of rows behind one that was refused nothing is tried, so there are
 * few of these even if all rows are there already.
 */
#include "postgres.h"

#include "access/xact.h"
#include "commands/copyfrom_internal.h"
#include "utils/memutils.h"
#include "utils/resowner.h"

#include "heap/heap_own_rows.h"
#include "load/load_refusal.h"

/* Its place among those of the table, the first one's being 1. */
static uint64
find_place(const GpuSortRefusal *refusal, ItemPointer tid)
{
	const GpuSortFilledTable *filled = refusal->filled;
	GpuSortOwnRows rows;
	HeapTupleData tuple;
	uint64		place = 0;

	gpusort_own_rows_begin(&rows, filled->table, &refusal->state->task->owner, filled->first_block);
	while (gpusort_own_rows_next(&rows, &tuple))
	{
		place++;
		if (ItemPointerEquals(&tuple.t_self, tid))
			break;
	}
	gpusort_own_rows_end(&rows);
	return place;
}

void
gpusort_lines_find_begin(GpuSortLineFinder *finder, const GpuSortRefusal *refusal)
{
	memset(finder, 0, sizeof(*finder));
	finder->state = refusal->state;
	finder->filled = refusal->filled;
	finder->line = refusal->state->first_line;
	gpusort_order_read(&finder->order, &refusal->state->lines.order);
}

/* Those of rows before are counted, also where these are in other partitions. */
uint64
gpusort_lines_find(GpuSortLineFinder *finder, uint64 place)
{
	const GpuSortLoadState *state = finder->state;

	for (; finder->place < place && finder->rows < state->counts.rows; finder->rows++)
	{
		finder->line += gpusort_lines_to_row(&state->lines, &finder->at);
		if (!state->task->partitioned || gpusort_order_next(&finder->order) == finder->filled->leaf)
			finder->place++;
	}
	return finder->line;
}

void
gpusort_lines_find_end(GpuSortLineFinder *finder)
{
	gpusort_order_end(&finder->order);
}

static uint64
find_line(const GpuSortRefusal *refusal, ItemPointer tid)
{
	GpuSortLineFinder finder;
	uint64		line;

	gpusort_lines_find_begin(&finder, refusal);
	line = gpusort_lines_find(&finder, find_place(refusal, tid));
	gpusort_lines_find_end(&finder);
	return line;
}

static bool
error_is_about_row(void)
{
	return geterrcode() == ERRCODE_UNIQUE_VIOLATION || geterrcode() == ERRCODE_PROGRAM_LIMIT_EXCEEDED;
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

bool
gpusort_refusal_try(GpuSortRefusal *refusal, const GpuSortRefusingIndex *index, Datum *values, bool *isnull,
					ItemPointer tid, uint64 line, IndexUniqueCheck check)
{
	Relation	table = refusal->filled->table;
	CopyFromState copy = refusal->state->copy;
	uint64		outer_line = copy->cur_lineno;
	MemoryContext context = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;
	volatile bool result = true;

	/* what is raised meanwhile is about this line, be it that the row is refused or that nobody wants to wait any longer */
	copy->cur_lineno = line > 0 ? line : find_line(refusal, tid);
	BeginInternalSubTransaction(NULL);
	MemoryContextSwitchTo(context);
	PG_TRY();
	{
		result = index_insert(index->relation, values, isnull, tid, table, check, false, index->info);
		ReleaseCurrentSubTransaction();
	}
	PG_CATCH();
	{
		bool		is_about_row = error_is_about_row();
		ErrorData  *error;

		MemoryContextSwitchTo(refusal->context);
		error = CopyErrorData();
		FlushErrorState();
		RollbackAndReleaseCurrentSubTransaction();
		MemoryContextSwitchTo(context);
		CurrentResourceOwner = owner;
		if (!is_about_row)
			ReThrowError(error);
		note(refusal, error, tid, index->number);
	}
	PG_END_TRY();
	MemoryContextSwitchTo(context);
	CurrentResourceOwner = owner;
	copy->cur_lineno = outer_line;
	return result;
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
