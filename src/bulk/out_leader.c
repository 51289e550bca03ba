/*
 * out_leader.c
 *		Writes rows together with parallel workers; see out_stream_private.h.
 *
 * A process that has nothing to do takes the next slice.  So does the leader, but it first writes
 * other processes' slices that are due and at hand.  A worker's queue has its slices in ascending
 * order.  So the slice that is due is at the head of some queue, or is the leader's own, or some
 * worker is still formatting it.
 *
 * On error the server ends the workers before it resets memory contexts.
 */
#include "postgres.h"

#include "access/parallel.h"
#include "executor/executor.h"
#include "executor/instrument.h"
#include "miscadmin.h"
#include "optimizer/cost.h"
#include "storage/bufmgr.h"
#include "storage/lwlock.h"
#include "utils/rel.h"
#include "utils/wait_event.h"

#include "bulk/out_stream_private.h"
#include "exec/exec.h"
#include "pg_compat.h"
#include "settings.h"
#include "sort/sort.h"
#include "sort/sort_view.h"
#include "team/worker_wait.h"
#include "team/workers.h"

/*
 * There is at most one worker for each WORKER_BYTES of rows, since a worker takes a millisecond or
 * two to start, in which two or three MB are written.  A slice has SLICE_BYTES, so that it takes
 * several slices to fill a queue.
 */
#define WORKER_BYTES		(4 * 1024 * 1024)
#define SLICE_BYTES			(128 * 1024)

/* The leader formats at most so many bytes of its own slice before the slice is due. */
#define OWN_BYTES			(1024 * 1024)

/* The head of a worker's queue, as the leader has seen it last. */
typedef struct OutHead
{
	const GpuSortOutPiece *piece;	/* first piece in the queue; NULL if none was there */
	Size		bytes;			/* bytes of the piece's rows, which follow it */
	bool		ended;			/* there will be no more pieces */
} OutHead;

typedef struct OutLeader
{
	GpuSortOutStream *stream;
	const GpuSortOutColumn *columns;
	const GpuSortSlices *slices;
	GpuSortOutTask *task;
	GpuSortSliceReader source;

	ParallelContext *context;
	shm_mq_handle **queues;
	OutHead    *heads;
	uint64		worker_slices;	/* number of slices that workers have formatted */

	/* a slice that the leader has taken */
	bool		has_own;
	uint64		own;
	bool		own_is_begun;	/* its first rows are in the stream's buffer */
	bool		own_is_whole;	/* all of its rows are in the buffer */
	int			own_error;		/* last SQLSTATE raised while its rows were formatted, or 0 */
} OutLeader;

static uint32 wait_event = 0;

/* ---------- the leader's slices ---------- */

static void
read_to_end(OutLeader *leader)
{
	while (gpusort_sort_slices_next_row(&leader->source))
	{
		CHECK_FOR_INTERRUPTS();
		gpusort_out_stream_row(leader->stream, leader->source.slot);
	}
	gpusort_out_flush_stream(leader->stream);
}

/* Begin to format the leader's own slice into the stream's buffer, before the slice is due. */
static void
read_in_advance(OutLeader *leader)
{
	gpusort_sort_slices_begin(&leader->source, leader->own);
	leader->own_is_begun = true;
	leader->own_is_whole = false;
	gpusort_worker_fault("reading rows in advance");
	while (leader->stream->buffer.len < OWN_BYTES)
	{
		CHECK_FOR_INTERRUPTS();
		if (!gpusort_sort_slices_next_row(&leader->source))
		{
			leader->own_is_whole = true;
			return;
		}
		gpusort_out_hold_row(leader->stream, leader->source.slot);
	}
}

/* Write the leader's own slice, which is due. */
static void
write_own(OutLeader *leader)
{
	if (!leader->own_is_begun)
		gpusort_sort_slices_begin(&leader->source, leader->own);
	if (leader->own_is_begun && leader->own_is_whole)
		gpusort_out_flush_stream(leader->stream);
	else
		read_to_end(leader);
	leader->has_own = false;
}

