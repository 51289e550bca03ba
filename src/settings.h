/*
 * settings.h
 *		Configuration variables that more than one folder looks at (see docs/settings.md for
 *		their meaning).
 */
#ifndef GPUSORT_SETTINGS_H
#define GPUSORT_SETTINGS_H

typedef enum GpuSortEngine
{
	GPUSORT_ENGINE_AUTO,
	GPUSORT_ENGINE_HOST,
	GPUSORT_ENGINE_CUDA
} GpuSortEngine;

typedef enum GpuSortLateRows
{
	GPUSORT_LATE_AUTO,
	GPUSORT_LATE_OFF,
	GPUSORT_LATE_ON
} GpuSortLateRows;

/* Tables whose indexes COPY FROM may build at its end; all are without rows. */
typedef enum GpuSortCopyIndexes
{
	GPUSORT_COPY_INDEXES_OFF,
	GPUSORT_COPY_INDEXES_ONLY_NEW,	/* those that nobody else can see or use anyway */
	GPUSORT_COPY_INDEXES_NEW,	/* the same; others get their entries in the order of keys */
	GPUSORT_COPY_INDEXES_EMPTY
} GpuSortCopyIndexes;

typedef enum GpuSortFault
{
	GPUSORT_FAULT_NONE,
	GPUSORT_FAULT_MEMORY,		/* row store reports being full half-way */
	GPUSORT_FAULT_CODEC,		/* a codec refuses a value half-way */
	GPUSORT_FAULT_VERIFY,		/* verification reports an inversion */
	GPUSORT_FAULT_PAUSE,		/* index builds pause at the end of each phase */
	GPUSORT_FAULT_SMALL_PAGES,	/* the pool has small pages, none of which was touched before */
	GPUSORT_FAULT_SLOW_SLICES,	/* what a participant does at a time takes its time */
	GPUSORT_FAULT_WORKER_ERROR, /* the same, and a worker fails in its first part */
	GPUSORT_FAULT_WORKER_EXIT,	/* or ends without a word */
	GPUSORT_FAULT_SUPERVISOR	/* gpusortd's supervisor fails at the next reload */
} GpuSortFault;

extern bool gpusort_enabled;
extern bool gpusort_enable_order_by;
extern bool gpusort_enable_index_build;
extern bool gpusort_enable_cluster;
extern bool gpusort_enable_copy;
extern bool gpusort_enable_select;
extern bool gpusort_enable_create_table_as;
extern bool gpusort_enable_insert;
extern bool gpusort_enable_parallel_collect;
extern bool gpusort_enable_shared_sort;
extern bool gpusort_enable_join;
extern int	gpusort_engine;
extern int	gpusort_copy_indexes;
extern int	gpusort_late_rows;
extern int	gpusort_min_rows;
extern bool gpusort_force;
extern bool gpusort_verify;
extern bool gpusort_enable_spill;
extern bool gpusort_track_sorts;
extern int	gpusort_log_min_duration;	/* ms; -1: nothing is logged */
extern int	gpusort_inject_fault;
extern char *gpusort_inject_fault_at;	/* the part of the work; empty: any */
extern int	gpusort_slice_pages;
extern int	gpusort_max_sort_workers;	/* -1: as many as a Gather has */
extern int	gpusort_min_sort_worker_rows;

/* Cost constants, in the planner's units. */
extern double gpusort_cost_startup;
extern double gpusort_cost_row;
extern double gpusort_cost_key_byte;
extern double gpusort_cost_key_collated;
extern double gpusort_cost_row_byte;
extern double gpusort_cost_emit;
extern double gpusort_cost_gather;
extern double gpusort_cost_fetch;

/* From _PG_init(). */
extern void gpusort_define_settings(void);

#endif							/* GPUSORT_SETTINGS_H */
