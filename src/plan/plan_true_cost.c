/*
 * plan_true_cost.c
 *		What joins cost in truth; see plan_true_cost.h.
 */
#include "postgres.h"

#include <float.h>

#include "nodes/value.h"

#include "cost/cost_hash.h"
#include "plan/plan_node.h"
#include "plan/plan_true_cost.h"

/* By so much less add_path() finds a path cheaper, and keeps the other, which starts sooner. */
#define JUST_BELOW		0.985

static bool
is_our_join(const Path *path)
{
	return IsA(path, CustomPath) && strcmp(((const CustomPath *) path)->methods->CustomName,
										   GPUSORT_UNFINISHED_JOIN_NODE) == 0;
}

Cost
gpusort_true_cost(const List *paths)
{
	const Path *cheapest = paths != NIL ? linitial(paths) : NULL;

	if (cheapest == NULL || cheapest->param_info != NULL)
		return DBL_MAX;
	if (IsA(cheapest, HashPath))
		return cheapest->total_cost + gpusort_hash_join_extra_cost((const HashPath *) cheapest);
	if (is_our_join(cheapest))
		return floatVal(linitial(((const CustomPath *) cheapest)->custom_private));
	return cheapest->total_cost;
}

void
gpusort_undercut(Path *path, const List *paths)
{
	const Path *cheapest = paths != NIL ? linitial(paths) : NULL;
	Cost		gain = gpusort_true_cost(paths) - path->total_cost;
	Cost		below;

	if (cheapest == NULL || cheapest->param_info != NULL || gain <= 0 ||
		(!IsA(cheapest, HashPath) && !is_our_join(cheapest)))
		return;
	below = Min(path->total_cost, cheapest->total_cost * JUST_BELOW);
	if (path->total_cost - below > gain)
		return;
	path->total_cost = below;
	path->startup_cost = Min(path->startup_cost, path->total_cost);
}

void
gpusort_note_true_cost(CustomPath *path)
{
	path->custom_private = list_make1(makeFloat(psprintf("%.17g", path->path.total_cost)));
}
