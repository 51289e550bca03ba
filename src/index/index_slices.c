/*
 * index_slices.c
 *		Writes an index by several processes; see index_slices.h.
 *
 *	slices ──taken in order──▶ btree/btree_slices, in each process ──page──▶ file, WAL
 *	                                     └─notes─▶ the leader ──▶ btree_levels ──page──┘
 *
 * Workers' errors reach the leader through the server's own error queues.
 */
#include "postgres.h"

#include "access/nbtree.h"

#include "btree/btree.h"
#include "index/index_slices.h"
#include "settings.h"
#include "worker_fault.h"

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
begin_writing(const GpuSortIndexSlices *slices, GpuSortSliceWriter *writer)
{
	GpuSortSharedSlices *shared = slices->shared;

	gpusort_notes_begin(slices->notes, writer->storage);
	gpusort_storage_share(writer->storage, &shared->file);
	(void) gpusort_storage_new_block(writer->storage);	/* metapage */
	shared->left = P_NONE;
	set_aside(shared, writer);
	gpusort_stage_set(slices->stage, GPUSORT_STAGE_WRITE);
}

uint32
gpusort_slices_write(const GpuSortIndexSlices *slices, const GpuSortIndexTarget *target,
					 const GpuSortView *view)
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

	begin_writing(slices, writer);
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