/* Write the rest of a slice that a worker has left to the leader, without its first `skip` rows. */
static void
write_rest(OutLeader *leader, uint64 slice, uint64 skip)
{
	gpusort_worker_fault("writing rows that were left");
	/* the leader's own slice is read once more when it is due */
	gpusort_out_drop_rows(leader->stream);
	leader->own_is_begun = false;
	gpusort_sort_slices_begin(&leader->source, slice);
	while (skip-- > 0 && gpusort_sort_slices_next_row(&leader->source))
		;
	read_to_end(leader);
}

/* ---------- the workers' slices ---------- */

/* Look at the head of a worker's queue.  Returns false if no piece is there. */
static bool
look_at_queue(OutLeader *leader, int worker)
{
	OutHead    *head = &leader->heads[worker];
	Size		bytes;
	void	   *data;

	if (head->piece != NULL || head->ended)
		return head->piece != NULL;
	switch (shm_mq_receive(leader->queues[worker], &bytes, &data, true))
	{
		case SHM_MQ_SUCCESS:
			head->piece = data;
			head->bytes = bytes - sizeof(GpuSortOutPiece);
			return true;
		case SHM_MQ_DETACHED:
			head->ended = true;
			return false;
		case SHM_MQ_WOULD_BLOCK:
			return false;
	}
	return false;
}

/* Returns the worker whose queue has the slice at its head, or -1 if there is none. */
static int
find_slice(OutLeader *leader, uint64 slice)
{
	for (int i = 0; i < leader->context->nworkers_launched; i++)
		if (look_at_queue(leader, i) && leader->heads[i].piece->slice == slice)
			return i;
	return -1;
}

/*
 * Wait until a worker sets the leader's latch, because it has sent something or has an error to
 * report.
 */
static void
await_workers(void)
{
	gpusort_worker_await_latch(gpusort_wait_event(&wait_event, "GpuSortRowsWritten"));
}

/* Write the slice at the head of a worker's queue, to its end. */
static void
write_pieces(OutLeader *leader, int worker)
{
	OutHead    *head = &leader->heads[worker];
	GpuSortOutStream *stream = leader->stream;
	uint64		rows = 0;
	GpuSortOutPiece piece;

	do
	{
		while (!look_at_queue(leader, worker))
			await_workers();
		gpusort_worker_fault("writing a worker's rows");
		piece = *head->piece;
		gpusort_out_write_rows(stream, (const char *) (head->piece + 1), head->bytes, piece.rows);
		head->piece = NULL;
		rows += piece.rows;
	} while (!piece.last);
	leader->worker_slices++;
	if (piece.left)
		write_rest(leader, piece.slice, rows);
}

/* ---------- all slices ---------- */

static void write_slices(OutLeader *leader, uint64 from, uint64 to);

/*
 * Error context callback that notes errors raised by this process itself.  An error that a worker
 * reports is raised without this callback, since its context is that of the time when the parallel
 * context was made.
 */
static void
note_own_error(void *arg)
{
	OutLeader  *leader = arg;

	/* notices are noted as well, but their code is not that of the error that is caught */
	leader->own_error = geterrcode();
}

/*
 * Format the leader's own slice before it is due.  If a row fails, all rows before this slice are
 * written first, since one of them may fail as well and its error is then the one to raise.  This
 * is not done if the error is a worker's, since that worker's rows would never come.
 */
static void
try_to_read_in_advance(OutLeader *leader, uint64 next)
{
	MemoryContext context = CurrentMemoryContext;
	ErrorContextCallback callback = {error_context_stack, note_own_error, leader};

	leader->own_error = 0;
	PG_TRY();
	{
		error_context_stack = &callback;
		read_in_advance(leader);
		error_context_stack = callback.previous;
	}
	PG_CATCH();
	{
		if (geterrcode() != ERRCODE_QUERY_CANCELED && geterrcode() == leader->own_error)
		{
			/* a worker may be waiting for a lock that the error has left held */
			LWLockReleaseAll();
			UnlockBuffers();
			MemoryContextSwitchTo(context);
			write_slices(leader, next, leader->own);
		}
		PG_RE_THROW();
	}
	PG_END_TRY();
}

