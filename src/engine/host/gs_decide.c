/*
 * gs_decide.c
 *		What the participants of a sort do next.
 *
 * One participant decides, between two phases, from what all have found.  No decision takes longer
 * than looking at the counters of all pieces, some hundred microseconds, but the one that reads and
 * sorts a sample of up to 2^14 rows.
 *
 *		key -> scan -> scatter -> [look -> count -> move -> copy]... -> [alone] -> finish
 *
 * Once the key is known, a sample of it says whether buckets are cut by its leading bits or by
 * splitters (gs_splitters.c).  With splitters, the scan only finds each row's bucket, and items are
 * made while they are scattered.
 *
 * The steps in brackets are for *nodes* only: buckets that have more rows than a task may have.  In
 * each round they are divided by the highest bits in which their items differ.  If a node's items
 * differ in no bit, its rows tie on the section: they get the next section of the key, or are equal
 * if there is none, and done.  A few rounds are enough, but for keys that are made to need more; a
 * node that is left after GS_MAX_ROUNDS is sorted by one participant.
 *
 * Items stay in that half of the workspace where they were scattered to, their *home*: nodes are
 * moved to the other half and taken back, since the row ids go to that other half in the end.
 */
#include "engine/host/gs_sort_private.h"

/* Adds a task.  There is room for as many tasks as there can be. */
static void
add_task(gs_shared_sort *shared, gs_task task)
{
	if (gs_range_rows(task.rows) == 0)
		return;
	if (shared->ntasks < shared->max_tasks)
		gs_shared_tasks(shared)[shared->ntasks++] = task;
	else
		shared->failed = true;
}

/* Makes tasks of one kind of some rows, each with at most task_rows. */
static void
add_tasks(gs_shared_sort *shared, gs_range rows, gs_task_kind kind)
{
	gs_task		task = {.kind = kind};

	for (uint64_t begin = rows.begin; begin < rows.end; begin = task.rows.end)
	{
		task.rows = (gs_range) {begin, rows.end};
		if (gs_range_rows(task.rows) > shared->task_rows)
			task.rows.end = begin + shared->task_rows;
		task.continued = begin > rows.begin;
		add_task(shared, task);
	}
}

static void
add_node(gs_shared_sort *shared, gs_node *nodes, uint64_t *count, gs_node node)
{
	if (*count < shared->max_nodes)
		nodes[(*count)++] = node;
	else
		shared->failed = true;
}

/* Begins a step of so many pieces. */
static void
begin_step(gs_shared_sort *shared, gs_step step, uint64_t pieces)
{
	shared->step = step;
	shared->pieces = pieces;
	atomic_store(&shared->next, 0);
}

/*
 * Begins the step that finishes tasks.  Large tasks come first, so that none is begun when the
 * others are nearly done.
 */
static void
begin_finish(gs_shared_sort *shared)
{
	gs_task    *tasks = gs_shared_tasks(shared);
	uint64_t	large = 0;

	for (uint64_t i = 0; i < shared->ntasks; i++)
		if (gs_range_rows(tasks[i].rows) > 2 * shared->bucket_rows)
		{
			gs_task		task = tasks[i];

			tasks[i] = tasks[large];
			tasks[large++] = task;
		}
	begin_step(shared, GS_STEP_FINISH, shared->ntasks);
}

/* Begins a step over nodes, all of them or those with a digit only, and cuts them into pieces. */
static void
begin_node_step(gs_shared_sort *shared, gs_step step, bool digits_only)
{
	gs_node    *nodes = gs_shared_nodes(shared);
	uint64_t	all_rows = 0;
	uint64_t	rows_of_piece;
	uint64_t	pieces = 0;

	for (uint64_t i = 0; i < shared->nnodes; i++)
		all_rows += gs_range_rows(nodes[i].rows);
	rows_of_piece = all_rows / shared->npieces + 1;
	if (rows_of_piece < shared->bucket_rows)
		rows_of_piece = shared->bucket_rows;
	for (uint64_t i = 0; i < shared->nnodes; i++)
	{
		nodes[i].first_piece = pieces;
		nodes[i].npieces = 0;
		if (!digits_only || nodes[i].digit_bits > 0)
			nodes[i].npieces = (gs_range_rows(nodes[i].rows) + rows_of_piece - 1) / rows_of_piece;
		pieces += nodes[i].npieces;
	}
	begin_step(shared, step, pieces);
}

