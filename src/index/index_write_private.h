/*
 * index_write_private.h
 *		Writes an index, by one process or several.
 */
#ifndef GPUSORT_INDEX_WRITE_PRIVATE_H
#define GPUSORT_INDEX_WRITE_PRIVATE_H

#include "access/parallel.h"
#include "port/atomics.h"
#include "storage/condition_variable.h"
#include "utils/relcache.h"

#include "btree/btree.h"
#include "sort/sort.h"
#include "sort/sort_parts.h"
#include "sort/sort_view.h"
#include "table/storage.h"
#include "team/workers.h"

/* ---------- writer: a complete btree index from a sorted stream of index tuples ---------- */

/*
 * The writer takes over where a btree build has sorted its tuples.  It fills an index whose file is
 * still empty with pages of the ordinary format, and leaves it as the server's own build would: the
 * same tuples on the same pages, WAL-logged, checksummed and safe against a crash after commit.
 *
 * Tuples are copied straight from the sort to their page.  The sort also says which tuples equal
 * their predecessor, which spares the writer a comparison per tuple.
 *
 * There is no state outside the writer, so builds may nest.  An ERROR at any point needs no
 * cleaning up: the file belongs to the transaction that created it and goes away with it, and the
 * writer's memory belongs to the context that was current when it began.
 *
 * Until the index is written, its file is not a btree.
 */

typedef struct GpuSortIndexWriter GpuSortIndexWriter;

/*
 * Begin to fill the index, a btree without any block.  The writer is allocated in the current
 * context.
 */
extern GpuSortIndexWriter *gpusort_index_writer_begin(const GpuSortIndexTarget *target,
													  GpuSort *sort);

/*
 * Append the tuples of a view, which follow those of the view before.  The view may go away
 * afterwards.
 *
 * Raises the server's error if a tuple is too large for a btree page.
 */
extern void gpusort_index_writer_put(GpuSortIndexWriter *writer, const GpuSortView *view);

/* Complete the index, after all tuples have been put. */
extern void gpusort_index_writer_finish(GpuSortIndexWriter *writer);

/* ---------- stage: what the workers are to do ---------- */

/*
 * Workers that have read their share of the table help the leader to sort, until the leader sets
 * the next stage.  They read the sorted rows through a view of the sort.
 */

typedef enum GpuSortStage
{
	/* the leader reads the table, then sorts and verifies with its team */
	GPUSORT_STAGE_WAIT,
	GPUSORT_STAGE_WRITE,
	GPUSORT_STAGE_END			/* there is nothing for workers to write */
} GpuSortStage;

/* The current stage, in shared memory. */
typedef struct GpuSortSharedStage
{
	ConditionVariable changed;
	pg_atomic_uint32 stage;
} GpuSortSharedStage;

/* What the leader needs to set the stage. */
typedef struct GpuSortStageControl
{
	GpuSortSharedStage *shared;
	ParallelContext *context;	/* the workers' context */
	Relation	index;
	GpuSort    *sort;
	GpuSortSharedView *view;	/* view of the sort, filled in if it is published */
	GpuSortTeam *team;			/* workers that help to sort, and wait until that is done */
	bool		published;
} GpuSortStageControl;

extern void gpusort_stage_init(GpuSortSharedStage *shared);

/*
 * Publish the sort's view, so that workers can map it; called by the leader.  Returns false if some
 * of the sort's memory is private.
 */
extern bool gpusort_stage_publish(GpuSortStageControl *control);

/* Set the stage; called by the leader.  From then on its workers no longer help to sort. */
extern void gpusort_stage_set(GpuSortStageControl *control, GpuSortStage stage);

/* Let workers end that still wait for something to write; called by the leader. */
extern void gpusort_stage_end(GpuSortStageControl *control);

/*
 * Report that a worker has ended before its part of the work was done; called by the leader.
 * Raises the worker's own error if it has sent one, else an error that says that the index was left
 * undone.
 */
extern void gpusort_stage_fail(GpuSortStageControl *control) __attribute__((noreturn));

/* Wait in a worker for what comes after the sort, and return that stage. */
extern GpuSortStage gpusort_stage_await(GpuSortSharedStage *shared);

/* ---------- notes: leaf pages that processes have written ---------- */

/*
 * The upper levels of the index are made from them.
 *
 * A note is a leaf page's block number and high key.  Each worker sends its notes through a
 * queue, and the leader takes them in the order of slices.  The leader writes slices itself, and
 * looks into the queues whenever it has written some pages; what it has to do for a worker's
 * page is next to nothing.  A worker that is far ahead waits while its queue is full.  The
 * worker whose slice is next never waits for long, so all of them make progress.
 *
 * A worker that ends without an error message leaves its queue detached and a slice missing, by
 * which the leader notices it.
 */

