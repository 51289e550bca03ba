/*
 * spill_files.c
 *		The temporary files of a sort that has spilled, and its runs in memory; see spill_private.h.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "memory/pool.h"
#include "sort/memory_private.h"
#include "sort/spill_private.h"
#include "sort/state_private.h"

GpuSortSpill *
gpusort_make_spill(GpuSort *sort)
{
	MemoryContext context = AllocSetContextCreate(sort->context, "gpusort runs",
												  ALLOCSET_DEFAULT_SIZES);
	/*
	 * when the sort's context is reset, contexts below it go before the callback, which still needs
	 * this
	 */
	GpuSortSpill *spill = MemoryContextAllocZero(sort->context, sizeof(GpuSortSpill));

	spill->context = context;
	spill->participants = 1;
	sort->runs.spill = spill;
	return spill;
}

/* Begins a set of files of the sort's own. */
static void
begin_files(GpuSortSpill *spill)
{
	FileSetInit(&spill->own_files);
	spill->files = &spill->own_files;
}

const FileSet *
gpusort_share_files(GpuSort *sort, int participants)
{
	gpusort_end_spill(sort);
	begin_files(gpusort_make_spill(sort));
	sort->runs.spill->next_number = participants;
	return sort->runs.spill->files;
}

void
gpusort_use_shared_files(GpuSort *sort, FileSet *files, pg_atomic_uint32 *number)
{
	GpuSortSpill *spill = gpusort_make_spill(sort);

	spill->files = files;
	spill->shared_number = number;
}

bool
gpusort_has_runs(const GpuSort *sort)
{
	const GpuSortSpill *spill = sort->runs.spill;

	/*
	 * a part that is given portions of a sort has none of their rows in memory until it has loaded
	 * one
	 */
	return spill != NULL && (spill->rows > 0 || spill->shared != NULL);
}

uint32
gpusort_next_file(GpuSortSpill *spill)
{
	return spill->shared_number == NULL ? spill->next_number++
		: pg_atomic_fetch_add_u32(spill->shared_number, 1);
}

GpuSortRunFile *
gpusort_begin_run_file(GpuSort *sort)
{
	GpuSortSpill *spill = sort->runs.spill;
	MemoryContext old = MemoryContextSwitchTo(spill->context);
	GpuSortRunFile *file;

	if (spill->files == NULL)
		begin_files(spill);
	file = gpusort_run_file_create(spill->files, gpusort_next_file(spill), sort->index_rows,
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

/*
 * Releases runs in memory that belong to this process's own file, or have gone to other processes.
 */
static void
release_kept(GpuSortSpill *spill)
{
	if (spill->kept != NULL)
		gpusort_range_release(spill->kept);
	spill->kept = NULL;
}

void
gpusort_keep_runs(GpuSort *sort)
{
	GpuSortSpill *spill = sort->runs.spill;
	const GpuSortMemory *memory = &sort->memory;

	if (memory->keep_bytes == 0 || spill->kept != NULL ||
		memory->keep_bytes > memory->reserve_bytes)
		return;
	spill->kept = gpusort_acquire_range(sort, GPUSORT_RANGE_RUNS);
	if (spill->kept != NULL)
		gpusort_run_file_keep(spill->file, spill->kept, memory->keep_bytes);
}

void
gpusort_publish_runs(GpuSort *part)
{
	GpuSortSpill *spill = part->runs.spill;
	uint32		count = gpusort_run_file_extents(spill->file);
	uint32	   *list = palloc(Max(count, 1) * sizeof(uint32));

	gpusort_run_file_publish(spill->file, spill->files);
	if (spill->kept != NULL)
		gpusort_range_yield(spill->kept, count, list);
	pfree(list);
	release_kept(spill);
}

/* Gives back the memory that runs of another process's file take. */
static void
give_kept(GpuSort *sort, const GpuSortRunFile *file)
{
	GpuSortPoolAccount *account = &sort->memory.pool_account;

	for (uint32 i = 0; i < file->kept_count; i++)
		gsd_give_extent(gpusort_pool->header, file->kept_list[i], account->owner);
	pg_atomic_fetch_sub_u32(account->extents, file->kept_count);
	sort->memory.kept_extents -= file->kept_count;
}

void
gpusort_drop_run_file(GpuSort *sort, uint32 which)
{
	GpuSortSpill *spill = sort->runs.spill;
	GpuSortRunFile *file = spill->read[which];

	if (file->kept != NULL)
	{
		release_kept(spill);
		sort->memory.kept_extents = 0;
	}
	give_kept(sort, file);
	gpusort_run_file_close(file);
	gpusort_run_file_delete(file, spill->files);
	spill->nread--;
	memmove(spill->read + which, spill->read + which + 1,
			(spill->nread - which) * sizeof(GpuSortRunFile *));
}

void
gpusort_delete_spill(GpuSortSpill *spill)
{
	release_kept(spill);
	if (spill->files == &spill->own_files)
	{
		/* nobody else would delete the files that a cancel leaves */
		HOLD_INTERRUPTS();
		FileSetDeleteAll(spill->files);
		RESUME_INTERRUPTS();
	}
	spill->files = NULL;
}

void
gpusort_end_spill(GpuSort *sort)
{
	GpuSortSpill *spill = sort->runs.spill;

	if (spill == NULL)
		return;
	/* memory of runs that other processes may still read goes with the owner of the shared sort */
	if (spill->shared_first == NULL)
		for (uint32 i = 0; i < spill->nread; i++)
			give_kept(sort, spill->read[i]);
	sort->memory.kept_extents = 0;
	gpusort_unmap_window(sort);
	sort->runs.window.first = sort->runs.window.nrows = 0;
	if (spill->file != NULL)
		gpusort_run_file_close(spill->file);
	for (uint32 i = 0; i < spill->nread; i++)
		if (spill->read[i] != spill->file)
			gpusort_run_file_close(spill->read[i]);
	if (spill->shared != NULL)
		gpusort_portion_file_close(spill->shared);
	gpusort_delete_spill(spill);
	/*
	 * do this last: on error, such as when a file can't be written to its end, the callback of the
	 * sort's context deletes the files
	 */
	sort->runs.spill = NULL;
	MemoryContextDelete(spill->context);
	pfree(spill);
}