/* Begins the next round, or the step after it if no node is left or there were enough rounds. */
static void
begin_round(gs_shared_sort *shared)
{
	gs_node    *nodes = gs_shared_nodes(shared);

	if (shared->nnodes == 0)
		begin_finish(shared);
	else if (shared->rounds++ == GS_MAX_ROUNDS)
		begin_step(shared, GS_STEP_ALONE, shared->nnodes);
	else
	{
		for (uint64_t i = 0; i < shared->nnodes; i++)
		{
			nodes[i].digit_bits = 0;
			atomic_store(&nodes[i].all_and, UINT64_MAX);
			atomic_store(&nodes[i].all_or, 0);
		}
		begin_node_step(shared, GS_STEP_LOOK, false);
	}
}

/*
 * Turns the counters of all pieces, each with 2^bits buckets, into positions, from `begin` on.
 * Returns how many rows the largest bucket has.
 */
static uint64_t
sum_counters(uint64_t *counters, uint64_t pieces, unsigned bits, uint64_t begin)
{
	uint64_t	buckets = UINT64_C(1) << bits;
	uint64_t	largest = 0;

	for (uint64_t bucket = 0; bucket < buckets; bucket++)
	{
		uint64_t	first = begin;

		for (uint64_t piece = 0; piece < pieces; piece++)
		{
			uint64_t   *counter = &counters[(piece << bits) + bucket];
			uint64_t	count = *counter;

			*counter = begin;
			begin += count;
		}
		if (begin - first > largest)
			largest = begin - first;
	}
	return largest;
}

/*
 * Makes tasks, or nodes in the other list, of a node's rows, which were distributed over 2^bits
 * buckets.  starts[] has the positions at which buckets begin, and nnodes says how many nodes the
 * other list has; returns how many it has afterwards.
 */
static uint64_t
add_buckets(gs_shared_sort *shared, const gs_node *node, const uint64_t *starts, unsigned bits,
			uint64_t nnodes)
{
	gs_task		task = {
		.rows = {node->rows.begin, node->rows.begin},
		.cursor = node->cursor,
		.refined = node->refined,
	};

	for (uint64_t bucket = 1; bucket <= UINT64_C(1) << bits; bucket++)
	{
		uint64_t	end = bucket < UINT64_C(1) << bits ? starts[bucket] : node->rows.end;
		gs_range	found = {task.rows.end, end};

		if (end - task.rows.begin <= shared->bucket_rows)
		{
			task.rows.end = end;
			continue;
		}
		add_task(shared, task);
		if (gs_range_rows(found) > shared->task_rows)
		{
			add_node(shared, gs_shared_other_nodes(shared), &nnodes,
					 (gs_node) {
				.rows = found,
				.cursor = node->cursor,
				.refined = node->refined,
			});
			found.begin = end;
		}
		task.rows = found;
	}
	add_task(shared, task);
	return nnodes;
}

/*
 * Does the same for all rows, distributed by splitters: each bucket's items have bits of their own,
 * so no two of them become one task.
 */
static uint64_t
add_split_buckets(gs_participant *participant)
{
	gs_shared_sort *shared = participant->shared;
	const uint64_t *starts = gs_shared_counters(shared);
	const uint64_t buckets = UINT64_C(1) << shared->digit_bits;
	uint64_t	nnodes = 0;

	for (uint64_t bucket = 0; bucket < buckets; bucket++)
	{
		uint64_t	end = bucket + 1 < buckets ? starts[bucket + 1] : shared->nrows;
		gs_range	rows = {starts[bucket], end};
		gs_cursor	cursor = gs_layout_start(participant->job.layout);
		gs_section	before;

		gs_section_build(&before, participant->job.layout, &cursor,
						 participant->splitters.key_bits - participant->splitters.shifts[bucket]);
		if (gs_range_rows(rows) > shared->task_rows)
			add_node(shared, gs_shared_other_nodes(shared), &nnodes,
					 (gs_node) {.rows = rows, .cursor = cursor});
		else
			add_task(shared, (gs_task) {.rows = rows, .cursor = cursor});
	}
	return nnodes;
}

