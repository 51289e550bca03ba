/*
 * spill_files.c
 *		The temporary files of a sort that has spilled; see spill_files.h.
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "sort/sort_memory.h"
#include "sort/sort_state.h"
#include "sort/spill_files.h"

GpuSortSpill *
gpusort_make_spill(GpuSort *sort)
{
	MemoryContext context = AllocSetContextCreate(sort->context, "gpusort runs",
												  ALLOCSET_DEFAULT_SIZES);
	GpuSortSpill *spill = MemoryContextAllocZero(context, sizeof(GpuSortSpill));

	spill->context = context;
	spill->loaded = GPUSORT_NOT_LOADED;
	sort->spill = spill;
	/* workers would need all of the result at once */
	sort->crew = NULL;
	return spill;
}

GpuSortRunFile *
gpusort_begin_run_file(GpuSort *sort)
{
	GpuSortSpill *spill = sort->spill;
	MemoryContext old = MemoryContextSwitchTo(spill->context);
	GpuSortRunFile *file;

	if (spill->files == NULL)
	{
		FileSetInit(&spill->own_files);
		spill->files = &spill->own_files;
	}
	file = gpusort_run_file_create(spill->files, spill->next_number++, sort->index_rows,
								   gpusort_memory_at_hand(sort));
	MemoryContextSwitchTo(old);
	return file;
}

void
gpusort_read_run_file(GpuSortSpill *spill, GpuSortRunFile *file)
{
	spill->read = spill->read == NULL
		? MemoryContextAlloc(spill->context, sizeof(GpuSortRunFile *))
		: repalloc(spill->read, (spill->nread + 1) * sizeof(GpuSortRunFile *));
	spill->read[spill->nread++] = file;
}

void
gpusort_drop_run_file(GpuSortSpill *spill, uint32 which)
{
	gpusort_run_file_close(spill->read[which]);
	gpusort_run_file_delete(spill->read[which], spill->files);
	spill->nread--;
	memmove(spill->read + which, spill->read + which + 1,
			(spill->nread - which) * sizeof(GpuSortRunFile *));
}

void
gpusort_delete_spill(GpuSortSpill *spill)
{
	if (spill->files == &spill->own_files)
		FileSetDeleteAll(spill->files);
	spill->files = NULL;
}

void
gpusort_end_spill(GpuSort *sort)
{
	GpuSortSpill *spill = sort->spill;

	if (spill == NULL)
		return;
	sort->spill = NULL;
	sort->first = 0;
	if (spill->file != NULL)
		gpusort_run_file_close(spill->file);
	for (uint32 i = 0; i < spill->nread; i++)
		if (spill->read[i] != spill->file)
			gpusort_run_file_close(spill->read[i]);
	gpusort_delete_spill(spill);
	MemoryContextDelete(spill->context);
}
