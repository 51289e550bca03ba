/*
 * plan_node.h
 *		The plan nodes of gpusort, and what they have in common.
 *
 * "Custom Scan (GpuSort)" does what a Sort node does and stands where a Sort node would:
 * one child, in lefttree, whose rows it returns in order.  The other nodes sort, too, but
 * as one of several participants of a parallel plan: "GpuSort Collect" (plan_collect.h)
 * and "GpuSort Shared" (plan_shared.h).  Those that read sorts by position are "GpuSort Join"
 * (plan_join.h), "GpuSort Unique" and "GpuSort Count" (plan_unique.h), and "GpuSort Ordered Set"
 * (plan_ordered_set.h).
 *
 * In all of them custom_private holds the sort columns as a Sort node has them, so that
 * the node can be copied, written out and sent to parallel workers.
 *
 * A node is made in two steps.  While the planner works, its columns are those of the
 * Sort node that it is made of; once the plan is finished, it is brought into its final
 * form, in which the columns refer to the child's (gpusort_reference_child()).
 */
#ifndef GPUSORT_PLAN_NODE_H
#define GPUSORT_PLAN_NODE_H

#include "nodes/extensible.h"
#include "nodes/plannodes.h"

#include "sort/sort.h"

/* What nodes are called; the executor registers their methods by these names. */
#define GPUSORT_NODE			"GpuSort"
#define GPUSORT_COLLECT_NODE	"GpuSort Collect"
#define GPUSORT_SHARED_NODE		"GpuSort Shared"
#define GPUSORT_JOIN_NODE		"GpuSort Join"
#define GPUSORT_LEAF_JOIN_NODE	"GpuSort Index Join"
#define GPUSORT_UNIQUE_NODE		"GpuSort Unique"
#define GPUSORT_COUNT_NODE		"GpuSort Count"
#define GPUSORT_ORDERED_SET_NODE	"GpuSort Ordered Set"

/* ... and those that are in no finished plan (plan_aggregate.h, plan_join.h). */
#define GPUSORT_AGGREGATE_NODE	"GpuSort Aggregate"
#define GPUSORT_UNFINISHED_JOIN_NODE	"GpuSort Unfinished Join"

/* What custom_private's elements are: integer and OID lists, of the keys' properties. */
typedef enum GpuSortPrivate
{
	GPUSORT_PRIVATE_ATTNOS,
	GPUSORT_PRIVATE_SORTOPS,
	GPUSORT_PRIVATE_COLLATIONS,
	GPUSORT_PRIVATE_NULLS_FIRST,
	GPUSORT_PRIVATE_LATE,		/* 0; or, if rows are fetched by TID, the sort columns in these (plan_late.h) */
	GPUSORT_PRIVATE_KIND,		/* one integer: what it is for (stats/sort_kind.h) */
	GPUSORT_PRIVATE_EQUAL,		/* one integer: it is to tell which rows are equal */
	GPUSORT_PRIVATE_SLICE_COLUMNS	/* of GpuSort Shared only: one integer */
} GpuSortPrivate;

/* What a GpuSort can do for the nodes above it, of a path and of the plan. */
#define GPUSORT_NODE_FLAGS	(CUSTOMPATH_SUPPORT_BACKWARD_SCAN | CUSTOMPATH_SUPPORT_MARK_RESTORE)

/* The methods of a node of this name. */
extern const CustomScanMethods *gpusort_node_methods(const char *name);

/* Is a custom scan one of this name? */
extern bool gpusort_is_custom_scan(const CustomScan *scan, const char *name);

/* Is the plan a node of this name?  Asked of each node of each plan, of which hardly any is. */
static inline bool
gpusort_is_node(const Plan *plan, const char *name)
{
	return IsA(plan, CustomScan) && gpusort_is_custom_scan((const CustomScan *) plan, name);
}

/*
 * A node of this name that sorts as the Sort node does: same child, same target list,
 * same costs (with which the planner has compared).
 */
extern CustomScan *gpusort_make_node(const char *name, const Sort *sort, uint32 flags);

/* The Sort node that a node in its final form stands for. */
extern Sort *gpusort_make_sort(const CustomScan *scan);

/*
 * In a finished plan: bring a node into its final form.  It returns the child's rows, as
 * a Sort node does.
 */
extern void gpusort_reference_child(CustomScan *scan);

/* Name the columns of one target list as those of another are named. */
extern void gpusort_copy_labels(List *to, const List *from);

/* The child's columns, one to one: a target list of Vars of this varno. */
extern List *gpusort_reference_columns(const Plan *child, int varno);

/*
 * Read custom_private: the sort key, its arrays palloc'd, by columns of the rows sorted, or by those of
 * the rows returned, which are others if they are fetched by TID; are they?
 */
extern void gpusort_read_spec(const CustomScan *scan, GpuSortSpec *spec);
extern void gpusort_read_returned_spec(const CustomScan *scan, GpuSortSpec *spec);
extern bool gpusort_is_late(const CustomScan *scan);

/* Is the node above to know which rows are equal to the one before (gpusort_tell_equal())? */
extern bool gpusort_tells_equal(const CustomScan *scan);
extern void gpusort_let_tell_equal(CustomScan *scan);

/* What the sort is for, which is known when the plan is finished. */
extern void gpusort_set_kind(CustomScan *scan, GpuSortKind kind);
extern GpuSortKind gpusort_kind_of(const CustomScan *scan);

#endif							/* GPUSORT_PLAN_NODE_H */