static void
swap_node_lists(gs_shared_sort *shared, uint64_t nnodes)
{
	shared->node_list = 1 - shared->node_list;
	shared->nnodes = nnodes;
}

/* Makes tasks and nodes of all rows, which lie in buckets in their home. */
static void
divide_all(gs_participant *participant)
{
	gs_shared_sort *shared = participant->shared;
	gs_node		all = {.rows = {0, shared->nrows}, .cursor = shared->cursor};

	if (shared->by_splitters)
		swap_node_lists(shared, add_split_buckets(participant));
	else
		swap_node_lists(shared, add_buckets(shared, &all, gs_shared_counters(shared),
											shared->digit_bits, 0));
	begin_round(shared);
}

static void
decide_after_key(gs_participant *participant)
{
	gs_shared_sort *shared = participant->shared;
	const gs_layout *layout = participant->job.layout;
	unsigned	section_bits;

	gs_participant_know_layout(participant);
	shared->key_bits = layout->key_bits;
	shared->keys_only = shared->want_keys && layout->key_bits > 0 &&
		layout->key_bits <= GS_SECTION_MAX_BITS;
	if (shared->keys_only)
		shared->id_bits = 0;
	section_bits = gs_section_bits(layout->key_bits, shared->id_bits);
	if (layout->key_bits == 0)
	{
		add_tasks(shared, (gs_range) {0, shared->nrows}, GS_TASK_EQUAL);
		begin_finish(shared);
		return;
	}
	shared->digit_bits = gs_shared_bucket_bits(shared, shared->nrows);
	if (shared->digit_bits > section_bits)
		shared->digit_bits = section_bits;
	shared->digit_shift = shared->id_bits + section_bits - shared->digit_bits;
	if (shared->digit_bits > 0)
	{
		gs_splitters splitters = gs_shared_splitters(shared);

		shared->by_splitters = gs_splitters_make(&splitters, participant);
	}
	begin_step(shared, GS_STEP_SCAN, shared->npieces);
}

static void
decide_after_scan(gs_participant *participant)
{
	gs_shared_sort *shared = participant->shared;
	uint64_t	largest = shared->nrows;

	shared->cursor = participant->behind_section;
	atomic_store(&shared->moved, atomic_load(&shared->fallen));
	if (shared->digit_bits > 0)
		largest = sum_counters(gs_shared_counters(shared), shared->npieces, shared->digit_bits, 0);
	if (shared->digit_bits == 0)
	{
		shared->nnodes = 0;
		add_node(shared, gs_shared_nodes(shared), &shared->nnodes,
				 (gs_node) {.rows = {0, shared->nrows}, .cursor = shared->cursor});
		begin_step(shared, GS_STEP_ALONE, 1);
	}
	else if (!shared->by_splitters &&
			 (largest == shared->nrows || !atomic_load(&shared->fallen)))
		divide_all(participant);
	else
		begin_step(shared, GS_STEP_SCATTER, shared->npieces);
}

/*
 * Decides what becomes of a node, from what its items have in common.  Returns false if it is no
 * node any more.
 */
static bool
decide_on_node(gs_participant *participant, gs_node *node)
{
	gs_shared_sort *shared = participant->shared;
	uint64_t	difference = atomic_load(&node->all_and) ^ atomic_load(&node->all_or);
	unsigned	high = gs_bit_width(difference);

	if (node->repack)
	{
		gs_section	section;

		gs_section_build(&section, participant->job.layout, &node->cursor,
						 gs_section_bits(node->cursor.bits_left, shared->id_bits));
		node->repack = false;
	}
	if (high > shared->id_bits)
	{
		node->digit_bits = gs_shared_bucket_bits(shared, gs_range_rows(node->rows));
		if (node->digit_bits > high - shared->id_bits)
			node->digit_bits = high - shared->id_bits;
		node->digit_shift = high - node->digit_bits;
		return true;
	}
	if (node->cursor.bits_left == 0)
	{
		add_tasks(shared, node->rows, GS_TASK_EQUAL);
		return false;
	}
	if (!node->refined)
		atomic_fetch_add(&shared->refined_rows, gs_range_rows(node->rows));
	node->repack = true;
	node->refined = true;
	return true;
}

