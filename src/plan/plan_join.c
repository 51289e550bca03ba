/*
 * plan_join.c
 *		Joins of two sorts in a node of our own; see plan_join.h.
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
#include "plan/plan_join.h"
#include "plan/plan_node.h"
#include "plan/plan_pathkeys.h"
#include "plan/plan_shared.h"
#include "plan/plan_sorted.h"
#include "plan/plan_undercharged.h"
#include "settings.h"

/*
 * Finding a row's partner, by a participant.  It takes 15 ns, which would be 0.006; but the planner
 * takes 0.0025 for what its merge joins do with a row, which is more, and beside which this stands.
 * (test/bench/join.pl --what rows)
 */
#define MERGE_ROW_COST	0.002

/*
 * The same where the first words of keys don't tell whether rows match, so that the operator
 * family's comparison is called for the rows themselves: 100 ns more.  Without it md5s of 1 M and
 * 100,000 rows were joined as fast as by a hash table, or slower (test/bench/join.pl --key text --ratio 0.1,1).
 */
#define COMPARE_ROW_COST	0.04

/* A join that is thought of. */
typedef struct JoinIdea
{
	GpuSortMergeJoin merge;
	RelOptInfo *outerrel;
	RelOptInfo *innerrel;
	List	   *clauses;		/* that could be merged by */
	List	   *outerkeys;		/* one for each of merge.mergeclauses */
	List	   *innerkeys;
} JoinIdea;

/* ---------- by what ---------- */

List *
gpusort_find_join_clauses(const GpuSortMergeJoin *merge, const RelOptInfo *outerrel,
						  const RelOptInfo *innerrel)
{
	List	   *found = NIL;
	ListCell   *lc;

	foreach(lc, merge->extra->restrictlist)
	{
		RestrictInfo *clause = lfirst_node(RestrictInfo, lc);
		bool		outer_is_left = bms_is_subset(clause->left_relids, outerrel->relids);

		if (!clause->can_join || clause->mergeopfamilies == NIL || !gpusort_clause_is_order(clause) ||
			(IS_OUTER_JOIN(merge->jointype) &&
			 RINFO_IS_PUSHED_DOWN(clause, merge->joinrel->relids)) ||
			!bms_is_subset(outer_is_left ? clause->right_relids : clause->left_relids,
						   innerrel->relids) ||
			(!outer_is_left && !bms_is_subset(clause->right_relids, outerrel->relids)))
			continue;
		clause->outer_is_left = outer_is_left;
		update_mergeclause_eclasses(merge->root, clause);
		if (!EC_MUST_BE_REDUNDANT(clause->left_ec) && !EC_MUST_BE_REDUNDANT(clause->right_ec))
			found = lappend(found, clause);
	}
	return found;
}

/* Can values of both sides of the clause be compared as they are sorted? */
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

static bool
has_class(List *pathkeys, const EquivalenceClass *ec)
{
	ListCell   *lc;

	foreach(lc, pathkeys)
	{
		if (lfirst_node(PathKey, lc)->pk_eclass == ec)
			return true;
	}
	return false;
}

/*
 * Choose one clause for each sort column, so that each is one of its own on both sides.  Others are
 * left to be filters.
 */
