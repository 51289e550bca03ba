/*
 * index_slices.c
 *		Writes an index by several processes; see index_write_private.h.
 *
 * 	slices ──taken in order──▶ btree/btree_slices, in each process ──page──▶ file, WAL
 * 	                                     └─notes─▶ the leader ──▶ btree_levels ──page──┘
 *
 * Workers' errors reach the leader through the server's own error queues.
 */
#include "postgres.h"

#include "access/nbtree.h"
#include "miscadmin.h"
#include "utils/wait_event.h"

#include "btree/btree.h"
#include "index/index.h"
#include "index/index_build_private.h"
#include "index/index_write_private.h"
#include "pg_compat.h"
#include "settings.h"
#include "team/worker_wait.h"
#include "team/workers.h"

/* ---------- notes ---------- */

/* Wait event of a leader that waits for workers' notes; 0 until it is first used. */
static uint32 wait_event = 0;

/*
 * Size of a worker's queue: has room for the notes of some slices of int8 keys, and for any high
 * key.
 */
#define QUEUE_BYTES		((Size) 128 * 1024)

/* A worker's queue, as the leader sees it. */
typedef struct NoteQueue
{
	shm_mq_handle *handle;		/* NULL once the worker has detached */
	/* received, but of a slice whose turn has not come; NULL if there is none */
	const GpuSortSliceNotes *front;
} NoteQueue;

/* List of the leader's own notes that wait until the notes of earlier slices have come. */
typedef struct OwnNotes
{
	struct OwnNotes *next;
	GpuSortSliceNotes *notes;
} OwnNotes;

struct GpuSortIndexNotes
{
	GpuSortStageControl *stage;

	/* where notes come from */
	int			nqueues;
	NoteQueue  *queues;
	OwnNotes   *own_first;
	OwnNotes   *own_last;

	/* what is made of them */
	GpuSortLevels levels;
	uint32		next_slice;		/* slice whose notes are taken next */
	uint64		ntuples;
	GpuSort    *sort;			/* whose rows they are */
	/* low key of the page that is noted next, which is the high key of the page before */
	char	   *low_key;
};

GpuSortMember
gpusort_notes_member(int workers)
{
	return gpusort_queues_member(workers, QUEUE_BYTES);
}

GpuSortIndexNotes *
gpusort_notes_attach(char *member, GpuSortStageControl *stage)
{
	GpuSortIndexNotes *notes = palloc0(sizeof(GpuSortIndexNotes));
	shm_mq_handle **handles = gpusort_queues_attach(member, QUEUE_BYTES, stage->context);

	notes->stage = stage;
	notes->nqueues = stage->context->nworkers_launched;
	notes->queues = palloc0(notes->nqueues * sizeof(NoteQueue));
	for (int i = 0; i < notes->nqueues; i++)
		notes->queues[i].handle = handles[i];
	return notes;
}

void
gpusort_notes_begin(GpuSortIndexNotes *notes, GpuSortStorage *storage, GpuSort *sort)
{
	notes->sort = sort;
	notes->low_key = palloc0(GPUSORT_PAGE_MAX_PIVOT);
	gpusort_pivot_remove_key((IndexTuple) notes->low_key);
	gpusort_levels_begin(&notes->levels, storage);
}

/* Add the downlinks to the pages of these notes, which are next in index order. */
static void
take_notes(GpuSortIndexNotes *all, const GpuSortSliceNotes *notes)
{
	const char *at = (const char *) (notes + 1);

	Assert(notes->slice == all->next_slice);
	for (uint32 i = 0; i < notes->npages; i++)
	{
		const GpuSortSliceNote *note = (const GpuSortSliceNote *) at;

		gpusort_levels_add(&all->levels, (IndexTuple) all->low_key, note->block);
		memcpy(all->low_key, note + 1, note->high_key_bytes);
		at = (const char *) (note + 1) + note->high_key_bytes;
	}
	if (notes->last)
		all->next_slice++;
	all->ntuples += notes->ntuples;
}

/* Take the leader's own first notes if their turn has come.  Returns whether it had. */
static bool
take_own_notes(GpuSortIndexNotes *all)
{
	OwnNotes   *own = all->own_first;

	if (own == NULL || own->notes->slice != all->next_slice)
		return false;
	take_notes(all, own->notes);
	all->own_first = own->next;
	if (own->next == NULL)
		all->own_last = NULL;
	pfree(own->notes);
	pfree(own);
	return true;
}

