/*
 * spill_files.h
 *		The temporary files of a sort that has spilled, and its runs in memory.
 *
 * They lie in a FileSet: the sort's own, or, of a part, that of the shared sort, whose leader
 * has it.  Whoever has the set deletes all that is in it when the sort ends, on error as well;
 * then the resource owner has closed what was open.
 *
 * Private to src/sort.
 */
#ifndef GPUSORT_SPILL_FILES_H
#define GPUSORT_SPILL_FILES_H

#include "runs/portion_file.h"
#include "runs/run_file.h"
#include "runs/run_portions.h"
#include "sort/sort.h"

typedef struct GpuSortSpill
{
	MemoryContext context;		/* of all that belongs to it */
	FileSet    *files;			/* own_files, or a shared sort's; NULL: none yet */
	FileSet		own_files;
	uint32		next_number;	/* of a file */
	pg_atomic_uint32 *shared_number;	/* ... instead, in files of a shared sort; or NULL */
	GpuSortRunFile *file;		/* that this process appends runs to; NULL: none yet */
	GpuSortRange *kept;			/* what of that file stays in memory; NULL: nothing */
	uint64		rows;			/* in all runs */
	bool		refused;		/* of a part: its rows could not be put in order; that is not
								 * tried again */

	/* when all rows are in */
	GpuSortRunFile **read;		/* files with runs */
	uint32		nread;
	GpuSortPortions *portions;
	uint32		participants;	/* processes that may load some side by side, given the memory */
	struct GpuSortCrewLeader *crew; /* workers that do, or NULL */
	uint64	   *shared_first;	/* positions where portions began when they were shared, and the end; they
								 * may since have been split */
	uint32		shared_count;
	GpuSortPortionFile *shared;	/* of a part: those of the sort that it is a part of; or NULL */
	bool		loaded;			/* a portion is in this process's memory, */
	uint64		loaded_first;	/* ... and this is its first position */
	IndexTuple	last_row;		/* a copy of the last one of a portion that was in memory, of index
								 * rows; NULL: there was none */
	uint64		last_position;
} GpuSortSpill;

/* Files of a sort's own; ERROR if the server has no room for them. */
extern GpuSortSpill *gpusort_make_spill(GpuSort *sort);

/*
 * Let the participants of a shared sort put files into the sort's, each one, and a process that
 * joins their parts more.
 */
extern const FileSet *gpusort_share_files(GpuSort *sort, int participants);

/* Do so: the files, and how many there are so far. */
extern void gpusort_use_shared_files(GpuSort *sort, FileSet *files, pg_atomic_uint32 *number);

/* Has the sort runs in files, its own or those of portions that it is given? */
extern bool gpusort_has_runs(const GpuSort *sort);

/* A number for one more file. */
extern uint32 gpusort_next_file(GpuSortSpill *spill);

/* Begin a file in them. */
extern GpuSortRunFile *gpusort_begin_run_file(GpuSort *sort);

/* Let runs stay in memory from now on, as many as spill_plan.h says. */
extern void gpusort_keep_runs(GpuSort *sort);

/*
 * All runs are written: let other processes read the file, and have the extents of those in memory,
 * which go with the owner of the shared sort.
 */
extern void gpusort_publish_runs(GpuSort *part);

/* Read runs of this file, too. */
extern void gpusort_read_run_file(GpuSortSpill *spill, GpuSortRunFile *file);

/* Delete a file that is read, forget its runs, and give back what they take of memory. */
extern void gpusort_drop_run_file(GpuSort *sort, uint32 which);

/* Delete the files, which are closed. */
extern void gpusort_delete_spill(GpuSortSpill *spill);

/* Close and delete a sort's files, if it has some; its rows in memory are not theirs any more. */
extern void gpusort_end_spill(GpuSort *sort);

#endif							/* GPUSORT_SPILL_FILES_H */
