/*
 * sort_state.c
 *		Life cycle of a sort: begin, perform, fetch, reset, end.
 *
 * Memory.  Rows, planes and workspace are ranges (memory_range.h), each with
 * address space for the whole limit, so that whichever grows can.  The limit
 * counts the bytes in use: rows, planes and, from the first row on, the
 * workspace that the engine will need for them.  All of it is released by a
 * callback of the memory context that was current at begin, so that an error
 * anywhere, also in the input, releases it too.
 */
#include "postgres.h"

#include <unistd.h>

#include "access/tupmacs.h"
#include "executor/nodeHash.h"
#include "executor/tuptable.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/tuplesort.h"

#include "sort_internal.h"

#define PLANES_PER_COLUMN (1 + GPUSORT_CODEC_MAX_WORDS)

/* The engine is started anew so often before it listens to cancels only. */
#define MAX_RESTARTS 3

StaticAssertDecl(GPUSORT_MAX_KEYS * PLANES_PER_COLUMN <= GS_MAX_PLANES,
				 "the engine must take all planes");

size_t
gpusort_memory_limit(void)
{
	static size_t machine_bytes = 0;

	if (machine_bytes == 0)
	{
		long		pages = sysconf(_SC_PHYS_PAGES);

		machine_bytes = pages > 0 ? (size_t) pages * sysconf(_SC_PAGESIZE)
			: ROW_STORE_MAX_BYTES;
		machine_bytes = Min(machine_bytes, ROW_STORE_MAX_BYTES - 1);
	}
	return Min(get_hash_memory_limit(), machine_bytes);
}

/* A range that can grow to the limit; NULL if there is no address space. */
GpuSortRange *
gpusort_acquire_range(GpuSort *sort, int role)
{
	return gpusort_range_acquire(role, sort->reserve_bytes);
}

static void
release_range(GpuSortRange **range)
{
	if (*range != NULL)
		gpusort_range_release(*range);
	*range = NULL;
}

/* Release everything that palloc did not provide. */
static void
release_memory(GpuSort *sort)
{
	/* the dearest first, while there is room in gpusort.keep_memory */
	release_range(&sort->rows);
	release_range(&sort->row_refs);
	release_range(&sort->workspace);
	release_range(&sort->refined);
	release_range(&sort->equal);
	for (int i = 0; i < sort->ncolumns; i++)
	{
		GpuSortColumn *column = &sort->columns[i];

		release_range(&column->prefix);
		release_range(&column->refs);
		release_range(&column->nulls);
		for (int w = 0; w < column->nwords; w++)
			release_range(&column->words[w]);
	}
}

static void
context_callback(void *arg)
{
	release_memory((GpuSort *) arg);
}

/* Forget the rows, keep the memory. */
static void
forget_rows(GpuSort *sort)
{
	sort->rows_used = 0;
	sort->nrows = 0;
	sort->uniform = true;
	sort->stride = 0;
	sort->value_refused = false;
	sort->out_of_room = false;
	sort->performed = false;
	for (int i = 0; i < sort->ncolumns; i++)
	{
		GpuSortColumn *column = &sort->columns[i];

		column->long_keys = false;
		column->common_len = PG_UINT32_MAX;
		column->common_ref = 0;
		column->base = 0;
		release_range(&column->nulls);
	}
	memset(&sort->stats, 0, sizeof(sort->stats));
}

/*
 * Where the attribute begins in the data of a tuple without nulls, before the
 * alignment that a varlena may need or not; -1 if that varies.
 */
static int
fixed_offset(TupleDesc desc, AttrNumber attno)
{
	int			offset = 0;

	for (int i = 0; i < attno; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);

		if (i == attno - 1 && att->attlen == -1)
			return offset;
		offset = att_align_nominal(offset, att->attalign);
		if (i == attno - 1)
			return offset;
		if (att->attlen < 0)
			break;
		offset += att->attlen;
	}
	return -1;
}

static void
begin_column(GpuSort *sort, int i)
{
	GpuSortColumn *column = &sort->columns[i];
	Form_pg_attribute att = TupleDescAttr(sort->desc, sort->spec.attnos[i] - 1);
	Oid			type = att->atttypid;
	const GpuSortCodec *codec;
	const char *reason;
	bool		reverse;

	codec = gpusort_codec_lookup(sort->spec.sortops[i], type, sort->spec.collations[i],
								 &reverse, &reason);
	if (codec == NULL)
		elog(ERROR, "gpusort: no key codec for sort column %d: %s", i + 1, reason);

	column->attno = sort->spec.attnos[i];
	column->nulls_first = sort->spec.nulls_first[i];
	column->fixed_offset = fixed_offset(sort->desc, column->attno);
	column->attlen = att->attlen;
	column->attbyval = att->attbyval;
	column->attalign = att->attalign;
	sort->fixed_keys &= column->fixed_offset >= 0;
	column->flip = reverse ? PG_UINT64_MAX : 0;
	gpusort_codec_begin(&column->encoder, codec, type, sort->spec.collations[i]);
	column->bytes = codec->bytes;
	column->lazy = codec->complete != NULL;
	column->nwords = codec->nwords;

	sort->max_attno = Max(sort->max_attno, column->attno);
	sort->any_bytes |= column->bytes != GPUSORT_BYTES_NONE;
	sort->untrusted |= codec->verify;
	sort->row_overhead += column->nwords * sizeof(uint64);
	if (column->bytes != GPUSORT_BYTES_NONE)
		sort->row_overhead += 2 * sizeof(uint64);
}

