/*
 * gs_steps.c
 *		What a participant does in each step of a sort.
 *
 * A participant takes pieces of the step that all are at until there are none left.  What it learns
 * goes into what is shared, by atomic operations or into a place that only this piece writes to; so
 * no participant waits for another here.
 */
#include <string.h>

#include "engine/gs_layout.h"
#include "engine/host/gs_sort_private.h"

/* What a row costs in each step, as in gs_sort.c, and what is planned for tasks. */
#define SCAN_COST		3.0
#define SCATTER_COST	5.0
#define NODE_COST		1.0
#define TASK_COST		9.0

static inline uint64_t *
home(const gs_participant *participant)
{
	return participant->halves[participant->shared->home];
}

static inline uint64_t *
other_half(const gs_participant *participant)
{
	return participant->halves[1 - participant->shared->home];
}

/* ---------- all rows ---------- */

static bool
do_key(gs_participant *participant, gs_range rows)
{
	gs_job	   *job = &participant->job;

	if (job->equal != NULL)
		memset(job->equal + rows.begin / 64, 0, (gs_range_rows(rows) + 63) / 64 * sizeof(uint64_t));
	return gs_key_fold(gs_shared_stats(participant->shared), &participant->numbered,
					   participant->args, rows) == GS_OK;
}

/*
 * Returns the item of the row before `row`.  For the first row that is 0, which no item is less
 * than.
 */
static uint64_t
item_before(const gs_participant *participant, uint64_t row)
{
	const gs_job *job = &participant->job;
	uint64_t	section;

	if (row == 0)
		return 0;
	section = gs_pack_row(&job->scratch->section, row - 1);
	return job->keys_only ? section : section << job->id_bits | (row - 1);
}

/*
 * Counts how many items of a block fall into each bucket.  If rows are in order, ascending or
 * descending, all of a block are in one bucket as a rule.  Then one addition counts them, where one
 * for each row would have to wait for the one before.
 */
static void
count_block(uint64_t *counters, const uint64_t *items, unsigned count, bool in_order,
			const gs_shared_sort *shared)
{
	const unsigned shift = shared->digit_shift;
	const uint64_t mask = gs_low_mask(shared->digit_bits);

	if (shared->digit_bits == 0)
		return;
	if (in_order && ((items[0] ^ items[count - 1]) >> shift & mask) == 0)
		counters[items[0] >> shift & mask] += count;
	else
		for (unsigned i = 0; i < count; i++)
			counters[items[i] >> shift & mask]++;
}

/*
 * Returns where the buckets of all rows are written down when splitters cut them: where items would
 * lie, which are made only when they are distributed.
 */
static uint16_t *
row_buckets(const gs_participant *participant)
{
	return (uint16_t *) home(participant);
}

/* Finds and counts the buckets of rows that splitters cut.  Returns false when cancelled. */
static bool
split(gs_participant *participant, uint64_t *counters, gs_range rows)
{
	uint64_t	keys[GS_PACK_BLOCK_ROWS];

	for (uint64_t row = rows.begin; row < rows.end; row += GS_PACK_BLOCK_ROWS)
	{
		uint64_t	left = rows.end - row;
		unsigned	count = (unsigned) (left < GS_PACK_BLOCK_ROWS ? left : GS_PACK_BLOCK_ROWS);
		uint16_t   *buckets = row_buckets(participant) + row;

		gs_pack_keys(keys, &participant->job.scratch->section, row, count);
		gs_splitters_find(&participant->splitters, buckets, keys, count);
		for (unsigned i = 0; i < count; i++)
			counters[buckets[i]]++;
		if (gs_job_cancelled(&participant->job, count))
			return false;
	}
	atomic_store(&participant->shared->fallen, true);
	return true;
}

