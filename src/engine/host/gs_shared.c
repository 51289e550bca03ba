/*
 * gs_shared.c
 *		What the participants of a sort have: in common, sizes and pieces; and each for itself.  And
 *		how large the workspace is.
 *
 * All work that takes long is cut into some ten pieces for each participant, so that all
 * participants end a phase at about the same time, and none has to tell the others which pieces it
 * has done.
 *
 * A bucket is a *task*, which one participant does alone, if it has few enough rows for that.  If
 * not, it becomes a *node*, which all participants divide into buckets once more.  The distribution
 * of the keys matters for the number of nodes only.
 */
#include "engine/gs_engine.h"
#include "engine/gs_layout.h"
#include "engine/host/gs_sort_private.h"

/*
 * How many rows a bucket should have: half a megabyte, with as much to move them to.  ns a row of
 * all of gs_sort(), with 10^7 random items of 62 bits and 2 MB of second-level cache (Xeon): 16
 * with 2^12 to 2^15 rows, 17.5 with 2^16.
 */
#ifndef GS_BUCKET_ROWS
#define GS_BUCKET_ROWS	(UINT64_C(1) << 15)
#endif

/*
 * A task has at most this part of a participant's share of the rows, and no more than some ms of
 * work.
 */
#define TASKS_PER_PARTICIPANT	8
#define MAX_TASK_ROWS			(GS_BUCKET_ROWS << 4)

/* If there are fewer rows, one participant sorts them. */
#define MIN_ROWS				(GS_BUCKET_ROWS << 2)

/*
 * If there are fewer rows for each participant, one participant sorts them, too.  The part of half
 * of the workspace that the ids leave is shared out in whole lines, and each participant's share
 * must have room for a task.  It has from 43 rows on.
 */
#define MIN_PARTICIPANT_ROWS	64

#define PIECES_PER_PARTICIPANT	10
#define MIN_PIECES				16

/* The stretches that all rows are cut into have a multiple of so many rows. */
#define MIN_PIECE_ROWS			GS_PACK_BLOCK_ROWS

/*
 * What becomes of a node in a round beside full tasks, at most: a task that is not full, a node,
 * and one more such task behind that.
 */
#define ODD_TASKS_PER_NODE		3

/* Full tasks, and buckets that are cut by splitters, are at most so many for each full bucket. */
#define TASKS_PER_BUCKET		4

