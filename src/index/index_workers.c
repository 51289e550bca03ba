/*
 * index_workers.c
 *		Decides how many workers an index build gets; see index_workers.h.
 */
#include "postgres.h"

#include <limits.h>

#include "miscadmin.h"
#include "optimizer/optimizer.h"
#include "utils/guc.h"
#include "utils/rel.h"

#include "index/index_workers.h"
#include "sort/sort.h"

int
gpusort_index_workers(const GpuSortIndexTarget *target)
{
	int			planned = target->info->ii_ParallelWorkers;
	size_t		kb = maintenance_work_mem + gpusort_pool_available() / 1024;
	char		value[32];
	int			nest;

	if (planned >= max_parallel_maintenance_workers || kb == maintenance_work_mem)
		return planned;
	/* the planner's number depends on more than memory, so ask it again, with more memory */
	nest = NewGUCNestLevel();
	snprintf(value, sizeof(value), "%d", (int) Min(kb, MAX_KILOBYTES));
	(void) set_config_option("maintenance_work_mem", value, PGC_USERSET, PGC_S_SESSION,
							 GUC_ACTION_SAVE, true, 0, false);
	planned = Max(planned, plan_create_index_workers(RelationGetRelid(target->heap),
													 RelationGetRelid(target->index)));
	AtEOXact_GUC(false, nest);
	return planned;
}
