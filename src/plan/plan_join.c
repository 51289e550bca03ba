/*
 * plan_join.c
 *		Joins of two sorts in a node of our own; see plan_joins_private.h, and plan_node.h for
 *		what is in the node.
 */
#include "postgres.h"

#include "access/nbtree.h"
#include "executor/nodeHash.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "utils/lsyscache.h"

#include "cost/cost.h"
#include "pg_compat/keys.h"
#include "pg_compat/paths.h"
#include "pg_compat/planner.h"
#include "plan/plan_estimate_private.h"
#include "plan/plan_joins_private.h"
#include "plan/plan_node.h"
#include "plan/plan_paths_private.h"
#include "plan/plan_replace_private.h"
#include "settings.h"

/*
 * What a participant takes to find a row's partner.  It is 15 ns, which would be 0.006.  But the
 * planner charges only 0.0025 for what its merge joins do with a row, which takes longer, and with
 * which this is compared.  (test/bench/join.pl --what rows)
 */
#define MERGE_ROW_COST	0.002

/*
 * What it takes in addition if the first words of keys don't tell whether rows match, so that the
 * operator family's comparison is called for the rows themselves: 100 ns.  Without this charge,
 * joins of md5s of 1 M and 100,000 rows took as long as by a hash table, or longer
 * (test/bench/join.pl --key text --ratio 0.1,1).
 */
#define COMPARE_ROW_COST	0.04

/* A join that is being considered. */
typedef struct JoinIdea
{
	GpuSortMergeJoin merge;
	const GpuSortPair *pair;
	List	   *outerkeys;		/* one for each of merge.mergeclauses */
	List	   *innerkeys;
	GpuSortSide *outer;			/* the sides, in these orders */
	GpuSortSide *inner;
} JoinIdea;

/* ---------- clauses ---------- */

/*
 * Returns whether values of both sides of a clause can be compared with each other as they are
 * sorted.
 */
static bool
is_comparable(const RestrictInfo *clause, const PathKey *pathkey)
{
	Oid			opno = ((const OpExpr *) clause->clause)->opno;
	Oid			types[2];
	int			strategy;

	get_op_opfamily_properties(opno, pathkey->pk_opfamily, false, &strategy, &types[0], &types[1]);
	for (int i = 0; i < 2; i++)
	{
		Oid			sortop = gpusort_pathkey_operator(pathkey, types[i]);
		Oid			opfamily;
		Oid			type;
		bool		reverse;

		if (!OidIsValid(sortop) || !gpusort_ordering_op(sortop, &opfamily, &type, &reverse) ||
			opfamily != pathkey->pk_opfamily || type != types[i])
			return false;
	}
	return OidIsValid(get_opfamily_proc(pathkey->pk_opfamily,
										types[clause->outer_is_left ? 0 : 1],
										types[clause->outer_is_left ? 1 : 0], BTORDER_PROC));
}

static EquivalenceClass *
outer_class(const RestrictInfo *clause)
{
	return clause->outer_is_left ? clause->left_ec : clause->right_ec;
}

static EquivalenceClass *
inner_class(const RestrictInfo *clause)
{
	return clause->outer_is_left ? clause->right_ec : clause->left_ec;
}

/*
 * Chooses one clause for each sort column, such that each has a column of its own on both sides.
 * The other clauses become filters.
 */
static bool
choose_clauses(JoinIdea *join)
{
	PlannerInfo *root = join->merge.root;
	ListCell   *lc;
	ListCell   *lc2;

	foreach(lc, join->pair->orders)
	{
		PathKey    *pathkey = lfirst_node(PathKey, lc);

		foreach(lc2, join->pair->extra.mergeclause_list)
		{
			RestrictInfo *clause = lfirst_node(RestrictInfo, lc2);
			PathKey    *innerkey;

			if (outer_class(clause) != pathkey->pk_eclass ||
				gpusort_has_class(join->innerkeys, inner_class(clause)) ||
				!is_comparable(clause, pathkey))
				continue;
			innerkey = linitial(make_inner_pathkeys_for_merge(root, list_make1(clause),
															  list_make1(pathkey)));
			join->merge.mergeclauses = lappend(join->merge.mergeclauses, clause);
			join->outerkeys = lappend(join->outerkeys, pathkey);
			join->innerkeys = lappend(join->innerkeys, innerkey);
			break;
		}
	}
	return join->outerkeys != NIL;
}

