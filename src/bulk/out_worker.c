/*
 * out_worker.c
 *		A parallel worker that writes rows: it formats slices and sends them through its queue to
 *		the leader.
 *
 * A worker does not pass its errors on at once.  Which row fails first is known only when all rows
 * before it are written.  So the worker leaves the rest of its slice to the leader, which comes to
 * the failing row in its turn and raises the error itself.  Only if that row does not fail in the
 * leader, the worker raises its error in the end.
 *
 * The worker also leaves to the leader values that lie in a temporary table, which other processes
 * can't read, and rows that are too large for a piece.
 */
#include "postgres.h"

#include "access/detoast.h"
#include "access/parallel.h"
#include "access/table.h"
#include "catalog/pg_class.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/bufmgr.h"
#include "storage/latch.h"
#include "storage/lwlock.h"
#include "utils/lsyscache.h"

#include "bulk/out_row_private.h"
#include "bulk/out_stream_private.h"
#include "pg_compat.h"
#include "sort/sort_view.h"
#include "team/workers.h"

/* Maximum size of a piece; the leader may have to hold one from each worker in memory. */
#define MAX_PIECE_BYTES		(4 * 1024 * 1024)

/* Interval at which a worker that has failed looks whether it may raise its error. */
#define FAILED_WAIT_MS		50

typedef struct OutWorker
{
	GpuSortOutTask *task;
	GpuSortSliceReader source;
	GpuSortOutRows *rows;
	int			nvarlenas;		/* number of columns whose values may be out of line */
	int		   *varlenas;
	shm_mq_handle *queue;
	StringInfoData buffer;		/* rows of the slice that have not been sent */
	int			good_bytes;		/* bytes of the buffer that are whole rows */
	GpuSortOutPiece piece;		/* header of the piece that is made of these rows */
	bool		passing;		/* the piece is being sent */
	Oid			toast_table;	/* TOAST table of the value that was last seen */
	bool		toast_is_temporary;
} OutWorker;

static uint32 wait_event = 0;

PGDLLEXPORT void gpusort_out_worker(dsm_segment *segment, shm_toc *toc);

/* Send the whole rows in the buffer as a piece.  Returns false if the leader has detached. */
static bool
pass_piece(OutWorker *worker)
{
	shm_mq_iovec parts[2];

	gpusort_worker_fault("a piece of rows");
	parts[0].data = (char *) &worker->piece;
	parts[0].len = sizeof(worker->piece);
	parts[1].data = worker->buffer.data;
	parts[1].len = worker->good_bytes;
	worker->passing = true;
	if (shm_mq_sendv(worker->queue, parts, 2, false, true) != SHM_MQ_SUCCESS)
		return false;
	worker->passing = false;
	resetStringInfo(&worker->buffer);
	worker->good_bytes = 0;
	worker->piece.rows = 0;
	return true;
}

/* Returns whether the value lies in a temporary table, which only the leader can read. */
static bool
is_temporary(OutWorker *worker, Datum value)
{
	struct varlena *stored = (struct varlena *) DatumGetPointer(value);
	struct varatt_external toast;

	if (!VARATT_IS_EXTERNAL_ONDISK(stored))
		return false;
	VARATT_EXTERNAL_GET_POINTER(toast, stored);
	if (toast.va_toastrelid != worker->toast_table)
	{
		worker->toast_table = toast.va_toastrelid;
		worker->toast_is_temporary =
			get_rel_persistence(toast.va_toastrelid) == RELPERSISTENCE_TEMP;
	}
	return worker->toast_is_temporary;
}

static bool
has_temporary_values(OutWorker *worker)
{
	const TupleTableSlot *slot = worker->source.slot;

	for (int i = 0; i < worker->nvarlenas; i++)
	{
		int			attribute = worker->varlenas[i];

		if (!slot->tts_isnull[attribute] && is_temporary(worker, slot->tts_values[attribute]))
			return true;
	}
	return false;
}

/* Format the row in the slot.  Returns false if the row has to be left to the leader. */
static bool
write_row(OutWorker *worker)
{
	TupleTableSlot *slot = worker->source.slot;

	gpusort_out_get_values(worker->rows, slot);
	if (has_temporary_values(worker))
		return false;
	gpusort_out_put_values(worker->rows, slot, &worker->buffer);
	if (unlikely(worker->buffer.len > MAX_PIECE_BYTES))
		return false;
	worker->good_bytes = worker->buffer.len;
	worker->piece.rows++;
	return true;
}

/* Format a slice and send it in pieces.  Returns false if the leader has detached. */
static bool
write_slice(OutWorker *worker, uint64 slice)
{
	worker->piece = (GpuSortOutPiece) {.slice = slice};
	gpusort_sort_slices_begin(&worker->source, slice);
	gpusort_worker_fault("a slice of rows");
	while (gpusort_sort_slices_next_row(&worker->source))
	{
		CHECK_FOR_INTERRUPTS();
		if (!write_row(worker))
		{
			worker->piece.left = true;
			break;
		}
		if (worker->buffer.len >= GPUSORT_OUT_PIECE_BYTES && !pass_piece(worker))
			return false;
	}
	worker->piece.last = true;
	return pass_piece(worker);
}