/* Get the ranges that collection needs; false if there is no address space. */
static bool
acquire_memory(GpuSort *sort)
{
	sort->rows = gpusort_acquire_range(sort, GPUSORT_RANGE_ROWS);
	sort->row_refs = gpusort_acquire_range(sort, GPUSORT_RANGE_ROW_REFS);
	if (sort->rows == NULL || sort->row_refs == NULL)
		return false;
	for (int i = 0; i < sort->ncolumns; i++)
	{
		GpuSortColumn *column = &sort->columns[i];
		int			role = GPUSORT_RANGE_PLANE + i * 8;

		if (column->bytes != GPUSORT_BYTES_NONE)
		{
			column->prefix = gpusort_acquire_range(sort, role);
			column->refs = gpusort_acquire_range(sort, role + 1);
			if (column->prefix == NULL || column->refs == NULL)
				return false;
		}
		for (int w = 0; w < column->nwords; w++)
		{
			column->words[w] = gpusort_acquire_range(sort, role + 2 + w);
			if (column->words[w] == NULL)
				return false;
		}
	}
	return true;
}

GpuSort *
gpusort_begin(TupleDesc desc, const GpuSortSpec *spec, bool random_access)
{
	GpuSort    *sort = palloc0(sizeof(GpuSort));

	sort->context = CurrentMemoryContext;
	sort->scratch = AllocSetContextCreate(CurrentMemoryContext, "gpusort keys",
										  ALLOCSET_DEFAULT_SIZES);
	sort->desc = desc;
	sort->spec = *spec;
	sort->random_access = random_access;

	/* row reference, engine's two items, order, bit of the equal bitmap */
	sort->row_overhead = sizeof(uint32) + 2 * sizeof(uint64) + sizeof(uint32) + 1;
	sort->fixed_keys = true;
	sort->columns = palloc0(spec->nkeys * sizeof(GpuSortColumn));
	for (int i = 0; i < spec->nkeys; i++)
		begin_column(sort, i);
	sort->ncolumns = spec->nkeys;
	gpusort_row_store_make_template(sort);

	sort->limit_bytes = gpusort_memory_limit();
	sort->reserve_bytes = sort->limit_bytes;
	for (sort->row_unit = MAXIMUM_ALIGNOF;
		 sort->limit_bytes / sort->row_unit > PG_UINT32_MAX;)
		sort->row_unit *= 2;

	sort->on_reset.func = context_callback;
	sort->on_reset.arg = sort;
	MemoryContextRegisterResetCallback(sort->context, &sort->on_reset);

	forget_rows(sort);
	if (!acquire_memory(sort))
	{
		release_memory(sort);
		gpusort_hand_over(sort, GPUSORT_HANDOVER_MEMORY);
	}
	return sort;
}

TupleTableSlot *
gpusort_row_slot(GpuSort *sort)
{
	if (sort->row_slot == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(sort->context);

		/* the slot must hold no reference that only ExecDropSingle... drops */
		sort->row_slot = MakeTupleTableSlot(sort->desc, &TTSOpsMinimalTuple);
		MemoryContextSwitchTo(old);
	}
	return sort->row_slot;
}

/*
 * Run the engine; interrupts are served while it works.  One that does not end
 * the query makes it start again, which must not go on for ever: some interrupts
 * come back regularly (client_connection_check_interval), and some can't be
 * served now.
 */
void
gpusort_run_engine(gs_sort_args *args, gs_sort_result *result)
{
	gs_status	status;
	int			restarts = 0;

	args->cancel = (const volatile int *) &InterruptPending;
	while ((status = gs_sort(args, result)) == GS_CANCELLED)
	{
		CHECK_FOR_INTERRUPTS();
		if (++restarts == MAX_RESTARTS)
			args->cancel = (const volatile int *) &QueryCancelPending;
		if (QueryCancelPending)
			args->cancel = NULL;
	}
	if (status != GS_OK)
		elog(ERROR, "gpusort: engine failed: %s", gs_status_text(status));
}

/* Get a range, if there is none yet, and make its first bytes usable. */
static bool
provide_range(GpuSort *sort, GpuSortRange **range, int role, size_t bytes)
{
	if (*range == NULL)
		*range = gpusort_acquire_range(sort, role);
	return *range != NULL && gpusort_range_grow(*range, bytes);
}

/* Memory for the result, which was counted while collecting. */
static bool
acquire_result_memory(GpuSort *sort)
{
	uint64		rows = sort->nrows;

	if (!provide_range(sort, &sort->workspace, GPUSORT_RANGE_WORKSPACE,
					   gs_sort_workspace_bytes(rows)))
		return false;
	return sort->refine_column < 0 ||
		(provide_range(sort, &sort->refined, GPUSORT_RANGE_REFINED, rows * sizeof(uint32)) &&
		 provide_range(sort, &sort->equal, GPUSORT_RANGE_EQUAL,
					   (rows + 63) / 64 * sizeof(uint64)));
}

