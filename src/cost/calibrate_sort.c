/*
 * calibrate_sort.c
 *		Timing sorts of synthetic rows.
 *
 * Rows are put into a GpuSort as sort_input.c puts those of a table, and fetched as exec_sort.c
 * fetches them, but without an executor, whose cost is the same for every sort.  All rows come from
 * one heap tuple, whose key is rewritten for each row, so that reading a table is not measured
 * either.
 *
 * Of repeated sorts the least time of each step is taken: whatever else the machine does makes a
 * step longer, never shorter.
 *
 * All memory, the sorts' included, is allocated in a child of the caller's memory context, so that
 * an error or a cancelled query releases it.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_type.h"
#include "executor/tuptable.h"
#include "miscadmin.h"
#include "portability/instr_time.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/tuplesort.h"

#include "cost/calibrate_sort.h"
#include "elapsed.h"
#include "interrupts.h"
#include "pg_compat/executor.h"
#include "prefetch.h"
#include "sort/sort.h"

/* Number of hexadecimal digits in the text of a key. */
#define KEY_DIGITS		16

/* Number of rows that are fetched at a time, as in GpuSort nodes (exec/exec_cursor.h). */
#define EMIT_BLOCK		64

/* A source of rows as they would come from a table. */
typedef struct RowSource
{
	const GpuSortTimedRows *what;
	TupleDesc	desc;
	HeapTuple	tuple;
	char	   *key;			/* value of the key column in tuple */
	GpuSortSpec spec;
} RowSource;

/* Returns the nanoseconds since *start, and sets *start to now. */
static double
lap(instr_time *start)
{
	instr_time	elapsed = gpusort_elapsed(*start);

	INSTR_TIME_ADD(*start, elapsed);
	return INSTR_TIME_GET_DOUBLE(elapsed) * 1e9;
}

/* Makes the rows' descriptor: integer columns come first, then the text, then the padding. */
static TupleDesc
make_descriptor(void)
{
	TupleDesc	desc = CreateTemplateTupleDesc(GPUSORT_TIMED_COLUMNS + 2);

	for (int i = 0; i < GPUSORT_TIMED_COLUMNS; i++)
		TupleDescInitEntry(desc, (AttrNumber) (i + 1), NULL, INT8OID, -1, 0);
	for (int i = GPUSORT_TIMED_COLUMNS; i < GPUSORT_TIMED_COLUMNS + 2; i++)
		TupleDescInitEntry(desc, (AttrNumber) (i + 1), NULL, TEXTOID, -1, 0);
	gpusort_finish_tuple_desc(desc);
	return desc;
}

static void
make_spec(RowSource *source)
{
	const GpuSortTimedRows *what = source->what;
	GpuSortSpec *spec = &source->spec;
	bool		text = OidIsValid(what->text_collation);

	*spec = gpusort_make_spec(GPUSORT_KIND_OTHER, text ? 1 : what->nkeys);
	spec->expected_rows = (double) what->rows;
	for (int i = 0; i < spec->nkeys; i++)
	{
		spec->attnos[i] = (AttrNumber) (text ? GPUSORT_TIMED_COLUMNS + 1 : i + 1);
		spec->sortops[i] = text ? TextLessOperator : Int8LessOperator;
		spec->collations[i] = text ? what->text_collation : InvalidOid;
	}
}

static void
begin_source(RowSource *source, const GpuSortTimedRows *what)
{
	Datum		values[GPUSORT_TIMED_COLUMNS + 2] = {0};
	bool		isnull[GPUSORT_TIMED_COLUMNS + 2] = {0};
	char	   *pad = palloc(what->pad_bytes + 1);
	char		digits[KEY_DIGITS + 1];
	int			offset;

	memset(pad, 'x', what->pad_bytes);
	pad[what->pad_bytes] = '\0';
	memset(digits, '0', KEY_DIGITS);
	digits[KEY_DIGITS] = '\0';
	values[GPUSORT_TIMED_COLUMNS] = CStringGetTextDatum(digits);
	values[GPUSORT_TIMED_COLUMNS + 1] = CStringGetTextDatum(pad);

	source->what = what;
	source->desc = make_descriptor();
	source->tuple = heap_form_tuple(source->desc, values, isnull);
	make_spec(source);
	offset = gpusort_fixed_offset(source->desc, source->spec.attnos[0]);
	if (OidIsValid(what->text_collation))
		offset += VARHDRSZ_SHORT;
	source->key = (char *) source->tuple->t_data + source->tuple->t_data->t_hoff + offset;
}

/* Turns the tuple into row i: its key looks random, but is the same in every sort. */
static inline void
make_row(RowSource *source, uint64 i)
{
	uint64		value = i * UINT64CONST(0x9E3779B97F4A7C15);

	/* This is a multiplicative hash, with its upper bits mixed into the lower ones. */
	value ^= value >> 29;
	value *= UINT64CONST(0xBF58476D1CE4E5B9);
	value ^= value >> 32;
	if (OidIsValid(source->what->text_collation))
		for (int d = 0; d < KEY_DIGITS; d++, value >>= 4)
			source->key[d] = "0123456789abcdef"[value & 15];
	else
		memcpy(source->key, &value, sizeof(value));
}

