/*
 * exec_methods.c
 *		How the server gets from a plan node of ours to its execution.
 */
#include "postgres.h"

#include "nodes/extensible.h"

#include "exec/exec.h"
#include "exec/exec_private.h"
#include "plan/plan_node.h"

/*
 * Raises an error for a node that we replace when a plan is finished.  Its plan was hidden from us
 * then by another extension.
 */
static Node *
refuse_unfinished(CustomScan *scan)
{
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("gpusort could not finish the plan of this query"),
			 errhint("Set gpusort.enable_order_by to off for it.")));
	return NULL;
}

static const CustomScanMethods nodes[] = {
	{.CustomName = GPUSORT_NODE, .CreateCustomScanState = gpusort_create_sort_state},
	{.CustomName = GPUSORT_COLLECT_NODE, .CreateCustomScanState = gpusort_create_collect_state},
	{.CustomName = GPUSORT_SHARED_NODE, .CreateCustomScanState = gpusort_create_shared_state},
	{.CustomName = GPUSORT_UNIQUE_NODE, .CreateCustomScanState = gpusort_create_unique_state},
	{.CustomName = GPUSORT_COUNT_NODE, .CreateCustomScanState = gpusort_create_count_state},
	{.CustomName = GPUSORT_ORDERED_SET_NODE,
	.CreateCustomScanState = gpusort_create_ordered_set_state},
	{.CustomName = GPUSORT_AGGREGATE_NODE, .CreateCustomScanState = refuse_unfinished},
	{.CustomName = GPUSORT_UNFINISHED_JOIN_NODE, .CreateCustomScanState = refuse_unfinished},
};

void
gpusort_register_nodes(void)
{
	for (int i = 0; i < lengthof(nodes); i++)
		RegisterCustomScanMethods(&nodes[i]);
}
