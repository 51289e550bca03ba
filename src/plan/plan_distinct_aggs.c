/*
 * plan_distinct_aggs.c
 *		Aggregates over distinct values: count(DISTINCT x).
 *
 * PostgreSQL sorts the values within the Agg node, group by group, in the leader.  Here the rows
 * are sorted below the Agg node, by the columns of GROUP BY and then by the values, so that equal
 * values are neighbours:
 *
 *		Agg: count(x)						Finalize Agg: count(x)
 *		  -> Unique							  -> Gather
 *		    -> GpuSort						    -> Partial Agg: count(x)
 *											      -> Unique
 *											        -> GpuSort Shared, sliced
 *
 * On the left, Unique does all that DISTINCT asks for, so DISTINCT is taken out of the aggregates.
 * On the right, slices keep equal values together, so that the counts of the participants add up;
 * groups may be cut.
 *
 * Where some aggregates are not DISTINCT, they need all rows: there is no Unique, and the Partial
 * Agg's aggregates stay DISTINCT.  The planner knows no partial aggregates of that kind, so
 * DISTINCT is put back into them when the plan is finished (plan_aggregate_private.h).
 */
#include "postgres.h"

#include "access/transam.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/planner.h"
#include "optimizer/prep.h"
#include "optimizer/tlist.h"
#include "utils/fmgroids.h"
#include "utils/selfuncs.h"

#include "cost/cost.h"
#include "pg_compat/paths.h"
#include "pg_compat/planner.h"
#include "plan/plan_aggregate_private.h"
#include "plan/plan_paths_private.h"

/* What a query's aggregates ask for. */
typedef struct DistinctAggs
{
	GpuSortGrouping grouping;	/* its target has plain aggregates */

	/* an aggregate that is DISTINCT; all others that are want the same values */
	const Aggref *distinct;
	int			count;			/* number of aggregates that are DISTINCT */
	/* all aggregates are DISTINCT and have no FILTER: only the first of equal rows is looked at */
	bool		only_values;
	bool		unfiltered;		/* an aggregate that is DISTINCT has no FILTER */
	bool		in_parts;		/* aggregates of parts of the values can be combined */

	double		values;			/* number of distinct values, of all groups together */
} DistinctAggs;

/* ---------- whether ---------- */

/*
 * Returns whether an aggregate's result is known to be the same whatever the order in which its
 * values come and are combined.  Sums of floats are not.
 */
static bool
is_order_irrelevant(const Aggref *aggref)
{
	Oid			type = aggref->aggtranstype;

	return aggref->aggfnoid < FirstNormalObjectId &&
		aggref->aggfnoid != F_ARRAY_AGG_ANYNONARRAY && aggref->aggfnoid != F_ARRAY_AGG_ANYARRAY &&
		aggref->aggfnoid != F_STRING_AGG_TEXT_TEXT &&
		aggref->aggfnoid != F_STRING_AGG_BYTEA_BYTEA &&
		type != FLOAT4OID && type != FLOAT8OID && type != FLOAT8ARRAYOID;
}

static bool
can_combine(const PlannerInfo *root)
{
	ListCell   *lc;

	foreach(lc, root->aggtransinfos)
	{
		const AggTransInfo *transition = (const AggTransInfo *) lfirst(lc);

		if (!OidIsValid(transition->combinefn_oid) ||
			(transition->aggtranstype == INTERNALOID &&
			 (!OidIsValid(transition->serialfn_oid) || !OidIsValid(transition->deserialfn_oid))))
			return false;
	}
	return true;
}

/* Looks at one aggregate; returns false if there is no way of ours to compute it. */
static bool
read_aggregate(DistinctAggs *aggs, const Aggref *aggref)
{
	/* With DISTINCT, an aggregate's ORDER BY is part of aggdistinct. */
	if ((aggref->aggorder != NIL && aggref->aggdistinct == NIL) ||
		aggref->aggkind != AGGKIND_NORMAL || aggref->agglevelsup > 0)
		return false;
	aggs->in_parts &= is_order_irrelevant(aggref);
	aggs->only_values &= aggref->aggdistinct != NIL && aggref->aggfilter == NULL;
	if (aggref->aggdistinct == NIL)
		return true;
	aggs->count++;
	aggs->unfiltered |= aggref->aggfilter == NULL;
	if (aggs->distinct == NULL)
		aggs->distinct = aggref;
	return equal(aggref->args, aggs->distinct->args) &&
		equal(aggref->aggdistinct, aggs->distinct->aggdistinct);
}