/*
 * Write a slice that is due, whoever formats it.  While it is not there yet, the leader takes a
 * slice of its own.
 */
static void
write_slice(OutLeader *leader, uint64 slice)
{
	int			worker;

	while (!leader->has_own || leader->own != slice)
	{
		worker = find_slice(leader, slice);
		if (worker >= 0)
		{
			write_pieces(leader, worker);
			return;
		}
		if (!leader->has_own && gpusort_out_take_slice(leader->task, &leader->own))
		{
			leader->has_own = true;
			leader->own_is_begun = false;
			if (leader->own > slice)
				try_to_read_in_advance(leader, slice);
		}
		else
			await_workers();
	}
	write_own(leader);
}

static void
write_slices(OutLeader *leader, uint64 from, uint64 to)
{
	for (uint64 slice = from; slice < to; slice++)
		write_slice(leader, slice);
}

/* ---------- the workers ---------- */

/* Make the task of the leader at `from`. */
static bool
fill_task(void *member, const GpuSortMember *declared, ParallelContext *context)
{
	GpuSortOutTask *task = member;
	const OutLeader *leader = declared->from;

	task->slices = *leader->slices;
	task->format = leader->stream->format;
	pg_atomic_init_u64(&task->next_slice, 0);
	pg_atomic_init_u32(&task->written, 0);
	return true;
}

/* Start workers; `returned` is NULL for a table.  Returns false if there are none to be had. */
static bool
start_workers(OutLeader *leader, int nworkers, const GpuSortReturned *returned)
{
	Size		columns_bytes = leader->stream->format.ncolumns * sizeof(GpuSortOutColumn);
	GpuSortMember members[GPUSORT_OUT_MEMBERS] = {
		[GPUSORT_OUT_MEMBER_TASK] = {sizeof(GpuSortOutTask), fill_task, leader},
		[GPUSORT_OUT_MEMBER_COLUMNS] = gpusort_member_of_bytes(columns_bytes, leader->columns),
		[GPUSORT_OUT_MEMBER_QUEUES] = gpusort_queues_member(nworkers, GPUSORT_OUT_QUEUE_BYTES)
	};
	ParallelContext *context;

	if (returned != NULL)
	{
		members[GPUSORT_OUT_MEMBER_DESC] = gpusort_member_of_desc(returned->desc);
		members[GPUSORT_OUT_MEMBER_VIEW] = gpusort_view_member(returned->sort);
	}
	context = gpusort_workers_start(GPUSORT_OUT_WORKER, nworkers, members, GPUSORT_OUT_MEMBERS);
	if (context == NULL)
		return false;
	leader->context = context;
	leader->task = gpusort_member(context->toc, GPUSORT_OUT_MEMBER_TASK);
	leader->queues = gpusort_queues_attach(gpusort_member(context->toc, GPUSORT_OUT_MEMBER_QUEUES),
										   GPUSORT_OUT_QUEUE_BYTES, context);
	leader->heads = palloc0(context->nworkers_launched * sizeof(OutHead));
	return true;
}

/* Let workers that have failed raise their errors, and wait for all of them to end. */
static void
end_workers(OutLeader *leader)
{
	ParallelContext *context = leader->context;

	gpusort_worker_fault("the end of all rows");
	pg_atomic_write_u32(&leader->task->written, 1);
	for (int i = 0; i < context->nworkers_launched; i++)
		shm_mq_detach(leader->queues[i]);
	gpusort_workers_finish(context);
}

/* ---------- all of it ---------- */

/*
 * Write all slices with at most nworkers workers.  Returns false, with nothing written, if none
 * could be started.
 */