/* Looks at every row; rows are prefetched one block before they are looked at. */
static void
emit_rows(GpuSort *sort)
{
	uint64		rows = gpusort_rows(sort);
	void	   *blocks[2][EMIT_BLOCK];
	volatile uint32 length;

	for (uint64 from = 0, block = 0; from < rows + EMIT_BLOCK; from += EMIT_BLOCK, block ^= 1)
	{
		int			ahead = from < rows ? (int) Min(rows - from, EMIT_BLOCK) : 0;

		if (from % GPUSORT_INTERRUPT_ROWS == 0)
			CHECK_FOR_INTERRUPTS();
		if (ahead > 0)
			gpusort_fetch_block(sort, from, ahead, NULL, blocks[block]);
		for (int i = 0; i < ahead; i++)
			prefetch_line(blocks[block][i]);
		if (from == 0)
			continue;
		for (int i = 0; i < Min(rows - (from - EMIT_BLOCK), EMIT_BLOCK); i++)
			length = ((MinimalTuple) blocks[block ^ 1][i])->t_len;
	}
	(void) length;
}

/* Sorts all rows by gpusort once, and returns the times in nanoseconds a row. */
static GpuSortTimes
time_gpusort(RowSource *source)
{
	uint64		rows = source->what->rows;
	GpuSortTimes times = {0};
	const GpuSortStats *stats;
	GpuSort    *sort;
	instr_time	start;

	INSTR_TIME_SET_CURRENT(start);
	sort = gpusort_begin(source->desc, &source->spec, false);
	for (uint64 i = 0; i < rows; i++)
	{
		if (i % GPUSORT_INTERRUPT_ROWS == 0)
			CHECK_FOR_INTERRUPTS();
		make_row(source, i);
		if (!gpusort_put_heap_tuple(sort, source->tuple))
			break;
	}
	times.total = times.collect = lap(&start);

	stats = gpusort_get_stats(sort);
	if (stats->rows == rows)
	{
		gpusort_perform(sort);
		times.total += lap(&start);
		times.sort = INSTR_TIME_GET_DOUBLE(stats->sort_time) * 1e9;
		times.refine = (INSTR_TIME_GET_DOUBLE(stats->refine_time) +
						INSTR_TIME_GET_DOUBLE(stats->verify_time)) * 1e9;
		times.row_bytes = (double) gpusort_row_bytes(sort) * rows;
		times.as_wanted = stats->handover == GPUSORT_HANDOVER_NONE && stats->fallback[0] == '\0';
		if (times.as_wanted)
			emit_rows(sort);
		times.emit = lap(&start);
		times.total += times.emit;
	}
	gpusort_end(sort);
	times.total += lap(&start);

	times.collect /= rows;
	times.sort /= rows;
	times.refine /= rows;
	times.emit /= rows;
	times.total /= rows;
	times.row_bytes /= rows;
	return times;
}

/* Sorts all rows by PostgreSQL once, and returns the nanoseconds for all of them. */
static double
time_core_sort(RowSource *source)
{
	GpuSortSpec *spec = &source->spec;
	TupleTableSlot *in = MakeSingleTupleTableSlot(source->desc, &TTSOpsHeapTuple);
	TupleTableSlot *out = MakeSingleTupleTableSlot(source->desc, &TTSOpsMinimalTuple);
	Tuplesortstate *sort;
	instr_time	start;
	double		ns;

	INSTR_TIME_SET_CURRENT(start);
	sort = tuplesort_begin_heap(source->desc, spec->nkeys, spec->attnos, spec->sortops,
								spec->collations, spec->nulls_first, work_mem, NULL,
								TUPLESORT_NONE);
	for (uint64 i = 0; i < source->what->rows; i++)
	{
		if (i % GPUSORT_INTERRUPT_ROWS == 0)
			CHECK_FOR_INTERRUPTS();
		make_row(source, i);
		ExecStoreHeapTuple(source->tuple, in, false);
		tuplesort_puttupleslot(sort, in);
	}
	tuplesort_performsort(sort);
	while (tuplesort_gettupleslot(sort, true, false, out, NULL))
		CHECK_FOR_INTERRUPTS();
	tuplesort_end(sort);
	ns = lap(&start);
	ExecDropSingleTupleTableSlot(in);
	ExecDropSingleTupleTableSlot(out);
	return ns;
}

static MemoryContext
begin_context(void)
{
	return MemoryContextSwitchTo(AllocSetContextCreate(CurrentMemoryContext,
													   "gpusort calibration",
													   ALLOCSET_DEFAULT_SIZES));
}

static void
end_context(MemoryContext old)
{
	MemoryContextDelete(MemoryContextSwitchTo(old));
}

static void
take_least(GpuSortTimes *least, const GpuSortTimes *times)
{
	least->collect = Min(least->collect, times->collect);
	least->sort = Min(least->sort, times->sort);
	least->refine = Min(least->refine, times->refine);
	least->emit = Min(least->emit, times->emit);
	least->total = Min(least->total, times->total);
	least->as_wanted &= times->as_wanted;
}

void
gpusort_time_sort(const GpuSortTimedRows *what, int repeat, GpuSortTimes *least)
{
	MemoryContext old = begin_context();
	RowSource	source;

	begin_source(&source, what);
	/* The first sort finds its memory cold, so its times are no more than a start. */
	if (least->total == 0)
		*least = time_gpusort(&source);
	for (int i = 0; i < repeat; i++)
	{
		GpuSortTimes times = time_gpusort(&source);

		take_least(least, &times);
	}
	end_context(old);
}

void
gpusort_time_core_sort(const GpuSortTimedRows *what, int repeat, double *least)
{
	MemoryContext old = begin_context();
	RowSource	source;

	begin_source(&source, what);
	for (int i = 0; i < repeat; i++)
	{
		double		ns = time_core_sort(&source) / what->rows;

		*least = *least == 0 ? ns : Min(*least, ns);
	}
	end_context(old);
}
