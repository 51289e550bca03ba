/*
 * index_notes.h
 *		Notes of the leaf pages that processes have written, and the levels that the
 *		leader makes of them.
 *
 * A note is a page's block and its high key.  Notes travel through a queue for each worker,
 * and the leader takes them in the order of slices.  It writes slices itself, and looks
 * into the queues whenever it has written some pages: what it does for a worker's page is
 * next to nothing.  A worker that is far ahead waits while its queue is
 * full; the one whose slice is next never waits for long, so all of them get on.
 *
 * A worker that ends without a word leaves its queue detached, and a slice missing.
 */
#ifndef GPUSORT_INDEX_NOTES_H
#define GPUSORT_INDEX_NOTES_H

#include "access/parallel.h"
#include "storage/shm_mq.h"

#include "btree/btree_slice_writer.h"
#include "index/index_stage.h"

/* The leader's. */
typedef struct GpuSortIndexNotes GpuSortIndexNotes;

/* Shared memory for so many workers; by the leader, before it launches them. */
extern Size gpusort_notes_bytes(int workers);
extern void gpusort_notes_init(char *space, int workers);

/* By the leader, when the workers are launched. */
extern GpuSortIndexNotes *gpusort_notes_attach(char *space, GpuSortStageControl *stage);

/* By the leader: pages are going to be written to the storage, and noted. */
extern void gpusort_notes_begin(GpuSortIndexNotes *notes, GpuSortStorage *storage);

/* Where the leader's own notes go. */
extern GpuSortNoteSink gpusort_notes_own_sink(GpuSortIndexNotes *notes);

/* By the leader: wait for the notes of all slices, and complete the levels. */
extern void gpusort_notes_finish(GpuSortIndexNotes *notes, uint32 nslices, bool allequalimage);

/* By a worker: its queue, and where its notes go. */
extern shm_mq_handle *gpusort_notes_join(char *space, dsm_segment *segment);
extern GpuSortNoteSink gpusort_notes_queue_sink(shm_mq_handle *queue);

#endif							/* GPUSORT_INDEX_NOTES_H */
