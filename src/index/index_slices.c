/*
 * index_slices.c
 *		An index written by several processes; see index_slices.h.
 *
 *	slices ──taken in order──▶ slice_writer, in each process ──page──▶ file, WAL
 *	                                     └─notes─▶ the leader ──▶ btree_levels ──page──┘
 *
 * Workers that have read their share of the table wait until the leader has sorted
 * and says what is next.
 *
 * Notes travel through a queue for each worker.  The leader takes them in the order
 * of slices.  It writes slices itself, and looks into the queues whenever it has
 * written some pages: what it does for a page of somebody else is next to nothing.
 * A worker that is far ahead waits while its queue is full; the one whose slice is
 * next never waits for long, so all of them get on.
 *
 * Errors travel the server's way, and so does the end of a worker that could not say
 * anything: the leader finds its queue detached, and a slice missing.
 */
#include "postgres.h"

#include "access/nbtree.h"
#include "commands/progress.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "port/atomics.h"
#include "storage/condition_variable.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "storage/proc.h"

#include "btree/btree_levels.h"
#include "index/index_slices.h"
#include "btree/btree_storage.h"
#include "memory/pool.h"
#include "settings.h"
#include "btree/btree_slice_cuts.h"
#include "btree/btree_slice_writer.h"
#include "sort/sort_verify.h"

/* Of notes: some slices of int8 keys, and any high key. */
#define QUEUE_BYTES		((Size) 128 * 1024)

/* How often to look after workers that are waited for. */
#define LOST_WORKER_MS	100

/* How long a slice takes at least that a fault makes slow. */
#define SLOW_SLICE_MS	100

/* What a worker is waiting to be told. */
typedef enum SliceStage
{
	SLICE_STAGE_WAIT,			/* the leader collects and sorts */
	SLICE_STAGE_VERIFY,			/* ... and has its order verified; may be skipped */
	SLICE_STAGE_WRITE,
	SLICE_STAGE_END				/* nothing to write for workers */
} SliceStage;

struct GpuSortSharedSlices
{
	int			workers;
	ConditionVariable stage_changed;
	pg_atomic_uint32 stage;

	/* made before the stage is VERIFY */
	GpuSortVerifyWork verify;
	ConditionVariable verified;

	/* set before the stage is WRITE */
	GpuSortSliceCuts cuts;

	/* protected by the index's extension lock */
	GpuSortSharedFile file;
	uint32		next_slice;
	BlockNumber left;			/* last block of the slice before that */
	BlockNumber first;			/* blocks set aside for it */
	BlockNumber last;

	/* followed by the queues and the shared view */
};

/* A worker's queue, as the leader sees it. */
typedef struct NoteQueue
{
	shm_mq_handle *handle;		/* NULL: detached */
	const GpuSortSliceNotes *front;	/* received, but not its turn yet; NULL: none */
} NoteQueue;

/* The leader's own notes that have to wait for others' slices. */
typedef struct OwnNotes
{
	struct OwnNotes *next;
	GpuSortSliceNotes *notes;
} OwnNotes;

struct GpuSortIndexSlices
{
	GpuSortSharedSlices *shared;
	ParallelContext *context;
	int			nqueues;
	NoteQueue  *queues;
	bool		published;		/* the view of the sort */
	GpuSortVerifyCrew crew;

	/* writing */
	GpuSortSliceWriter writer;
	GpuSortLevels levels;
	uint32		next_notes;		/* slice whose notes are next */
	OwnNotes   *own_first;
	OwnNotes   *own_last;
	uint64		ntuples;
	char	   *low_key;		/* of the page noted next */
};

static char *
queue_space(GpuSortSharedSlices *shared, int worker)
{
	return (char *) shared + MAXALIGN(sizeof(*shared)) + worker * QUEUE_BYTES;
}

static GpuSortSharedView *
shared_view(GpuSortSharedSlices *shared)
{
	return (GpuSortSharedView *) queue_space(shared, shared->workers);
}

Size
gpusort_slices_bytes(int workers)
{
	if (gpusort_pool == NULL)
		return 0;
	return add_size(MAXALIGN(sizeof(GpuSortSharedSlices)),
					add_size(mul_size(QUEUE_BYTES, workers), gpusort_shared_view_bytes()));
}

void
gpusort_slices_init(GpuSortSharedSlices *shared, int workers)
{
	memset(shared, 0, sizeof(*shared));
	shared->workers = workers;
	ConditionVariableInit(&shared->stage_changed);
	pg_atomic_init_u32(&shared->stage, SLICE_STAGE_WAIT);
	ConditionVariableInit(&shared->verified);
	for (int i = 0; i < workers; i++)
		shm_mq_set_receiver(shm_mq_create(queue_space(shared, i), QUEUE_BYTES), MyProc);
}

