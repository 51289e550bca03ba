/*
 * planner.h
 *		Differences of PostgreSQL's versions: what the planner knows, its hooks and plans.
 */
#ifndef GPUSORT_PG_COMPAT_PLANNER_H
#define GPUSORT_PG_COMPAT_PLANNER_H

#include "postgres.h"

#include "nodes/pathnodes.h"
#include "nodes/plannodes.h"
#include "optimizer/pathnode.h"
#include "optimizer/plancat.h"
#include "utils/lsyscache.h"
#if PG_VERSION_NUM >= 190000
#include "optimizer/extendplan.h"
#include "optimizer/geqo.h"
#endif

/*
 * 18: a PathKey holds a CompareType instead of a strategy number.
 *
 * Returns the operator of the pathkey's family that sorts values of `type` as the pathkey says.
 */
static inline Oid
gpusort_pathkey_operator(const PathKey *pathkey, Oid type)
{
#if PG_VERSION_NUM >= 180000
	return get_opfamily_member_for_cmptype(pathkey->pk_opfamily, type, type,
										   pathkey->pk_cmptype);
#else
	return get_opfamily_member(pathkey->pk_opfamily, type, type, pathkey->pk_strategy);
#endif
}

/*
 * 17: the condition that lets a WindowAgg stop early has moved from the clause to the
 * path.
 */
static inline List *
gpusort_run_condition(const WindowAggPath *window)
{
#if PG_VERSION_NUM >= 170000
	return window->runCondition;
#else
	return window->winclause->runCondition;
#endif
}

/*
 * 16: an aggregate's input may be sorted below the Agg node (presorted), as its ORDER BY or
 * DISTINCT needs it.
 */
static inline bool
gpusort_is_presorted(const Aggref *aggref)
{
#if PG_VERSION_NUM >= 160000
	return aggref->aggpresorted;
#else
	return false;
#endif
}

static inline void
gpusort_set_presorted(Aggref *aggref, bool presorted)
{
#if PG_VERSION_NUM >= 160000
	aggref->aggpresorted = presorted;
#endif
}

/* Returns how many of root->group_pathkeys are GROUP BY's; others are for aggregates. */
static inline int
gpusort_count_group_pathkeys(const PlannerInfo *root)
{
#if PG_VERSION_NUM >= 160000
	return root->num_groupby_pathkeys;
#else
	return list_length(root->group_pathkeys);
#endif
}

/*
 * 16: the planner drops redundant columns from a copy of the query's GROUP BY.
 */
static inline List *
gpusort_group_clause(const PlannerInfo *root)
{
#if PG_VERSION_NUM >= 160000
	return root->processed_groupClause;
#else
	return root->parse->groupClause;
#endif
}

/*
 * 19: the planner gets the state of the EXPLAIN that it works for.
 *
 * The parameters of a planner_hook, and the arguments that it passes on.
 */
#if PG_VERSION_NUM >= 190000
#define GPUSORT_PLANNER_PARAMETERS \
	Query *parse, const char *query_string, int cursor_options, ParamListInfo bound_params, \
	struct ExplainState *es
#define GPUSORT_PLANNER_ARGUMENTS	parse, query_string, cursor_options, bound_params, es
#else
#define GPUSORT_PLANNER_PARAMETERS \
	Query *parse, const char *query_string, int cursor_options, ParamListInfo bound_params
#define GPUSORT_PLANNER_ARGUMENTS	parse, query_string, cursor_options, bound_params
#endif

/*
 * 18: the information for pruning partitions when a node begins is in a list of the statement.  19:
 * an Append tells which other appends were pulled up into it.
 *
 * Returns an Append that replaces a MergeAppend.  The caller gives it as many children.
 */
static inline Append *
gpusort_make_append(const MergeAppend *merge)
{
	Append	   *append = makeNode(Append);

	append->plan = merge->plan;
	NodeSetTag(append, T_Append);
	append->apprelids = merge->apprelids;
	append->first_partial_plan = list_length(merge->mergeplans);
#if PG_VERSION_NUM >= 180000
	append->part_prune_index = merge->part_prune_index;
#else
	append->part_prune_info = merge->part_prune_info;
#endif
#if PG_VERSION_NUM >= 190000
	append->child_append_relid_sets = merge->child_append_relid_sets;
#endif
	return append;
}

/*
 * 19: pg_plan_advice, which reads a finished plan if it has state for it, fails if it finds
 * a custom scan where it looks for a join's inputs.
 *
 * Returns whether pg_plan_advice has state for this plan.
 */
static inline bool
gpusort_plan_is_advised(PlannerInfo *root)
{
#if PG_VERSION_NUM >= 190000
	return GetPlannerGlobalExtensionState(root->glob,
										  GetPlannerExtensionId("pg_plan_advice")) != NULL;
#else
	return false;
#endif
}

/*
 * 19: GEQO keeps its private data under an identifier of a planner extension, which it gets when it
 * first runs.
 *
 * Returns whether GEQO is planning now.
 */
static inline bool
gpusort_plans_by_geqo(PlannerInfo *root)
{
#if PG_VERSION_NUM >= 190000
	return Geqo_planner_extension_id >= 0 && GetGeqoPrivateData(root) != NULL;
#else
	return root->join_search_private != NULL;
#endif
}

/*
 * 19: the hook for relation information has been replaced by one that sees every entry of
 * a range table, tables or not, when its RelOptInfo has been made.
 *
 * GPUSORT_RELATION_HOOK names the server's variable and GpuSortRelationHook its type;
 * GPUSORT_RELATION_HOOK_PARAMETERS are a hook's parameters, which have root and rel among
 * them; and GPUSORT_RELATION_HOOK_TABLE is the OID of the table, InvalidOid if the entry is
 * not a table.
 */
#if PG_VERSION_NUM >= 190000
typedef build_simple_rel_hook_type GpuSortRelationHook;
#define GPUSORT_RELATION_HOOK				build_simple_rel_hook
#define GPUSORT_RELATION_HOOK_PARAMETERS	PlannerInfo *root, RelOptInfo *rel, RangeTblEntry *rte
#define GPUSORT_RELATION_HOOK_ARGUMENTS		root, rel, rte
#define GPUSORT_RELATION_HOOK_TABLE			(rte->rtekind == RTE_RELATION ? rte->relid : InvalidOid)
#else
typedef get_relation_info_hook_type GpuSortRelationHook;
#define GPUSORT_RELATION_HOOK				get_relation_info_hook
#define GPUSORT_RELATION_HOOK_PARAMETERS \
	PlannerInfo *root, Oid relation_oid, bool inhparent, RelOptInfo *rel
#define GPUSORT_RELATION_HOOK_ARGUMENTS		root, relation_oid, inhparent, rel
#define GPUSORT_RELATION_HOOK_TABLE			relation_oid
#endif

#endif							/* GPUSORT_PG_COMPAT_PLANNER_H */