/*
 * Returns whether there are conditions that can't be merged by.  PostgreSQL refuses full joins by
 * such conditions, whatever a join of ours would cost.
 */
static bool
has_other_conditions(const GpuSortPair *pair)
{
	ListCell   *lc;

	foreach(lc, pair->extra.restrictlist)
	{
		RestrictInfo *clause = lfirst_node(RestrictInfo, lc);

		if (!RINFO_IS_PUSHED_DOWN(clause, pair->join.joinrel->relids) &&
			!list_member_ptr(pair->extra.mergeclause_list, clause))
			return true;
	}
	return false;
}

/* ---------- paths ---------- */

/*
 * The columns of the MergeJoin are replaced with what they are made of in the finished plan, so
 * that the node can project.
 */
static Plan *
plan_join_path(PlannerInfo *root, RelOptInfo *rel, CustomPath *best_path, List *tlist,
			   List *clauses, List *custom_plans)
{
	MergeJoin  *merge = linitial_node(MergeJoin, custom_plans);
	CustomScan *scan = makeNode(CustomScan);

	scan->scan.plan.targetlist = tlist;
	scan->scan.plan.lefttree = &merge->join.plan;
	scan->custom_scan_tlist = copyObject(merge->join.plan.targetlist);
	scan->flags = best_path->flags;
	scan->methods = gpusort_node_methods(GPUSORT_UNFINISHED_JOIN_NODE);
	return &scan->scan.plan;
}

static const CustomPathMethods join_path_methods = {
	.CustomName = GPUSORT_UNFINISHED_JOIN_NODE,
	.PlanCustomPath = plan_join_path
};

/* Makes the path of a merge join, which is never executed, and so costs nothing. */
static Path *
make_merge_path(const GpuSortMergeJoin *merge)
{
	MergePath  *path = makeNode(MergePath);

	path->jpath.path.pathtype = T_MergeJoin;
	path->jpath.path.parent = merge->joinrel;
	path->jpath.path.pathtarget = merge->joinrel->reltarget;
	path->jpath.path.pathkeys = merge->pathkeys;
	path->jpath.jointype = merge->jointype;
	path->jpath.inner_unique = merge->extra->inner_unique;
	path->jpath.outerjoinpath = merge->outer;
	path->jpath.innerjoinpath = merge->inner;
	path->jpath.joinrestrictinfo = merge->extra->restrictlist;
	path->path_mergeclauses = merge->mergeclauses;
	return &path->jpath.path;
}

static Path *
make_unfinished_join(const GpuSortMergeJoin *merge, const Path *path, Cost cost)
{
	Path	   *merge_path = make_merge_path(merge);
	GpuSortJoinPath *join = (GpuSortJoinPath *) newNode(sizeof(GpuSortJoinPath), T_CustomPath);

	join->cost = cost;
	join->custom.path = *path;
	join->custom.path.type = T_CustomPath;
	join->custom.path.pathtype = T_CustomScan;
	join->custom.path.parent = merge_path->parent;
	join->custom.path.pathtarget = merge_path->pathtarget;
	join->custom.flags = CUSTOMPATH_SUPPORT_PROJECTION;
	join->custom.custom_paths = list_make1(merge_path);
	join->custom.methods = &join_path_methods;
	return &join->custom.path;
}

void
gpusort_add_unfinished_join(const GpuSortMergeJoin *merge, Path *path)
{
	RelOptInfo *joinrel = merge->joinrel;
	Cost		cost = path->total_cost;

	path->parallel_safe = joinrel->consider_parallel && merge->outer->parallel_safe &&
		merge->inner->parallel_safe;
	gpusort_join_path_disabled(path, merge->outer, merge->inner);
	gpusort_outbid_join(merge->root, joinrel, path);
	if (!gpusort_might_be_kept(joinrel, path))
		return;
	gpusort_add_join(joinrel, make_unfinished_join(merge, path, cost));
}

/* Returns the cost of finding a row's partner. */
static Cost
merge_row_cost(const GpuSortMergeJoin *merge)
{
	RestrictInfo *first = linitial_node(RestrictInfo, merge->mergeclauses);
	int			length = get_typlen(exprType(get_leftop(first->clause)));
	bool		decided = list_length(merge->mergeclauses) == 1 && length > 0 &&
		length <= sizeof(uint64);

	return MERGE_ROW_COST + (decided ? 0 : COMPARE_ROW_COST);
}

