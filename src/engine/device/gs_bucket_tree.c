/*
 * gs_bucket_tree.c
 *		Finding leaves of a bucket plan, and their edges.
 */
#include "engine/device/gs_bucket_tree.h"

unsigned
gs_plan_leaf_at(const gs_bucket_plan *plan, uint64_t position)
{
	unsigned	low = 0;
	unsigned	high = plan->nleaves - 1;

	while (low < high)
	{
		unsigned	middle = low + (high - low) / 2;

		if (gs_leaf_end(&plan->leaves[middle]) <= position)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool
gs_plan_near_edge(const gs_bucket_plan *plan, const gs_leaf *leaf, uint64_t position)
{
	uint64_t	edge = gs_leaf_nearest_edge(leaf, position);
	uint64_t	distance = edge < position ? position - edge : edge - position;

	return distance <= plan->share_rows / GS_EPSILON_DIVISOR;
}
