/*
 * cluster_write_private.h
 *		Writes the sorted versions into the new table.
 */
#ifndef GPUSORT_CLUSTER_WRITE_PRIVATE_H
#define GPUSORT_CLUSTER_WRITE_PRIVATE_H

#include "access/htup.h"
#include "access/htup_details.h"
#include "port/atomics.h"
#include "utils/rel.h"

#include "cluster/cluster_copy_private.h"
#include "sort/sort_view.h"
#include "table/storage.h"
#include "table/table.h"
#include "team/turns.h"

/* ---------- sink: sorted versions into pages ---------- */

/*
 * Begin to write a table that has no blocks yet, in the current memory context, to which the
 * storage belongs, too.  One process may write all of it, or several processes write slices of the
 * order.
 */
extern GpuSortTableSink *gpusort_cluster_begin_sink(Relation heap, GpuSortStorage *storage);

/* ---------- chains: versions of which some replace others ---------- */

/* Chains of updates lead from some of these versions to others. */

typedef struct GpuSortClusterChains GpuSortClusterChains;

/* Begin, and finish when all versions have been put. */
extern GpuSortClusterChains *gpusort_cluster_chains_begin(const GpuSortClusterCopy *copy);
extern void gpusort_cluster_chains_finish(GpuSortClusterChains *chains);

/* ---------- target: either of these ---------- */

/*
 * Sorted versions are written either into pages of a new table or through the server's rewrite
 * of tables.
 */

/* Where versions are written: either `sink` or `chains` is set. */
typedef struct GpuSortClusterTarget
{
	GpuSortTableSink *sink;
	GpuSortClusterChains *chains;
	bool		keyed;			/* versions come with keys (cluster_version_private.h) */
	bool		in_slices;		/* pages are kept until it is their slice's turn */
	bool		may_toast;		/* if not, versions that need the toaster are refused */

	uint64		written;		/* versions that this process has written */
	/* versions that all have written, in shared memory; NULL if this process writes alone */
	pg_atomic_uint64 *all_written;
	bool		shows;			/* this process reports to pg_stat_progress_cluster */
} GpuSortClusterTarget;

/* Write the versions at positions from .. to - 1.  Returns false if one of them was refused. */
extern bool gpusort_cluster_target_put(GpuSortClusterTarget *target, const GpuSortView *view,
									   uint64 from, uint64 to);

/* ---------- slices: writing by several processes ---------- */

/* Each process writes slices of the sorted versions. */

/* What the processes share. */
typedef struct GpuSortClusterSlices
{
	uint64		rows;
	uint64		step;			/* versions in each slice but the last */
	bool		keyed;			/* versions come with keys (cluster_version_private.h) */
	GpuSortSharedFile file;
	GpuSortTurns turns;
	pg_atomic_uint64 written;	/* versions that have been written */
} GpuSortClusterSlices;

/*
 * Cut the sorted versions into slices.  Returns false if that is not worth it, since there is only
 * one slice or too many would be left to the leader.
 */
extern bool gpusort_cluster_slices_init(GpuSortClusterSlices *slices,
										const GpuSortClusterCopy *copy, const GpuSortView *view,
										const GpuSortClusterFindings *findings);

/* Returns the number of slices. */
static inline uint64
gpusort_cluster_slice_count(const GpuSortClusterSlices *slices)
{
	return (slices->rows + slices->step - 1) / slices->step;
}

/*
 * Take slices and write them into the new table, until there are none left.  The leader returns
 * when all slices have their blocks; other processes may still be writing their pages.
 */
extern void gpusort_cluster_slices_put(GpuSortClusterSlices *slices, Relation new_heap,
									   GpuSortStorage *storage, const GpuSortView *view);

#endif							/* GPUSORT_CLUSTER_WRITE_PRIVATE_H */