/* Returns how many pairs of rows have keys that match, whatever other conditions say. */
static double
matching_pairs(const GpuSortMergeJoin *merge)
{
	SpecialJoinInfo *inner_join = makeNode(SpecialJoinInfo);

	inner_join->min_lefthand = inner_join->syn_lefthand = merge->outer->parent->relids;
	inner_join->min_righthand = inner_join->syn_righthand = merge->inner->parent->relids;
	inner_join->jointype = JOIN_INNER;
	return merge->outer->parent->rows * merge->inner->parent->rows *
		clauselist_selectivity(merge->root, merge->mergeclauses, 0, JOIN_INNER, inner_join);
}

/*
 * Estimates a join of two sorts by participants, each of which takes `share` of the rows.  saved is
 * the cost of what is done on both sides at the same time.
 */
static void
estimate_join(JoinIdea *join, Cost saved, double share, Path *path)
{
	GpuSortMergeJoin *merge = &join->merge;
	const Path *outer = merge->outer;
	const Path *inner = merge->inner;
	QualCost	qual = {0};
	double		rows = merge->joinrel->rows;
	double		pairs = rows;

	merge->pathkeys = build_join_pathkeys(merge->root, merge->joinrel, merge->jointype,
										  join->outerkeys);
	if (list_length(merge->extra->restrictlist) > list_length(merge->mergeclauses))
	{
		cost_qual_eval(&qual, merge->extra->restrictlist, merge->root);
		pairs = Max(pairs, matching_pairs(merge));
	}
	path->rows = clamp_row_est(rows * share);
	path->startup_cost = outer->startup_cost + inner->startup_cost - saved + qual.startup +
		gpusort_lookup_extra_cost(merge->root, outer) +
		gpusort_lookup_extra_cost(merge->root, inner);
	path->total_cost = path->startup_cost +
		((outer->total_cost - outer->startup_cost) + (inner->total_cost - inner->startup_cost) +
		 (outer->rows + inner->rows) * merge_row_cost(merge) +
		 pairs * (cpu_tuple_cost + qual.per_tuple)) *
		share;
}

static void
add_whole_join(JoinIdea *join)
{
	GpuSortMergeJoin *merge = &join->merge;
	Path		path = {0};

	merge->outer = gpusort_side_sorted(join->outer);
	merge->inner = merge->outer != NULL ? gpusort_side_sorted(join->inner) : NULL;
	if (merge->inner == NULL)
		return;
	estimate_join(join, 0, 1, &path);
	path.pathkeys = merge->pathkeys;
	gpusort_add_unfinished_join(merge, &path);
}

/* ---------- by parallel workers ---------- */

static bool
fit_together(const GpuSortSharedSort *outer, const GpuSortSharedSort *inner, int participants)
{
	GpuSortEstimate both = outer->estimate;

	both.memory_bytes += inner->estimate.memory_bytes;
	both.part_bytes += inner->estimate.part_bytes;
	both.ranges += inner->estimate.ranges;
	return gpusort_force || gpusort_fits_pool(&both, participants);
}

/*
 * Returns the path that participants read of one side, or NULL.  A table that the planner finds too
 * small to have workers scan it is scanned by them all the same if the other side is scanned by
 * workers: else one process would have to read the other side.
 */
static Path *
partial_path(RelOptInfo *rel, GpuSortSide *side, const RelOptInfo *other)
{
	const Path *cheapest = rel->cheapest_total_path;
	int			workers;

	if (rel->partial_pathlist != NIL)
		return linitial(rel->partial_pathlist);
	if (other->partial_pathlist == NIL || rel->reloptkind != RELOPT_BASEREL ||
		rel->rtekind != RTE_RELATION || !rel->consider_parallel || rel->rel_parallel_workers == 0 ||
		cheapest->pathtype != T_SeqScan || cheapest->param_info != NULL)
		return NULL;
	workers = ((const Path *) linitial(other->partial_pathlist))->parallel_workers;
	return gpusort_side_scan(side, workers);
}

