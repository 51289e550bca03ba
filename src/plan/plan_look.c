/*
 * plan_look.c
 *		The sorts of a finished plan; see plan_look.h.
 */
#include "postgres.h"

#include "pg_compat/paths.h"
#include "plan/plan_look.h"
#include "plan/plan_node.h"

/* The reasons that a setting would change. */
static const struct
{
	const char *reason;
	const char *setting;
}			settings[] = {
	{"gpusort.enabled is off", "gpusort.enabled"},
	{"gpusort.enable_order_by is off", "gpusort.enable_order_by"},
	{"fewer rows estimated than gpusort.min_rows", "gpusort.min_rows"},
	{"rows estimated not to fit into work_mem * hash_mem_multiplier", "gpusort.pool_size"},
	{"rows estimated not to fit into work_mem * hash_mem_multiplier and gpusort.pool_quota",
	"gpusort.enable_spill"},
	{"rows estimated not to fit into what is free of the pool", "gpusort.enable_spill"},
	{"estimated to cost more than PostgreSQL's sort", "gpusort.cost_row"},
	{"estimated to cost more than sorting group by group", "gpusort.cost_row"},
	{"estimated to cost more than merging what is sorted", "gpusort.cost_row"},
	{"a hash table is estimated to cost less", "gpusort.cost_row"},
	{"a hash join is estimated to cost less", "gpusort.cost_row"},
};

const char *
gpusort_setting_for(const char *reason)
{
	for (int i = 0; i < lengthof(settings); i++)
		if (strcmp(reason, settings[i].reason) == 0)
			return settings[i].setting;
	return NULL;
}

GpuSortLook *
gpusort_look_at_plan(const Plan *plan, const Sort *sort, GpuSortKind kind, const char *reason)
{
	GpuSortLook *look = palloc0(sizeof(GpuSortLook));

	look->plan = plan;
	look->sort = sort;
	look->kind = kind;
	look->reason = reason;
	return look;
}

static void
note_costs(GpuSortLook *look, Cost core_cost, Cost cost)
{
	look->has_costs = true;
	look->core_cost = core_cost;
	look->cost = cost;
}

GpuSortLook *
gpusort_look_at_left(const Sort *sort, GpuSortLimit limit, const PlannedStmt *stmt,
					 const char *reason, const GpuSortEstimate *estimate)
{
	GpuSortLook *look = gpusort_look_at_plan(&sort->plan, sort, limit.kind, reason);

	if (estimate != NULL && IsA(sort, IncrementalSort))
		note_costs(look, sort->plan.total_cost - sort->plan.lefttree->total_cost,
				   estimate->startup_cost + estimate->run_cost);
	else if (estimate != NULL)
		note_costs(look, gpusort_core_cost(sort, estimate, stmt->rtable),
				   gpusort_cost_until(estimate, sort->plan.plan_rows, limit.rows));
	return look;
}

/*
 * What PostgreSQL's sort would have cost is not in the plan, so it is estimated.  A sort in which
 * several processes take part is compared by what it costs one of them alone.
 */
GpuSortLook *
gpusort_look_at_node(const CustomScan *scan, GpuSortLimit limit, const PlannedStmt *stmt)
{
	Sort	   *sort = gpusort_make_sort(scan);
	GpuSortLook *look = gpusort_look_at_plan(&scan->scan.plan, sort, gpusort_kind_of(scan), NULL);
	double		rows = sort->plan.plan_rows;
	GpuSortEstimate estimate = {0};

	(void) gpusort_reason_to_leave(sort, limit, stmt, &estimate);
	if (estimate.memory_bytes > 0)
		note_costs(look, estimate.core_extra_cost +
				   gpusort_core_sort_cost(NULL, NIL, rows, sort->plan.lefttree->plan_width),
				   gpusort_cost_until(&estimate, rows, limit.rows));
	return look;
}
