/*
 * group_values.c
 *		Groups of sorted rows, and the values of a group by their number; see groups_private.h.
 */
#include "postgres.h"

#include "executor/executor.h"
#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"

#include "exec/exec.h"
#include "exec/groups_private.h"
#include "plan/plan_node.h"

void
gpusort_begin_group_values(GpuSortGroupValues *values)
{
	GpuSortGroupsNode *groups = &values->groups;
	const CustomScan *scan = (const CustomScan *) groups->css.ss.ps.plan;
	EState	   *estate = groups->css.ss.ps.state;
	int			group_columns = list_length(list_nth(scan->custom_private, GPUSORT_SET_ATTNOS));
	TupleDesc	desc;
	GpuSortSpec spec;
	Oid			equal;

	gpusort_begin_groups(groups);
	desc = ExecGetResultType(groups->child);
	gpusort_read_spec((const CustomScan *) groups->child->plan, &spec);
	values->attno = spec.attnos[group_columns];
	values->nulls_first = spec.nulls_first[group_columns];
	values->length = TupleDescAttr(desc, values->attno - 1)->attlen;
	values->by_value = TupleDescAttr(desc, values->attno - 1)->attbyval;
	values->collation = spec.collations[group_columns];
	equal = get_equality_op_for_ordering_op(spec.sortops[group_columns], NULL);
	fmgr_info(get_opcode(equal), &values->equal);
	values->first = ExecInitExtraTupleSlot(estate, desc, &TTSOpsMinimalTuple);
	values->ahead = ExecInitExtraTupleSlot(estate, desc, &TTSOpsMinimalTuple);
}

static void
open_values(GpuSortGroupValues *values)
{
	gpusort_clear_group_values(values);
	gpusort_open_groups(&values->groups, &values->cursor);
	if (!values->groups.by_position)
		values->store = tuplestore_begin_heap(true, false, work_mem);
}

/* ---------- rows by position ---------- */

static void
show_row(GpuSortGroupValues *values, uint64 position)
{
	gpusort_store_tuple(values->groups.row, gpusort_cursor_row(&values->cursor, position));
}

static bool
is_in_group(GpuSortGroupValues *values, uint64 position)
{
	CHECK_FOR_INTERRUPTS();
	show_row(values, position);
	return gpusort_is_same_group(&values->groups, values->first, values->groups.row);
}

/*
 * Returns the position where the group that begins with the next row ends, found by steps that
 * double and then by halving.
 */
static uint64
find_end(GpuSortGroupValues *values)
{
	uint64		low = values->groups.next;
	uint64		high;
	uint64		step = 1;

	if (values->groups.same == NULL)
		return values->groups.end;
	while (low + step < values->groups.end && is_in_group(values, low + step))
	{
		low += step;
		step *= 2;
	}
	high = Min(low + step, values->groups.end);
	while (high - low > 1)
	{
		uint64		middle = low + (high - low) / 2;

		if (is_in_group(values, middle))
			low = middle;
		else
			high = middle;
	}
	return high;
}

static bool
is_null_at(GpuSortGroupValues *values, uint64 position)
{
	CHECK_FOR_INTERRUPTS();
	show_row(values, position);
	return slot_attisnull(values->groups.row, values->attno);
}

/* Finds the group's values that are not null.  Nulls lie at one end of a group. */
static void
find_nulls(GpuSortGroupValues *values, uint64 from, uint64 end)
{
	uint64		low = from;
	uint64		high = end;

	/* usually there are none */
	if (from == end || !is_null_at(values, values->nulls_first ? from : end - 1))
	{
		values->from = from;
		values->nvalues = end - from;
		return;
	}
	while (low < high)
	{
		uint64		middle = low + (high - low) / 2;

		if (is_null_at(values, middle) == values->nulls_first)
			low = middle + 1;
		else
			high = middle;
	}
	values->from = values->nulls_first ? low : from;
	values->nvalues = values->nulls_first ? end - low : low - from;
}

static bool
find_group(GpuSortGroupValues *values)
{
	uint64		from;

	if (values->groups.next >= values->groups.end && !gpusort_next_stretch(&values->groups))
	{
		values->nrows = values->nvalues = 0;
		return false;
	}
	from = values->groups.next;
	show_row(values, from);
	ExecCopySlot(values->first, values->groups.row);
	values->groups.next = find_end(values);
	values->nrows = values->groups.next - from;
	find_nulls(values, from, values->groups.next);
	return true;
}

/* ---------- rows one by one ---------- */

static void
keep_row(GpuSortGroupValues *values, TupleTableSlot *row)
{
	values->nrows++;
	if (!slot_attisnull(row, values->attno))
	{
		tuplestore_puttupleslot(values->store, row);
		values->nvalues++;
	}
}

/*
 * Reads the next group's rows from the child and keeps their values in the store.  The group's
 * first row is in `ahead`, unless it is the very first.  Returns false if there are no more rows.
 */