static bool
read_aggregates(DistinctAggs *aggs)
{
	ListCell   *lc;

	aggs->only_values = true;
	aggs->in_parts = can_combine(aggs->grouping.root);
	foreach(lc, gpusort_aggregates(&aggs->grouping))
	{
		if (!read_aggregate(aggs, lfirst_node(Aggref, lc)))
			return false;
	}
	return aggs->distinct != NULL &&
		(aggs->unfiltered || gpusort_are_columns(aggs->distinct->args));
}

static void
estimate_values(DistinctAggs *aggs)
{
	PlannerInfo *root = aggs->grouping.root;
	List	   *exprs = list_concat(get_sortgrouplist_exprs(gpusort_group_clause(root),
															 root->processed_tlist),
									 get_sortgrouplist_exprs(aggs->distinct->aggdistinct,
															 aggs->distinct->args));

	aggs->values =
		estimate_num_groups(root, exprs,
							clamp_row_est(aggs->grouping.input_rel->cheapest_total_path->rows),
							NULL, NULL);
}

/* ---------- targets ---------- */

static Node *
make_plain(Node *node, void *context)
{
	if (node == NULL)
		return NULL;
	if (IsA(node, Aggref))
	{
		Aggref	   *plain = makeNode(Aggref);

		*plain = *(const Aggref *) node;
		plain->aggdistinct = NIL;
		plain->aggorder = NIL;
		gpusort_set_presorted(plain, false);
		return (Node *) plain;
	}
	return expression_tree_mutator(node, make_plain, context);
}

static void
make_target(DistinctAggs *aggs)
{
	aggs->grouping.target = copy_pathtarget(aggs->grouping.grouped_rel->reltarget);
	aggs->grouping.target->exprs = (List *) make_plain((Node *) aggs->grouping.target->exprs, NULL);
	aggs->grouping.having = (List *) make_plain((Node *) aggs->grouping.having, NULL);
}

/* Makes the target of what participants compute: GROUP BY's columns, and states of aggregates. */
static PathTarget *
make_partial_target(const DistinctAggs *aggs)
{
	PathTarget *target = create_empty_pathtarget();
	List	   *group_clause = aggs->grouping.root->parse->groupClause;
	List	   *rest = list_make1(aggs->grouping.having);
	ListCell   *lc;

	foreach(lc, aggs->grouping.target->exprs)
	{
		Index		ref = get_pathtarget_sortgroupref(aggs->grouping.target,
													  foreach_current_index(lc));

		if (ref != 0 && get_sortgroupref_clause_noerr(ref, group_clause) != NULL)
			add_column_to_pathtarget(target, lfirst(lc), ref);
		else
			rest = lappend(rest, lfirst(lc));
	}
	add_new_columns_to_pathtarget(target, pull_var_clause((Node *) rest, PVC_INCLUDE_AGGREGATES |
														  PVC_RECURSE_WINDOWFUNCS |
														  PVC_INCLUDE_PLACEHOLDERS));
	foreach(lc, target->exprs)
	{
		Aggref	   *aggref = (Aggref *) lfirst(lc);
		Aggref	   *partial;

		if (!IsA(aggref, Aggref))
			continue;
		partial = makeNode(Aggref);
		*partial = *aggref;
		mark_partial_aggref(partial, AGGSPLIT_INITIAL_SERIAL);
		lfirst(lc) = partial;
	}
	return set_pathtarget_cost_width(aggs->grouping.root, target);
}

/* ---------- paths ---------- */

/* Returns the numbers of the aggregates that are DISTINCT. */
static List *
distinct_numbers(const DistinctAggs *aggs)
{
	List	   *numbers = NIL;
	ListCell   *lc;

	foreach(lc, gpusort_aggregates(&aggs->grouping))
	{
		const Aggref *aggref = lfirst_node(Aggref, lc);

		if (aggref->aggdistinct != NIL)
			numbers = list_append_unique_int(numbers, aggref->aggno);
	}
	return numbers;
}

static Path *
make_agg(const DistinctAggs *aggs, Path *input, AggSplit split, double groups)
{
	return gpusort_make_agg_path(&aggs->grouping, input, split,
								 split == AGGSPLIT_INITIAL_SERIAL ? make_partial_target(aggs)
								 : aggs->grouping.target, groups);
}