static bool
do_scan(gs_participant *participant, uint64_t piece, gs_range rows)
{
	gs_shared_sort *shared = participant->shared;
	gs_job	   *job = &participant->job;
	uint64_t   *counters = gs_shared_counters(shared) + (piece << shared->digit_bits);
	uint64_t	last;
	gs_order	order = {true, true};
	bool		fallen = false;
	uint64_t	block[GS_PACK_BLOCK_ROWS] __attribute__((aligned(GS_LINE_BYTES)));

	if (shared->digit_bits > 0)
		memset(counters, 0, sizeof(uint64_t) << shared->digit_bits);
	if (shared->by_splitters)
		return split(participant, counters, rows);
	last = item_before(participant, rows.begin);
	for (uint64_t row = rows.begin; row < rows.end; row += GS_PACK_BLOCK_ROWS)
	{
		uint64_t	left = rows.end - row;
		unsigned	count = (unsigned) (left < GS_PACK_BLOCK_ROWS ? left : GS_PACK_BLOCK_ROWS);

		if (job->keys_only)
			gs_pack_keys(block, &job->scratch->section, row, count);
		else
			gs_pack_rows(block, &job->scratch->section, job->id_bits, row, count);
		fallen |= block[0] < last;
		last = block[count - 1];
		if (order.ascending || order.descending)
			order = gs_items_order(block, count, job->id_bits, order);
		fallen |= !order.ascending;
		count_block(counters, block, count, order.ascending || order.descending, shared);
		if (count == GS_PACK_BLOCK_ROWS)
			gs_stream_lines(home(participant) + row, block, count / GS_LINE_ITEMS);
		else
			memcpy(home(participant) + row, block, count * sizeof(uint64_t));
		if (gs_job_cancelled(job, count))
			return false;
	}
	gs_stream_end();
	if (fallen)
		atomic_store(&shared->fallen, true);
	return true;
}

/* Distributes items over buckets, whose next positions these are.  Returns false when cancelled. */
static bool
scatter(gs_participant *participant, gs_range rows, const uint64_t *positions, unsigned shift,
		unsigned bits)
{
	gs_scatter *scatter = &participant->scatter;
	uint64_t   *to = other_half(participant);

	gs_scatter_begin(scatter, positions, bits);
	for (uint64_t begin = rows.begin; begin < rows.end; begin += GS_POLL_ROWS)
	{
		uint64_t	left = rows.end - begin;
		uint64_t	count = left < GS_POLL_ROWS ? left : GS_POLL_ROWS;

		gs_scatter_items(scatter, to, home(participant) + begin, count, shift, bits);
		if (gs_job_cancelled(&participant->job, count))
			return false;
	}
	gs_scatter_end(scatter, to, bits);
	return true;
}

/*
 * Makes items of rows and distributes them over the buckets that splitters cut, whose next
 * positions these are.  Returns false when cancelled.
 */
static bool
scatter_split(gs_participant *participant, gs_range rows, const uint64_t *positions)
{
	const gs_splitters splitters = participant->splitters;
	const gs_job *job = &participant->job;
	gs_scatter *scatter = &participant->scatter;
	uint64_t   *to = other_half(participant);
	uint64_t	items[GS_PACK_BLOCK_ROWS];

	gs_scatter_begin(scatter, positions, splitters.bits);
	for (uint64_t row = rows.begin; row < rows.end; row += GS_PACK_BLOCK_ROWS)
	{
		uint64_t	left = rows.end - row;
		unsigned	count = (unsigned) (left < GS_PACK_BLOCK_ROWS ? left : GS_PACK_BLOCK_ROWS);
		const uint16_t *buckets = row_buckets(participant) + row;

		gs_pack_keys(items, &job->scratch->section, row, count);
		if (!job->keys_only)
			for (unsigned i = 0; i < count; i++)
				items[i] = gs_splitters_item(&splitters, buckets[i], items[i]) << job->id_bits |
					(row + i);
		gs_scatter_to(scatter, to, items, buckets, count);
		if (gs_job_cancelled(&participant->job, count))
			return false;
	}
	gs_scatter_end(scatter, to, splitters.bits);
	return true;
}

static bool
do_scatter(gs_participant *participant, uint64_t piece, gs_range rows)
{
	gs_shared_sort *shared = participant->shared;

	if (shared->by_splitters)
		return scatter_split(participant, rows,
							 gs_shared_counters(shared) + (piece << shared->digit_bits));
	return scatter(participant, rows, gs_shared_counters(shared) + (piece << shared->digit_bits),
				   shared->digit_shift, shared->digit_bits);
}

/* ---------- nodes ---------- */

/*
 * Finds which bits of a node's items vary.  Gives the items the next section first, if they tie on
 * the one that they have.  Returns false when cancelled.
 */
static bool
do_look(gs_participant *participant, gs_node *node, gs_range rows)
{
	gs_job	   *job = &participant->job;
	uint64_t   *items = home(participant);
	uint64_t	all_and = UINT64_MAX;
	uint64_t	all_or = 0;
	gs_section	section;

	if (node->repack)
	{
		gs_cursor	cursor = node->cursor;

		gs_section_build(&section, job->layout, &cursor, gs_job_section_bits(job, cursor));
	}
	for (uint64_t begin = rows.begin; begin < rows.end; begin += GS_PACK_BLOCK_ROWS)
	{
		uint64_t	left = rows.end - begin;
		uint64_t	count = left < GS_PACK_BLOCK_ROWS ? left : GS_PACK_BLOCK_ROWS;

		if (node->repack)
			gs_repack_items(items + begin, &section, job->id_bits, count);
		for (uint64_t i = begin; i < begin + count; i++)
		{
			all_and &= items[i];
			all_or |= items[i];
		}
		if (gs_job_cancelled(job, count))
			return false;
	}
	if (rows.begin < rows.end)
	{
		atomic_fetch_and(&node->all_and, all_and);
		atomic_fetch_or(&node->all_or, all_or);
	}
	return true;
}

