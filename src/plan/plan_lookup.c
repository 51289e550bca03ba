/*
 * plan_lookup.c
 *		What it costs to find out which entries of an index are visible; see plan_joins_private.h.
 *
 * Of a row on a page that is not all-visible, the planner charges an index-only scan for the page,
 * and cpu_tuple_cost.  But each row is fetched for itself, which takes twenty times as long, though
 * by as many processes at the same time as there are participants.  Nor does it charge anything for
 * the visibility map, whose pages take turns if the table is large.
 */
#include "postgres.h"

#include "access/nbtree.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"

#include "cost/cost.h"
#include "plan/plan_estimate_private.h"
#include "plan/plan_joins_private.h"
#include "plan/plan_paths_private.h"
#include "table/table_map.h"

/*
 * The cost of pinning another page of the visibility map than the one before: 70 ns.  Participants
 * that pin the same few pages wait for each other's changes of the counts: twelve of them took 330
 * ns for each pin of one of nineteen pages.
 */
#define MAP_PIN_COST	0.03
#define MAP_PIN_COST_EACH_OTHER	0.01

/*
 * Returns how far the table is in the order of the index's first column: the square of their
 * correlation, or 0 if that is not known.
 */
static double
order_of_table(PlannerInfo *root, const IndexOptInfo *index)
{
	Oid			type = index->opcintype[0];
	double		correlation;

	if (index->indexkeys[0] <= 0)
		return 0;
	correlation = gpusort_correlation(planner_rt_fetch(index->rel->relid, root)->relid,
									  index->indexkeys[0],
									  get_opfamily_member(index->sortopfamily[0], type, type,
														  BTLessStrategyNumber),
									  index->indexcollations[0]);
	return correlation * correlation;
}

Cost
gpusort_lookup_cost(PlannerInfo *root, const IndexOptInfo *index, double pinning_share,
					double participants)
{
	double		not_visible = 1 - index->rel->allvisfrac;
	double		ordered;

	if (not_visible <= 0 && pinning_share <= 0)
		return 0;
	ordered = order_of_table(root, index);
	return not_visible * gpusort_fetch_row_cost(ordered) +
		pinning_share * (1 - ordered) *
		(MAP_PIN_COST + MAP_PIN_COST_EACH_OTHER * (participants - 1));
}

Cost
gpusort_lookup_extra_cost(PlannerInfo *root, const Path *path)
{
	const IndexOptInfo *index;
	double		map_pages;

	while (path != NULL && !IsA(path, IndexPath))
		path = gpusort_path_below(path);
	if (path == NULL || path->pathtype != T_IndexOnlyScan)
		return 0;
	index = ((const IndexPath *) path)->indexinfo;
	map_pages = index->rel->pages / GPUSORT_MAP_PAGE_BLOCKS + 1;
	return path->rows * (gpusort_lookup_cost(root, index, 1 - 1 / map_pages,
											 path->parallel_workers + 1) -
						 (1 - index->rel->allvisfrac) * cpu_tuple_cost);
}
