/*
 * spill_private.h
 *		What becomes of a sort whose rows do not fit: runs, portions of them, or a handover.
 */
#ifndef GPUSORT_SPILL_PRIVATE_H
#define GPUSORT_SPILL_PRIVATE_H

#include "storage/condition_variable.h"
#include "storage/spin.h"

#include "runs/runs.h"
#include "sort/keys_private.h"
#include "sort/sort.h"
#include "sort/sort_parts.h"
#include "sort/sort_view.h"

/* ---------- the temporary files of a sort that has spilled, and its runs in memory ---------- */

/*
 * The files lie in a FileSet: the sort's own, or, for a part, that of the shared sort, whose leader
 * has it.  The process that has the set deletes all files in it when the sort ends, on error as
 * well; by then the resource owner has closed those that were open.
 */

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

/* The portion of the runs whose rows are at hand. */
typedef struct GpuSortWindow
{
	uint64		first;			/* position of its first row */
	uint64		nrows;			/* number of its rows; 0: there is no window */
	/* another process has loaded it, and view shows it; else it is the rows in memory */
	bool		mapped;
	GpuSortView view;
	GpuSortViewMapping mapping;
} GpuSortWindow;

/* The runs of a sort that has spilled. */
typedef struct GpuSortRuns
{
	GpuSortSpill *spill;		/* runs in files (spill_files.c); NULL: there are none */
	GpuSortWindow window;		/* positions whose rows are at hand, if there are runs */
	/* rows that are equal in so many first columns are not divided among processes */
	int			group_columns;
	/* processes that divide the rows take at least so many at a time */
	uint64		min_portion_rows;
} GpuSortRuns;

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

/* Let runs stay in memory from now on, as many as the plan says (spill_plan.c). */
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

/* ---------- writing sorted runs to temporary files, to make room for more rows ---------- */

/*
 * Make room for a row that could not be taken in: sort the rows in memory, write them as a run and
 * forget them.  Returns GPUSORT_HANDOVER_NONE if that was done, else why the row can't be taken in;
 * then the rows are still there.
 */
extern GpuSortHandover gpusort_make_room(GpuSort *sort);

/*
 * Sort the rows in memory, of which there are some, and write them as a run.  Returns
 * GPUSORT_HANDOVER_NONE, or why that can't be done.
 */
extern GpuSortHandover gpusort_spill_rows(GpuSort *sort);

/* Append the rows in memory, which are sorted, to the run that is being written. */
extern void gpusort_write_rows(GpuSort *sort, GpuSortRunFile *file);

/* ---------- reading back the rows of a sort that has spilled, a portion at a time ---------- */

/*
 * Write the last run, when all rows are in, and find the portions.  Returns GPUSORT_HANDOVER_NONE,
 * or why the rows can't be written.
 */
extern GpuSortHandover gpusort_finish_spill(GpuSort *sort);

/* Make the portion that has the row at a position, which exists, the window. */
extern void gpusort_sort_load_portion(GpuSort *sort, uint64 position);

/* ---------- loading one portion of runs into memory, in order ---------- */

/*
 * Replaces the rows of a sort by those of a portion, and sorts them.  The portion is what lies
 * between from[i] and to[i] of each run runs[i].  Returns false if there is no memory for it.
 */
extern bool gpusort_portion_load(GpuSort *sort, const GpuSortRun **runs, uint32 nruns,
								 const GpuSortRunPlace *from, const GpuSortRunPlace *to);

/* ---------- a crew: what the leader and the workers that load its portions share ---------- */

/*
 * The leader and the workers of a crew (sort_parts.h) share a GpuSortPortionCrew in dynamic
 * shared memory.  Each worker has a slot, which says what the worker does with its current portion.
 * The worker itself moves its slot from FREE through LOADING to LOADED or TOO_LARGE; the leader
 * makes it FREE again when it does not want the portion any more.
 */