static uint64_t *
counters_of(gs_participant *participant, const gs_node *node, uint64_t piece)
{
	return gs_shared_counters(participant->shared) + node->table +
		((piece - node->first_piece) << node->digit_bits);
}

static bool
do_count(gs_participant *participant, const gs_node *node, uint64_t piece, gs_range rows)
{
	const uint64_t *items = home(participant);
	uint64_t   *counters = counters_of(participant, node, piece);
	uint64_t	mask = gs_low_mask(node->digit_bits);

	memset(counters, 0, sizeof(uint64_t) << node->digit_bits);
	for (uint64_t i = rows.begin; i < rows.end; i++)
		counters[items[i] >> node->digit_shift & mask]++;
	return !gs_job_cancelled(&participant->job, gs_range_rows(rows));
}

static bool
do_node_piece(gs_participant *participant, uint64_t piece)
{
	gs_range	rows;
	gs_node    *node = gs_shared_node_piece(participant->shared, piece, &rows);

	switch (participant->shared->step)
	{
		case GS_STEP_LOOK:
			return do_look(participant, node, rows);
		case GS_STEP_COUNT:
			return do_count(participant, node, piece, rows);
		case GS_STEP_MOVE:
			return scatter(participant, rows, counters_of(participant, node, piece),
						   node->digit_shift, node->digit_bits);
		default:
			memcpy(home(participant) + rows.begin, other_half(participant) + rows.begin,
				   gs_range_rows(rows) * sizeof(uint64_t));
			return !gs_job_cancelled(&participant->job, gs_range_rows(rows));
	}
}

/* ---------- steps ---------- */

static bool
do_piece(gs_participant *participant, uint64_t piece)
{
	gs_shared_sort *shared = participant->shared;

	switch (shared->step)
	{
		case GS_STEP_KEY:
			return do_key(participant, gs_shared_piece(shared, piece));
		case GS_STEP_SCAN:
			return do_scan(participant, piece, gs_shared_piece(shared, piece));
		case GS_STEP_SCATTER:
			return do_scatter(participant, piece, gs_shared_piece(shared, piece));
		case GS_STEP_ALONE:
			return gs_task_finish_node(participant, &gs_shared_nodes(shared)[piece]);
		case GS_STEP_FINISH:
			return gs_task_finish(participant, &gs_shared_tasks(shared)[piece]);
		default:
			return do_node_piece(participant, piece);
	}
}

/* Returns the cost of a row in the present step in ns, of which only the ratios count. */
static double
row_cost(const gs_shared_sort *shared)
{
	switch (shared->step)
	{
		case GS_STEP_KEY:
			return 0;			/* gs_key_fold() advances the progress itself */
		case GS_STEP_SCAN:
			return SCAN_COST;
		case GS_STEP_SCATTER:
			return SCATTER_COST;
		case GS_STEP_FINISH:
			return TASK_COST / GS_TASK_VISITS;
		default:
			return NODE_COST;
	}
}

/* Plans the work that is left for this participant, one of shared->participants. */
static void
plan_rest(gs_participant *participant)
{
	const gs_shared_sort *shared = participant->shared;
	double		rows = (double) shared->nrows / (double) shared->participants;
	double		cost = TASK_COST;

	if (shared->step == GS_STEP_KEY)
		cost += participant->args->nplanes * GS_KEY_COST;
	if (shared->step <= GS_STEP_SCAN)
		cost += SCAN_COST;
	if (shared->step <= GS_STEP_SCATTER)
		cost += SCATTER_COST;
	gs_progress_plan(participant->job.progress, rows * cost);
}

bool
gs_steps_work(gs_participant *participant)
{
	gs_shared_sort *shared = participant->shared;
	uint64_t	piece;

	gs_participant_know_key(participant);
	plan_rest(participant);
	participant->job.row_cost = row_cost(shared);
	while ((piece = atomic_fetch_add(&shared->next, 1)) < shared->pieces)
		if (atomic_load_explicit(&shared->failed, memory_order_relaxed) ||
			!do_piece(participant, piece) || gs_job_look(&participant->job))
		{
			atomic_store(&shared->failed, true);
			return false;
		}
	return true;
}
