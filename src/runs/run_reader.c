/*
 * run_reader.c
 *		Reading a stretch of a run; see run_reader.h.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "runs/run_reader.h"

/* How many bytes are read at a time. */
#define BUFFER_BYTES	((size_t) 64 * 1024)

void
gpusort_run_reader_init(GpuSortRunReader *reader)
{
	memset(reader, 0, sizeof(*reader));
	reader->context = CurrentMemoryContext;
	reader->size = BUFFER_BYTES;
	reader->buffer = palloc(reader->size);
}

void
gpusort_run_reader_begin(GpuSortRunReader *reader, const GpuSortRun *run, GpuSortRunPlace from,
						 GpuSortRunPlace to)
{
	reader->file = run->file;
	reader->next = from.offset;
	reader->end = to.offset;
	reader->at = reader->filled = 0;
}

/* Reads on until the buffer has at least so many bytes from `at` on, or more if there are. */
static void
fill(GpuSortRunReader *reader, size_t bytes)
{
	size_t		rest = reader->filled - reader->at;
	size_t		step;

	CHECK_FOR_INTERRUPTS();
	memmove(reader->buffer, reader->buffer + reader->at, rest);
	reader->at = 0;
	reader->filled = rest;
	if (bytes > reader->size)
	{
		reader->size = TYPEALIGN(BUFFER_BYTES, bytes);
		reader->buffer = repalloc_huge(reader->buffer, reader->size);
	}
	step = Min(reader->size - rest, reader->end - reader->next);
	gpusort_run_file_read(reader->file, reader->next, reader->buffer + rest, step);
	reader->next += step;
	reader->filled += step;
	if (reader->filled < bytes)
		elog(ERROR, "gpusort: a sorted run ends within a row");
}

void *
gpusort_run_reader_next(GpuSortRunReader *reader)
{
	size_t		bytes;
	char	   *tuple;

	if (reader->at == reader->filled && reader->next == reader->end)
		return NULL;
	if (unlikely(reader->filled - reader->at < MAXIMUM_ALIGNOF))
		fill(reader, MAXIMUM_ALIGNOF);
	bytes = MAXALIGN(gpusort_run_tuple_bytes(reader->file->index_rows,
											 reader->buffer + reader->at));
	if (unlikely(reader->filled - reader->at < bytes))
		fill(reader, bytes);
	tuple = reader->buffer + reader->at;
	reader->at += bytes;
	return tuple;
}

void
gpusort_run_reader_free(GpuSortRunReader *reader)
{
	if (reader->buffer != NULL)
		pfree(reader->buffer);
	reader->buffer = NULL;
}