static bool
choose_clauses(JoinIdea *join, List *orders)
{
	PlannerInfo *root = join->merge.root;
	ListCell   *lc;
	ListCell   *lc2;

	foreach(lc, orders)
	{
		PathKey    *pathkey = lfirst_node(PathKey, lc);

		foreach(lc2, join->clauses)
		{
			RestrictInfo *clause = lfirst_node(RestrictInfo, lc2);
			PathKey    *innerkey;

			if (outer_class(clause) != pathkey->pk_eclass ||
				has_class(join->innerkeys, inner_class(clause)) || !is_comparable(clause, pathkey))
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

/* PostgreSQL refuses full joins by other conditions, whatever it would cost us. */
static bool
has_other_conditions(const JoinIdea *join)
{
	ListCell   *lc;

	foreach(lc, join->merge.extra->restrictlist)
	{
		RestrictInfo *clause = lfirst_node(RestrictInfo, lc);

		if (!RINFO_IS_PUSHED_DOWN(clause, join->merge.joinrel->relids) &&
			!list_member_ptr(join->clauses, clause))
			return true;
	}
	return false;
}

/* ---------- paths ---------- */

/*
 * In the finished plan, what is wanted of the MergeJoin's columns is put together of what these are
 * made of, so the node can project.
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

CustomPath *
gpusort_make_unfinished_join(GpuSortMergeJoin *merge)
{
	MergePath  *merge_path = gpusort_create_mergejoin_path(merge);
	CustomPath *cpath = makeNode(CustomPath);

	merge_path->materialize_inner = false;
	cpath->path = merge_path->jpath.path;
	NodeSetTag(&cpath->path, T_CustomPath);
	cpath->path.pathtype = T_CustomScan;
	gpusort_join_path_disabled(&cpath->path, merge->outer, merge->inner);
	cpath->flags = CUSTOMPATH_SUPPORT_PROJECTION;
	cpath->custom_paths = list_make1(merge_path);
	cpath->methods = &join_path_methods;
	return cpath;
}

/* Finding a row's partner. */
static Cost
merge_row_cost(const GpuSortMergeJoin *merge)
{
	RestrictInfo *first = linitial_node(RestrictInfo, merge->mergeclauses);
	int			length = get_typlen(exprType(get_leftop(first->clause)));
	bool		decided = list_length(merge->mergeclauses) == 1 && length > 0 && length <= sizeof(uint64);

	return MERGE_ROW_COST + (decided ? 0 : COMPARE_ROW_COST);
}

/* Pairs of rows whose keys match, whatever other conditions say. */
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
 * A join of two sorts by so many participants, each of which takes a share of the rows.  saved: what
 * is done at the same time on both sides.
 */
static Path *
make_join_path(JoinIdea *join, Path *outer, Path *inner, Cost saved, double share)
{
	GpuSortMergeJoin *merge = &join->merge;
	CustomPath *cpath;
	Path	   *path;
	QualCost	qual = {0};
	double		rows = merge->joinrel->rows;
	double		pairs = rows;

	merge->outer = outer;
	merge->inner = inner;
	merge->pathkeys = build_join_pathkeys(merge->root, merge->joinrel, merge->jointype,
										  join->outerkeys);
	cpath = gpusort_make_unfinished_join(merge);
	path = &cpath->path;
	if (list_length(merge->extra->restrictlist) > list_length(merge->mergeclauses))
	{
		cost_qual_eval(&qual, merge->extra->restrictlist, merge->root);
		pairs = Max(pairs, matching_pairs(merge));
	}

	path->rows = clamp_row_est(rows * share);
	path->startup_cost = outer->startup_cost + inner->startup_cost - saved + qual.startup;
	path->total_cost = path->startup_cost +
		((outer->total_cost - outer->startup_cost) + (inner->total_cost - inner->startup_cost) +
		 (outer->rows + inner->rows) * merge_row_cost(merge) + pairs * (cpu_tuple_cost + qual.per_tuple)) *
		share;
	gpusort_note_join_cost(cpath);
	return path;
}

/* The relation's cheapest path above a sort of ours; NULL if that comes in order without. */
static Path *
make_sorted(const JoinIdea *join, RelOptInfo *rel, List *pathkeys)
{
	PlannerInfo *root = join->merge.root;
	Path	   *cheapest = NULL;
	ListCell   *lc;

	if (rel->cheapest_total_path->param_info != NULL ||
		pathkeys_contained_in(pathkeys, rel->cheapest_total_path->pathkeys))
		return NULL;
	foreach(lc, gpusort_make_sorted_paths(root, rel, rel, pathkeys, GPUSORT_NO_LIMIT))
	{
		Path	   *path = (Path *) lfirst(lc);

		if (cheapest == NULL || path->total_cost < cheapest->total_cost)
			cheapest = path;
	}
	return cheapest;
}

static void
add_whole_join(JoinIdea *join)
{
	RelOptInfo *joinrel = join->merge.joinrel;
	Path	   *outer;
	Path	   *inner;
	Path	   *path;

	if (!gpusort_force && join->outerrel->cheapest_total_path->total_cost +
		join->innerrel->cheapest_total_path->total_cost > gpusort_join_in_truth(joinrel->pathlist))
		return;
	outer = make_sorted(join, join->outerrel, join->outerkeys);
	inner = outer != NULL ? make_sorted(join, join->innerrel, join->innerkeys) : NULL;
	if (inner == NULL)
		return;
	path = make_join_path(join, outer, inner, 0, 1);
	gpusort_outbid_join(join->merge.root, path, joinrel->pathlist);
	add_path(joinrel, path);
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

static Cost
sort_cost(const GpuSortSharedSort *sort)
{
	return sort->estimate.startup_cost - sort->estimate.collect_cost;
}

/*
 * What participants read of one side.  A table that the planner finds too small for workers to scan
 * is scanned by them all the same beside a large one: else that would have to be read by one process.
 */
static Path *
partial_path(const JoinIdea *join, RelOptInfo *rel, const RelOptInfo *other)
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
	return create_seqscan_path(join->merge.root, rel, NULL, workers);
}

static void
add_partial_join(JoinIdea *join)
{
	RelOptInfo *joinrel = join->merge.joinrel;
	GpuSortSharedSort outer = {.pathkeys = join->outerkeys};
	GpuSortSharedSort inner = {.pathkeys = join->innerkeys};
	Path	   *path;
	int			workers;

	if (!joinrel->consider_parallel || !bms_is_empty(joinrel->lateral_relids) ||
		!gpusort_plans_shared())
		return;
	outer.partial = partial_path(join, join->outerrel, join->innerrel);
	inner.partial = partial_path(join, join->innerrel, join->outerrel);
	if (outer.partial == NULL || inner.partial == NULL)
		return;
	outer.all_rows = clamp_row_est(join->outerrel->rows);
	inner.all_rows = clamp_row_est(join->innerrel->rows);
	workers = Min(outer.partial->parallel_workers, inner.partial->parallel_workers);
	if (!gpusort_shared_worth_it(&outer) || !gpusort_shared_worth_it(&inner) ||
		!fit_together(&outer, &inner, workers + 1))
		return;
	path = make_join_path(join,
						  gpusort_make_shared_path(join->merge.root, join->outerrel, &outer),
						  gpusort_make_shared_path(join->merge.root, join->innerrel, &inner),
						  Min(sort_cost(&outer), sort_cost(&inner)),
						  Min(outer.partial->rows / outer.all_rows, 1));
	path->parallel_aware = true;
	path->parallel_safe = true;
	path->parallel_workers = Max(outer.partial->parallel_workers, inner.partial->parallel_workers);
	path->pathkeys = NIL;
	gpusort_outbid_join(join->merge.root, path, joinrel->partial_pathlist);
	add_partial_path(joinrel, path);
}

static bool
has_many_rows(const RelOptInfo *rel)
{
	return rel->rows >= gpusort_min_rows || gpusort_force;
}

static void
add_joins(JoinIdea *join)
{
	GpuSortMergeJoin *merge = &join->merge;

	if (!has_many_rows(join->outerrel) || !has_many_rows(join->innerrel))
		return;
	join->clauses = gpusort_find_join_clauses(merge, join->outerrel, join->innerrel);
	if (join->clauses == NIL || (merge->jointype == JOIN_FULL && has_other_conditions(join)) ||
		!choose_clauses(join, select_outer_pathkeys_for_merge(merge->root, join->clauses,
															  merge->joinrel)))
		return;
	add_whole_join(join);
	add_partial_join(join);
}

bool
gpusort_becomes_semijoin(PlannerInfo *root, JoinType *jointype, RelOptInfo **outerrel,
						 RelOptInfo **innerrel, const SpecialJoinInfo *sjinfo)
{
	RelOptInfo *few = *outerrel;
	RelOptInfo *many = *innerrel;

	if (sjinfo == NULL || sjinfo->jointype != JOIN_SEMI || *jointype == JOIN_SEMI)
		return false;
	if (!bms_is_subset(sjinfo->min_righthand, many->relids))
	{
		few = *innerrel;
		many = *outerrel;
	}
	if (!bms_is_subset(sjinfo->min_lefthand, few->relids) ||
		!bms_is_subset(sjinfo->min_righthand, many->relids))
		return false;
	*outerrel = few;
	*innerrel = gpusort_relation_not_unique(root, many);
	*jointype = JOIN_SEMI;
	return true;
}

void
gpusort_add_join_paths(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *outerrel,
					   RelOptInfo *innerrel, JoinType jointype, JoinPathExtraData *extra)
{
	JoinPathExtraData own_extra = *extra;
	JoinIdea	join = {
		.merge = {.root = root, .joinrel = joinrel, .jointype = jointype, .extra = &own_extra},
		.outerrel = outerrel, .innerrel = innerrel
	};

	if (!gpusort_enabled || !gpusort_enable_order_by || !gpusort_enable_join ||
		extra->restrictlist == NIL || root->hasPseudoConstantQuals ||
		root->row_identity_vars != NIL || gpusort_plan_is_advised(root))
		return;
	if (gpusort_becomes_semijoin(root, &join.merge.jointype, &join.outerrel, &join.innerrel, extra->sjinfo))
		own_extra.inner_unique = false;
	if (gpusort_is_mergeable(join.merge.jointype))
		add_joins(&join);
}

/* ---------- plan ---------- */

/* Columns that are scanned, replaced with what they are made of. */
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
	gpusort_copy_labels(plan->targetlist, join->custom_scan_tlist);
	join->custom_exprs = list_make3(merge->mergeclauses, merge->join.joinqual,
									merge->join.plan.qual);
	join->custom_private = list_make1(list_make2_int(merge->join.jointype,
													 merge->join.inner_unique));
	join->methods = gpusort_node_methods(IsA(plan->lefttree, IndexOnlyScan) ? GPUSORT_LEAF_JOIN_NODE :
										 GPUSORT_JOIN_NODE);
	return plan;
}
