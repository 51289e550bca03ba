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
gpusort_begin_group_values(GpuSortGroupValues *values, CustomScanState *css)
{
	EState	   *estate = css->ss.ps.state;
	TupleDesc	desc;
	GpuSortUniqueKey key;
	GpuSortSpec spec;
	Oid			equal;

	values->child = outerPlanState(css);
	values->econtext = css->ss.ps.ps_ExprContext;
	desc = ExecGetResultType(values->child);
	gpusort_read_unique_key((const CustomScan *) css->ss.ps.plan, &key);
	if (key.count > 0)
		values->same = execTuplesMatchPrepare(desc, key.count, key.attnos, key.eqops,
											  key.collations,
											  &css->ss.ps);
	gpusort_read_spec((const CustomScan *) values->child->plan, &spec);
	values->attno = spec.attnos[key.count];
	values->nulls_first = spec.nulls_first[key.count];
	values->length = TupleDescAttr(desc, values->attno - 1)->attlen;
	values->by_value = TupleDescAttr(desc, values->attno - 1)->attbyval;
	values->collation = spec.collations[key.count];
	equal = get_equality_op_for_ordering_op(spec.sortops[key.count], NULL);
	fmgr_info(get_opcode(equal), &values->equal);
	values->first = ExecInitExtraTupleSlot(estate, desc, &TTSOpsMinimalTuple);
	values->ahead = ExecInitExtraTupleSlot(estate, desc, &TTSOpsMinimalTuple);
	values->row = ExecInitExtraTupleSlot(estate, desc, &TTSOpsMinimalTuple);
}

static void
open_values(GpuSortGroupValues *values)
{
	gpusort_start_in_child(values->child);
	values->result = gpusort_exec_result(values->child, false);
	values->by_position = values->result != NULL &&
		gpusort_result_cursor(values->result, &values->cursor);
	values->equal_rows = values->by_position ? gpusort_result_equal(values->result) : NULL;
	gpusort_stop_in_child(values->child, 0);
	values->next = values->end = 0;
	values->done = false;
	values->opened = true;
	if (!values->by_position && values->store == NULL)
		values->store = tuplestore_begin_heap(true, false, work_mem);
}

/* ---------- rows by position ---------- */

/*
 * Takes the next stretch of rows for this participant.  No group goes on in another stretch.
 * Returns false if there are no more.
 */
static bool
next_stretch(GpuSortGroupValues *values)
{
	bool		found;

	gpusort_start_in_child(values->child);
	found = gpusort_result_next_stretch(values->result, &values->next, &values->end);
	gpusort_stop_in_child(values->child, found ? (double) (values->end - values->next) : 0);
	return found;
}

static void
show_row(GpuSortGroupValues *values, uint64 position)
{
	gpusort_store_tuple(values->row, gpusort_cursor_row(&values->cursor, position));
}

static bool
is_same_group(GpuSortGroupValues *values, TupleTableSlot *row)
{
	values->econtext->ecxt_innertuple = row;
	values->econtext->ecxt_outertuple = values->first;
	return ExecQual(values->same, values->econtext);
}

static bool
is_in_group(GpuSortGroupValues *values, uint64 position)
{
	CHECK_FOR_INTERRUPTS();
	show_row(values, position);
	return is_same_group(values, values->row);
}

/*
 * Returns the position where the group that begins with the next row ends, found by steps that
 * double and then by halving.
 */
static uint64
find_end(GpuSortGroupValues *values)
{
	uint64		low = values->next;
	uint64		high;
	uint64		step = 1;

	if (values->same == NULL)
		return values->end;
	while (low + step < values->end && is_in_group(values, low + step))
	{
		low += step;
		step *= 2;
	}
	high = Min(low + step, values->end);
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
	return slot_attisnull(values->row, values->attno);
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

	if (values->next >= values->end && !next_stretch(values))
	{
		values->nrows = values->nvalues = 0;
		return false;
	}
	from = values->next;
	show_row(values, from);
	ExecCopySlot(values->first, values->row);
	values->next = find_end(values);
	values->nrows = values->next - from;
	find_nulls(values, from, values->next);
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
		slot = ExecProcNode(values->child);
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
		slot = ExecProcNode(values->child);
		if (TupIsNull(slot))
			return true;
		if (values->same != NULL && !is_same_group(values, slot))
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
	MemoryContext old = MemoryContextSwitchTo(values->row->tts_mcxt);

	if (number < values->store_at)
	{
		tuplestore_rescan(values->store);
		values->store_at = 0;
	}
	if ((number > values->store_at &&
		 !tuplestore_skiptuples(values->store, (int64) (number - values->store_at), true)) ||
		!tuplestore_gettupleslot(values->store, true, false, values->row))
		elog(ERROR, "gpusort: a value is missing");
	MemoryContextSwitchTo(old);
	values->store_at = number + 1;
}

/* ---------- values ---------- */

bool
gpusort_next_group(GpuSortGroupValues *values)
{
	bool		found;

	if (!values->opened)
		open_values(values);
	if (values->done)
		return false;
	found = values->by_position ? find_group(values) : read_group(values);
	values->done = !found || values->same == NULL;
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
	if (values->by_position)
		show_row(values, values->from + number);
	else
		show_stored(values, number);
	value = slot_getattr(values->row, values->attno, &isnull);
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
	const uint64 *equal = values->equal_rows;
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

	if (values->equal_rows != NULL)
		find_known_runs(values, &runs);
	else
		compare_values(values, &runs);
	end_run(&runs, values->nvalues);
	return runs.longest_start;
}

/* ---------- the end ---------- */

void
gpusort_clear_group_values(GpuSortGroupValues *values)
{
	ExecClearTuple(values->first);
	ExecClearTuple(values->ahead);
	ExecClearTuple(values->row);
	if (values->store != NULL)
		tuplestore_end(values->store);
	values->store = NULL;
}

void
gpusort_rescan_group_values(GpuSortGroupValues *values)
{
	gpusort_clear_group_values(values);
	values->opened = false;
	ExecReScan(values->child);
}
