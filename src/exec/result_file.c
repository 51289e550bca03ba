/*
 * result_file.c
 *		The result of a shared sort in a temporary file, which each participant reads.
 *
 * The file holds minimal tuples one after the other.
 */
#include "postgres.h"

#include <fcntl.h>

#include "access/htup_details.h"
#include "miscadmin.h"

#include "exec/exec_cursor.h"
#include "exec/result_file.h"
#include "pg_compat/executor.h"

#define FILE_NAME		"gpusort.result"

/* The least number of bytes allocated for a row. */
#define MIN_ROW_BYTES	1024

void
gpusort_write_result_file(SharedFileSet *files, GpuSort *sort, TupleDesc desc)
{
	BufFile    *file = BufFileCreateFileSet(&files->fs, FILE_NAME);
	TupleTableSlot *slot = gpusort_make_slot(desc, &TTSOpsMinimalTuple);
	GpuSortCursor cursor;

	gpusort_cursor_open_sort(&cursor, sort);
	while (gpusort_cursor_fetch(&cursor, true, slot))
	{
		bool		should_free;
		MinimalTuple tuple = ExecFetchSlotMinimalTuple(slot, &should_free);

		CHECK_FOR_INTERRUPTS();
		Assert(!should_free);
		BufFileWrite(file, tuple, tuple->t_len);
	}
	ExecClearTuple(slot);
	BufFileExportFileSet(file);
	BufFileClose(file);
}

void
gpusort_open_result_file(GpuSortResultFile *file, SharedFileSet *files, uint64 rows)
{
	*file = (GpuSortResultFile) {
		.file = BufFileOpenFileSet(&files->fs, FILE_NAME, O_RDONLY, false),
		.rows = rows,
		.context = CurrentMemoryContext
	};
}

void
gpusort_close_result_file(GpuSortResultFile *file)
{
	if (file->file != NULL)
		BufFileClose(file->file);
	file->file = NULL;
}

static void
read_bytes(BufFile *file, void *to, Size bytes)
{
	if (BufFileRead(file, to, bytes) != bytes)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not read the result of a shared sort from its temporary file")));
}

/* Makes room for a row of len bytes. */
static void
reserve_row(GpuSortResultFile *file, uint32 len)
{
	if (len <= file->row_size)
		return;
	if (file->row != NULL)
		pfree(file->row);
	file->row_size = Max(len, MIN_ROW_BYTES);
	file->row = MemoryContextAlloc(file->context, file->row_size);
}

bool
gpusort_fetch_from_file(GpuSortResultFile *file, TupleTableSlot *slot)
{
	uint32		len;

	ExecClearTuple(slot);
	if (file->next == file->rows)
		return false;
	read_bytes(file->file, &len, sizeof(len));
	reserve_row(file, len);
	file->row->t_len = len;
	read_bytes(file->file, (char *) file->row + sizeof(len), len - sizeof(len));
	file->next++;
	gpusort_store_tuple(slot, file->row);
	return true;
}

static void
seek(GpuSortResultFile *file, int fileno, off_t offset, uint64 next)
{
	if (BufFileSeek(file->file, fileno, offset, SEEK_SET) != 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not seek in the temporary file of a shared sort")));
	file->next = next;
}

void
gpusort_rewind_result_file(GpuSortResultFile *file)
{
	seek(file, 0, 0, 0);
}

void
gpusort_mark_result_file(GpuSortResultFile *file)
{
	BufFileTell(file->file, &file->mark_fileno, &file->mark_offset);
	file->mark_next = file->next;
}

void
gpusort_restore_result_file(GpuSortResultFile *file)
{
	seek(file, file->mark_fileno, file->mark_offset, file->mark_next);
}
