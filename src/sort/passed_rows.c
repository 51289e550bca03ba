/*
 * passed_rows.c
 *		Rows that one participant of a parallel query passes to others; see sort_result.h.
 *
 * The first rows lie in shared memory of the query (its dsa_area), in blocks that are linked to
 * each other; no row lies in two of them.  When they take work_mem, what follows goes to a
 * temporary file, as minimal tuples one after the other.  So no file is written where PostgreSQL
 * would have sorted these rows in memory.
 */
#include "postgres.h"

#include <fcntl.h>

#include "access/htup_details.h"
#include "miscadmin.h"
#include "storage/buffile.h"
#include "utils/memutils.h"

#include "sort/sort_result.h"

/* Bytes of a block, unless its only row is longer. */
#define BLOCK_BYTES		((Size) 32 * 1024)

/* The least number of bytes allocated for a row that is read from a file. */
#define MIN_ROW_BYTES	1024

struct GpuSortPassedBlock
{
	dsa_pointer next;
	Size		used;			/* bytes of `rows` */
	char		rows[FLEXIBLE_ARRAY_MEMBER];
};

#define BLOCK_HEAD		MAXALIGN(offsetof(GpuSortPassedBlock, rows))

static GpuSortPassedBlock *
find_block(const GpuSortRowPlace *place, dsa_pointer block)
{
	return DsaPointerIsValid(block) ? dsa_get_address(place->area, block) : NULL;
}

static char *
block_rows(GpuSortPassedBlock *block)
{
	return (char *) block + BLOCK_HEAD;
}

void
gpusort_passed_init(GpuSortPassedRows *rows)
{
	*rows = (GpuSortPassedRows) {.first = InvalidDsaPointer};
}

void
gpusort_passed_free(GpuSortPassedRows *rows, dsa_area *area)
{
	while (DsaPointerIsValid(rows->first))
	{
		dsa_pointer block = rows->first;

		rows->first = ((GpuSortPassedBlock *) dsa_get_address(area, block))->next;
		dsa_free(area, block);
	}
	gpusort_passed_init(rows);
}

/* ---------- writing ---------- */

void
gpusort_pass_begin(GpuSortRowWriter *writer, const GpuSortRowPlace *place)
{
	*writer = (GpuSortRowWriter) {.place = *place, .context = CurrentMemoryContext};
}

/*
 * Begins another block, in which a row of so many bytes finds room.  Returns false if that would be
 * more than work_mem.
 */
static bool
begin_block(GpuSortRowWriter *writer, Size row_bytes)
{
	GpuSortPassedRows *rows = writer->place.rows;
	Size		bytes = Max(BLOCK_BYTES, BLOCK_HEAD + row_bytes);
	dsa_pointer block;

	if (!AllocSizeIsValid(bytes) || rows->block_bytes + bytes > work_mem * (Size) 1024)
		return false;
	block = dsa_allocate_extended(writer->place.area, bytes, DSA_ALLOC_NO_OOM);
	if (!DsaPointerIsValid(block))
		return false;
	if (writer->block == NULL)
		rows->first = block;
	else
		writer->block->next = block;
	writer->block = find_block(&writer->place, block);
	writer->block->next = InvalidDsaPointer;
	writer->block->used = 0;
	writer->room = bytes - BLOCK_HEAD;
	rows->block_bytes += bytes;
	return true;
}

/* Puts a row into a block.  Returns false if there is no room, or rows go to a file already. */
static bool
put_into_block(GpuSortRowWriter *writer, MinimalTuple row)
{
	Size		bytes = MAXALIGN(row->t_len);

	if (writer->file != NULL || (bytes > writer->room && !begin_block(writer, bytes)))
		return false;
	memcpy(block_rows(writer->block) + writer->block->used, row, row->t_len);
	writer->block->used += bytes;
	writer->room -= bytes;
	writer->place.rows->in_blocks++;
	return true;
}

