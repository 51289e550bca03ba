/*
 * spill_files.h
 *		The temporary files of a sort that has spilled, and its runs in memory.
 *
 * The files lie in a FileSet: the sort's own, or, for a part, that of the shared sort, whose leader
 * has it.  The process that has the set deletes all files in it when the sort ends, on error as
 * well; by then the resource owner has closed those that were open.
 *
 * Private to src/sort.
 */
#ifndef GPUSORT_SPILL_FILES_H
#define GPUSORT_SPILL_FILES_H

#include "runs/runs.h"
#include "sort/sort.h"

typedef struct GpuSortSpill
{
	MemoryContext context;		/* holds all that belongs to the spill */
	FileSet    *files;			/* own_files, or those of a shared sort; NULL: none yet */
	FileSet		own_files;
	uint32		next_number;	/* number of the next file */
	/* used instead of next_number in files of a shared sort, else NULL */
	pg_atomic_uint32 *shared_number;
	GpuSortRunFile *file;		/* the file to which this process appends runs; NULL: none yet */
	GpuSortRange *kept;	/* memory of the runs of that file that stay in memory; NULL: none do */
	uint64		rows;			/* rows in all runs */
	/* of a part: its rows could not be put in order, which is not tried again */
	bool		refused;

	/* used when all rows are in */
	GpuSortRunFile **read;		/* files whose runs are read */
	uint32		nread;
	GpuSortPortions *portions;
	uint32		participants;	/* processes that have memory to load portions side by side */
	struct GpuSortCrewLeader *crew; /* workers that load portions, or NULL */
	/*
	 * positions where portions began when they were shared, and the end; portions may have been
	 * split since
	 */
	uint64	   *shared_first;
	uint32		shared_count;
	/*
	 * of a sort that is one process's part of a spilled sort: the portions of the latter; else NULL
	 */
	GpuSortPortionFile *shared;
	bool		loaded;			/* a portion is in this process's memory */
	uint64		loaded_first;	/* position of the first row of that portion */
	/* of index rows: a copy of the last row of the last window; NULL: there was none */
	IndexTuple	last_row;
	uint64		last_position;
} GpuSortSpill;

/* Make the state of a sort that spills.  It has no files yet. */
extern GpuSortSpill *gpusort_make_spill(GpuSort *sort);

/*
 * Let participants of a shared sort put files into the sort's file set: each participant one, and a
 * process that joins their parts more.  Returns the set.
 */
extern const FileSet *gpusort_share_files(GpuSort *sort, int participants);

/*
 * Put files of a part, or of a sort to which parts are joined, into the shared sort's set.  *number
 * counts these files.
 */
extern void gpusort_use_shared_files(GpuSort *sort, FileSet *files, pg_atomic_uint32 *number);

/* Returns whether the sort has runs, its own or those of portions that it is given. */
extern bool gpusort_has_runs(const GpuSort *sort);

/* Returns the number of the next file. */
extern uint32 gpusort_next_file(GpuSortSpill *spill);

/* Begin a file in the sort's file set. */
extern GpuSortRunFile *gpusort_begin_run_file(GpuSort *sort);

/* Let runs stay in memory from now on, as many as the plan says (spill_plan.h). */
extern void gpusort_keep_runs(GpuSort *sort);

/*
 * Let other processes read the part's file, when all runs are written.  They also get the extents
 * of runs in memory, which go with the owner of the shared sort.
 */
extern void gpusort_publish_runs(GpuSort *part);

/* Have the runs of a file read, together with those of the sort's other files. */
extern void gpusort_read_run_file(GpuSortSpill *spill, GpuSortRunFile *file);

/* Delete a file that is read, forget its runs, and give back the memory that they take. */
extern void gpusort_drop_run_file(GpuSort *sort, uint32 which);

/* Delete the files of the sort's own set, which are closed, and release its runs in memory. */
extern void gpusort_delete_spill(GpuSortSpill *spill);

/* Close and delete a sort's files, if it has some, and forget its window. */
extern void gpusort_end_spill(GpuSort *sort);

#endif							/* GPUSORT_SPILL_FILES_H */
