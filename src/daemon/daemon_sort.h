/*
 * daemon_sort.h
 *		Sorting one job on devices: uploading its rows, sorting and reordering them, and
 *		telling its backend.
 */
#ifndef DAEMON_SORT_H
#define DAEMON_SORT_H

#include "engine/device/gs_reorder.h"

#include "daemon/daemon_descriptor.h"
#include "daemon/daemon_options.h"
#include "protocol/gsd_pool.h"

/* What all sorters share. */
typedef struct gsd_common
{
	gsd_pool   *pool;
	uint64_t	step_rows;		/* most rows that are said to be ready at once; 0: any number */
	uint64_t	fault_at;
	_Atomic gsd_fault fault;	/* the fault that is still to be made, for tests */
	_Atomic uint64_t runs;
} gsd_common;

/*
 * A thread's devices, which no other thread uses, and what is needed to sort one job at a time on
 * them.
 */
typedef struct gsd_sorter
{
	gsd_common *common;
	gs_group	group;
	/* called with arg between the steps of a job; may be NULL */
	void		(*between) (void *arg);
	void	   *arg;

	uint64_t	idle_bytes;		/* memory that is free on the devices when there is no job */
	uint64_t	used_bytes;		/* how much of that is in use, as was last said in the pool */
	double		woken_ms;		/* when a backend was last woken because of new rows */
	gsd_arguments arguments;	/* the arguments of the job that is sorted */
	gs_device_result result;
} gsd_sorter;

/* What a job has on the devices of a sorter; all zeros: nothing. */
typedef struct gsd_work
{
	gs_device_job *job;			/* NULL: not begun, or ended */
	unsigned	nplanes;		/* the job's number of planes */
	uint64_t	fed_segments[GS_MAX_PLANES];
	gs_reorder *reorder;		/* NULL: no rows to be reordered were uploaded so far */
	uint64_t	fed_extents;	/* extents of rows that were uploaded */
} gsd_work;

/* Sets up a sorter, whose group the caller has set already. */
extern void gsd_sorter_begin(gsd_sorter *sorter, gsd_common *common);

/*
 * Counts a run of a job that is about to begin, and makes the faults that tests ask for.  A status
 * other than GS_OK is such a fault, and *message says so.
 */
extern gs_status gsd_sorter_run_begins(gsd_sorter *sorter, const char **message);

/* Uploads what is new of the open job n, as far as there is room. */
extern void gsd_work_feed(gsd_sorter *sorter, gsd_work *work, unsigned n);

/*
 * Forgets what was uploaded of a job, since a device has failed and it may be gone.  It is fed
 * again.
 */
extern void gsd_work_feed_again(gsd_work *work);

/* Frees all that a job has on the devices. */
extern void gsd_work_end(gsd_sorter *sorter, gsd_work *work);

/*
 * Sorts job n, and tells its backend of rows as they become ready.  On failure *message says why,
 * unless it is NULL, and the caller calls gsd_work_end().
 */
extern gs_status gsd_work_sort(gsd_sorter *sorter, gsd_work *work, unsigned n,
							   const char **message);

/*
 * Reorders the rows of job n, which is sorted, if its session wants that.  If it fails the rows are
 * as they were, and the job is done all the same.
 */
extern gs_status gsd_work_reorder(gsd_sorter *sorter, gsd_work *work, unsigned n);

/* Frees the arguments of the sorter's job. */
extern void gsd_sorter_forget(gsd_sorter *sorter);

#endif							/* DAEMON_SORT_H */