static Path *
make_unique(const DistinctAggs *aggs, Path *input, double values)
{
	return gpusort_make_unique_sorted_path(aggs->grouping.root, aggs->grouping.grouped_rel, input,
										   list_length(aggs->grouping.pathkeys),
										   clamp_row_est(values));
}

/* Makes a path above a sort of all rows, or above slices that cut no group. */
static Path *
make_path(const GpuSortSlices *slices, const void *original)
{
	const DistinctAggs *aggs = original;
	Path	   *unique = make_unique(aggs, slices->sort, aggs->values * slices->fraction);

	return gpusort_make_aggregate_path(&aggs->grouping,
									   make_agg(aggs, unique, AGGSPLIT_SIMPLE,
												Max(aggs->grouping.groups * slices->fraction, 1)),
									   NIL, NIL);
}

/* Makes the path above slices that cut groups, but keep equal values together. */
static List *
make_part_paths(const DistinctAggs *aggs)
{
	PlannerInfo *root = aggs->grouping.root;
	RelOptInfo *rel = aggs->grouping.grouped_rel;
	GpuSortSlices slices = {.root = root, .rel = rel};
	Path	   *path;
	double		rows;

	if (!aggs->in_parts || !rel->consider_parallel ||
		!gpusort_make_slices(&slices, aggs->grouping.input_rel, aggs->grouping.pathkeys,
							 list_length(aggs->grouping.pathkeys)))
		return NIL;
	path = slices.sort;
	if (aggs->only_values)
		path = make_unique(aggs, path, aggs->values * slices.fraction);
	path = make_agg(aggs, path, AGGSPLIT_INITIAL_SERIAL,
					Min(aggs->grouping.groups, clamp_row_est(path->rows)));
	rows = path->rows / slices.fraction;
	if (aggs->grouping.group_columns > 0)
		path = (Path *) create_gather_merge_path(root, rel, path, path->pathtarget,
												 list_truncate(list_copy(aggs->grouping.pathkeys),
															   aggs->grouping.group_columns),
												 NULL, &rows);
	else
		path = (Path *) create_gather_path(root, rel, path, path->pathtarget, NULL, &rows);
	path = make_agg(aggs, path, AGGSPLIT_FINAL_DESERIAL, aggs->grouping.groups);
	return list_make1(gpusort_make_aggregate_path(&aggs->grouping, path,
												  aggs->only_values ? NIL : distinct_numbers(aggs),
												  aggs->distinct->aggdistinct));
}

/*
 * Returns what the planner's own paths sort within aggregates, for which the planner charges
 * nothing.
 */
static Cost
uncharged_inner_sorts(const DistinctAggs *aggs)
{
	if (gpusort_is_presorted(aggs->distinct))
		return 0;
	return aggs->count * gpusort_inner_sort_cost(&aggs->grouping);
}

void
gpusort_make_distinct_agg_paths(const GpuSortGrouping *grouping, GpuSortAggregatePaths *paths)
{
	DistinctAggs aggs = {.grouping = *grouping};
	GpuSortSlices slices = {
		.root = grouping->root, .rel = grouping->grouped_rel, .make = make_path, .original = &aggs
	};
	Cost		cost;

	if (!read_aggregates(&aggs))
		return;
	gpusort_plan_order_groups(&aggs.grouping,
							  make_pathkeys_for_sortclauses(aggs.grouping.root,
															aggs.distinct->aggdistinct,
															aggs.distinct->args));
	if (aggs.grouping.pathkeys == NIL ||
		pathkeys_contained_in(aggs.grouping.pathkeys,
							  aggs.grouping.input_rel->cheapest_total_path->pathkeys))
		return;
	gpusort_estimate_groups(&aggs.grouping);
	paths->lacking = uncharged_inner_sorts(&aggs);
	if (!gpusort_grouping_might_be_kept(&aggs.grouping, paths->lacking))
		return;
	estimate_values(&aggs);
	make_target(&aggs);
	if (aggs.only_values)
		paths->whole = gpusort_make_whole_paths(&slices, grouping->input_rel,
												aggs.grouping.pathkeys);
	if (aggs.only_values && grouping->grouped_rel->consider_parallel)
		paths->sliced = gpusort_offer_sliced(&slices, grouping->input_rel, aggs.grouping.pathkeys,
											 aggs.grouping.group_columns, &cost);
	paths->sliced = list_concat(paths->sliced, make_part_paths(&aggs));
}