static void
write_slices(OutWorker *worker)
{
	uint64		slice;

	while (gpusort_out_take_slice(worker->task, &slice) && write_slice(worker, slice))
		;
}

/*
 * Leave a row that has failed to the leader, and wait until the leader has written all rows.
 * Nothing that is done here needs a transaction.  Locks that the error has left held are released,
 * since the leader may need them.
 */
static void
leave_to_leader(OutWorker *worker)
{
	LWLockReleaseAll();
	UnlockBuffers();
	gpusort_worker_fault("leaving rows to the leader");
	worker->piece.last = true;
	worker->piece.left = true;
	if (!pass_piece(worker))
		return;
	while (pg_atomic_read_u32(&worker->task->written) == 0)
	{
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, FAILED_WAIT_MS,
						 gpusort_wait_event(&wait_event, "GpuSortRowsLeft"));
		ResetLatch(MyLatch);
		CHECK_FOR_INTERRUPTS();
	}
}

/*
 * Format slices until there are none left.  If a row fails, its slice is left to the leader before
 * the error is raised.
 */
static void
write_all(OutWorker *worker)
{
	PG_TRY();
	{
		write_slices(worker);
	}
	PG_CATCH();
	{
		/*
		 * cancelling a worker means cancelling the statement; and a piece that was sent in part
		 * can't be completed
		 */
		if (geterrcode() != ERRCODE_QUERY_CANCELED && !worker->passing)
			leave_to_leader(worker);
		PG_RE_THROW();
	}
	PG_END_TRY();
}

static void
write_table(OutWorker *worker)
{
	Relation	table = table_open(worker->task->slices.table, AccessShareLock);

	gpusort_sort_slices_open_table(&worker->source, &worker->task->slices, table);
	write_all(worker);
	gpusort_sort_slices_close(&worker->source);
	table_close(table, NoLock);
}

/* Find the columns whose values may lie in a temporary TOAST table. */
static void
find_varlenas(OutWorker *worker, const GpuSortOutColumn *columns, TupleDesc desc)
{
	int			ncolumns = worker->task->format.ncolumns;

	worker->varlenas = palloc(Max(ncolumns, 1) * sizeof(int));
	for (int i = 0; i < ncolumns; i++)
		if (TupleDescAttr(desc, columns[i].attribute)->attlen == -1)
			worker->varlenas[worker->nvarlenas++] = columns[i].attribute;
}

/* Write slices of a sorted result, which stays in the leader until the workers have ended. */
static void
write_view(OutWorker *worker, shm_toc *toc)
{
	TupleDesc	desc = CreateTupleDescCopy(gpusort_member(toc, GPUSORT_OUT_MEMBER_DESC));
	GpuSortViewMapping mapping;
	GpuSortView view;

	if (!gpusort_attach_view(gpusort_member(toc, GPUSORT_OUT_MEMBER_VIEW), &view, &mapping))
		return;
	find_varlenas(worker, gpusort_member(toc, GPUSORT_OUT_MEMBER_COLUMNS), desc);
	gpusort_sort_slices_open_view(&worker->source, &worker->task->slices, &view, desc);
	write_all(worker);
	gpusort_sort_slices_close(&worker->source);
	gpusort_detach_view(&mapping);
}

static OutWorker *
begin_worker(dsm_segment *segment, shm_toc *toc)
{
	OutWorker  *worker = palloc0(sizeof(OutWorker));

	worker->task = gpusort_member(toc, GPUSORT_OUT_MEMBER_TASK);
	worker->queue = gpusort_queues_join(gpusort_member(toc, GPUSORT_OUT_MEMBER_QUEUES),
										GPUSORT_OUT_QUEUE_BYTES, segment);
	worker->rows = gpusort_out_begin_rows(&worker->task->format,
										  gpusort_member(toc, GPUSORT_OUT_MEMBER_COLUMNS));
	initStringInfo(&worker->buffer);
	enlargeStringInfo(&worker->buffer, GPUSORT_OUT_PIECE_BYTES);
	return worker;
}

void
gpusort_out_worker(dsm_segment *segment, shm_toc *toc)
{
	OutWorker  *worker;

	gpusort_begin_worker(toc);
	gpusort_worker_fault("the start of writing rows");
	worker = begin_worker(segment, toc);
	if (OidIsValid(worker->task->slices.table))
		write_table(worker);
	else
		write_view(worker, toc);
	gpusort_worker_fault("the end of writing rows");
	shm_mq_detach(worker->queue);
	gpusort_end_worker(toc);
}
