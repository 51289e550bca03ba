/*
 * index_collect.c
 *		Reading the table of an index build.
 *
 * Rows that the sort has no room for stop the build (index_build.c), but a scan
 * by the server can't be stopped: its remaining rows are ignored.
 */
#include "postgres.h"

#include "index/index_collect.h"
#include "index/index_parallel.h"
#include "sort/sort_put.h"

void
gpusort_index_put(GpuSortIndexBuild *build, const Datum *values, const bool *isnull,
				  ItemPointer tid, bool alive)
{
	if (build->failed)
		return;
	if (build->part != NULL && !build->part_full)
	{
		if (gpusort_put_index_values(build->part, values, isnull, tid, alive))
			return;
		build->part_full = true;
	}
	build->failed = !gpusort_put_index_values(build->sort, values, isnull, tid, alive);
}

void
gpusort_index_put_row(Relation index, ItemPointer tid, Datum *values, bool *isnull, bool alive,
					  void *state)
{
	GpuSortIndexBuild *build = state;

	gpusort_index_put(build, values, isnull, tid, alive || !build->info->ii_Unique);
	if (build->queues != NULL)
		gpusort_index_exchange_rows(build);
}

double
gpusort_index_collect(GpuSortIndexBuild *build)
{
	double		live;

	if (build->info->ii_ParallelWorkers > 0 && gpusort_index_collect_parallel(build, &live))
		return live;
	if (gpusort_index_can_read_pages(build))
		return gpusort_index_read_pages(build, true);
	return table_index_build_scan(build->heap, build->index, build->info, true, true,
								  gpusort_index_put_row, build, NULL);
}