static void
add_partial_join(JoinIdea *join)
{
	const RelOptInfo *joinrel = join->merge.joinrel;
	GpuSortMergeJoin *merge = &join->merge;
	Path	   *outer_partial;
	Path	   *inner_partial;
	const GpuSortSharedSort *outer;
	const GpuSortSharedSort *inner;
	Path		path = {0};
	int			workers;

	if (!joinrel->consider_parallel || !bms_is_empty(joinrel->lateral_relids) ||
		!gpusort_plans_shared())
		return;
	outer_partial = partial_path(join->pair->outerrel, join->outer, join->pair->innerrel);
	inner_partial = partial_path(join->pair->innerrel, join->inner, join->pair->outerrel);
	if (outer_partial == NULL || inner_partial == NULL)
		return;
	workers = Min(outer_partial->parallel_workers, inner_partial->parallel_workers);
	outer = gpusort_side_shared(join->outer, outer_partial);
	inner = outer != NULL ? gpusort_side_shared(join->inner, inner_partial) : NULL;
	if (inner == NULL || !fit_together(outer, inner, workers + 1))
		return;
	merge->outer = gpusort_side_shared_path(join->outer, outer);
	merge->inner = gpusort_side_shared_path(join->inner, inner);
	estimate_join(join, Min(gpusort_alone_cost(&outer->estimate, outer->all_rows),
							gpusort_alone_cost(&inner->estimate, inner->all_rows)),
				  Min(outer_partial->rows / outer->all_rows, 1), &path);
	path.parallel_aware = true;
	path.parallel_workers = Max(outer_partial->parallel_workers, inner_partial->parallel_workers);
	gpusort_add_unfinished_join(merge, &path);
}

void
gpusort_add_join_paths(const GpuSortPair *pair)
{
	JoinIdea	join = {.merge = pair->join, .pair = pair};
	PlannerInfo *root = pair->join.root;

	if (!gpusort_enable_join || root->hasPseudoConstantQuals || root->row_identity_vars != NIL ||
		!gpusort_has_many_rows(pair->outerrel) || !gpusort_has_many_rows(pair->innerrel) ||
		(pair->join.jointype == JOIN_FULL && has_other_conditions(pair)) || !choose_clauses(&join))
		return;
	join.outer = gpusort_side(root, pair->outerrel, join.outerkeys);
	join.inner = gpusort_side(root, pair->innerrel, join.innerkeys);
	if (pair->both_sorted)
		add_whole_join(&join);
	if (pair->partial)
		add_partial_join(&join);
}

/* ---------- plans ---------- */

/* Replaces the columns that a node scans with what they are made of. */
static Node *
replace_columns(Node *node, void *arg)
{
	if (node == NULL)
		return NULL;
	if (IsA(node, Var) && ((Var *) node)->varno == INDEX_VAR)
	{
		const List *columns = arg;

		return copyObject((Node *) list_nth_node(TargetEntry, columns,
												 ((Var *) node)->varattno - 1)->expr);
	}
	return expression_tree_mutator(node, replace_columns, arg);
}

Plan *
gpusort_finish_join(CustomScan *scan)
{
	MergeJoin  *merge = castNode(MergeJoin, scan->scan.plan.lefttree);
	CustomScan *join = makeNode(CustomScan);
	Plan	   *plan = &join->scan.plan;

	*plan = scan->scan.plan;
	NodeSetTag(plan, T_CustomScan);
	plan->lefttree = merge->join.plan.lefttree;
	plan->righttree = merge->join.plan.righttree;
	plan->initPlan = list_concat(plan->initPlan, merge->join.plan.initPlan);
	plan->extParam = bms_union(plan->extParam, merge->join.plan.extParam);
	plan->allParam = bms_union(plan->allParam, merge->join.plan.allParam);
	plan->targetlist = (List *) replace_columns((Node *) plan->targetlist,
												merge->join.plan.targetlist);
	join->custom_scan_tlist = plan->targetlist;
	plan->targetlist = gpusort_reference_columns(plan, INDEX_VAR);
	gpusort_plan_copy_labels(plan->targetlist, join->custom_scan_tlist);
	join->custom_exprs = list_make3(merge->mergeclauses, merge->join.joinqual,
									merge->join.plan.qual);
	join->custom_private = list_make1(list_make2_int(merge->join.jointype,
													 merge->join.inner_unique));
	join->methods = gpusort_node_methods(IsA(plan->lefttree, IndexOnlyScan)
										 ? GPUSORT_LEAF_JOIN_NODE : GPUSORT_JOIN_NODE);
	return plan;
}
