/*
 * index_portions.c
 *		Writes an index by several processes, from rows in temporary files; see
 *		index_write_private.h.
 *
 * How many pages a slice has is known only when its rows are in memory.  So the first and the last
 * block of every slice are set aside at the start, so that neighbours can link to each other, and
 * the blocks between them when the slice is about to be written.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/nbtree.h"
#include "access/parallel.h"
#include "utils/rel.h"

#include "btree/btree.h"
#include "index/index.h"
#include "index/index_build_private.h"
#include "index/index_write_private.h"
#include "sort/sort.h"
#include "sort/sort_result.h"
#include "team/workers.h"

/* The state of a process that writes slices. */
typedef struct PortionWriter
{
	GpuSortSharedSlices *shared;
	GpuSort    *sort;			/* sort whose portions the process takes */
	GpuSortStorage *storage;
	GpuSortSliceWriter slices;
	GpuSortUniqueCheck check;
} PortionWriter;

void
gpusort_divide_index(GpuSort *sort, const GpuSortIndexTarget *target)
{
	gpusort_divide(sort, IndexRelationGetNumberOfKeyAttributes(target->index),
				   GPUSORT_SLICE_MIN_ROWS);
}

static PortionWriter *
begin_writer(GpuSortSharedSlices *shared, const GpuSortIndexTarget *target, GpuSort *sort,
			 const GpuSortNoteSink *sink)
{
	PortionWriter *writer = palloc(sizeof(PortionWriter));

	writer->shared = shared;
	writer->sort = sort;
	writer->storage = gpusort_storage_begin(target->index);
	gpusort_slice_writer_begin(&writer->slices, target, writer->storage, sink);
	gpusort_index_unique_begin(&writer->check, target);
	return writer;
}

/* Take the next slice.  Returns false if there is none left. */
static bool
take_slice(PortionWriter *writer, GpuSortSlice *slice)
{
	GpuSortSharedSlices *shared = writer->shared;
	uint32		count = shared->portions.count;

	gpusort_storage_lock(writer->storage);
	slice->number = shared->next;
	if (shared->next < count)
		shared->next++;
	gpusort_storage_unlock(writer->storage);
	if (slice->number == count)
		return false;
	slice->first = shared->ends + 2 * slice->number;
	slice->last = slice->first + 1;
	slice->left = slice->number > 0 ? slice->first - 1 : P_NONE;
	slice->right = slice->number + 1 < count ? slice->last + 1 : P_NONE;
	slice->middle = slice->middle_end = P_NONE;
	gpusort_take_portion(writer->sort, slice->number, &slice->from, &slice->to);
	return true;
}

/* Set aside as many blocks as the slice is sure to need, given that a view shows all its rows. */
static void
set_aside(PortionWriter *writer, const GpuSortView *view, GpuSortSlice *slice)
{
	uint32		pages;

	gpusort_slice_writer_open_view(&writer->slices, view, slice->from);
	pages = gpusort_slice_min_pages(&writer->slices.stream, 0, view->nrows);
	if (pages <= 2)
		return;
	slice->middle = gpusort_storage_claim(writer->storage, pages - 2);
	slice->middle_end = slice->middle + pages - 2;
}

/*
 * Returns the first tuple of the next slice, from which this slice's last high key is made, or NULL
 * if there is none.
 */
static IndexTuple
next_tuple(GpuSort *sort, const GpuSortSlice *slice)
{
	IndexTuple	tuple;

	if (slice->right == P_NONE)
		return NULL;
	tuple = gpusort_tuple_behind(sort, slice->to);
	/*
	 * this process has not checked the next slice, so the tuple may be marked as dead, and btree
	 * would take the mark for a pivot tuple's
	 */
	gpusort_unmark_tuple(tuple);
	return tuple;
}

/* Read a slice back, check its uniqueness and write its pages, a window at a time. */
static void
write_slice(PortionWriter *writer, GpuSortSlice *slice)
{
	uint64		to;

	for (uint64 position = slice->from; position < slice->to; position = to)
	{
		GpuSortView view;

		to = gpusort_result_window(writer->sort, position, &view);
		gpusort_index_unique_judge(&writer->check, writer->sort, &view, NULL);
		if (position == slice->from)
		{
			if (to == slice->to)
				set_aside(writer, &view, slice);
			gpusort_slice_writer_start(&writer->slices, slice);
		}
		gpusort_slice_writer_open_view(&writer->slices, &view, position);
		gpusort_slice_writer_put(&writer->slices, position, to);
	}
	gpusort_slice_writer_end(&writer->slices, next_tuple(writer->sort, slice));
}

/* Take and write slices until there are no more. */
static void
write_slices(PortionWriter *writer)
{
	GpuSortSlice slice;

	while (take_slice(writer, &slice))
	{
		gpusort_worker_fault("a slice of an index");
		write_slice(writer, &slice);
	}
}

uint32
gpusort_portions_write(const GpuSortIndexSlices *slices, const GpuSortIndexTarget *target,
					   GpuSort *sort)
{
	GpuSortSharedSlices *shared = slices->shared;
	GpuSortNoteSink sink = gpusort_notes_own_sink(slices->notes);
	PortionWriter *writer;

	if (!gpusort_share_portions(sort, &shared->portions))
		return 0;
	writer = begin_writer(shared, target, sort, &sink);
	gpusort_notes_begin(slices->notes, writer->storage, sort);
	gpusort_storage_share(writer->storage, &shared->file);
	(void) gpusort_storage_new_block(writer->storage);	/* metapage */
	shared->ends = gpusort_storage_claim(writer->storage, 2 * shared->portions.count);
	shared->by_portions = true;
	gpusort_stage_set(slices->stage, GPUSORT_STAGE_WRITE);
	write_slices(writer);
	gpusort_notes_finish(slices->notes, shared->portions.count,
						 writer->slices.stream.allequalimage);
	gpusort_storage_finish(writer->storage);
	return shared->portions.count;
}

void
gpusort_portions_help(GpuSortSharedSlices *shared, const GpuSortIndexTarget *target,
					  shm_mq_handle *notes)
{
	GpuSortNoteSink sink = gpusort_notes_queue_sink(notes);
	PortionWriter *writer;
	GpuSortSpec spec;
	const char *reason;
	GpuSort    *part;

	if (ParallelWorkerNumber >= shared->portions.workers ||
		!gpusort_index_sort_spec(target->index, &spec, &reason))
		return;
	part = gpusort_parts_begin_index_part(gpusort_parts_attach(shared->portions.parts),
										  target->index, &spec);
	if (part == NULL)
		return;
	gpusort_open_portions(part, &shared->portions);
	writer = begin_writer(shared, target, part, &sink);
	gpusort_storage_share(writer->storage, &shared->file);
	write_slices(writer);
	gpusort_end(part);
}
