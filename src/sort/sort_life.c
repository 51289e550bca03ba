/*
 * sort_life.c
 *		Life cycle of a sort: begin, perform, reset, end; see sort.h.
 */
#include "postgres.h"

#include "executor/tuptable.h"
#include "utils/rel.h"
#include "utils/tuplesort.h"

#include "elapsed.h"
#include "sort/memory_private.h"
#include "sort/order_private.h"
#include "sort/rows_private.h"
#include "sort/service_private.h"
#include "sort/sort.h"
#include "sort/spill_private.h"
#include "sort/state_private.h"

GpuSortSpec
gpusort_make_spec(GpuSortKind kind, int nkeys)
{
	return (GpuSortSpec) {
		.nkeys = nkeys,
		.attnos = palloc0(nkeys * sizeof(AttrNumber)),
		.sortops = palloc0(nkeys * sizeof(Oid)),
		.collations = palloc0(nkeys * sizeof(Oid)),
		.nulls_first = palloc0(nkeys * sizeof(bool)),
		.kind = kind
	};
}

/*
 * Acquires the ranges that a sort needs.  Returns false if there is no address space for them, or
 * if a new sort would make them too many; then the sort has none.
 */
static bool
acquire_ranges(GpuSort *sort)
{
	bool		is_new = sort->rows.store == NULL;

	if ((!is_new || !gpusort_ranges_are_many()) && gpusort_acquire_ranges(sort))
		return true;
	gpusort_release_state(sort);
	return false;
}

/* Acquires memory for rows, or hands the sort over if there is none. */
static void
begin_rows(GpuSort *sort)
{
	if (!acquire_ranges(sort))
		gpusort_hand_over(sort, GPUSORT_HANDOVER_MEMORY);
	gpusort_show_begin(sort);
}

GpuSort *
gpusort_begin(TupleDesc desc, const GpuSortSpec *spec, bool random_access)
{
	GpuSort    *sort = gpusort_make_state(desc, spec, gpusort_memory_limit());

	sort->random_access = random_access;
	gpusort_make_minimal_template(&sort->rows.template, sort->desc);
	gpusort_prepare_key_rows(sort);
	begin_rows(sort);
	return sort;
}

/*
 * Acquires the ranges of a sort that is never handed over.  Returns NULL if there is no address
 * space.
 */
static GpuSort *
begin_ranges(GpuSort *sort)
{
	sort->optional = true;
	if (!acquire_ranges(sort))
		return NULL;
	if (sort->spec.nkeys > 0)
		gpusort_show_begin(sort);
	return sort;
}

GpuSort *
gpusort_begin_index(Relation index, const GpuSortSpec *spec, size_t limit_bytes)
{
	GpuSort    *sort = gpusort_make_state(RelationGetDescr(index), spec, limit_bytes);

	/* without keys rows only pass through, so the sort takes no extents for them */
	if (spec->nkeys == 0)
		sort->memory.pool_account.max_extents = 0;
	sort->index_rows = sort->tells_equal = true;
	gpusort_make_index_template(&sort->rows.template, sort->desc);
	return begin_ranges(sort);
}

GpuSort *
gpusort_begin_optional(TupleDesc desc, const GpuSortSpec *spec, size_t limit_bytes)
{
	GpuSort    *sort = gpusort_make_state(desc, spec, limit_bytes);

	gpusort_make_minimal_template(&sort->rows.template, sort->desc);
	return begin_ranges(sort);
}

void
gpusort_tell_equal(GpuSort *sort)
{
	Assert(sort->stats.rows == 0);
	if (sort->tuplesort != NULL || sort->tells_equal)
		return;
	sort->tells_equal = true;
	/* a sort that only owns the extents of parts has no ranges */
	if (sort->rows.store != NULL)
		sort->tells_equal = gpusort_acquire_ranges(sort);
}

/* Hands over a sort that can't be done here, or notes why if it is never handed over. */
static void
give_up(GpuSort *sort, GpuSortHandover why)
{
	if (sort->optional)
		sort->stats.handover = why;
	else
		gpusort_hand_over(sort, why);
}

void
gpusort_set_bound(GpuSort *sort, uint64 rows)
{
	Assert(sort->stats.rows == 0);
	gpusort_keep_first(sort, rows);
}

double
gpusort_expected_rows(const GpuSort *sort)
{
	return sort->spec.expected_rows;
}

void
gpusort_show_progress(GpuSort *sort, gs_progress *progress)
{
	sort->progress = progress;
}

