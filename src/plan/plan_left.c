/*
 * plan_left.c
 *		Telling why a sort of a finished plan is left to PostgreSQL.
 *
 * Each gets a message of level DEBUG1.  An aggregate sorts within itself without a Sort node for
 * DISTINCT and ORDER BY of its arguments, for ordered sets, and between grouping sets.
 */
#include "postgres.h"

#include "nodes/nodeFuncs.h"

#include "pg_compat.h"
#include "plan/plan_left.h"

void
gpusort_tell_left(const Sort *sort, const char *reason)
{
	ereport(DEBUG1,
			(errmsg_internal("gpusort leaves %s of %.0f estimated rows to PostgreSQL: %s",
							 IsA(sort, IncrementalSort) ? "an incremental sort" : "a sort",
							 sort->plan.plan_rows, reason)));
}

/* Does an expression have an aggregate that sorts its arguments? */
static bool
sorts_arguments(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, Aggref))
	{
		const Aggref *aggref = (const Aggref *) node;

		return (aggref->aggdistinct != NIL || aggref->aggorder != NIL) &&
			!gpusort_is_presorted(aggref);
	}
	return expression_tree_walker(node, sorts_arguments, context);
}

List *
gpusort_reasons_inside(const Agg *agg)
{
	List	   *reasons = NIL;
	ListCell   *lc;

	if (sorts_arguments((Node *) agg->plan.targetlist, NULL) ||
		sorts_arguments((Node *) agg->plan.qual, NULL))
		reasons = lappend(reasons, "each group's arguments are sorted by themselves");
	foreach(lc, agg->chain)
	{
		if (((const Plan *) lfirst(lc))->lefttree != NULL)
			reasons = lappend(reasons, "grouping sets that have no order in common");
	}
	return reasons;
}

void
gpusort_tell_left_inside(const Agg *agg)
{
	ListCell   *lc;

	if (!message_level_is_interesting(DEBUG1))
		return;
	foreach(lc, gpusort_reasons_inside(agg))
		ereport(DEBUG1,
				(errmsg_internal("gpusort leaves sorts inside an aggregate of %.0f estimated rows to PostgreSQL: %s",
								 agg->plan.lefttree->plan_rows, (const char *) lfirst(lc))));
}
