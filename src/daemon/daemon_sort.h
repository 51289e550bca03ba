/*
 * daemon_sort.h
 *		One job on devices: fed, sorted, its rows reordered, and its backend told.
 */
#ifndef DAEMON_SORT_H
#define DAEMON_SORT_H

#include "engine/device/gs_reorder.h"

#include "daemon/daemon_descriptor.h"
#include "daemon/daemon_options.h"
#include "protocol/gsd_pool.h"

/* What all sorters have in common. */
typedef struct gsd_common
{
	gsd_pool   *pool;
	uint64_t	step_rows;		/* most that become ready at once; 0: any number */
	uint64_t	fault_at;
	_Atomic gsd_fault fault;	/* what is still to be done wrong */
	_Atomic uint64_t runs;
} gsd_common;

/* Devices that nobody else uses meanwhile, and what is needed to sort one job on them. */
typedef struct gsd_sorter
{
	gsd_common *common;
	gs_group	group;
	void		(*between) (void *arg); /* called between the steps of a job; or NULL */
	void	   *arg;

	uint64_t	idle_bytes;		/* free on the devices when there is no job */
	uint64_t	used_bytes;		/* of them, as was last said in the pool */
	double		woken_ms;		/* when a backend was last told of rows */
	gsd_arguments arguments;	/* of the job that is sorted */
	gs_device_result result;
} gsd_sorter;

/* What a job has on the devices of a sorter; zeros: nothing. */
typedef struct gsd_work
{
	gs_device_job *job;			/* NULL: not begun, or ended */
	unsigned	nplanes;		/* that it is begun with */
	uint64_t	fed_segments[GS_MAX_PLANES];
	gs_reorder *reorder;		/* NULL: no rows to be reordered, so far */
	uint64_t	fed_extents;	/* of rows */
} gsd_work;

/* The sorter's group is set. */
extern void gsd_sorter_begin(gsd_sorter *sorter, gsd_common *common);

/* A job is about to be run; a failure is one that was asked for, and *message says so. */
extern gs_status gsd_sorter_run_begins(gsd_sorter *sorter, const char **message);

/* Upload what is new of an open job, as far as there is room. */
extern void gsd_work_feed(gsd_sorter *sorter, gsd_work *work, unsigned n);

/* A device has failed: what was uploaded may be gone.  It is fed again. */
extern void gsd_work_feed_again(gsd_work *work);

/* Have nothing on the devices any more. */
extern void gsd_work_end(gsd_sorter *sorter, gsd_work *work);

/*
 * Sort a job, and tell its backend of rows as they become ready.  On failure *message
 * says why, unless it is NULL, and the job is to be ended.
 */
extern gs_status gsd_work_sort(gsd_sorter *sorter, gsd_work *work, unsigned n,
							   const char **message);

/*
 * Reorder the rows of a job that is sorted, if that is wanted.  If it does not work out
 * the rows are as they were, and the job is done all the same.
 */
extern gs_status gsd_work_reorder(gsd_sorter *sorter, gsd_work *work, unsigned n);

/* The job's arguments are needed no more. */
extern void gsd_sorter_forget(gsd_sorter *sorter);

#endif							/* DAEMON_SORT_H */