/* The leader's state. */
typedef struct GpuSortIndexNotes GpuSortIndexNotes;

/* Returns the declaration of the member of shared memory that the queues of so many workers are. */
extern GpuSortMember gpusort_notes_member(int workers);

/* Attach the leader to the queues, once the workers are launched. */
extern GpuSortIndexNotes *gpusort_notes_attach(char *member, GpuSortStageControl *stage);

/*
 * Prepare the leader to take notes of pages that are going to be written to this storage, from the
 * rows of this sort.
 */
extern void gpusort_notes_begin(GpuSortIndexNotes *notes, GpuSortStorage *storage, GpuSort *sort);

/* Returns the sink for notes of pages that the leader writes itself. */
extern GpuSortNoteSink gpusort_notes_own_sink(GpuSortIndexNotes *notes);

/*
 * Wait in the leader for the notes of all slices, then complete the upper levels and the metapage.
 */
extern void gpusort_notes_finish(GpuSortIndexNotes *notes, uint32 nslices, bool allequalimage);

/* Attach a worker to its queue, and make the sink that sends its notes there. */
extern shm_mq_handle *gpusort_notes_join(char *member, dsm_segment *segment);
extern GpuSortNoteSink gpusort_notes_queue_sink(shm_mq_handle *queue);

/* ---------- slices: an index written by several processes ---------- */

/*
 * The sorted order is cut into slices.  Every process, the leader among them, takes one slice after
 * another, forms its leaf pages and writes them, WAL included.  The leader gets a note of each page
 * (GpuSortIndexNotes), and makes the upper levels from these notes.
 */

/* What the processes share; zero at first. */
typedef struct GpuSortSharedSlices
{
	/* set before the stage is WRITE */
	GpuSortSliceCuts cuts;

	/* protected by the index's extension lock */
	GpuSortSharedFile file;
	uint32		next;			/* slice that is taken next */
	BlockNumber left;			/* last block of the slice before `next` */
	BlockNumber first;			/* first and last of the blocks set aside for `next` */
	BlockNumber last;

	/*
	 * only if slices are portions of a spilled sort; set before the stage is
	 * WRITE
	 */
	bool		by_portions;
	GpuSortSharedPortions portions;
	BlockNumber ends;			/* first of 2 blocks for each slice, its first and its last */
} GpuSortSharedSlices;

/* What the leader needs to write slices. */
typedef struct GpuSortIndexSlices
{
	GpuSortSharedSlices *shared;
	GpuSortStageControl *stage;
	GpuSortIndexNotes *notes;
} GpuSortIndexSlices;

/*
 * Write the index with the workers' help; called by the leader.  Returns the number of slices, or
 * 0, with nothing done, if the sort is not all in the pool or the index is too small.
 */
extern uint32 gpusort_slices_write(const GpuSortIndexSlices *slices,
								   const GpuSortIndexTarget *target, GpuSort *sort,
								   const GpuSortView *view);

/* Help the leader write, in a worker.  Notes of the pages go to the queue `notes`. */
extern void gpusort_slices_help(GpuSortSharedSlices *shared, const GpuSortIndexTarget *target,
								const GpuSortView *view, shm_mq_handle *notes);

/* ---------- portions: the same from rows in temporary files ---------- */

/*
 * Here a slice is a portion of the sort's runs (sort/sort_parts.h).  The
 * process that takes it reads it back, sorts it and checks its uniqueness, window by window, and
 * forms its pages.  Portions never divide rows that are equal in all key columns, so neither
 * uniqueness nor posting lists cross their edges.
 */

/*
 * Make the sort divide its rows into portions that can be slices, should it spill.  Called before
 * the sort is performed.
 */
extern void gpusort_divide_index(GpuSort *sort, const GpuSortIndexTarget *target);

/*
 * Write the index with the workers' help; called by the leader.  Returns the number of slices, or
 * 0, with nothing done, if the portions can't be shared with workers.
 */
extern uint32 gpusort_portions_write(const GpuSortIndexSlices *slices,
									 const GpuSortIndexTarget *target, GpuSort *sort);

/* Help the leader write, in a worker.  Notes of the pages go to the queue `notes`. */
extern void gpusort_portions_help(GpuSortSharedSlices *shared, const GpuSortIndexTarget *target,
								  shm_mq_handle *notes);

#endif							/* GPUSORT_INDEX_WRITE_PRIVATE_H */
