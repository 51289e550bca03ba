/*
 * gs_task.c
 *		Finishing a task: its rows are put in order, equal ones are marked, and their
 *		ids are written.
 *
 * All of it happens while the rows lie in the second-level cache.  A task's items are sorted with
 * memory that each participant uses again and again, items that tie are refined, and the row ids
 * are written to where they belong: to the half of the workspace that is not the items' home.  Ids
 * of 4 bytes take the first part of that half, so its second part is there for the participants'
 * memory; ids of 8 bytes, and keys, stay where the items are.
 *
 * Rows that are in order, or in reverse order, need no sort.  Each participant finds that out for
 * each task: a task in the middle of rows that are nearly in order may be in order itself.
 */
#include <string.h>

#include "engine/gs_layout.h"
#include "engine/host/gs_sort_private.h"

/*
 * Returns the memory that this participant moves items to when it sorts them; it has room for any
 * task.
 */
static uint64_t *
own_memory(const gs_participant *participant)
{
	const gs_shared_sort *shared = participant->shared;
	uint64_t   *half = participant->halves[1 - shared->home];
	uint64_t	room = shared->nrows;
	uint64_t	lines;

	if (!shared->keys_only && shared->id_bytes == sizeof(uint32_t))
	{
		uint64_t	ids = gs_round_to_line(shared->nrows * sizeof(uint32_t)) / GS_LINE_BYTES;

		half += ids * GS_LINE_ITEMS;
		room -= ids * GS_LINE_ITEMS < room ? ids * GS_LINE_ITEMS : room;
	}
	lines = room / GS_LINE_ITEMS / shared->participants;
	return half + participant->number * lines * GS_LINE_ITEMS;
}

/*
 * Returns which order the job's items are in, if any.  It looks at blocks, since random rows show
 * soon that they are in no order.
 */
static gs_order
find_order(const gs_job *job, uint64_t count)
{
	gs_order	found = {true, true};

	for (uint64_t begin = 0; begin < count && (found.ascending || found.descending);
		 begin += GS_PACK_BLOCK_ROWS)
	{
		uint64_t	first = begin > 0 ? begin - 1 : 0;
		uint64_t	end = begin + GS_PACK_BLOCK_ROWS < count ? begin + GS_PACK_BLOCK_ROWS : count;

		found = gs_items_order(job->items + first, end - first, job->id_bits, found);
	}
	return found;
}

/* Puts descending items in ascending order; items that tie stay in the order that they have. */
static void
reverse_items(gs_job *job, uint64_t count)
{
	uint64_t   *to = job->spare;

	for (uint64_t end = count; end > 0;)
	{
		uint64_t	begin = end - 1;

		while (begin > 0 && (job->items[begin - 1] ^ job->items[begin]) >> job->id_bits == 0)
			begin--;
		for (uint64_t i = begin; i < end; i++)
			*to++ = job->items[i];
		end = begin;
	}
	memcpy(job->items, job->spare, count * sizeof(uint64_t));
}

/*
 * Sorts by the bits of the items and by those of the key behind the cursor, and marks equal rows.
 * Returns false when cancelled.
 */
static bool
sort_items(gs_job *job, uint64_t count, gs_cursor cursor)
{
	gs_range	all = {0, count};
	gs_order	found = find_order(job, count);

	if (gs_job_cancelled(job, count))
		return false;
	if (!found.ascending)
	{
		job->moved = true;
		if (found.descending)
			reverse_items(job, count);
		else if (!gs_items_sort(job, all))
			return false;
	}
	return gs_refine(job, all, cursor);
}

/*
 * Writes the row ids of a task.  If the key has no bits all rows are equal, and there are no items.
 */
static void
write_ids(gs_participant *participant, const gs_task *task)
{
	const gs_shared_sort *shared = participant->shared;
	uint64_t   *items = participant->halves[shared->home];
	uint32_t   *narrow = (uint32_t *) participant->halves[1 - shared->home];
	uint64_t	mask = gs_low_mask(shared->id_bits);
	bool		identity = shared->key_bits == 0;

	if (shared->keys_only)
		return;
	if (identity)
		for (uint64_t i = task->rows.begin; i < task->rows.end; i++)
			if (shared->id_bytes == sizeof(uint32_t))
				narrow[i] = (uint32_t) i;
			else
				items[i] = i;
	else if (shared->id_bytes == sizeof(uint32_t))
		for (uint64_t i = task->rows.begin; i < task->rows.end; i++)
			narrow[i] = (uint32_t) (items[i] & mask);
	else
		for (uint64_t i = task->rows.begin; i < task->rows.end; i++)
			items[i] &= mask;
}

/*
 * Sets where the job's items, its spare memory and its bits of the bitmap are.  The cursor is where
 * the key goes on behind the items' bits; `refined` says that their rows were counted as refined.
 */
static void
aim_at(gs_participant *participant, gs_range rows, uint64_t *spare, gs_cursor cursor, bool refined)
{
	gs_job	   *job = &participant->job;

	job->items = participant->halves[participant->shared->home] + rows.begin;
	job->spare = spare;
	job->positions = rows;
	job->bits_behind_first = refined ? UINT64_MAX : cursor.bits_left;
	job->moved = false;
	job->refined_rows = 0;
}

static void
add_findings(gs_participant *participant)
{
	gs_shared_sort *shared = participant->shared;
	gs_job	   *job = &participant->job;

	if (job->moved && !atomic_load_explicit(&shared->moved, memory_order_relaxed))
		atomic_store(&shared->moved, true);
	if (job->refined_rows > 0)
		atomic_fetch_add(&shared->refined_rows, job->refined_rows);
}

bool
gs_task_finish(gs_participant *participant, const gs_task *task)
{
	gs_job	   *job = &participant->job;
	uint64_t	count = gs_range_rows(task->rows);

	aim_at(participant, task->rows, own_memory(participant), task->cursor, task->refined);
	if (task->kind == GS_TASK_SORT && !sort_items(job, count, task->cursor))
		return false;
	if (task->kind == GS_TASK_EQUAL && job->equal != NULL)
		gs_mark_all(job, task->continued);
	write_ids(participant, task);
	add_findings(participant);
	return !gs_job_cancelled(job, count);
}

bool
gs_task_finish_node(gs_participant *participant, const gs_node *node)
{
	aim_at(participant, node->rows,
		   participant->halves[1 - participant->shared->home] + node->rows.begin,
		   node->cursor, node->refined);
	if (!sort_items(&participant->job, gs_range_rows(node->rows), node->cursor))
		return false;
	add_findings(participant);
	return true;
}
