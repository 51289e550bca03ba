/*
 * cluster_progress.c
 *		Reports a copy to pg_stat_progress_cluster; see cluster_copy_private.h.
 */
#include "postgres.h"

#include "commands/progress.h"
#include "pgstat.h"

#include "cluster/cluster_copy_private.h"
#include "pg_compat/tables.h"

static void
show_phase(int phase)
{
	pgstat_progress_update_param(PROGRESS_CLUSTER_PHASE, phase);
}

void
gpusort_cluster_show_reading(BlockNumber pages)
{
	show_phase(PROGRESS_CLUSTER_PHASE_SEQ_SCAN_HEAP);
	pgstat_progress_update_param(PROGRESS_CLUSTER_TOTAL_HEAP_BLKS, pages);
}

void
gpusort_cluster_show_read(BlockNumber pages, double versions)
{
	const int	params[] = {
		PROGRESS_CLUSTER_HEAP_BLKS_SCANNED,
		PROGRESS_CLUSTER_HEAP_TUPLES_SCANNED
	};
	const int64 values[] = {pages, versions};

	pgstat_progress_update_multi_param(lengthof(params), params, values);
}

void
gpusort_cluster_show_sorting(void)
{
	show_phase(PROGRESS_CLUSTER_PHASE_SORT_TUPLES);
}

void
gpusort_cluster_show_writing(void)
{
	show_phase(PROGRESS_CLUSTER_PHASE_WRITE_NEW_HEAP);
}

void
gpusort_cluster_show_written(double versions)
{
	pgstat_progress_update_param(PROGRESS_CLUSTER_HEAP_TUPLES_WRITTEN, versions);
}

void
gpusort_cluster_show_nothing(void)
{
	gpusort_cluster_show_read(0, 0);
	gpusort_cluster_show_written(0);
}