static inline uint64_t
min_u64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static inline uint64_t
max_u64(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

unsigned
gs_shared_bucket_bits(const gs_shared_sort *shared, uint64_t rows)
{
	unsigned	bits = gs_bit_width(rows / shared->bucket_rows);

	if (shared->nrows < MIN_ROWS || shared->nrows / MIN_PARTICIPANT_ROWS < shared->participants)
		return 0;
	return bits < GS_SCATTER_MAX_BITS ? bits : GS_SCATTER_MAX_BITS;
}

/* Sets how large everything is, and where it lies. */
size_t
gs_shared_plan(gs_shared_sort *shared)
{
	uint64_t	nrows = shared->nrows;
	uint64_t	pieces = max_u64(PIECES_PER_PARTICIPANT * shared->participants, MIN_PIECES);
	size_t		bytes = gs_round_to_line(sizeof(*shared));

	shared->piece_rows = (nrows / pieces / MIN_PIECE_ROWS + 1) * MIN_PIECE_ROWS;
	shared->npieces = (nrows + shared->piece_rows - 1) / shared->piece_rows;
	shared->task_rows = max_u64(min_u64(nrows / (TASKS_PER_PARTICIPANT * shared->participants),
										MAX_TASK_ROWS), 2);
	shared->bucket_rows = min_u64(GS_BUCKET_ROWS, shared->task_rows / 2);
	shared->max_nodes = nrows / shared->task_rows + 1;
	shared->max_tasks = TASKS_PER_BUCKET * (nrows / shared->bucket_rows) +
		nrows / shared->task_rows + (GS_MAX_ROUNDS + 2) * ODD_TASKS_PER_NODE * shared->max_nodes;
	shared->max_counters = ((pieces + 1) << gs_shared_bucket_bits(shared, nrows)) +
		2 * (nrows / shared->bucket_rows);
	if (gs_shared_bucket_bits(shared, nrows) == 0)
	{
		/* all rows are one node, which one participant sorts */
		shared->task_rows = max_u64(nrows, 1);
		shared->max_nodes = 1;
		shared->max_tasks = 1;
		shared->max_counters = 0;
	}
	shared->stats = bytes;
	bytes += gs_round_to_line(shared->nplanes * sizeof(gs_merged_stats));
	shared->nodes = bytes;
	bytes += gs_round_to_line(2 * shared->max_nodes * sizeof(gs_node));
	shared->tasks = bytes;
	bytes += gs_round_to_line(shared->max_tasks * sizeof(gs_task));
	shared->splitters = bytes;
	bytes += gs_splitters_bytes(gs_shared_bucket_bits(shared, nrows));
	shared->counters = bytes;
	return bytes + gs_round_to_line(shared->max_counters * sizeof(uint64_t));
}

gs_range
gs_shared_piece(const gs_shared_sort *shared, uint64_t number)
{
	uint64_t	begin = number * shared->piece_rows;

	return (gs_range) {begin, min_u64(begin + shared->piece_rows, shared->nrows)};
}

/*
 * Finds the last node whose first piece is not behind this one.  A node without pieces has the same
 * first piece as the node with pieces that comes after it.
 */
gs_node *
gs_shared_node_piece(gs_shared_sort *shared, uint64_t number, gs_range *rows)
{
	gs_node    *nodes = gs_shared_nodes(shared);
	uint64_t	low = 0;
	uint64_t	high = shared->nnodes;
	uint64_t	count;
	uint64_t	part;

	while (high - low > 1)
	{
		uint64_t	middle = (low + high) / 2;

		if (nodes[middle].first_piece <= number)
			low = middle;
		else
			high = middle;
	}
	count = gs_range_rows(nodes[low].rows);
	part = (count + nodes[low].npieces - 1) / nodes[low].npieces;
	rows->begin = min_u64((number - nodes[low].first_piece) * part, count);
	rows->end = min_u64(rows->begin + part, count);
	rows->begin += nodes[low].rows.begin;
	rows->end += nodes[low].rows.begin;
	return &nodes[low];
}

/* ---------- the workspace ---------- */

/* The tables that a sort of few rows has. */
#define TABLE_BYTES		(sizeof(gs_scratch) + (UINT64_C(32) << 10))

/*
 * Before the halves lie tables and, for many rows, what a participant, and the sort that it shares
 * with nobody, have beside the workspace.  The latter is less than 1/32 of a byte a row.  It is
 * counted for few rows, too, so that memory for m rows and memory for n rows is together enough for
 * m + n.
 */
uint64_t
gs_workspace_front_bytes(uint64_t nrows)
{
	return gs_round_to_line(TABLE_BYTES + nrows / 32);
}

size_t
gs_sort_workspace_bytes(uint64_t nrows)
{
	uint64_t	bytes;

	if (nrows > GS_MAX_ROWS)
		return SIZE_MAX;
	bytes = gs_workspace_front_bytes(nrows) + 2 * gs_workspace_half_bytes(nrows);
	return bytes > SIZE_MAX ? SIZE_MAX : (size_t) bytes;
}

/* ---------- what a participant has for itself ---------- */

/*
 * What is shared has no addresses, as each process has its own.  So each participant has a layout
 * with pointers to its planes, made from what all participants have found in the words.  A
 * participant that comes late makes its layout when it comes.
 */

size_t
gs_participant_bytes(uint64_t nrows, unsigned participants)
{
	gs_shared_sort shared = {.nrows = nrows, .participants = participants};

	gs_shared_plan(&shared);
	return gs_round_to_line(sizeof(gs_participant)) + gs_round_to_line(sizeof(gs_scratch)) +
		gs_scatter_bytes(gs_shared_bucket_bits(&shared, nrows));
}

gs_participant *
gs_participant_make(void *memory, gs_shared_sort *shared, const gs_sort_args *args,
					unsigned number)
{
	gs_participant *participant = memory;
	char	   *rest = (char *) memory + gs_round_to_line(sizeof(*participant));

	*participant = (gs_participant) {.shared = shared, .args = args, .number = number};
	participant->job = (gs_job) {
		.scratch = (gs_scratch *) rest,
		.nrows = args->nrows,
		.equal = args->equal,
		.cancel = args->cancel,
		.also_cancel = args->also_cancel,
		.progress = args->progress,
	};
	participant->job.layout = &participant->job.scratch->layout;
	rest += gs_round_to_line(sizeof(gs_scratch));
	gs_scatter_make(&participant->scatter, rest, gs_shared_bucket_bits(shared, args->nrows));
	participant->halves[0] = args->workspace;
	participant->halves[1] = participant->halves[0] +
		gs_workspace_half_bytes(args->nrows) / sizeof(uint64_t);
	return participant;
}

void
gs_participant_know_layout(gs_participant *participant)
{
	if (!participant->has_layout)
		gs_key_read(&participant->job.scratch->layout, participant->args, &participant->numbered,
					gs_shared_stats(participant->shared));
	participant->has_layout = true;
}

void
gs_participant_know_key(gs_participant *participant)
{
	gs_shared_sort *shared = participant->shared;
	gs_job	   *job = &participant->job;

	if (shared->step == GS_STEP_KEY)
		return;
	gs_participant_know_layout(participant);
	job->keys_only = shared->keys_only;
	job->id_bits = shared->id_bits;
	if (!participant->has_section && job->layout->key_bits > 0)
	{
		participant->splitters = gs_shared_splitters(shared);
		participant->behind_section = gs_layout_start(job->layout);
		gs_section_build(&job->scratch->section, job->layout, &participant->behind_section,
						 shared->by_splitters ? participant->splitters.key_bits :
						 gs_job_section_bits(job, participant->behind_section));
		participant->has_section = true;
	}
}

gs_status
gs_participant_read_key(gs_participant *participant)
{
	GS_TRY(gs_key_build(&participant->job.scratch->layout, participant->args));
	participant->has_layout = true;
	return GS_OK;
}