static void
set_stage(GpuSortSharedSlices *shared, SliceStage stage)
{
	/* what was written before must be seen by those who see the stage */
	pg_memory_barrier();
	pg_atomic_write_u32(&shared->stage, stage);
	ConditionVariableBroadcast(&shared->stage_changed);
}

void
gpusort_slices_end(GpuSortIndexBuild *build)
{
	if (build->slices != NULL &&
		pg_atomic_read_u32(&build->slices->shared->stage) < SLICE_STAGE_WRITE)
		set_stage(build->slices->shared, SLICE_STAGE_END);
}

/* ---------- verifying ---------- */

/* Let workers see the sort; once, for its memory stays what it is. */
static bool
publish_sort(GpuSortIndexBuild *build)
{
	GpuSortIndexSlices *slices = build->slices;

	if (!slices->published)
		slices->published = gpusort_publish_view(build->sort, shared_view(slices->shared));
	return slices->published;
}

/* A GpuSortVerifyCrew's summon. */
static bool
summon_verifiers(void *arg)
{
	GpuSortIndexBuild *build = arg;

	if (!publish_sort(build))
		return false;
	set_stage(build->slices->shared, SLICE_STAGE_VERIFY);
	return true;
}

/* Has a worker ended that should not have? */
static bool
any_worker_lost(const GpuSortIndexSlices *slices)
{
	for (int i = 0; i < slices->nqueues; i++)
	{
		pid_t		pid;

		if (GetBackgroundWorkerPid(slices->context->worker[i].bgwhandle, &pid) == BGWH_STOPPED)
			return true;
	}
	return false;
}

/* A GpuSortVerifyCrew's await. */
static void
await_verifiers(void *arg)
{
	GpuSortIndexBuild *build = arg;
	GpuSortIndexSlices *slices = build->slices;
	GpuSortSharedSlices *shared = slices->shared;

	while (!gpusort_verify_is_done(&shared->verify))
	{
		if (ConditionVariableTimedSleep(&shared->verified, LOST_WORKER_MS, PG_WAIT_EXTENSION) &&
			any_worker_lost(slices))
		{
			/* it has the error message, if a worker has failed */
			gpusort_slices_end(build);
			WaitForParallelWorkersToFinish(slices->context);
			elog(ERROR, "a worker of an index build was lost");
		}
	}
	ConditionVariableCancelSleep();
}

void
gpusort_slices_attach(GpuSortIndexBuild *build, GpuSortSharedSlices *shared,
					  ParallelContext *context)
{
	GpuSortIndexSlices *slices = palloc0(sizeof(GpuSortIndexSlices));

	slices->shared = shared;
	slices->context = context;
	slices->nqueues = context->nworkers_launched;
	slices->queues = palloc0(slices->nqueues * sizeof(NoteQueue));
	for (int i = 0; i < slices->nqueues; i++)
		slices->queues[i].handle = shm_mq_attach((shm_mq *) queue_space(shared, i), context->seg,
												 context->worker[i].bgwhandle);
	slices->crew = (GpuSortVerifyCrew) {&shared->verify, summon_verifiers, await_verifiers, build};
	gpusort_verify_with(build->sort, &slices->crew);
	build->slices = slices;
}

/* Set blocks aside for the next slice to be taken. */
static void
set_aside(GpuSortSharedSlices *shared, GpuSortSliceWriter *writer)
{
	uint32		pages = gpusort_slice_cuts_min_pages(&shared->cuts, &writer->stream, shared->next_slice);

	shared->first = gpusort_storage_claim(writer->storage, pages);
	shared->last = shared->first + pages - 1;
}

/* Take the next slice; false if there is none left. */
static bool
take_slice(GpuSortSharedSlices *shared, GpuSortSliceWriter *writer, GpuSortSlice *slice)
{
	const GpuSortSliceCuts *cuts = &shared->cuts;
	bool		any;

	gpusort_storage_lock(writer->storage);
	any = shared->next_slice < cuts->nslices;
	if (any)
	{
		slice->number = shared->next_slice++;
		slice->from = gpusort_slice_cuts_start(cuts, &writer->stream, slice->number);
		slice->to = gpusort_slice_cuts_start(cuts, &writer->stream, slice->number + 1);
		slice->left = shared->left;
		slice->first = shared->first;
		slice->last = shared->last;
		slice->right = P_NONE;
		shared->left = slice->last;
		if (shared->next_slice < cuts->nslices)
		{
			set_aside(shared, writer);
			slice->right = shared->first;
		}
	}
	gpusort_storage_unlock(writer->storage);
	return any;
}

