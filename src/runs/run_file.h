/*
 * run_file.h
 *		Sorted runs of tuples in a temporary file, and in memory.
 *
 * A process that spills appends its runs to one file, tuples end to end as they lie in memory, each
 * padded to MAXALIGN.  Of each run it remembers where every 8 to 64 kB a tuple begins, which
 * is all that it takes to find a tuple by comparison, or to read a stretch of them.
 *
 * A stretch of the file, from some run on and to the end of some tuple, may be kept in extents of the
 * pool instead.  Who reads at an offset does not see the difference.
 *
 * Files belong to a FileSet of the sort, and so may be read by other processes.  They count against
 * temp_file_limit, lie in temp_tablespaces, and are logged as any temporary files.
 *
 * Errors of the file system are reported as BufFile reports them.
 *
 * Public: sort includes it.
 */
#ifndef GPUSORT_RUN_FILE_H
#define GPUSORT_RUN_FILE_H

#include "access/htup.h"
#include "access/htup_details.h"
#include "access/itup.h"
#include "storage/buffile.h"
#include "storage/fileset.h"

#include "memory/memory_range.h"
#include "protocol/gsd_pool.h"

/* A place in a run: of a tuple, or behind the last one. */
typedef struct GpuSortRunPlace
{
	uint64		offset;			/* from the beginning of the file, in bytes */
	uint64		row;			/* so many of the run lie before it */
} GpuSortRunPlace;

typedef struct GpuSortRun
{
	struct GpuSortRunFile *file;
	uint32		nblocks;
	uint32		blocks_size;
	GpuSortRunPlace *blocks;	/* where each begins, and behind the last */
} GpuSortRun;

typedef struct GpuSortRunFile
{
	MemoryContext context;
	uint32		number;			/* in its FileSet */
	size_t		block_bytes;	/* least */
	BufFile    *file;
	bool		index_rows;		/* tuples are IndexTuples, else MinimalTuples */
	bool		shared;			/* other processes may open it */
	uint64		bytes;			/* written so far, those that are kept included */

	/* what is kept: bytes from kept_from on and before kept_to */
	uint64		kept_from;
	uint64		kept_to;
	GpuSortRange *kept;			/* in the process that has written it; the caller's */
	size_t		keep_bytes;		/* no more than these; 0: nothing more */
	uint32	   *kept_list;		/* in others: the extents, */
	uint32		kept_count;		/* ... so many */

	uint32		nruns;
	uint32		runs_size;
	GpuSortRun *runs;

	/* while a run is being written */
	uint64		rows;			/* of it */
	uint64		next_block;		/* the next block begins here or behind */
} GpuSortRunFile;

static inline size_t
gpusort_run_tuple_bytes(bool index_rows, const void *tuple)
{
	return index_rows ? IndexTupleSize((IndexTuple) tuple) : ((MinimalTuple) tuple)->t_len;
}

static inline uint64
gpusort_run_rows(const GpuSortRun *run)
{
	return run->blocks[run->nblocks].row;
}

static inline uint64
gpusort_run_bytes(const GpuSortRun *run)
{
	return run->blocks[run->nblocks].offset - run->blocks[0].offset;
}

/*
 * A new file, number `number` of the set, for runs that are sorted in so much memory; palloc'd, and
 * closed with the resource owner.
 */
extern GpuSortRunFile *gpusort_run_file_create(FileSet *files, uint32 number, bool index_rows,
											   size_t memory_bytes);

/*
 * Keep what is written from now on in an empty range, until it has so many bytes, a multiple of an
 * extent, or does not grow.  The range is the caller's, and must live as long as anything is read
 * here.
 */
extern void gpusort_run_file_keep(GpuSortRunFile *file, GpuSortRange *range, size_t bytes);

/* Bytes that are kept. */
static inline uint64
gpusort_run_file_kept(const GpuSortRunFile *file)
{
	return file->kept_to - file->kept_from;
}

/* ... and the extents that take them. */
static inline uint32
gpusort_run_file_extents(const GpuSortRunFile *file)
{
	return (uint32) ((gpusort_run_file_kept(file) + GSD_EXTENT_BYTES - 1) / GSD_EXTENT_BYTES);
}

/* Write a run: its tuples in order. */
extern void gpusort_run_begin(GpuSortRunFile *file);
extern void gpusort_run_append(GpuSortRunFile *file, const void *tuple);
extern void gpusort_run_end(GpuSortRunFile *file);

/*
 * All runs are written: let other processes open the file.  This one may go on reading it, or close
 * it at once (publish).  What is kept can be read for as long as its extents belong to the sort.
 */
extern void gpusort_run_file_share(GpuSortRunFile *file, FileSet *files);
extern void gpusort_run_file_publish(GpuSortRunFile *file, FileSet *files);
extern GpuSortRunFile *gpusort_run_file_open(FileSet *files, uint32 number, bool index_rows);

/* Read bytes that are there. */
extern void gpusort_read_file(BufFile *file, uint64 offset, void *to, size_t bytes);

extern void gpusort_run_file_read(const GpuSortRunFile *file, uint64 offset, void *to, size_t bytes);

extern void gpusort_run_file_close(GpuSortRunFile *file);

/* Delete what is closed. */
extern void gpusort_run_file_delete(GpuSortRunFile *file, FileSet *files);

#endif							/* GPUSORT_RUN_FILE_H */