static bool
read_group(GpuSortGroupValues *values)
{
	TupleTableSlot *slot;

	tuplestore_clear(values->store);
	values->nrows = values->nvalues = values->from = values->store_at = 0;
	if (TTS_EMPTY(values->ahead))
	{
		slot = ExecProcNode(values->groups.child);
		if (TupIsNull(slot))
			return false;
		ExecCopySlot(values->ahead, slot);
	}
	ExecCopySlot(values->first, values->ahead);
	keep_row(values, values->ahead);
	ExecClearTuple(values->ahead);
	for (;;)
	{
		CHECK_FOR_INTERRUPTS();
		slot = ExecProcNode(values->groups.child);
		if (TupIsNull(slot))
			return true;
		if (values->groups.same != NULL &&
			!gpusort_is_same_group(&values->groups, values->first, slot))
		{
			ExecCopySlot(values->ahead, slot);
			return true;
		}
		keep_row(values, slot);
	}
}

/*
 * Stores the row with this number from the tuplestore in the slot `row`.  A row that the tuplestore
 * reads from its file is to be freed by the slot, possibly when the caller's memory context has
 * been reset; so it is allocated in the slot's.
 */
static void
show_stored(GpuSortGroupValues *values, uint64 number)
{
	MemoryContext old = MemoryContextSwitchTo(values->groups.row->tts_mcxt);

	if (number < values->store_at)
	{
		tuplestore_rescan(values->store);
		values->store_at = 0;
	}
	if ((number > values->store_at &&
		 !tuplestore_skiptuples(values->store, (int64) (number - values->store_at), true)) ||
		!tuplestore_gettupleslot(values->store, true, false, values->groups.row))
		elog(ERROR, "gpusort: a value is missing");
	MemoryContextSwitchTo(old);
	values->store_at = number + 1;
}

/* ---------- values ---------- */

bool
gpusort_next_group(GpuSortGroupValues *values)
{
	bool		found;

	if (!values->groups.opened)
		open_values(values);
	if (values->groups.done)
		return false;
	found = values->groups.by_position ? find_group(values) : read_group(values);
	values->groups.done = !found || values->groups.same == NULL;
	return found || values->without_rows;
}

/*
 * Returns the value with this number.  It is not copied, and valid until another value is asked
 * for.
 */
static Datum
peek_value(GpuSortGroupValues *values, uint64 number)
{
	bool		isnull;
	Datum		value;

	Assert(number < values->nvalues);
	if (values->groups.by_position)
		show_row(values, values->from + number);
	else
		show_stored(values, number);
	value = slot_getattr(values->groups.row, values->attno, &isnull);
	if (isnull)
		elog(ERROR, "gpusort: a null among values");
	return value;
}

Datum
gpusort_group_value(GpuSortGroupValues *values, uint64 number)
{
	return datumCopy(peek_value(values, number), values->by_value, values->length);
}

/* The current run of equal values, and the longest one so far. */
typedef struct EqualRuns
{
	uint64		start;
	uint64		longest_start;
	uint64		longest;		/* the number of its values */
} EqualRuns;

static inline void
end_run(EqualRuns *runs, uint64 end)
{
	if (end - runs->start > runs->longest)
	{
		runs->longest = end - runs->start;
		runs->longest_start = runs->start;
	}
	runs->start = end;
}

/*
 * Finds runs of equal values where the sort tells which rows are equal, so that no row is looked
 * at.
 */
static void
find_known_runs(const GpuSortGroupValues *values, EqualRuns *runs)
{
	const uint64 *equal = values->groups.equal_rows;
	uint64		at = values->from + 1;
	uint64		end = values->from + values->nvalues;

	while (at < end)
	{
		uint64		word = at / 64 * 64;
		uint64		starts = ~equal[word / 64] & (PG_UINT64_MAX << (at % 64));

		if (word % 65536 == 0)
			CHECK_FOR_INTERRUPTS();
		if (end - word < 64)
			starts &= (UINT64CONST(1) << (end - word)) - 1;
		for (; starts != 0; starts &= starts - 1)
			end_run(runs, word + pg_rightmost_one_pos64(starts) - values->from);
		at = word + 64;
	}
}

static void
compare_values(GpuSortGroupValues *values, EqualRuns *runs)
{
	Datum		first = gpusort_group_value(values, 0);

	for (uint64 i = 1; i < values->nvalues; i++)
	{
		Datum		value = peek_value(values, i);

		CHECK_FOR_INTERRUPTS();
		if (DatumGetBool(FunctionCall2Coll(&values->equal, values->collation, value, first)))
			continue;
		end_run(runs, i);
		if (!values->by_value)
			pfree(DatumGetPointer(first));
		first = datumCopy(value, values->by_value, values->length);
	}
}

uint64
gpusort_most_frequent(GpuSortGroupValues *values)
{
	EqualRuns	runs = {0};

	if (values->groups.equal_rows != NULL)
		find_known_runs(values, &runs);
	else
		compare_values(values, &runs);
	end_run(&runs, values->nvalues);
	return runs.longest_start;
}

void
gpusort_clear_group_values(GpuSortGroupValues *values)
{
	ExecClearTuple(values->first);
	ExecClearTuple(values->ahead);
	if (values->store != NULL)
		tuplestore_end(values->store);
	values->store = NULL;
}