/* What goes wrong in a worker's part of something, for testing. */
static void
inject_fault(const char *part)
{
	if (gpusort_inject_fault < GPUSORT_FAULT_SLOW_SLICES)
		return;
	if (IsParallelWorker() && gpusort_inject_fault == GPUSORT_FAULT_WORKER_ERROR)
		elog(ERROR, "injected error in %s of an index", part);
	if (IsParallelWorker() && gpusort_inject_fault == GPUSORT_FAULT_WORKER_EXIT)
		proc_exit(0);
	(void) WaitLatch(NULL, WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, SLOW_SLICE_MS, PG_WAIT_EXTENSION);
	CHECK_FOR_INTERRUPTS();
}

/* Write slices until there are no more. */
static void
write_slices(GpuSortSharedSlices *shared, GpuSortSliceWriter *writer)
{
	GpuSortSlice slice;

	while (take_slice(shared, writer, &slice))
	{
		inject_fault("a slice");
		gpusort_slice_writer_write(writer, &slice);
	}
}

/* ---------- the leader ---------- */

/* Add the downlinks to pages that were noted, which are next. */
static void
take_notes(GpuSortIndexSlices *slices, const GpuSortSliceNotes *notes)
{
	const char *at = (const char *) (notes + 1);

	Assert(notes->slice == slices->next_notes);
	for (uint32 i = 0; i < notes->npages; i++)
	{
		const GpuSortSliceNote *note = (const GpuSortSliceNote *) at;

		gpusort_levels_add(&slices->levels, (IndexTuple) slices->low_key, note->block);
		memcpy(slices->low_key, note + 1, note->high_key_bytes);
		at = (const char *) (note + 1) + note->high_key_bytes;
	}
	if (notes->last)
		slices->next_notes++;
	slices->ntuples += notes->ntuples;
}

/* Take own notes that have become due; true if there were any. */
static bool
take_own_notes(GpuSortIndexSlices *slices)
{
	OwnNotes   *own = slices->own_first;

	if (own == NULL || own->notes->slice != slices->next_notes)
		return false;
	take_notes(slices, own->notes);
	slices->own_first = own->next;
	if (own->next == NULL)
		slices->own_last = NULL;
	pfree(own->notes);
	pfree(own);
	return true;
}

/* The same for a worker's. */
static bool
take_queued_notes(GpuSortIndexSlices *slices, NoteQueue *queue)
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
	if (queue->front == NULL || queue->front->slice != slices->next_notes)
		return false;
	take_notes(slices, queue->front);
	queue->front = NULL;
	return true;
}

/* Take all notes that are due. */
static void
take_due_notes(GpuSortIndexSlices *slices)
{
	bool		any;

	do
	{
		any = take_own_notes(slices);
		for (int i = 0; i < slices->nqueues; i++)
			any |= take_queued_notes(slices, &slices->queues[i]);
	} while (any);
	pgstat_progress_update_param(PROGRESS_CREATEIDX_TUPLES_DONE, slices->ntuples);
}

/* A SliceWriter's send, in the leader. */
static void
keep_notes(void *arg, const GpuSortSliceNotes *notes, Size bytes)
{
	GpuSortIndexSlices *slices = arg;
	OwnNotes   *own = palloc0(sizeof(OwnNotes));

	own->notes = memcpy(palloc(bytes), notes, bytes);
	if (slices->own_last != NULL)
		slices->own_last->next = own;
	else
		slices->own_first = own;
	slices->own_last = own;
	take_due_notes(slices);
}

/* Is anybody there who may still send? */
static bool
any_sender(const GpuSortIndexSlices *slices)
{
	for (int i = 0; i < slices->nqueues; i++)
		if (slices->queues[i].handle != NULL)
			return true;
	return false;
}

/* Wait for the notes of slices that workers have taken. */
static void
await_notes(GpuSortIndexSlices *slices)
{
	for (;;)
	{
		bool		others = any_sender(slices);

		CHECK_FOR_INTERRUPTS();
		take_due_notes(slices);
		if (slices->next_notes == slices->shared->cuts.nslices)
			return;
		if (!others)
		{
			/* it has the error message, if a worker has failed */
			WaitForParallelWorkersToFinish(slices->context);
			elog(ERROR, "slice %u of index was not written", slices->next_notes);
		}
		if (!any_sender(slices))
			continue;			/* the last one has just gone */
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_EXIT_ON_PM_DEATH, 0, PG_WAIT_EXTENSION);
		ResetLatch(MyLatch);
	}
}

