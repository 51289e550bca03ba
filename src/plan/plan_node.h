/*
 * plan_node.h
 *		The plan nodes of gpusort, and what they have in common.
 *
 * "Custom Scan (GpuSort)" does what a Sort node does and stands where a Sort node would: it has one
 * child, in lefttree, whose rows it returns in order.  "GpuSort Collect" (plan_collect.h) and
 * "GpuSort Shared" (plan_shared.h) sort, too, but as one of several participants of a parallel
 * plan.  "GpuSort Join" (plan_join.h), "GpuSort Unique" and "GpuSort Count" (plan_unique.h), and
 * "GpuSort Ordered Set" (plan_ordered_set.h) read the sorts below them by position.
 *
 * In all of them custom_private holds the sort columns as a Sort node has them, so that the node
 * can be copied, written out and sent to parallel workers.
 *
 * A node is made in two steps.  While the planner works, its columns are those of the Sort node
 * that it is made of; once the plan is finished, gpusort_reference_child() brings it into its final
 * form, in which the columns refer to the child's.
 */
#ifndef GPUSORT_PLAN_NODE_H
#define GPUSORT_PLAN_NODE_H

#include "nodes/extensible.h"
#include "nodes/plannodes.h"

#include "sort/sort.h"

/* The names of the nodes, by which the executor registers their methods. */
#define GPUSORT_NODE			"GpuSort"
#define GPUSORT_COLLECT_NODE	"GpuSort Collect"
#define GPUSORT_SHARED_NODE		"GpuSort Shared"
#define GPUSORT_JOIN_NODE		"GpuSort Join"
#define GPUSORT_LEAF_JOIN_NODE	"GpuSort Index Join"
#define GPUSORT_UNIQUE_NODE		"GpuSort Unique"
#define GPUSORT_COUNT_NODE		"GpuSort Count"
#define GPUSORT_ORDERED_SET_NODE	"GpuSort Ordered Set"

/* The names of nodes that are in no finished plan (plan_aggregate.h, plan_join.h). */
#define GPUSORT_AGGREGATE_NODE	"GpuSort Aggregate"
#define GPUSORT_UNFINISHED_JOIN_NODE	"GpuSort Unfinished Join"

/* The elements of custom_private.  The first four are lists of a property of each sort column. */
typedef enum GpuSortPrivate
{
	GPUSORT_PRIVATE_ATTNOS,
	GPUSORT_PRIVATE_SORTOPS,
	GPUSORT_PRIVATE_COLLATIONS,
	GPUSORT_PRIVATE_NULLS_FIRST,
	/*
	 * integers: column numbers by which the returned rows are sorted, if they are fetched by TID
	 * (plan_late.h); else one 0
	 */
	GPUSORT_PRIVATE_LATE,
	GPUSORT_PRIVATE_KIND,		/* one integer: what the sort is for (stats/stats.h) */
	GPUSORT_PRIVATE_EQUAL,		/* one integer: whether the sort tells which rows are equal */
	GPUSORT_PRIVATE_SLICE_COLUMNS	/* one integer; GpuSort Shared only */
} GpuSortPrivate;

/* What a GpuSort can do for the nodes above it: the flags of a path and of the plan node. */
#define GPUSORT_NODE_FLAGS	(CUSTOMPATH_SUPPORT_BACKWARD_SCAN | CUSTOMPATH_SUPPORT_MARK_RESTORE)

/* Returns the methods of the nodes of this name. */
extern const CustomScanMethods *gpusort_node_methods(const char *name);

/* Returns whether a custom scan is a node of this name. */
extern bool gpusort_is_custom_scan(const CustomScan *scan, const char *name);

/*
 * Returns whether a plan is a node of this name.  It is called for each node of each plan, of which
 * hardly any is.
 */
static inline bool
gpusort_is_node(const Plan *plan, const char *name)
{
	return IsA(plan, CustomScan) && gpusort_is_custom_scan((const CustomScan *) plan, name);
}

/*
 * Makes a node of this name that does what the Sort node does: it has the same child, the same
 * target list, and the same costs, with which the planner has compared.
 */
extern CustomScan *gpusort_make_node(const char *name, const Sort *sort, uint32 flags);

/* Makes the Sort node that a node in its final form stands for. */
extern Sort *gpusort_make_sort(const CustomScan *scan);

/*
 * Brings a node of a finished plan into its final form, in which it returns the child's rows as a
 * Sort node does.
 */
extern void gpusort_reference_child(CustomScan *scan);

/* Names the columns of one target list as those of another are named. */
extern void gpusort_copy_labels(List *to, const List *from);

/* Makes a target list that has the child's columns one to one, as Vars of this varno. */
extern List *gpusort_reference_columns(const Plan *child, int varno);

/*
 * Read the sort key from custom_private; its arrays are palloc'd.  gpusort_read_spec() numbers
 * columns as in the rows that are sorted, and gpusort_read_returned_spec() as in the rows that are
 * returned.  The two differ in a late node only, which sorts short rows and fetches those that it
 * returns by TID.
 */
extern void gpusort_read_spec(const CustomScan *scan, GpuSortSpec *spec);
extern void gpusort_read_returned_spec(const CustomScan *scan, GpuSortSpec *spec);
/* Returns whether a node is late. */
extern bool gpusort_is_late(const CustomScan *scan);

/*
 * Returns whether the node tells the node above which rows are equal to the one before
 * (gpusort_tell_equal()).
 */
extern bool gpusort_tells_equal(const CustomScan *scan);
/* Makes the node tell the node above which rows are equal. */
extern void gpusort_let_tell_equal(CustomScan *scan);

/* Set and return what the sort is for, which is known when the plan is finished. */
extern void gpusort_set_kind(CustomScan *scan, GpuSortKind kind);
extern GpuSortKind gpusort_kind_of(const CustomScan *scan);

#endif							/* GPUSORT_PLAN_NODE_H */
