/*
 * sort.c
 *		Life cycle of a sort: begin, perform, fetch, reset, end.
 *
 * What palloc does not provide (sort_memory.c) is released by a callback of the
 * memory context that was current at begin, so that an error anywhere, also in
 * the input, releases it too.
 */
#include "postgres.h"

#include "access/tupmacs.h"
#include "executor/tuptable.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/tuplesort.h"

#include "elapsed.h"
#include "sort/fixed_offset.h"
#include "sort/sort_internal.h"
#include "sort/sort_limits.h"
#include "sort/sort_parts.h"

#define PLANES_PER_COLUMN (1 + GPUSORT_CODEC_MAX_WORDS)

/* The engine is started anew so often before it listens to cancels only. */
#define MAX_RESTARTS 3

StaticAssertDecl(GPUSORT_MAX_KEYS * PLANES_PER_COLUMN <= GS_MAX_PLANES,
				 "the engine must take all planes");

/* Release everything that palloc did not provide. */
static void
release_all(GpuSort *sort)
{
	gpusort_service_end(sort);
	gpusort_release_memory(sort);
	gpusort_service_abandon(sort);
	gpusort_parts_end(sort);
}

static void
context_callback(void *arg)
{
	release_all((GpuSort *) arg);
}

void
gpusort_forget_rows(GpuSort *sort)
{
	gpusort_service_end(sort);
	if (gpusort_service_holds_memory(sort))
	{
		release_all(sort);
		sort->memory.capacity = 0;
		if (!gpusort_acquire_memory(sort))
			gpusort_release_memory(sort);
	}
	gpusort_reorder_forget(sort);
	sort->order.ready = 0;
	sort->rows.used = 0;
	sort->rows.count = 0;
	sort->rows.places.uniform = true;
	sort->rows.places.stride = 0;
	sort->rows.places.granule_rows = 0;
	if (sort->rows.places.granule_offsets != NULL)
		pfree(sort->rows.places.granule_offsets);
	sort->rows.places.granule_offsets = NULL;
	sort->index.tids_ordered = true;
	sort->index.last_tid = 0;
	sort->index.any_dead = false;
	sort->index.other_lengths = false;
	sort->keys.value_refused = false;
	sort->keys.out_of_room = false;
	sort->order.performed = false;
	for (int i = 0; i < sort->keys.ncolumns; i++)
	{
		GpuSortColumn *column = &sort->keys.columns[i];

		column->facts.long_keys = false;
		column->facts.common_len = PG_UINT32_MAX;
		column->facts.common_ref = 0;
		column->base = 0;
	}
	gpusort_release_nulls(sort);
	memset(&sort->stats, 0, sizeof(sort->stats));
}

static void
begin_column(GpuSort *sort, int i)
{
	GpuSortColumn *column = &sort->keys.columns[i];
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
	column->fixed_offset = gpusort_fixed_offset(sort->desc, column->attno);
	column->attlen = att->attlen;
	column->attbyval = att->attbyval;
	column->attalign = att->attalign;
	sort->keys.fixed &= column->fixed_offset >= 0;
	column->flip = reverse ? PG_UINT64_MAX : 0;
	gpusort_codec_begin(&column->encoder, codec, type, sort->spec.collations[i]);
	column->bytes = codec->bytes;
	column->lazy = column->encoder.lazy;
	column->nwords = codec->nwords;
	column->integer_bytes = codec->integer_bytes;

	sort->keys.max_attno = Max(sort->keys.max_attno, column->attno);
	sort->keys.any_bytes |= column->bytes != GPUSORT_BYTES_NONE;
	sort->keys.untrusted |= gpusort_codec_is_untrusted(codec);
}