/*
 * Begins the step that counts a digit of nodes, if any has one, and gives each of these its
 * counters.  There are enough counters for all pieces that there can be.
 */
static void
begin_count(gs_shared_sort *shared)
{
	gs_node    *nodes = gs_shared_nodes(shared);
	uint64_t	counters = 0;

	begin_node_step(shared, GS_STEP_COUNT, true);
	for (uint64_t i = 0; i < shared->nnodes; i++)
	{
		nodes[i].table = counters;
		counters += nodes[i].npieces << nodes[i].digit_bits;
	}
	if (counters > shared->max_counters)
		shared->failed = true;
	if (counters == 0)
		begin_round(shared);
}

static void
decide_after_look(gs_participant *participant)
{
	gs_shared_sort *shared = participant->shared;
	gs_node    *nodes = gs_shared_nodes(shared);
	uint64_t	left = 0;

	for (uint64_t i = 0; i < shared->nnodes; i++)
		if (decide_on_node(participant, &nodes[i]))
			nodes[left++] = nodes[i];
	shared->nnodes = left;
	begin_count(shared);
}

static void
decide_after_count(gs_shared_sort *shared)
{
	gs_node    *nodes = gs_shared_nodes(shared);

	for (uint64_t i = 0; i < shared->nnodes; i++)
		if (nodes[i].npieces > 0)
			(void) sum_counters(gs_shared_counters(shared) + nodes[i].table, nodes[i].npieces,
								nodes[i].digit_bits, nodes[i].rows.begin);
	atomic_store(&shared->moved, true);
	begin_node_step(shared, GS_STEP_MOVE, true);
}

/* Makes tasks and smaller nodes of the nodes that were divided. */
static void
decide_after_copy(gs_shared_sort *shared)
{
	const gs_node *nodes = gs_shared_nodes(shared);
	gs_node    *others = gs_shared_other_nodes(shared);
	uint64_t	nnodes = 0;

	for (uint64_t i = 0; i < shared->nnodes; i++)
	{
		const gs_node *node = &nodes[i];

		if (node->npieces > 0)
			nnodes = add_buckets(shared, node, gs_shared_counters(shared) + node->table,
								 node->digit_bits, nnodes);
		else if (nnodes < shared->max_nodes)
			others[nnodes++] = *node;
	}
	swap_node_lists(shared, nnodes);
	begin_round(shared);
}

static void
decide_after_alone(gs_shared_sort *shared)
{
	for (uint64_t i = 0; i < shared->nnodes; i++)
		add_tasks(shared, gs_shared_nodes(shared)[i].rows, GS_TASK_SORTED);
	begin_finish(shared);
}

void
gs_decide(gs_participant *participant)
{
	gs_shared_sort *shared = participant->shared;

	gs_participant_know_key(participant);
	switch (shared->step)
	{
		case GS_STEP_KEY:
			decide_after_key(participant);
			break;
		case GS_STEP_SCAN:
			decide_after_scan(participant);
			break;
		case GS_STEP_SCATTER:
			shared->home = 1;
			divide_all(participant);
			break;
		case GS_STEP_LOOK:
			decide_after_look(participant);
			break;
		case GS_STEP_COUNT:
			decide_after_count(shared);
			break;
		case GS_STEP_MOVE:
			begin_node_step(shared, GS_STEP_COPY, true);
			break;
		case GS_STEP_COPY:
			decide_after_copy(shared);
			break;
		case GS_STEP_ALONE:
			decide_after_alone(shared);
			break;
		case GS_STEP_FINISH:
		case GS_STEP_DONE:
			shared->step = GS_STEP_DONE;
			shared->pieces = 0;
			break;
	}
}
