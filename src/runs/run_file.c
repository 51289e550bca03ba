/*
 * run_file.c
 *		Sorted runs of tuples in a temporary file, or kept in memory; see runs.h.
 *
 * When the file is shared, what its process knows about the runs goes to a second file: what is
 * kept in memory, and in which extents; and for each run the number of its blocks, and where they
 * begin.
 */
#include "postgres.h"

#include <fcntl.h>

#include "miscadmin.h"

#include "memory/pool.h"
#include "runs/runs.h"

/*
 * Limits of the size of a block; and how many blocks the memory at hand is divided into, to find a
 * size between them.  The places of blocks, 16 bytes each, take a 512th of the runs at most.  To
 * find a place, about a block is read, for each run and portion.
 */
#ifndef GPUSORT_MIN_RUN_BLOCK
#define GPUSORT_MIN_RUN_BLOCK	BLCKSZ
#endif
#define MAX_RUN_BLOCK	(64 * 1024)
#define MEMORY_BLOCKS	1024

#define FIRST_RUNS		8
#define FIRST_BLOCKS	64

#define EXTENT_BYTES	((size_t) GSD_EXTENT_BYTES)

/* The head of the second file. */
typedef struct Header
{
	uint64		kept_from;
	uint64		kept_to;
	uint32		kept_count;
	uint32		nruns;
} Header;

static void
file_name(char *name, uint32 number, const char *what)
{
	snprintf(name, MAXPGPATH, "gpusort.%u.%s", number, what);
}

static GpuSortRunFile *
make_file(uint32 number, bool index_rows)
{
	GpuSortRunFile *file = palloc0(sizeof(GpuSortRunFile));

	file->context = CurrentMemoryContext;
	file->number = number;
	file->index_rows = index_rows;
	return file;
}

GpuSortRunFile *
gpusort_run_file_create(FileSet *files, uint32 number, bool index_rows, size_t memory_bytes)
{
	GpuSortRunFile *file = make_file(number, index_rows);
	char		name[MAXPGPATH];

	file->block_bytes = Min(Max(memory_bytes / MEMORY_BLOCKS, GPUSORT_MIN_RUN_BLOCK),
							MAX_RUN_BLOCK);
	file_name(name, number, "rows");
	file->file = BufFileCreateFileSet(files, name);
	return file;
}

/* Adds a run, which has no blocks yet. */
static GpuSortRun *
add_run(GpuSortRunFile *file, uint32 blocks_size)
{
	GpuSortRun *run;

	if (file->nruns == file->runs_size)
	{
		uint32		size = Max(2 * file->runs_size, FIRST_RUNS);

		file->runs = file->runs == NULL
			? MemoryContextAlloc(file->context, size * sizeof(GpuSortRun))
			: repalloc(file->runs, size * sizeof(GpuSortRun));
		file->runs_size = size;
	}
	run = &file->runs[file->nruns++];
	run->file = file;
	run->nblocks = 0;
	run->blocks_size = blocks_size;
	run->blocks = MemoryContextAllocHuge(file->context, blocks_size * sizeof(GpuSortRunPlace));
	return run;
}

/* Notes that the tuple to be written next begins a block. */
static pg_noinline void
add_place(GpuSortRunFile *file)
{
	GpuSortRun *run = &file->runs[file->nruns - 1];

	/* one more place is needed, for the end of the last block */
	if (run->nblocks + 1 == run->blocks_size)
	{
		run->blocks_size *= 2;
		run->blocks = repalloc_huge(run->blocks, run->blocks_size * sizeof(GpuSortRunPlace));
	}
	run->blocks[run->nblocks] = (GpuSortRunPlace) {file->bytes, file->rows};
	run->nblocks++;
	file->next_block = file->bytes + file->block_bytes;
}

void
gpusort_run_begin(GpuSortRunFile *file)
{
	add_run(file, FIRST_BLOCKS);
	file->rows = 0;
	file->next_block = file->bytes;
}

void
gpusort_run_file_keep(GpuSortRunFile *file, GpuSortRange *range, size_t bytes)
{
	Assert(file->kept == NULL && range->usable == 0);
	file->kept = range;
	file->keep_bytes = bytes;
	file->kept_from = file->kept_to = file->bytes;
}

/*
 * Appends a tuple to what is kept in memory.  Returns false if there is no room for it; nothing
 * more is kept from then on.
 */
static inline bool
keep_tuple(GpuSortRunFile *file, const void *tuple, size_t bytes, size_t padding)
{
	size_t		used = gpusort_run_file_kept(file);
	size_t		end = used + bytes + padding;
	char	   *to;

	if (unlikely(end > file->kept->usable) &&
		!gpusort_range_grow_in_pool(file->kept, end, file->keep_bytes))
	{
		file->keep_bytes = 0;
		return false;
	}
	to = file->kept->base + used;
	memcpy(to, tuple, bytes);
	memset(to + bytes, 0, padding);
	file->kept_to += bytes + padding;
	return true;
}

static inline void
write_tuple(GpuSortRunFile *file, const void *tuple, size_t bytes, size_t padding)
{
	static const char zeros[MAXIMUM_ALIGNOF] = {0};

	BufFileWrite(file->file, (void *) tuple, bytes);
	if (padding > 0)
		BufFileWrite(file->file, (void *) zeros, padding);
}

void
gpusort_run_append(GpuSortRunFile *file, const void *tuple)
{
	size_t		bytes = gpusort_run_tuple_bytes(file->index_rows, tuple);
	size_t		padding = MAXALIGN(bytes) - bytes;

	if (unlikely(file->bytes >= file->next_block))
		add_place(file);
	if (file->keep_bytes == 0 || !keep_tuple(file, tuple, bytes, padding))
		write_tuple(file, tuple, bytes, padding);
	file->bytes += bytes + padding;
	file->rows++;
}