/* A sort without memory for its rows. */
static GpuSort *
make_sort(TupleDesc desc, const GpuSortSpec *spec, size_t limit_bytes)
{
	GpuSort    *sort = palloc0(sizeof(GpuSort));

	sort->context = CurrentMemoryContext;
	sort->scratch = AllocSetContextCreate(CurrentMemoryContext, "gpusort keys",
										  ALLOCSET_DEFAULT_SIZES);
	sort->desc = desc;
	sort->spec = *spec;

	sort->keys.fixed = true;
	sort->keys.columns = palloc0(spec->nkeys * sizeof(GpuSortColumn));
	sort->keys.planes = palloc(spec->nkeys * PLANES_PER_COLUMN * sizeof(gs_plane));
	for (int i = 0; i < spec->nkeys; i++)
		begin_column(sort, i);
	sort->keys.ncolumns = spec->nkeys;

	gpusort_begin_memory(sort, limit_bytes);
	sort->on_reset.func = context_callback;
	sort->on_reset.arg = sort;
	MemoryContextRegisterResetCallback(sort->context, &sort->on_reset);

	gpusort_forget_rows(sort);
	return sort;
}

GpuSort *
gpusort_begin(TupleDesc desc, const GpuSortSpec *spec, bool random_access)
{
	GpuSort    *sort = make_sort(desc, spec, gpusort_memory_limit());

	sort->random_access = random_access;
	gpusort_row_store_make_minimal_template(sort);
	if (!gpusort_acquire_memory(sort))
	{
		release_all(sort);
		gpusort_hand_over(sort, GPUSORT_HANDOVER_MEMORY);
	}
	return sort;
}

GpuSort *
gpusort_begin_index(Relation index, const GpuSortSpec *spec, size_t limit_bytes)
{
	GpuSort    *sort = make_sort(RelationGetDescr(index), spec, limit_bytes);

	/* without keys rows only pass through: no extents for them */
	if (spec->nkeys == 0)
		sort->memory.pool_share.max_extents = 0;
	sort->index_rows = true;
	gpusort_row_store_make_index_template(sort);
	if (!gpusort_acquire_memory(sort))
	{
		release_all(sort);
		return NULL;
	}
	return sort;
}

/* Give a part its memory; NULL if there is no address space. */
static GpuSort *
begin_part(GpuSortParts *parts, GpuSort *part)
{
	gpusort_parts_enter(parts, part);
	if (gpusort_acquire_memory(part))
		return part;
	release_all(part);
	return NULL;
}

GpuSort *
gpusort_parts_begin_part(GpuSortParts *parts, TupleDesc desc, const GpuSortSpec *spec)
{
	GpuSort    *part = make_sort(desc, spec, 0);

	gpusort_row_store_make_minimal_template(part);
	return begin_part(parts, part);
}

GpuSort *
gpusort_parts_begin_index_part(GpuSortParts *parts, Relation index, const GpuSortSpec *spec)
{
	GpuSort    *part = make_sort(RelationGetDescr(index), spec, 0);

	part->index_rows = true;
	gpusort_row_store_make_index_template(part);
	return begin_part(parts, part);
}

GpuSort *
gpusort_parts_begin_owner(TupleDesc desc, const GpuSortSpec *spec)
{
	return make_sort(desc, spec, gpusort_memory_limit());
}