/* Sort by the engine's planes. */
static bool
sort_by_engine(GpuSort *sort)
{
	gs_plane   *planes = palloc(sort->ncolumns * PLANES_PER_COLUMN * sizeof(gs_plane));
	gs_sort_args args = {0};
	gs_sort_result result;

	args.nrows = sort->nrows;
	args.planes = planes;
	args.nplanes = gpusort_engine_planes(sort, planes);
	args.id_bytes = sizeof(uint32);
	if (!acquire_result_memory(sort))
		return false;
	args.workspace = sort->workspace->base;
	args.workspace_bytes = sort->workspace->usable;
	args.equal = sort->refine_column >= 0 ? RANGE_U64(sort->equal) : NULL;
	gpusort_run_engine(&args, &result);
	pfree(planes);

	sort->order = result.ids;
	sort->stats.key_bits = result.key_bits;
	sort->stats.passes = result.passes;
	sort->stats.refined_rows = result.refined_rows;
	sort->stats.presorted = result.presorted;
	return true;
}

/* Put the ties in order; the engine's workspace becomes scratch memory. */
static bool
refine_ties(GpuSort *sort)
{
	memcpy(sort->refined->base, sort->order, sort->nrows * sizeof(uint32));
	sort->order = RANGE_U32(sort->refined);
	sort->stats.presorted = false;
	sort->stats.refined_rows = 0;
	return gpusort_refine(sort);
}

static void
set_elapsed(instr_time *elapsed, instr_time start)
{
	INSTR_TIME_SET_CURRENT(*elapsed);
	INSTR_TIME_SUBTRACT(*elapsed, start);
}

/*
 * Sort what was collected; false if there is no memory for it or a value turned
 * out to have no encoding.
 */
static bool
sort_rows(GpuSort *sort)
{
	instr_time	start;

	INSTR_TIME_SET_CURRENT(start);
	if (!sort_by_engine(sort))
		return false;
	set_elapsed(&sort->stats.sort_time, start);
	if (sort->refine_column >= 0)
	{
		INSTR_TIME_SET_CURRENT(start);
		if (!refine_ties(sort))
			return false;
		set_elapsed(&sort->stats.refine_time, start);
	}
	return true;
}

void
gpusort_perform(GpuSort *sort)
{
	Assert(!sort->performed);

	if (sort->tuplesort == NULL)
	{
		bool		sorted = sort_rows(sort);

		sort->stats.memory_bytes = sort->rows_used + sort->nrows * sort->row_overhead;
		if (!sorted)
			gpusort_hand_over(sort, gpusort_handover_cause(sort));
		else if (!gpusort_order_is_right(sort))
			gpusort_hand_over(sort, GPUSORT_HANDOVER_ORDER);
	}
	if (sort->tuplesort != NULL)
		tuplesort_performsort(sort->tuplesort);
	sort->performed = true;
}

uint64
gpusort_rows(const GpuSort *sort)
{
	return sort->stats.rows;
}

void
gpusort_fetch_block(const GpuSort *sort, uint64 from, int count, MinimalTuple *rows)
{
	const uint32 *order = sort->order + from;
	const uint32 *row_refs = RANGE_U32(sort->row_refs);
	uint64		left = sort->nrows - from;
	int			ahead_to = (int) Min(left, 2 * (uint64) count);

	Assert(count <= left);
	for (int i = 0; i < count; i++)
		rows[i] = row_by_id(sort, order[i]);
	if (sort->uniform)
		return;
	for (int i = count; i < ahead_to; i++)
		prefetch_line(&row_refs[order[i]]);
}

Tuplesortstate *
gpusort_tuplesort(const GpuSort *sort)
{
	return sort->tuplesort;
}

void
gpusort_reset(GpuSort *sort)
{
	if (sort->row_slot != NULL)
		ExecClearTuple(sort->row_slot);
	if (sort->tuplesort != NULL)
	{
		tuplesort_end(sort->tuplesort);
		sort->tuplesort = NULL;
	}
	forget_rows(sort);
	if (sort->rows == NULL)
		gpusort_hand_over(sort, GPUSORT_HANDOVER_MEMORY);
}

void
gpusort_end(GpuSort *sort)
{
	if (sort->row_slot != NULL)
		ExecClearTuple(sort->row_slot);
	if (sort->tuplesort != NULL)
		tuplesort_end(sort->tuplesort);
	sort->tuplesort = NULL;
	release_memory(sort);
}

const GpuSortStats *
gpusort_get_stats(const GpuSort *sort)
{
	return &sort->stats;
}

char *
gpusort_describe_key(const GpuSort *sort)
{
	StringInfoData buf;

	initStringInfo(&buf);
	for (int i = 0; i < sort->ncolumns; i++)
		appendStringInfo(&buf, "%s%s", i > 0 ? ", " : "", sort->columns[i].encoder.codec->name);
	return buf.data;
}
