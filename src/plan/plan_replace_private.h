/*
 * plan_replace_private.h
 *		Taking over the Sort nodes of a finished plan, and bringing nodes of ours into their final
 *		forms.
 */
#ifndef GPUSORT_PLAN_REPLACE_PRIVATE_H
#define GPUSORT_PLAN_REPLACE_PRIVATE_H

#include "nodes/plannodes.h"

#include "plan/plan.h"
#include "plan/plan_estimate_private.h"

/*
 * Replaces the Sorts of a finished plan that are worth it, if take_over, and brings all nodes of
 * ours into their final forms.  It must be called once for each finished plan, even if no Sort is
 * to be replaced.  all_read tells that all rows of the statement are wanted, as far as is known.
 */
extern void gpusort_replace_sorts(PlannedStmt *stmt, bool take_over, bool all_read);

/* ---------- Sorts whose rows parallel workers collect instead ---------- */

/* A finished plan, and what is done with it. */
typedef struct GpuSortStatement
{
	PlannedStmt *stmt;
	bool		take_over;		/* replace Sorts; else they are left alone */
	bool		looks_only;		/* change nothing, but put what is there into looks */
	List	   *looks;			/* list of GpuSortLook */
	const char *left_alone;		/* why Sorts are not looked at more closely, or NULL */
	bool		has_ours;		/* there is a sort of ours in the plan */
	int			last_node_id;	/* greatest node id; 0 if not looked up yet */
} GpuSortStatement;

/* Does what gpusort_replace_gathered() does; plan is a GatherMerge, Sort or CustomScan. */
extern Plan *gpusort_replace_gathered_sort(Plan *plan, GpuSortLimit limit,
										   GpuSortStatement *statement);

/*
 * Has the workers collect the rows of a Sort below Gather Merge, or above Gather, if the plan is
 * one of these and it is worth it; else returns the plan as it is.  The new nodes are still to be
 * brought into their final form, like those of paths.
 */
static inline Plan *
gpusort_replace_gathered(Plan *plan, GpuSortLimit limit, GpuSortStatement *statement)
{
	/* Hardly any node is one of these. */
	if (!IsA(plan, GatherMerge) && !IsA(plan, Sort) && !IsA(plan, CustomScan))
		return plan;
	return gpusort_replace_gathered_sort(plan, limit, statement);
}

/* ---------- a MergeAppend above several sorts: one sort of all rows in its place ---------- */

/*
 * Makes a Sort above an Append of what the sorts below a MergeAppend of a finished plan sort.
 * Returns NULL with *reason if the MergeAppend stays as it is.
 */
extern Sort *gpusort_plan_sort_instead_of_merging(const MergeAppend *merge, GpuSortLimit limit,
												  const PlannedStmt *stmt, const char **reason);

/* Makes a Sort by what a MergeAppend merges by, without a child. */
extern Sort *gpusort_plan_sort_of_merge(const MergeAppend *merge);

/* ---------- costs ---------- */

/* Has no node of a finished plan that is above a sort of ours cost less than the one below it. */
extern void gpusort_plan_add_up(PlannedStmt *stmt);

/* ---------- telling why a sort is left to PostgreSQL ---------- */

/*
 * Reports at level DEBUG1 that a sort is left to PostgreSQL, and why.  If the node is no Sort but
 * one that sorts by what this Sort does, name says what to call it; else it is NULL.
 */
extern void gpusort_tell_left(const Sort *sort, const char *name, const char *reason);

/*
 * Returns why an Agg, HashJoin, SetOp or RecursiveUnion of a finished plan has a hash table and not
 * a sort of ours, or NULL if it is another node or has too few rows.  *sort becomes the Sort that
 * could have been made, or NULL if that is not a single sort of the node's input.
 */
extern const char *gpusort_reason_for_hashing(const Plan *plan, const PlannedStmt *stmt,
											  Sort **sort);

/* Reports at level DEBUG1 why a node has a hash table, if it has one. */
extern void gpusort_tell_hashed(const Plan *plan, const PlannedStmt *stmt);

/* Reports at level DEBUG1 the sorts that an aggregate makes within itself, if it does. */
extern void gpusort_tell_left_inside(const Agg *agg);

/*
 * Returns why an aggregate sorts within itself: a list of reasons (char *), or NIL if it does not.
 */
extern List *gpusort_reasons_inside(const Agg *agg);

/* ---------- looks: what EXPLAIN and gpusort_advise() tell of sorts ---------- */

/*
 * Look at a Sort that is left for this reason; at another node; at one that has a hash table; and
 * at a node of ours.
 */
extern GpuSortLook *gpusort_look_at_left(const Sort *sort, GpuSortLimit limit,
										 const PlannedStmt *stmt, const char *reason,
										 const GpuSortEstimate *estimate);
extern GpuSortLook *gpusort_look_at_plan(const Plan *plan, const Sort *sort, GpuSortKind kind,
										 const char *reason);
extern GpuSortLook *gpusort_look_at_hashing(const Plan *plan, const Sort *sort,
											const char *reason);
extern GpuSortLook *gpusort_look_at_node(const CustomScan *scan, GpuSortLimit limit,
										 const PlannedStmt *stmt);

/* ---------- nodes of ours, in the places of those that stand for them ---------- */

/*
 * Return the node that takes the place of a Unique or an Agg in a finished plan, or that node
 * itself if ours can't stand for it.  The nodes below must have their final forms.
 */
extern Plan *gpusort_finish_unique(Unique *unique);
extern Plan *gpusort_finish_count(Agg *agg);

/*
 * Returns the node that takes the place of an Agg in a finished plan, or the Agg if not all of it
 * can be found by position.  The nodes below must have their final forms.
 */
extern Plan *gpusort_finish_ordered_set(Agg *agg);

/*
 * Returns the Agg node of a finished plan that a GPUSORT_AGGREGATE_NODE, the node of such a path,
 * stands for.
 */
extern Plan *gpusort_finish_aggregate(CustomScan *scan);

/*
 * Brings the node of a finished plan into its final form.  What it returns is in custom_scan_tlist,
 * in terms of its children; its target list has those columns, one to one.
 */
extern Plan *gpusort_finish_join(CustomScan *scan);

#endif							/* GPUSORT_PLAN_REPLACE_PRIVATE_H */