GpuSort *
gpusort_parts_begin_joined(GpuSortParts *parts, TupleDesc desc, const GpuSortSpec *spec)
{
	GpuSort    *sort = make_sort(desc, spec, gpusort_memory_limit());

	gpusort_row_store_make_minimal_template(sort);
	gpusort_parts_enter_joined(parts, sort);
	if (!gpusort_acquire_memory(sort))
		ereport(ERROR,
				(errcode(ERRCODE_OUT_OF_MEMORY),
				 errmsg("out of memory"),
				 errdetail("Failed to reserve address space for a sort.")));
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

bool
gpusort_sort_on_host(GpuSort *sort)
{
	gs_sort_args args = {0};
	gs_sort_result result;

	if (!gpusort_grow_workspace(sort))
		return false;
	args.nrows = sort->rows.count;
	args.planes = sort->keys.planes;
	args.nplanes = sort->keys.nplanes;
	args.id_bytes = sizeof(uint32);
	args.workspace = sort->order.workspace->base;
	args.workspace_bytes = sort->order.workspace->usable;
	args.equal = needs_equal_rows(sort) ? RANGE_U64(sort->order.equal) : NULL;
	args.progress = sort->progress;
	gpusort_run_engine(&args, &result);

	sort->order.ids = result.ids;
	sort->order.ready = sort->rows.count;
	sort->stats.engine = GPUSORT_SORTED_BY_HOST;
	sort->stats.key_bits = result.key_bits;
	sort->stats.passes = result.passes;
	sort->stats.refined_rows = result.refined_rows;
	sort->stats.presorted = result.presorted;
	return true;
}

/* Sort by the engine's planes, here or in gpusortd. */
static bool
sort_by_engine(GpuSort *sort)
{
	gs_progress outer;
	bool		sorted;

	sort->keys.nplanes = gpusort_engine_planes(sort, sort->keys.planes);
	outer = gpusort_enter_engine(sort);
	sorted = gpusort_service_sort(sort, needs_equal_rows(sort) || gpusort_must_verify(sort)) ||
		gpusort_sort_on_host(sort);
	gs_progress_leave(sort->progress, &outer);
	return sorted;
}

/* Are there rows whose order the engine could not tell? */
static bool
any_equal_rows(const GpuSort *sort)
{
	const uint64 *equal = RANGE_U64(sort->order.equal);

	for (uint64 w = 0; w < (sort->rows.count + 63) / 64; w++)
		if (equal[w] != 0)
			return true;
	return false;
}

/* Put the ties in order; the engine's workspace becomes scratch memory. */
static bool
refine_ties(GpuSort *sort)
{
	gs_progress outer;
	bool		refined;

	if (!gpusort_grow_workspace(sort))
		return false;
	memcpy(sort->order.refined->base, sort->order.ids, sort->rows.count * sizeof(uint32));
	sort->order.ids = RANGE_U32(sort->order.refined);
	sort->stats.presorted = false;
	sort->stats.refined_rows = 0;
	outer = gpusort_enter_refinement(sort);
	refined = gpusort_refine(sort);
	gs_progress_leave(sort->progress, &outer);
	return refined;
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
	sort->stats.sort_time = gpusort_elapsed(start);
	if (needs_refinement(sort) && any_equal_rows(sort))
	{
		INSTR_TIME_SET_CURRENT(start);
		gpusort_reorder_abandon(sort);
		if (!refine_ties(sort))
			return false;
		sort->stats.refine_time = gpusort_elapsed(start);
	}
	return true;
}

/* The collected rows can't be sorted here. */
static void
give_up(GpuSort *sort, GpuSortHandover why)
{
	if (sort->index_rows)
		sort->stats.handover = why;
	else
		gpusort_hand_over(sort, why);
}

void
gpusort_perform(GpuSort *sort)
{
	Assert(!sort->order.performed);

	/* an index sort that has failed */
	if (sort->stats.handover != GPUSORT_HANDOVER_NONE && sort->index_rows)
		return;
	if (sort->tuplesort == NULL)
	{
		bool		sorted = sort_rows(sort);

		gpusort_note_memory(sort);
		if (!sorted)
			give_up(sort, gpusort_handover_cause(sort));
		else if (!gpusort_order_is_right(sort))
			give_up(sort, GPUSORT_HANDOVER_ORDER);
	}
	if (sort->tuplesort != NULL)
		tuplesort_performsort(sort->tuplesort);
	sort->order.performed = true;
}

uint64
gpusort_rows(const GpuSort *sort)
{
	return sort->stats.rows;
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
		gpusort_rewind_memory(sort);
	}
	gpusort_forget_rows(sort);
	if (sort->rows.store == NULL)
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
	release_all(sort);
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
	for (int i = 0; i < sort->keys.ncolumns; i++)
		appendStringInfo(&buf, "%s%s", i > 0 ? ", " : "", sort->keys.columns[i].encoder.codec->name);
	return buf.data;
}
