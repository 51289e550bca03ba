/*
 * runs.h
 *		Sorted runs in temporary files, and the portions that they are read back in.
 */
#ifndef GPUSORT_RUNS_H
#define GPUSORT_RUNS_H

#include "access/htup.h"
#include "access/htup_details.h"
#include "access/itup.h"
#include "access/tupdesc.h"
#include "executor/tuptable.h"
#include "storage/buffile.h"
#include "storage/fileset.h"
#include "utils/sortsupport.h"

#include "memory/memory_range.h"
#include "protocol/gsd_pool.h"

/* ---------- row comparer: the operator classes' own comparison of two stored rows ---------- */

/*
 * Index tuples that are equal in all key columns are compared by their TIDs, so no two are equal.
 */

/* The columns to be compared, as in a Sort plan node. */
typedef struct GpuSortRowKeys
{
	int			nkeys;
	const AttrNumber *attnos;
	const Oid  *sortops;
	const Oid  *collations;
	const bool *nulls_first;
} GpuSortRowKeys;

/* One of the two rows that are compared. */
typedef struct GpuSortComparedRow
{
	const void *tuple;
	TupleTableSlot *slot;		/* holds a MinimalTuple; NULL for index tuples */
	Datum	   *values;			/* values of the key columns; they point into the tuple */
	bool	   *isnull;
} GpuSortComparedRow;

typedef struct GpuSortRowComparer
{
	TupleDesc	desc;
	bool		index_rows;
	int			nkeys;
	SortSupport keys;
	GpuSortComparedRow rows[2];
	MemoryContext context;		/* for what comparisons allocate */
} GpuSortRowComparer;

/* Initializes a comparer in the current memory context.  `desc` must live as long as it. */
extern void gpusort_row_comparer_begin(GpuSortRowComparer *comparer, TupleDesc desc,
									   const GpuSortRowKeys *keys, bool index_rows);

/* Loads a tuple as row `which` (0 or 1).  The tuple must stay until the comparison. */
extern void gpusort_row_comparer_load(GpuSortRowComparer *comparer, int which, const void *tuple);

/*
 * Compares the first ncolumns key columns of the two rows.  The result is negative if row 0 comes
 * first.
 */
extern int	gpusort_row_comparer_compare_first(GpuSortRowComparer *comparer, int ncolumns);

static inline int
gpusort_row_comparer_compare_keys(GpuSortRowComparer *comparer)
{
	return gpusort_row_comparer_compare_first(comparer, comparer->nkeys);
}

/* Compares all key columns, and then, of index tuples, TIDs. */
extern int	gpusort_row_comparer_compare(GpuSortRowComparer *comparer);

/* Drops the references to both tuples. */
extern void gpusort_row_comparer_clear(GpuSortRowComparer *comparer);

/* ---------- run files: sorted runs of tuples in a temporary file, or kept in memory ---------- */

/*
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
 */

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

/* ---------- run readers: a stretch of a run, one tuple after the other ---------- */

typedef struct GpuSortRunReader
{
	MemoryContext context;
	GpuSortRunFile *file;
	uint64		next;			/* offset in the file of the next bytes to be read */
	uint64		end;
	char	   *buffer;			/* tuples, or the beginning of one */
	size_t		size;
	size_t		at;
	size_t		filled;
} GpuSortRunReader;

/*
 * Initializes a reader in the current memory context.  It can read any number of stretches, one
 * after the other.
 */
extern void gpusort_run_reader_init(GpuSortRunReader *reader);

/* Begins to read a run from one place to another. */
extern void gpusort_run_reader_begin(GpuSortRunReader *reader, const GpuSortRun *run,
									 GpuSortRunPlace from, GpuSortRunPlace to);

/*
 * Returns the next tuple, which is MAXALIGNed and valid until the next call; or NULL if there is
 * none.
 */
extern void *gpusort_run_reader_next(GpuSortRunReader *reader);

extern void gpusort_run_reader_free(GpuSortRunReader *reader);

/* ---------- portions: ranges of the order that fit into memory ---------- */

/*
 * A portion consists of one stretch of each run.  All rows of a portion come before those of the
 * next, by PostgreSQL's own comparison.  Rows that are equal by that comparison come in the order
 * of their runs, and of their places in a run.  So portions may be sorted one at a time and in any
 * order, by any method that agrees with the comparison.
 *
 * Portions can be made of whole groups: rows that are equal in the first columns are in the same
 * portion, however many there are.  Such a portion may be split nevertheless.
 *
 * The method is published: distribution sort with splitters from samples of sorted runs (Shi and
 * Schaeffer, PSRS, 1992).  Cuts are exact, whatever the samples are.
 */

