/*
 * plan_node.h
 *		The plan nodes of gpusort, and what they have in common.
 *
 * "Custom Scan (GpuSort)" does what a Sort node does and stands where a Sort node would: it has one
 * child, in lefttree, whose rows it returns in order.  "GpuSort Collect" and "GpuSort
 * Shared" sort, too, but as one of several participants of a parallel plan.  "GpuSort Join",
 * "GpuSort Unique", "GpuSort Count" and "GpuSort Ordered Set" read the sorts below them by
 * position.
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

/* The names of nodes that are in no finished plan (plan_aggregate.c, plan_join.c). */
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
	 * (plan_late.c); else one 0
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
extern void gpusort_plan_copy_labels(List *to, const List *from);

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

/* ---------- GpuSort Collect, and the Gather above it ---------- */

/*
 * The plan node "Parallel Custom Scan (GpuSort Collect)", which stands below a GpuSort:
 *
 *		Custom Scan (GpuSort)
 *		  -> Gather
 *		    -> Parallel Custom Scan (GpuSort Collect)
 *		      -> partial plan
 *
 * The participants put their rows into parts of one sort in shared memory (sort_parts.h).  So
 * normally no row passes the Gather, which is expected to return 0 rows: GpuSort Collect returns
 * only the rows that it could not collect.  The leader has to sort the rows and to return them.
 *
 * GpuSort and GpuSort Collect have the same sort columns, and all three nodes have the target list
 * of the partial plan, resjunk entries included.
 */

/* Makes a GpuSort Collect node that collects what the Sort node sorts. */
extern CustomScan *gpusort_make_collect(const Sort *sort);

/* Makes a GpuSort above a Gather, which stands above a GpuSort Collect. */
extern CustomScan *gpusort_make_gathered(Gather *gather);

/* Returns whether a plan is a Gather above a GpuSort Collect. */
extern bool gpusort_is_collect_gather(const Plan *plan);
/* Returns such a Gather below a GpuSort, or NULL. */
extern Gather *gpusort_find_gather(const CustomScan *scan);

/* Brings the Gather of a finished plan into its final form. */
extern void gpusort_reference_gathered(Gather *gather);

/*
 * Makes a Gather Merge above a Sort that do the same as a GpuSort above a Gather; all are in their
 * final forms.
 */
extern Plan *gpusort_make_gather_merge(const CustomScan *scan);

/* ---------- GpuSort Shared ---------- */

/*
 *		Gather
 *		  -> MergeJoin								Gather
 *		    -> a participant's own outer rows		  -> WindowAgg
 *		    -> GpuSort Shared, all rows to each		    -> GpuSort Shared, sliced
 *		      -> partial plan						      -> partial plan
 *
 * The participants of a Gather collect the rows of a partial plan, one of them sorts all of these,
 * with the help of the others if that pays, and then each reads the result (shared_sort.c).  The
 * node returns either all rows to every participant, or slices: each row goes to one participant,
 * each participant's rows are in order, and rows that are equal in the first slice_columns sort
 * columns all go to the same participant.
 *
 * Before the node returns its first row, it waits for the participants that are still reading its
 * input.  These return no row meanwhile, so they never wait for the Gather.  Nothing but the Gather
 * may rescan the node, since all participants would have to read their input again: so it can't be
 * on the inner side of a nested loop.
 */

/*
 * Returns the number of leading sort columns that slices don't cut; 0 if all rows go to each
 * participant.
 */
extern int	gpusort_slice_columns(const CustomScan *scan);

/* ---------- GpuSort Unique and GpuSort Count ---------- */

/*
 * The nodes that stand for a Unique above a sort of ours, and for an Agg above that which only
 * counts:
 *
 *		Custom Scan (GpuSort Unique)			Custom Scan (GpuSort Count)
 *		  -> Custom Scan (GpuSort)				  -> Custom Scan (GpuSort)
 *
 * They may also stand above a GpuSort Shared, of which each participant makes its slices unique, or
 * counts them.
 */

/*
 * The elements of custom_private.  The first three are lists of the columns' properties, as in a
 * Unique.
 */
typedef enum GpuSortUniquePrivate
{
	GPUSORT_UNIQUE_ATTNOS,
	GPUSORT_UNIQUE_EQOPS,
	GPUSORT_UNIQUE_COLLATIONS,
	/* GpuSort Count only: for each count, whether nulls are not counted */
	GPUSORT_UNIQUE_VALUES
} GpuSortUniquePrivate;

