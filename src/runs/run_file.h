/*
 * run_file.h
 *		Sorted runs of tuples in a temporary file, or kept in memory.
 *
 * A process that spills appends its runs to one file.  Tuples lie end to end, as they do in memory,
 * each padded to MAXALIGN.  A run is divided into blocks of 8 to 64 kB that begin with a tuple.
 * The process remembers where each block begins, which is all that it takes to find a tuple by
 * comparison, or to read a stretch of tuples.
 *
 * A stretch of the file, from the beginning of some run to the end of some tuple, may be kept in
 * extents of the pool instead.  A process that reads at an offset does not see the difference.
 *
 * Files belong to a FileSet of the sort, so other processes can read them.  They count against
 * temp_file_limit, lie in temp_tablespaces, and are logged, like any temporary files.
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

/* A place in a run: where a tuple begins, or the last one ends. */
typedef struct GpuSortRunPlace
{
	uint64		offset;			/* from the beginning of the file, in bytes */
	uint64		row;			/* number of the run's rows before it */
} GpuSortRunPlace;

typedef struct GpuSortRun
{
	struct GpuSortRunFile *file;
	uint32		nblocks;
	uint32		blocks_size;
	GpuSortRunPlace *blocks;	/* where each block begins, and where the last one ends */
} GpuSortRun;

typedef struct GpuSortRunFile
{
	MemoryContext context;
	uint32		number;			/* in its FileSet */
	size_t		block_bytes;	/* the least size of a block */
	BufFile    *file;
	bool		index_rows;		/* tuples are IndexTuples, otherwise MinimalTuples */
	bool		shared;			/* other processes may open it */
	uint64		bytes;			/* written so far, including those that are kept */

	/* what is kept in memory: bytes kept_from .. kept_to - 1 */
	uint64		kept_from;
	uint64		kept_to;
	GpuSortRange *kept;			/* in the process that writes; belongs to the caller */
	size_t		keep_bytes;		/* at most so many are kept; 0: no more from now on */
	uint32	   *kept_list;		/* in other processes: numbers of the extents */
	uint32		kept_count;		/* how many extents */

	uint32		nruns;
	uint32		runs_size;
	GpuSortRun *runs;

	/* while a run is being written */
	uint64		rows;			/* written of the run so far */
	uint64		next_block;		/* the next block begins at the first tuple from here on */
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
 * Creates the file with this number in the set, for runs that are sorted in memory_bytes of memory.
 * The result is palloc'd; the file is closed with the resource owner.
 */
extern GpuSortRunFile *gpusort_run_file_create(FileSet *files, uint32 number, bool index_rows,
											   size_t memory_bytes);

/*
 * Keeps what is written from now on in a range, which must be empty, until the range has `bytes`
 * bytes, a multiple of the size of an extent, or cannot grow.  The range belongs to the caller, and
 * must live as long as anything is read from the file.
 */
extern void gpusort_run_file_keep(GpuSortRunFile *file, GpuSortRange *range, size_t bytes);

/* Returns how many bytes are kept in memory. */
static inline uint64
gpusort_run_file_kept(const GpuSortRunFile *file)
{
	return file->kept_to - file->kept_from;
}

/* Returns how many extents the kept bytes take. */
static inline uint32
gpusort_run_file_extents(const GpuSortRunFile *file)
{
	return (uint32) ((gpusort_run_file_kept(file) + GSD_EXTENT_BYTES - 1) / GSD_EXTENT_BYTES);
}

/* Write a run: begin it, append its tuples in order, end it. */
extern void gpusort_run_begin(GpuSortRunFile *file);
extern void gpusort_run_append(GpuSortRunFile *file, const void *tuple);
extern void gpusort_run_end(GpuSortRunFile *file);

/*
 * These let other processes open the file, when all runs have been written.  After
 * gpusort_run_file_share() this process may go on reading the file; gpusort_run_file_publish() also
 * closes it.  What is kept in memory can be read as long as its extents belong to the sort.
 */
extern void gpusort_run_file_share(GpuSortRunFile *file, FileSet *files);
extern void gpusort_run_file_publish(GpuSortRunFile *file, FileSet *files);
extern GpuSortRunFile *gpusort_run_file_open(FileSet *files, uint32 number, bool index_rows);

/*
 * Read bytes at an offset, which must exist, from a BufFile, or from a file of runs, some of which
 * may be kept in memory.
 */
extern void gpusort_read_file(BufFile *file, uint64 offset, void *to, size_t bytes);

extern void gpusort_run_file_read(const GpuSortRunFile *file, uint64 offset, void *to,
								  size_t bytes);

extern void gpusort_run_file_close(GpuSortRunFile *file);

/* Deletes a file that is closed. */
extern void gpusort_run_file_delete(GpuSortRunFile *file, FileSet *files);

#endif							/* GPUSORT_RUN_FILE_H */
