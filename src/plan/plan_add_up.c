/*
 * plan_add_up.c
 *		Costs of a finished plan that add up; see plan_replace_private.h.
 *
 * Paths of ours may have been charged less than they cost, so that the planner compares them
 * rightly with hash tables that it undercharges (plan_offer.c, plan_pair.c), or because they read a
 * part of the sort below only (plan_unique.c, plan_ordered_aggs.c).  EXPLAIN would show a node that
 * costs less than the one below.  When nothing is compared any more, such a node is charged as much
 * as the node below it, and what that is more is added to all nodes above.
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"
#include "optimizer/optimizer.h"

#include "plan/plan_node.h"
#include "plan/plan_replace_private.h"

static bool add_up(Plan *plan);

/*
 * Returns the part of what a node's rows cost that the node above it asks for.  What is before the
 * first row it always asks for.
 */
static double
part_read(const Plan *parent, const Plan *child)
{
	if (!IsA(parent, Limit) || child->plan_rows <= 0)
		return 1;
	return Min(parent->plan_rows / child->plan_rows, 1);
}

/*
 * Has a node's costs add up with those of one below it.  Returns whether that is a sort of ours, or
 * above one: what is not stays as the planner has it, merge joins that stop early among it.
 */
static bool
add_child(Plan *parent, Plan *child)
{
	Cost		startup;
	Cost		total;
	Cost		raised;

	if (child == NULL)
		return false;
	startup = child->startup_cost;
	total = child->total_cost;
	if (!add_up(child))
		return false;
	/* costs without bounds have no difference */
	if (isinf(child->total_cost) || isnan(child->total_cost) || isinf(parent->total_cost))
		return true;
	raised = child->startup_cost - startup;
	raised += (child->total_cost - total - raised) * part_read(parent, child);
	/* a node that had read its input before it returned a row still has */
	parent->startup_cost += parent->startup_cost >= total ? raised : child->startup_cost - startup;
	parent->total_cost += raised;
	if (!IsA(parent, Limit) && parent->total_cost < child->total_cost)
		parent->total_cost = child->total_cost + parent->plan_rows * cpu_operator_cost;
	if (child == parent->lefttree)
		parent->startup_cost = Max(parent->startup_cost, child->startup_cost);
	parent->startup_cost = Min(parent->startup_cost, parent->total_cost);
	return true;
}

static bool
add_children(Plan *parent, const List *children)
{
	bool		any = false;
	ListCell   *lc;

	foreach(lc, children)
		any |= add_child(parent, lfirst(lc));
	return any;
}

/* Returns whether a plan has a sort of ours in it. */
static bool
add_up(Plan *plan)
{
	bool		any = gpusort_is_node(plan, GPUSORT_NODE) ||
		gpusort_is_node(plan, GPUSORT_SHARED_NODE);

	check_stack_depth();
	any |= add_child(plan, plan->lefttree);
	any |= add_child(plan, plan->righttree);
	switch (nodeTag(plan))
	{
		case T_Append:
			return any | add_children(plan, ((const Append *) plan)->appendplans);
		case T_MergeAppend:
			return any | add_children(plan, ((const MergeAppend *) plan)->mergeplans);
		case T_SubqueryScan:
			return any | add_child(plan, ((const SubqueryScan *) plan)->subplan);
		case T_CustomScan:
			return any | add_children(plan, ((const CustomScan *) plan)->custom_plans);
		default:
			return any;
	}
}

void
gpusort_plan_add_up(PlannedStmt *stmt)
{
	ListCell   *lc;

	(void) add_up(stmt->planTree);
	foreach(lc, stmt->subplans)
	{
		if (lfirst(lc) != NULL)
			(void) add_up(lfirst(lc));
	}
}