void
gpusort_run_end(GpuSortRunFile *file)
{
	GpuSortRun *run = &file->runs[file->nruns - 1];

	Assert(file->rows > 0);
	run->blocks[run->nblocks] = (GpuSortRunPlace) {file->bytes, file->rows};
}

static Size
places_bytes(const GpuSortRun *run)
{
	return (run->nblocks + 1) * sizeof(GpuSortRunPlace);
}

void
gpusort_run_file_share(GpuSortRunFile *file, FileSet *files)
{
	Header		header = {file->kept_from, file->kept_to, gpusort_run_file_extents(file),
						  file->nruns};
	char		name[MAXPGPATH];
	BufFile    *places;

	if (file->shared)
		return;
	file_name(name, file->number, "places");
	places = BufFileCreateFileSet(files, name);
	BufFileWrite(places, &header, sizeof(header));
	if (header.kept_count > 0)
	{
		const uint32 *list;
		uint32		count;

		(void) gpusort_range_extents(file->kept, &list, &count);
		BufFileWrite(places, (void *) list, header.kept_count * sizeof(uint32));
	}
	for (uint32 i = 0; i < file->nruns; i++)
	{
		BufFileWrite(places, &file->runs[i].nblocks, sizeof(file->runs[i].nblocks));
		BufFileWrite(places, file->runs[i].blocks, places_bytes(&file->runs[i]));
	}
	BufFileExportFileSet(places);
	BufFileClose(places);
	BufFileExportFileSet(file->file);
	file->shared = true;
}

void
gpusort_run_file_publish(GpuSortRunFile *file, FileSet *files)
{
	gpusort_run_file_share(file, files);
	gpusort_run_file_close(file);
}

static void
read_all(BufFile *file, void *to, size_t bytes)
{
	if (BufFileRead(file, to, bytes) != bytes)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not read sorted rows from a temporary file: unexpected end of file")));
}

GpuSortRunFile *
gpusort_run_file_open(FileSet *files, uint32 number, bool index_rows)
{
	GpuSortRunFile *file = make_file(number, index_rows);
	char		name[MAXPGPATH];
	BufFile    *places;
	Header		header;

	file_name(name, number, "places");
	places = BufFileOpenFileSet(files, name, O_RDONLY, false);
	read_all(places, &header, sizeof(header));
	file->kept_from = header.kept_from;
	file->kept_to = header.kept_to;
	file->kept_count = header.kept_count;
	if (header.kept_count > 0)
	{
		file->kept_list = palloc(header.kept_count * sizeof(uint32));
		read_all(places, file->kept_list, header.kept_count * sizeof(uint32));
	}
	for (uint32 i = 0; i < header.nruns; i++)
	{
		uint32		nblocks;
		GpuSortRun *run;

		read_all(places, &nblocks, sizeof(nblocks));
		run = add_run(file, nblocks + 1);
		run->nblocks = nblocks;
		read_all(places, run->blocks, places_bytes(run));
		file->bytes = run->blocks[nblocks].offset;
	}
	BufFileClose(places);
	file_name(name, number, "rows");
	file->file = BufFileOpenFileSet(files, name, O_RDONLY, false);
	file->shared = true;
	return file;
}

void
gpusort_read_file(BufFile *file, uint64 offset, void *to, size_t bytes)
{
	if (BufFileSeek(file, 0, (off_t) offset, SEEK_SET) != 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not seek in a temporary file of sorted rows")));
	read_all(file, to, bytes);
}

/* Reads bytes of what is kept in memory, from its byte number `at` on. */
static void
read_kept(const GpuSortRunFile *file, size_t at, char *to, size_t bytes)
{
	if (file->kept != NULL)
	{
		memcpy(to, file->kept->base + at, bytes);
		return;
	}
	while (bytes > 0)
	{
		size_t		within = at % EXTENT_BYTES;
		size_t		step = Min(bytes, EXTENT_BYTES - within);
		const char *extent = gsd_extent(gpusort_pool, file->kept_list[at / EXTENT_BYTES]);

		memcpy(to, extent + within, step);
		at += step;
		to += step;
		bytes -= step;
	}
}

/*
 * The bytes may lie before the stretch that is kept in memory, in it, and behind it; each of the
 * three parts may be empty.
 */
void
gpusort_run_file_read(const GpuSortRunFile *file, uint64 offset, void *to, size_t bytes)
{
	char	   *at = to;
	size_t		before = offset < file->kept_from ? Min(bytes, file->kept_from - offset) : 0;
	size_t		kept;

	/* if nothing is kept, every byte is before or behind the empty stretch */
	if (before > 0)
		gpusort_read_file(file->file, offset, at, before);
	offset += before;
	at += before;
	bytes -= before;
	kept = offset < file->kept_to ? Min(bytes, file->kept_to - offset) : 0;
	if (kept > 0)
		read_kept(file, offset - file->kept_from, at, kept);
	offset += kept;
	bytes -= kept;
	if (bytes > 0)
		gpusort_read_file(file->file, offset - gpusort_run_file_kept(file), at + kept, bytes);
}

void
gpusort_run_file_close(GpuSortRunFile *file)
{
	if (file->file != NULL)
		BufFileClose(file->file);
	file->file = NULL;
}

void
gpusort_run_file_delete(GpuSortRunFile *file, FileSet *files)
{
	char		name[MAXPGPATH];

	file_name(name, file->number, "rows");
	BufFileDeleteFileSet(files, name, true);
	file_name(name, file->number, "places");
	BufFileDeleteFileSet(files, name, true);
}

/* ---------- reading a stretch of a run ---------- */

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