/* Take the first notes in a worker's queue if their turn has come.  Returns whether it had. */
static bool
take_queued_notes(GpuSortIndexNotes *all, NoteQueue *queue)
{
	if (queue->front == NULL && queue->handle != NULL)
	{
		Size		bytes;
		void	   *data;

		switch (shm_mq_receive(queue->handle, &bytes, &data, true))
		{
			case SHM_MQ_SUCCESS:
				queue->front = data;
				break;
			case SHM_MQ_WOULD_BLOCK:
				break;
			case SHM_MQ_DETACHED:
				queue->handle = NULL;
				break;
		}
	}
	if (queue->front == NULL || queue->front->slice != all->next_slice)
		return false;
	take_notes(all, queue->front);
	queue->front = NULL;
	return true;
}

/* Take all notes whose turn has come, from the leader and from all queues. */
static void
take_due_notes(GpuSortIndexNotes *all)
{
	bool		any;

	do
	{
		any = take_own_notes(all);
		for (int i = 0; i < all->nqueues; i++)
			any |= take_queued_notes(all, &all->queues[i]);
	} while (any);
	gpusort_progress_tuples(all->ntuples);
	gpusort_show_returned(all->sort, all->ntuples);
}

/* The leader's `send` of a GpuSortNoteSink. */
static void
keep_notes(void *arg, const GpuSortSliceNotes *notes, Size bytes)
{
	GpuSortIndexNotes *all = arg;
	OwnNotes   *own = palloc0(sizeof(OwnNotes));

	own->notes = memcpy(palloc(bytes), notes, bytes);
	if (all->own_last != NULL)
		all->own_last->next = own;
	else
		all->own_first = own;
	all->own_last = own;
	take_due_notes(all);
}

GpuSortNoteSink
gpusort_notes_own_sink(GpuSortIndexNotes *notes)
{
	return (GpuSortNoteSink) {.send = keep_notes, .arg = notes};
}

/* Returns whether some worker may still send notes. */
static bool
any_sender(const GpuSortIndexNotes *all)
{
	for (int i = 0; i < all->nqueues; i++)
		if (all->queues[i].handle != NULL)
			return true;
	return false;
}

/* Wait until the notes of all slices have been taken. */
static void
await_notes(GpuSortIndexNotes *all, uint32 nslices)
{
	for (;;)
	{
		bool		others = any_sender(all);

		CHECK_FOR_INTERRUPTS();
		take_due_notes(all);
		if (all->next_slice == nslices)
			return;
		if (!others)
			gpusort_stage_fail(all->stage);
		if (!any_sender(all))
			/* the last worker has detached since: look once more at what it had sent */
			continue;
		gpusort_worker_await_latch(gpusort_wait_event(&wait_event, "GpuSortIndexPages"));
	}
}

void
gpusort_notes_finish(GpuSortIndexNotes *notes, uint32 nslices, bool allequalimage)
{
	BlockNumber root;
	uint32		height;

	await_notes(notes, nslices);
	root = gpusort_levels_finish(&notes->levels, &height);
	gpusort_levels_write_metapage(&notes->levels, root, height, allequalimage);
}

shm_mq_handle *
gpusort_notes_join(char *member, dsm_segment *segment)
{
	return gpusort_queues_join(member, QUEUE_BYTES, segment);
}

/* A worker's `send` of a GpuSortNoteSink. */
static void
queue_notes(void *arg, const GpuSortSliceNotes *notes, Size bytes)
{
	if (shm_mq_send(arg, bytes, notes, false, true) != SHM_MQ_SUCCESS)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("lost connection to the leader of a parallel index build")));
}

GpuSortNoteSink
gpusort_notes_queue_sink(shm_mq_handle *queue)
{
	return (GpuSortNoteSink) {.send = queue_notes, .arg = queue};
}

/* ---------- slices ---------- */

/*
 * Set aside the blocks of the slice that is taken next.  The caller holds the storage's lock,
 * unless no worker writes yet.
 */