/* The columns that are compared if the sort does not tell which rows are equal. */
typedef struct GpuSortUniqueKey
{
	int			count;
	AttrNumber *attnos;
	Oid		   *eqops;
	Oid		   *collations;
} GpuSortUniqueKey;

/* Reads the columns from custom_private. */
extern void gpusort_read_unique_key(const CustomScan *scan, GpuSortUniqueKey *key);

/*
 * Returns whether a plan is a sort of ours whose result can be read by position, and each row by
 * one participant only.
 */
extern bool gpusort_is_readable_sort(const Plan *plan);

/* ---------- GpuSort Ordered Set ---------- */

/*
 * The node that stands for an Agg of ordered sets above a sort of ours:
 *
 *		Custom Scan (GpuSort Ordered Set): percentile_cont(0.5) WITHIN GROUP (ORDER BY x)
 *		  -> Custom Scan (GpuSort) by x
 *
 * With GROUP BY, it stands above a sort by GROUP BY's columns and then by x, which may be a GpuSort
 * Shared whose slices cut no group.
 */

/*
 * The elements of custom_private.  The first three are about GROUP BY's columns, as in
 * GpuSortUniquePrivate.
 */
typedef enum GpuSortSetPrivate
{
	GPUSORT_SET_ATTNOS,
	GPUSORT_SET_EQOPS,
	GPUSORT_SET_COLLATIONS,
	/* one integer: whether there is no GROUP BY, not even of constants */
	GPUSORT_SET_PLAIN,
	GPUSORT_SET_FUNCTIONS		/* a GpuSortSetFunction for each column of custom_scan_tlist */
} GpuSortSetPrivate;

/* What is made of the values of a group, in their order. */
typedef enum GpuSortSetFunction
{
	GPUSORT_SET_NONE,			/* nothing that can be found by position */
	GPUSORT_SET_PERCENTILE_DISC,
	GPUSORT_SET_PERCENTILE_CONT,
	GPUSORT_SET_MODE,
	GPUSORT_SET_ROWS,			/* count(*) */
	GPUSORT_SET_VALUES,			/* count(x) */
	GPUSORT_SET_FIRST,			/* min(x), max(x) */
	GPUSORT_SET_LAST,
	GPUSORT_SET_COLUMN			/* no aggregate, but a column of the group's first row */
} GpuSortSetFunction;

/* ---------- GpuSort Join ---------- */

/*
 *		Gather											Custom Scan (GpuSort Join)
 *		  -> Parallel Custom Scan (GpuSort Join)		  -> Custom Scan (GpuSort)
 *		    -> GpuSort Shared, all rows to each			    -> path
 *		      -> partial path							  -> Custom Scan (GpuSort)
 *		    -> GpuSort Shared, all rows to each			    -> path
 *		      -> partial path
 *
 * It is a merge join of two sorts, whose results it reads by position (src/join).  In a parallel
 * plan all participants sort both sides together, and each joins pieces of them.
 *
 * While the planner works, the node stands above a MergeJoin of the same inputs, so that what
 * belongs to joins (which clauses, which columns at which level of outer joins) is left to the
 * planner.  When the plan is finished, the node takes the MergeJoin's place.
 */

/* The elements of the list of integers that is custom_private's only element. */
typedef enum GpuSortJoinPrivate
{
	GPUSORT_JOIN_TYPE,
	GPUSORT_JOIN_INNER_UNIQUE
} GpuSortJoinPrivate;

/*
 * The elements of custom_exprs: lists of clauses, in which OUTER_VAR and INNER_VAR stand for the
 * children's columns.
 */
typedef enum GpuSortJoinExprs
{
	GPUSORT_JOIN_CLAUSES,		/* one for each sort column, the outer side on the left */
	GPUSORT_JOIN_FILTER,		/* further conditions of the join itself */
	GPUSORT_JOIN_OTHER			/* conditions on what the join returns */
} GpuSortJoinExprs;

/* ---------- GpuSort Index Join ---------- */

/*
 *		Gather
 *		  -> Parallel Custom Scan (GpuSort Index Join)
 *		    -> Index Only Scan
 *		    -> Index Only Scan
 *
 * It is a merge join of two btrees in the order of its keys, which reads their leaf pages
 * (src/leaves).  Its children are index-only scans of whole indexes; in a parallel plan each
 * participant joins ranges of the keys.  The node gets into plans as a GpuSort Join does, and has
 * the custom_exprs and custom_private of one.
 */

#endif							/* GPUSORT_PLAN_NODE_H */