/*
 * The state of a search in runs: tuples read from a run, and where each of them begins in the
 * buffer.
 */
typedef struct GpuSortCutSearch
{
	MemoryContext context;
	const GpuSortRun **runs;
	GpuSortRowComparer comparer;
	char	   *buffer;
	size_t		buffer_size;
	uint32	   *offsets;
	uint32		offsets_size;
} GpuSortCutSearch;

typedef struct GpuSortPortions
{
	MemoryContext context;
	uint32		nruns;
	const GpuSortRun **runs;
	GpuSortCutSearch search;
	uint32		count;
	uint32		size;			/* arrays have room for so many portions and one more */
	/*
	 * Where each portion begins in each run, nruns places for each portion; and the ends of the
	 * runs.
	 */
	GpuSortRunPlace *cuts;
	uint64	   *first;			/* position of each portion's first row; and behind the last one */
} GpuSortPortions;

/* What a portion may hold. */
typedef struct GpuSortPortionLimits
{
	uint64		bytes;
	size_t		row_bytes;		/* counted for each row in addition to its bytes in the run */
	size_t		sample_bytes;	/* memory that samples may take */
	int			group_columns;	/* rows equal in so many stay together; 0: cuts anywhere */
	uint64		min_rows;		/* of each portion, if there are several */
} GpuSortPortionLimits;

/*
 * Divides the runs, which must live as long as the result.  Allocates in a child of the current
 * memory context.
 */
extern GpuSortPortions *gpusort_portions_make(const GpuSortRun **runs, uint32 nruns, TupleDesc desc,
											  const GpuSortRowKeys *keys, bool index_rows,
											  const GpuSortPortionLimits *limits);

/*
 * Makes a single portion of runs that were divided in another process: what lies between two places
 * of each run.  Otherwise the same as gpusort_portions_make().
 */
extern GpuSortPortions *gpusort_portions_make_one(const GpuSortRun **runs, uint32 nruns,
												  const GpuSortRunPlace *from,
												  const GpuSortRunPlace *to, TupleDesc desc,
												  const GpuSortRowKeys *keys, bool index_rows);

extern void gpusort_portions_free(GpuSortPortions *portions);

/*
 * Returns which portion has the row at a position, if portions begin at the positions first[0 ..
 * count - 1].
 */
extern uint32 gpusort_find_portion(const uint64 *first, uint32 count, uint64 position);

static inline uint32
gpusort_portions_find(const GpuSortPortions *portions, uint64 position)
{
	return gpusort_find_portion(portions->first, portions->count, position);
}

/* Splits a portion into two.  Returns false if that is impossible, since it has only one row. */
extern bool gpusort_portions_split(GpuSortPortions *portions, uint32 number);

/*
 * Returns a copy of the first tuple behind a portion, valid until the next call, or NULL if there
 * is none.
 */
extern void *gpusort_portions_tuple_behind(GpuSortPortions *portions, uint32 number);

static inline const GpuSortRunPlace *
gpusort_portion_cuts(const GpuSortPortions *portions, uint32 number)
{
	return portions->cuts + (size_t) number * portions->nruns;
}

/* ---------- portion files: where portions lie, for processes that read them ---------- */

/*
 * The file lies beside the files of the runs, in their FileSet.  The process that has divided the
 * runs writes it once; other processes read from it where the portion that they want lies.
 *
 * Errors of the file system are reported as BufFile reports them.
 */

typedef struct GpuSortPortionFile
{
	BufFile    *file;
	uint32		count;			/* number of portions */
	uint32		nruns;
	const GpuSortRun **runs;

	/* where the portion that was read last begins and ends, in each run */
	GpuSortRunPlace *from;
	GpuSortRunPlace *to;
} GpuSortPortionFile;

/*
 * Writes the file with this number in the set.  Lets other processes open the runs' files as well.
 */
extern void gpusort_portion_file_write(const GpuSortPortions *portions, FileSet *files,
									   uint32 number);

/*
 * Opens the file and the files of its runs.  The result is palloc'd; all files are closed with the
 * resource owner.
 */
extern GpuSortPortionFile *gpusort_portion_file_open(FileSet *files, uint32 number,
													 bool index_rows);

/* Reads where a portion lies into `from` and `to`. */
extern void gpusort_portion_file_read(GpuSortPortionFile *file, uint32 number);

extern void gpusort_portion_file_close(GpuSortPortionFile *file);

#endif							/* GPUSORT_RUNS_H */