void
gpusort_pass_row(GpuSortRowWriter *writer, MinimalTuple row)
{
	if (!put_into_block(writer, row))
	{
		if (writer->file == NULL)
		{
			MemoryContext old = MemoryContextSwitchTo(writer->context);

			writer->file = BufFileCreateFileSet(&writer->place.files->fs, writer->place.name);
			MemoryContextSwitchTo(old);
		}
		BufFileWrite(writer->file, row, row->t_len);
	}
	writer->place.rows->count++;
}

void
gpusort_pass_end(GpuSortRowWriter *writer)
{
	if (writer->file != NULL)
	{
		BufFileExportFileSet(writer->file);
		BufFileClose(writer->file);
	}
	writer->file = NULL;
	writer->block = NULL;
	writer->room = 0;
}

/* ---------- reading ---------- */

void
gpusort_passed_open(GpuSortRowReader *reader, const GpuSortRowPlace *place)
{
	GpuSortPassedRows *rows = place->rows;

	*reader = (GpuSortRowReader) {
		.is_open = true,
		.count = rows->count,
		.in_blocks = rows->in_blocks,
		.place = *place,
		.first = find_block(place, rows->first),
		.context = CurrentMemoryContext
	};
	if (rows->in_blocks < rows->count)
		reader->file = BufFileOpenFileSet(&place->files->fs, place->name, O_RDONLY, false);
	gpusort_passed_rewind(reader);
}

void
gpusort_passed_close(GpuSortRowReader *reader)
{
	if (reader->file != NULL)
		BufFileClose(reader->file);
	reader->file = NULL;
	reader->is_open = false;
}

/* Returns the next row, which lies in a block. */
static MinimalTuple
next_in_block(GpuSortRowReader *reader)
{
	GpuSortRowPosition *at = &reader->at;
	MinimalTuple row;

	if (at->offset == at->block->used)
	{
		at->block = find_block(&reader->place, at->block->next);
		at->offset = 0;
	}
	row = (MinimalTuple) (block_rows(at->block) + at->offset);
	at->offset += MAXALIGN(row->t_len);
	return row;
}

static void
read_bytes(BufFile *file, void *to, Size bytes)
{
	if (BufFileRead(file, to, bytes) != bytes)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not read rows of a shared sort from their temporary file")));
}

/* Makes room for a row of len bytes. */
static void
reserve_row(GpuSortRowReader *reader, uint32 len)
{
	if (len <= reader->row_size)
		return;
	if (reader->row != NULL)
		pfree(reader->row);
	reader->row_size = Max(len, MIN_ROW_BYTES);
	reader->row = MemoryContextAlloc(reader->context, reader->row_size);
}

/* Returns the next row, which lies in the file. */
static MinimalTuple
next_in_file(GpuSortRowReader *reader)
{
	uint32		len;

	read_bytes(reader->file, &len, sizeof(len));
	reserve_row(reader, len);
	reader->row->t_len = len;
	read_bytes(reader->file, (char *) reader->row + sizeof(len), len - sizeof(len));
	return reader->row;
}

MinimalTuple
gpusort_passed_next(GpuSortRowReader *reader)
{
	uint64		row = reader->at.next;

	if (row == reader->count)
		return NULL;
	reader->at.next++;
	return row < reader->in_blocks ? next_in_block(reader) : next_in_file(reader);
}

static void
go_to(GpuSortRowReader *reader, const GpuSortRowPosition *position)
{
	reader->at = *position;
	if (reader->file != NULL &&
		BufFileSeek(reader->file, position->fileno, position->file_offset, SEEK_SET) != 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not seek in the temporary file of a shared sort")));
}

void
gpusort_passed_rewind(GpuSortRowReader *reader)
{
	go_to(reader, &(GpuSortRowPosition) {.block = reader->first});
}

void
gpusort_passed_mark(GpuSortRowReader *reader)
{
	reader->mark = reader->at;
	if (reader->file != NULL)
		BufFileTell(reader->file, &reader->mark.fileno, &reader->mark.file_offset);
}

void
gpusort_passed_restore(GpuSortRowReader *reader)
{
	go_to(reader, &reader->mark);
}