/* Begin writing, and let the workers do so. */
static void
begin_writing(GpuSortIndexSlices *slices)
{
	GpuSortSharedSlices *shared = slices->shared;
	GpuSortSliceWriter *writer = &slices->writer;
	IndexTuple	minus_infinity = palloc0(GPUSORT_PAGE_MAX_PIVOT);

	minus_infinity->t_info = sizeof(IndexTupleData);
	BTreeTupleSetNAtts(minus_infinity, 0, false);
	slices->low_key = (char *) minus_infinity;
	writer->send = keep_notes;
	writer->send_arg = slices;
	gpusort_levels_begin(&slices->levels, writer->storage);
	gpusort_storage_share(writer->storage, &shared->file);

	(void) gpusort_storage_new_block(writer->storage);	/* metapage */
	shared->left = P_NONE;
	set_aside(shared, writer);
	set_stage(shared, SLICE_STAGE_WRITE);
}

bool
gpusort_slices_write(GpuSortIndexBuild *build, const GpuSortView *view)
{
	GpuSortIndexSlices *slices = build->slices;
	GpuSortSliceWriter *writer;
	BlockNumber root;
	uint32		height;

	if (slices == NULL || view->nrows < 2 * GPUSORT_SLICE_MIN_ROWS)
		return false;
	writer = &slices->writer;
	gpusort_slice_writer_begin(writer, view, build, gpusort_storage_begin(build->index));
	gpusort_slice_cuts_make(&slices->shared->cuts, &writer->stream, gpusort_slice_pages);
	if (slices->shared->cuts.nslices < 2 || !publish_sort(build))
		return false;

	begin_writing(slices);
	write_slices(slices->shared, writer);
	await_notes(slices);
	root = gpusort_levels_finish(&slices->levels, &height);
	gpusort_levels_write_metapage(&slices->levels, root, height, writer->stream.allequalimage);
	gpusort_storage_finish(writer->storage);
	build->slices_written = slices->shared->cuts.nslices;
	return true;
}

/* ---------- workers ---------- */

shm_mq_handle *
gpusort_slices_join(GpuSortSharedSlices *shared, dsm_segment *segment)
{
	shm_mq	   *queue = (shm_mq *) queue_space(shared, ParallelWorkerNumber);

	shm_mq_set_sender(queue, MyProc);
	return shm_mq_attach(queue, segment, NULL);
}

/* A SliceWriter's send, in a worker. */
static void
queue_notes(void *arg, const GpuSortSliceNotes *notes, Size bytes)
{
	if (shm_mq_send(arg, bytes, notes, false, true) != SHM_MQ_SUCCESS)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("the leader of an index build is gone")));
}

/* Wait for another stage than the one that was seen. */
static SliceStage
await_stage(GpuSortSharedSlices *shared, SliceStage seen)
{
	SliceStage	stage;

	ConditionVariablePrepareToSleep(&shared->stage_changed);
	while ((stage = pg_atomic_read_u32(&shared->stage)) == seen)
		ConditionVariableSleep(&shared->stage_changed, PG_WAIT_EXTENSION);
	ConditionVariableCancelSleep();
	pg_memory_barrier();
	return stage;
}

static void
verify_slices(GpuSortSharedSlices *shared, const GpuSortView *view, GpuSortIndexBuild *build)
{
	GpuSortSpec spec;
	const char *reason;

	inject_fault("the verification");
	if (gpusort_index_sort_spec(build->index, &spec, &reason))
		gpusort_verify_help(&shared->verify, view, RelationGetDescr(build->index), &spec);
	ConditionVariableBroadcast(&shared->verified);
}

static void
write_as_worker(GpuSortSharedSlices *shared, shm_mq_handle *queue, const GpuSortView *view,
				GpuSortIndexBuild *build)
{
	GpuSortStorage *storage = gpusort_storage_begin(build->index);
	GpuSortSliceWriter *writer = palloc(sizeof(GpuSortSliceWriter));

	gpusort_storage_share(storage, &shared->file);
	gpusort_slice_writer_begin(writer, view, build, storage);
	writer->send = queue_notes;
	writer->send_arg = queue;
	write_slices(shared, writer);
}

void
gpusort_slices_work(GpuSortSharedSlices *shared, shm_mq_handle *queue, GpuSortIndexBuild *build)
{
	SliceStage	stage = await_stage(shared, SLICE_STAGE_WAIT);
	GpuSortViewMapping mapping;
	GpuSortView view;
	bool		attached;

	if (stage == SLICE_STAGE_END)
		return;
	attached = gpusort_attach_view(shared_view(shared), &view, &mapping);
	if (stage == SLICE_STAGE_VERIFY)
	{
		if (attached)
			verify_slices(shared, &view, build);
		stage = await_stage(shared, SLICE_STAGE_VERIFY);
	}
	if (!attached)
		return;
	if (stage == SLICE_STAGE_WRITE)
		write_as_worker(shared, queue, &view, build);
	gpusort_detach_view(&mapping);
}
