/*
 * settings.h
 *		Configuration variables that more than one folder looks at.  docs/settings.md says what
 *		they mean.
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

/*
 * Which tables have their indexes built at the end of a COPY FROM.  All of them are without rows
 * when it begins.
 */
typedef enum GpuSortCopyIndexes
{
	GPUSORT_COPY_INDEXES_OFF,
	GPUSORT_COPY_INDEXES_ONLY_NEW,	/* tables that no other transaction can see, or use, anyway */
	GPUSORT_COPY_INDEXES_NEW,	/* the same; other indexes get their entries in key order */
	GPUSORT_COPY_INDEXES_EMPTY
} GpuSortCopyIndexes;

typedef enum GpuSortFault
{
	GPUSORT_FAULT_NONE,
	GPUSORT_FAULT_MEMORY,		/* the row store reports half-way that it is full */
	GPUSORT_FAULT_CODEC,		/* a codec refuses a value half-way */
	GPUSORT_FAULT_VERIFY,		/* verification reports an inversion */
	GPUSORT_FAULT_PAUSE,		/* index builds pause at the end of each phase */
	GPUSORT_FAULT_SMALL_PAGES,	/* the pool has small pages, none of which was touched before */
	GPUSORT_FAULT_WORKER_MEMORY,	/* memory ends when what workers share has been made */
	GPUSORT_FAULT_SLOW_SLICES,	/* each part of a participant's work takes at least 100 ms */
	GPUSORT_FAULT_WORKER_ERROR, /* the same, and a worker fails in its first part */
	GPUSORT_FAULT_WORKER_EXIT,	/* the same, but the worker exits without reporting an error */
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
extern int	gpusort_log_min_duration;	/* in ms; -1: nothing is logged */
extern int	gpusort_inject_fault;
extern char *gpusort_inject_fault_at;	/* names of parts of the work; empty: any part */
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
extern double gpusort_first_row_weight;

/*
 * Returns whether a sort that may have so much private memory goes on in temporary files when it is
 * full.  Not if temp_file_limit is less than that: PostgreSQL might do without files, or fails too.
 */
extern bool gpusort_may_spill(size_t memory_bytes);

/* Called from _PG_init(): defines the variables above. */
extern void gpusort_define_settings(void);

#endif							/* GPUSORT_SETTINGS_H */