/* Notes that the rows are in order, here or in a tuplesort. */
static void
end_perform(GpuSort *sort, instr_time start)
{
	gpusort_pool_clear_want(&sort->memory.pool_account);
	sort->order.performed = true;
	gpusort_show_order_end(sort);
	sort->stats.perform_time = gpusort_elapsed(start);
	(void) gpusort_show_enter(sort, GPUSORT_PHASE_RETURN);
	if (sort->shown.activity != NULL && sort->tuplesort == NULL)
		sort->shown.activity->engine = sort->stats.engine;
}

void
gpusort_perform(GpuSort *sort)
{
	instr_time	start;

	Assert(!sort->order.performed);

	INSTR_TIME_SET_CURRENT(start);
	if (sort->tuplesort == NULL)
		(void) gpusort_show_enter(sort, GPUSORT_PHASE_SORT);
	sort->stats.bound = sort->bound.rows;
	sort->stats.of_keys = sort->key_rows.used;
	/* an optional sort that has failed stays as it is */
	if (sort->stats.handover != GPUSORT_HANDOVER_NONE && sort->optional)
		return;
	gpusort_show_order_begin(sort);
	if (sort->tuplesort == NULL)
	{
		GpuSortHandover why = gpusort_has_runs(sort) ? gpusort_finish_spill(sort)
			: gpusort_sort_rows(sort);

		if (why != GPUSORT_HANDOVER_NONE)
			give_up(sort, why);
	}
	if (sort->tuplesort != NULL)
		tuplesort_performsort(sort->tuplesort);
	end_perform(sort, start);
}

bool
gpusort_perform_merged(GpuSort *const sorts[2])
{
	instr_time	start;

	INSTR_TIME_SET_CURRENT(start);
	for (int i = 0; i < 2; i++)
		if (sorts[i]->tuplesort == NULL)
			(void) gpusort_show_enter(sorts[i], GPUSORT_PHASE_SORT);
	if (!gpusort_merge_rows(sorts))
		return false;
	for (int i = 0; i < 2; i++)
	{
		gpusort_note_memory(sorts[i]);
		gpusort_forget_encoders(sorts[i]);
		end_perform(sorts[i], start);
	}
	return true;
}

bool
gpusort_is_merged(const GpuSort *sort)
{
	return sort->device.merge.merged;
}

bool
gpusort_would_fit(GpuSort *sort, uint64 rows, size_t private_bytes)
{
	return gpusort_bytes_of_rows(sort, rows) <= gpusort_memory_pool_bytes_at_hand(sort) +
		private_bytes;
}

size_t
gpusort_memory_left(GpuSort *sort)
{
	const GpuSortMemory *memory = &sort->memory;
	size_t		used = sort->tuplesort != NULL ? memory->charged_bytes
		: gpusort_private_bytes(sort);

	return memory->limit_bytes - Min(used, memory->limit_bytes);
}

void
gpusort_charge(GpuSort *sort, size_t bytes)
{
	sort->memory.charged_bytes += bytes;
	sort->memory.other_private_bytes += bytes;
	sort->stats.memory_bytes += bytes;
}

uint64
gpusort_rows(const GpuSort *sort)
{
	return sort->stats.rows - sort->stats.dropped_rows;
}

bool
gpusort_is_in_memory(const GpuSort *sort)
{
	return !gpusort_has_runs(sort);
}

Tuplesortstate *
gpusort_tuplesort(const GpuSort *sort)
{
	return sort->tuplesort;
}

void
gpusort_reset(GpuSort *sort)
{
	gpusort_note_rest(sort);
	if (sort->row_slot != NULL)
		ExecClearTuple(sort->row_slot);
	if (sort->tuplesort != NULL)
	{
		tuplesort_end(sort->tuplesort);
		sort->tuplesort = NULL;
		gpusort_rewind_ranges(sort);
	}
	gpusort_end_spill(sort);
	sort->parts.joined = NULL;
	gpusort_forget_rows(sort);
	gpusort_restore_limit(sort);
	gpusort_set_memory_aside(sort, true);
	sort->memory.buffer_bytes = sort->memory.keep_bytes = 0;
	memset(&sort->stats, 0, sizeof(sort->stats));
	/* the next input may have another bound, which a tuplesort could not be told later */
	gpusort_set_bound(sort, 0);
	begin_rows(sort);
}

void
gpusort_end(GpuSort *sort)
{
	gpusort_note_rest(sort);
	if (sort->row_slot != NULL)
		ExecClearTuple(sort->row_slot);
	if (sort->tuplesort != NULL)
		tuplesort_end(sort->tuplesort);
	sort->tuplesort = NULL;
	gpusort_end_spill(sort);
	gpusort_release_state(sort);
}

const GpuSortStats *
gpusort_get_stats(const GpuSort *sort)
{
	return &sort->stats;
}