typedef enum CrewSlotState
{
	CREW_SLOT_FREE,				/* the worker may take a portion */
	CREW_SLOT_LOADING,			/* the worker reads and sorts a portion */
	CREW_SLOT_LOADED,			/* a view of the portion is published */
	CREW_SLOT_TOO_LARGE			/* the portion does not fit into a worker's share */
} CrewSlotState;

/* A worker, and the portion that it has or had last. */
typedef struct CrewSlot
{
	CrewSlotState state;
	uint32		portion;
	ConditionVariable freed;	/* the slot is FREE again, or the crew is stopped */

	/* counters of the portions that the worker has loaded, valid in state LOADED */
	GpuSortStats stats;			/* the worker's counters so far */
	GpuSortStats taken;			/* the part of `stats` that the leader has added to the sort's */
} CrewSlot;

struct GpuSortPortionCrew
{
	/* set by gpusort_crew_init() */
	int			workers;
	Size		view_bytes;		/* distance between two views */

	/* written by the leader before any worker is launched */
	GpuSortSharedPortions portions;

	ConditionVariable loaded;	/* some slot became LOADED or TOO_LARGE */

	/* protects the fields below; in the slots, only state and portion */
	slock_t		mutex;
	uint32		next;			/* number of the first portion that nobody has taken */
	uint32		wanted;			/* the leader does not want portions before this one any more */
	bool		stopped;		/* the leader wants no more portions at all */
	CrewSlot	slots[FLEXIBLE_ARRAY_MEMBER];	/* one for each worker, followed by the views */
};

static inline Size
crew_views_offset(int workers)
{
	return MAXALIGN(offsetof(GpuSortPortionCrew, slots) + workers * sizeof(CrewSlot));
}

static inline GpuSortSharedView *
crew_view(GpuSortPortionCrew *crew, int slot)
{
	return (GpuSortSharedView *) ((char *) crew + crew_views_offset(crew->workers) +
								  slot * crew->view_bytes);
}

/* ---------- the leader's side, for sort_portions.c ---------- */

/* What the leader remembers of its crew, in its own memory. */
typedef struct GpuSortCrewLeader
{
	GpuSortPortionCrew *crew;
} GpuSortCrewLeader;

/* How gpusort_crew_take() answers a leader who wants a portion. */
typedef enum GpuSortCrewAnswer
{
	GPUSORT_CREW_MAPPED,		/* the portion is mapped as the sort's window */
	GPUSORT_CREW_NONE,			/* no worker loads the portion: the leader has to */
	GPUSORT_CREW_BUSY			/* a worker is loading it; the leader is to load *ahead meanwhile */
} GpuSortCrewAnswer;

/*
 * Maps the portion that holds the row at a position as the sort's window, if a worker loads that
 * portion; waits for the worker if necessary.  The sort must not have a window.
 *
 * idle says that the leader has memory of its own in which it could load another portion.  Then it
 * is not let wait: the answer is GPUSORT_CREW_BUSY, and *ahead is the position of the first row of
 * the next portion that nobody has taken.
 */
extern GpuSortCrewAnswer gpusort_crew_take(GpuSort *sort, uint64 position, bool idle,
										   uint64 *ahead);

/* ---------- going on in PostgreSQL's tuplesort ---------- */

/* Returns why taking a row in, or sorting, has failed. */
static inline GpuSortHandover
gpusort_handover_cause(const GpuSortKeys *keys)
{
	return keys->value_refused && !keys->memory.exceeded ? GPUSORT_HANDOVER_VALUE
		: GPUSORT_HANDOVER_MEMORY;
}

/*
 * Hand the sort over to a tuplesort, which gets all rows that there are; callers put rows that
 * follow there.
 */
extern void gpusort_hand_over(GpuSort *sort, GpuSortHandover why);

/* Move all rows into the tuplesort that the sort was handed over to. */
extern void gpusort_move_to_tuplesort(GpuSort *sort);

#endif							/* GPUSORT_SPILL_PRIVATE_H */