static void
set_aside(GpuSortSharedSlices *shared, GpuSortSliceWriter *writer)
{
	uint32		pages = gpusort_slice_cuts_min_pages(&shared->cuts, &writer->stream, shared->next);

	shared->first = gpusort_storage_claim(writer->storage, pages);
	shared->last = shared->first + pages - 1;
}

/* Take the next slice.  Returns false if there is none left. */
static bool
take_slice(GpuSortSharedSlices *shared, GpuSortSliceWriter *writer, GpuSortSlice *slice)
{
	const GpuSortSliceCuts *cuts = &shared->cuts;
	bool		any;

	gpusort_storage_lock(writer->storage);
	any = shared->next < cuts->nslices;
	if (any)
	{
		slice->number = shared->next++;
		slice->from = gpusort_slice_cuts_start(cuts, &writer->stream, slice->number);
		slice->to = gpusort_slice_cuts_start(cuts, &writer->stream, slice->number + 1);
		slice->left = shared->left;
		slice->first = shared->first;
		slice->middle = shared->first + 1;
		slice->middle_end = slice->last = shared->last;
		slice->right = P_NONE;
		shared->left = slice->last;
		if (shared->next < cuts->nslices)
		{
			set_aside(shared, writer);
			slice->right = shared->first;
		}
	}
	gpusort_storage_unlock(writer->storage);
	return any;
}

/* Take and write slices until there are no more. */
static void
write_slices(GpuSortSharedSlices *shared, GpuSortSliceWriter *writer)
{
	const GpuSortView *view = &writer->stream.view;
	GpuSortSlice slice;

	while (take_slice(shared, writer, &slice))
	{
		gpusort_worker_fault("a slice of an index");
		gpusort_slice_writer_start(writer, &slice);
		gpusort_slice_writer_put(writer, slice.from, slice.to);
		gpusort_slice_writer_end(writer, slice.to == view->nrows ? NULL
								 : gpusort_view_row(view, slice.to));
	}
}

/* Prepare the file and the first slice, and tell the workers to write. */
static void
begin_writing(const GpuSortIndexSlices *slices, GpuSortSliceWriter *writer, GpuSort *sort)
{
	GpuSortSharedSlices *shared = slices->shared;

	gpusort_notes_begin(slices->notes, writer->storage, sort);
	gpusort_storage_share(writer->storage, &shared->file);
	(void) gpusort_storage_new_block(writer->storage);	/* metapage */
	shared->left = P_NONE;
	set_aside(shared, writer);
	gpusort_stage_set(slices->stage, GPUSORT_STAGE_WRITE);
}

uint32
gpusort_slices_write(const GpuSortIndexSlices *slices, const GpuSortIndexTarget *target,
					 GpuSort *sort, const GpuSortView *view)
{
	GpuSortSliceCuts *cuts = &slices->shared->cuts;
	GpuSortNoteSink sink = gpusort_notes_own_sink(slices->notes);
	GpuSortSliceWriter *writer;

	if (view->nrows < 2 * GPUSORT_SLICE_MIN_ROWS)
		return 0;
	writer = palloc(sizeof(GpuSortSliceWriter));
	gpusort_slice_writer_begin(writer, target, gpusort_storage_begin(target->index), &sink);
	gpusort_slice_writer_open_view(writer, view, 0);
	gpusort_slice_cuts_make(cuts, &writer->stream, gpusort_slice_pages);
	if (cuts->nslices < 2 || !gpusort_stage_publish(slices->stage))
		return 0;

	begin_writing(slices, writer, sort);
	write_slices(slices->shared, writer);
	gpusort_notes_finish(slices->notes, cuts->nslices, writer->stream.allequalimage);
	gpusort_storage_finish(writer->storage);
	return cuts->nslices;
}

void
gpusort_slices_help(GpuSortSharedSlices *shared, const GpuSortIndexTarget *target,
					const GpuSortView *view, shm_mq_handle *notes)
{
	GpuSortStorage *storage = gpusort_storage_begin(target->index);
	GpuSortSliceWriter *writer = palloc(sizeof(GpuSortSliceWriter));
	GpuSortNoteSink sink = gpusort_notes_queue_sink(notes);

	gpusort_storage_share(storage, &shared->file);
	gpusort_slice_writer_begin(writer, target, storage, &sink);
	gpusort_slice_writer_open_view(writer, view, 0);
	write_slices(shared, writer);
}