static bool
write_with_workers(OutLeader *leader, const GpuSortSlices *slices, int nworkers,
				   const GpuSortReturned *returned, Relation table)
{
	GpuSortView view;

	leader->slices = slices;
	if (!start_workers(leader, nworkers, returned))
		return false;
	gpusort_out_flush_stream(leader->stream);
	if (returned != NULL)
	{
		gpusort_view(returned->sort, &view);
		gpusort_sort_slices_open_view(&leader->source, slices, &view, returned->desc);
	}
	else
		gpusort_sort_slices_open_table(&leader->source, slices, table);
	write_slices(leader, 0, gpusort_sort_slice_count(slices));
	gpusort_sort_slices_close(&leader->source);
	end_workers(leader);
	ereport(DEBUG1,
			(errmsg_internal("gpusort wrote rows with %d parallel workers, %llu of %llu slices by them",
							 leader->context->nworkers_launched,
							 (unsigned long long) leader->worker_slices,
							 (unsigned long long) gpusort_sort_slice_count(slices))));
	gpusort_workers_end(leader->context);
	return true;
}

/* Returns the size of a slice.  Tests, whose tables are small, make slices smaller. */
static Size
slice_bytes(void)
{
	return Min(SLICE_BYTES, gpusort_slice_pages * (Size) BLCKSZ);
}

/* Returns how many workers are wanted for so many bytes of rows. */
static int
choose_workers(GpuSortOutStream *stream, const GpuSortOutColumn *columns, double bytes)
{
	double		most = gpusort_force ? bytes / slice_bytes() : bytes / WORKER_BYTES;
	int			nworkers = (int) Min(max_parallel_workers_per_gather, most);

	if (nworkers == 0 || IsParallelWorker() || !IsUnderPostmaster ||
		!gpusort_out_is_parallel_safe(&stream->format, columns))
		return 0;
	return nworkers;
}

bool
gpusort_out_write_table(GpuSortOutStream *stream, const GpuSortOutColumn *columns,
						Relation table)
{
	BlockNumber blocks = RelationGetNumberOfBlocks(table);
	GpuSortSlices slices = {
		.table = RelationGetRelid(table), .to = blocks, .step = slice_bytes() / BLCKSZ
	};
	OutLeader	leader = {.stream = stream, .columns = columns};
	int			nworkers = choose_workers(stream, columns, (double) blocks * BLCKSZ);

	nworkers = Min(nworkers, RelationGetParallelWorkers(table, nworkers));
	return nworkers > 0 && gpusort_sort_can_slice(table) &&
		write_with_workers(&leader, &slices, nworkers, NULL, table);
}

/*
 * Returns whether all rows of the query, from the one just returned on, are those of a sort, and
 * describes them in *returned.
 */
static bool
is_sorted(QueryDesc *query, GpuSortReturned *returned)
{
	return query->instrument_options == 0 && query->estate->es_junkFilter == NULL &&
		gpusort_returned_rows(gpusort_returning_node(query->planstate), returned);
}

void
gpusort_out_expect_query(QueryDesc *query)
{
	if (max_parallel_workers_per_gather > 0 && !IsParallelWorker())
		gpusort_tell_viewed(gpusort_returning_node(query->planstate));
}

bool
gpusort_out_write_query(GpuSortOutStream *stream, const GpuSortOutColumn *columns,
						QueryDesc *query)
{
	GpuSortReturned returned;
	GpuSortSlices slices;
	OutLeader	leader = {.stream = stream, .columns = columns};
	Size		row_bytes;
	int			nworkers;

	if (max_parallel_workers_per_gather == 0 || !is_sorted(query, &returned))
		return false;
	row_bytes = Max(gpusort_row_bytes(returned.sort), 1);
	slices = (GpuSortSlices) {
		.from = returned.from, .to = returned.to, .step = Max(slice_bytes() / row_bytes, 1)
	};
	nworkers = choose_workers(stream, columns, (double) row_bytes * (returned.to - returned.from));
	if (nworkers == 0 || !write_with_workers(&leader, &slices, nworkers, &returned, NULL))
		return false;
	query->estate->es_processed += returned.to - returned.from;
	return true;
}
