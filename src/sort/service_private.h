/*
 * service_private.h
 *		Having a sort done by gpusortd.
 */
#ifndef GPUSORT_SERVICE_PRIVATE_H
#define GPUSORT_SERVICE_PRIVATE_H

#include "lib/ilist.h"
#include "portability/instr_time.h"

#include "engine/gs_merged.h"
#include "service/service.h"
#include "sort/keys_private.h"
#include "sort/rows_private.h"
#include "sort/sort.h"
#include "sort/sort_view.h"

/* ---------- what gpusortd does for a sort ---------- */

/* Rows that gpusortd brings into sorted order (sort_reorder.c). */
typedef struct GpuSortReordered
{
	bool		running;		/* the job goes on with bringing rows into order */
	uint64		count;			/* so many first positions are valid */
	/* except those of ties: of rows that order.equal marks, and of the rows before them */
	bool		but_ties;
	GpuSortRange *rows;			/* the rows in order; NULL: there are none */
	GpuSortRange *refs;			/* where in `rows` they begin; NULL: all are equally long */
	/* the two as places, where a position takes the place of a row id */
	GpuSortRowPlaces places;
} GpuSortReordered;

/* Two sorts that gpusortd puts in one order (sort.h). */
typedef struct GpuSortMerge
{
	bool		failed;			/* gpusortd has failed to do that, and is not asked again */
	bool		merged;			/* the order is that of the rows of both sorts */
	bool		holds_order;	/* this sort has it, in order.workspace and order.equal */
	bool		any_nulls;		/* some row of either sort has a null in its key */
	gs_sides	sides;
	GpuSortRange *rest;	/* during the merge: words of both sorts that don't fill an extent */
	GpuSortRange *nulls;		/* during the merge: bitmaps of nulls of both sorts */
} GpuSortMerge;

/* What gpusortd does for a sort. */
typedef struct GpuSortDeviceUse
{
	/* the job (sort_service.c) */
	GpuSortJob	job;
	GpuSortRange *descriptor;	/* memory in which an open job is described */
	instr_time	run_at;
	dlist_node	node;			/* link in the list of sorts with an open job */

	GpuSortReordered reorder;
	GpuSortMerge merge;
} GpuSortDeviceUse;

/* ---------- the job of a sort ---------- */

/* Let gpusortd have, while rows come in, what is final of them, if that is worth it. */
extern void gpusort_sort_service_feed(GpuSort *sort);

/*
 * Have gpusortd sort.  Returns false if it does not.  all_at_once: the whole order must be there
 * when this returns; else some rows may become ready later.
 */
extern bool gpusort_sort_service_sort(GpuSort *sort, bool all_at_once);

/*
 * Returns a sort that was performed, has a job, and lives in the context or below it; NULL if there
 * is none.
 */
extern GpuSort *gpusort_sort_service_find(MemoryContext context);

/*
 * End the sort's job.  Afterwards gpusort_sort_service_holds_memory() tells whether gpusortd may
 * still hold on to some ranges.  If so they must not be written to again, but be released, and
 * gpusort_sort_service_abandon() must be called then.
 */
extern void gpusort_sort_service_end(GpuSort *sort);
extern bool gpusort_sort_service_holds_memory(const GpuSort *sort);
extern void gpusort_sort_service_abandon(GpuSort *sort);

/* ---------- parts of it, for sort_merged.c ---------- */

/*
 * Returns whether so many rows are to be sorted by gpusortd.  They are not if other processes take
 * portions of the sort: these depend on the extents of the shared sort, all of which are given back
 * if gpusortd keeps some.
 */
extern bool gpusort_sort_service_is_wanted(const GpuSort *sort, uint64 rows);

/*
 * Fill in the planes of a job, in the order of gpusort_choose_planes().  Returns how many there
 * are.
 */
extern unsigned gpusort_list_planes(const GpuSortKeys *keys, GpuSortJobPlane *planes);

/* Open a job for the sort.  Returns NULL, or why it can't be opened. */
extern const char *gpusort_sort_service_open(GpuSort *sort, unsigned nplanes, uint64 expected);

/* Leave the sort to the host engine.  failed: gpusortd had begun to sort. */
extern void gpusort_sort_service_fall_back(GpuSort *sort, const char *why, bool failed);

/* Put what gpusortd says about a sort that it has done into the statistics. */
extern void gpusort_note_result(GpuSort *sort, const gsd_result *result);

/* ---------- waiting for what gpusortd has yet to do for a performed sort ---------- */

/*
 * Wait until the first `rows` positions are ready, and find out how many rows gpusortd has brought
 * into sorted order.  With gpusort.reorder_rows = on, also wait until the first `rows` have been.
 */
extern void gpusort_await_rows(GpuSort *sort, uint64 rows);

/* Wait until all positions are ready, and until gpusortd will bring no more rows into order. */
extern void gpusort_await_all(GpuSort *sort);

/* ---------- having gpusortd bring rows into sorted order ---------- */

/*
 * Returns whether a sort can use the copy although its rows are refined, so that a running job may
 * go on copying while they are.  The copy then has all rows where gpusortd has put them, and those
 * that tied are found by pointer.
 */
extern bool gpusort_reorder_outlasts_refinement(const GpuSort *sort);

/*
 * Returns, before there are rows, whether a GPU is likely to bring as many rows as are expected
 * into sorted order.  Reading those costs less than making rows of their keys, which are looked up
 * by row id.
 */
extern bool gpusort_reorder_is_likely(const GpuSort *sort);

/*
 * Let gpusortd have the rows that it may reorder, while rows come in.  The sort must have an open
 * job.
 */
extern void gpusort_reorder_feed(GpuSort *sort);

/*
 * Have rows reordered when they have been sorted, if that pays and there is room.  To be called
 * before the job is run.
 */
extern void gpusort_reorder_begin(GpuSort *sort);

/* ---------- two sorts whose rows gpusortd puts in one order ---------- */

/*
 * For gpusort_perform_merged(): find the order of the rows of both sorts.  Returns false if each
 * has to be sorted by itself, which is still possible then.
 */
extern bool gpusort_merge_rows(GpuSort *const sorts[2]);

#endif							/* GPUSORT_SERVICE_PRIVATE_H */
