/*
 * index_notes.h
 *		Collects notes of the leaf pages that processes have written, and makes the upper levels
 *		of the index from them.
 *
 * A note is a leaf page's block number and high key.  Each worker sends its notes through a queue,
 * and the leader takes them in the order of slices.  The leader writes slices itself, and looks
 * into the queues whenever it has written some pages; what it has to do for a worker's page is next
 * to nothing.  A worker that is far ahead waits while its queue is full.  The worker whose slice is
 * next never waits for long, so all of them make progress.
 *
 * A worker that ends without an error message leaves its queue detached and a slice missing, by
 * which the leader notices it.
 */
#ifndef GPUSORT_INDEX_NOTES_H
#define GPUSORT_INDEX_NOTES_H

#include "access/parallel.h"
#include "storage/shm_mq.h"

#include "btree/btree.h"
#include "index/index_stage.h"

/* The leader's state. */
typedef struct GpuSortIndexNotes GpuSortIndexNotes;

/*
 * The leader estimates and initialises the shared memory for so many workers before it launches
 * them.
 */
extern Size gpusort_notes_bytes(int workers);
extern void gpusort_notes_init(char *space, int workers);

/* Attach the leader to the queues, once the workers are launched. */
extern GpuSortIndexNotes *gpusort_notes_attach(char *space, GpuSortStageControl *stage);

/* Prepare the leader to take notes of pages that are going to be written to this storage. */
extern void gpusort_notes_begin(GpuSortIndexNotes *notes, GpuSortStorage *storage);

/* Returns the sink for notes of pages that the leader writes itself. */
extern GpuSortNoteSink gpusort_notes_own_sink(GpuSortIndexNotes *notes);

/*
 * Wait in the leader for the notes of all slices, then complete the upper levels and the metapage.
 */
extern void gpusort_notes_finish(GpuSortIndexNotes *notes, uint32 nslices, bool allequalimage);

/* Attach a worker to its queue, and make the sink that sends its notes there. */
extern shm_mq_handle *gpusort_notes_join(char *space, dsm_segment *segment);
extern GpuSortNoteSink gpusort_notes_queue_sink(shm_mq_handle *queue);

#endif							/* GPUSORT_INDEX_NOTES_H */
