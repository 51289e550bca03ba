/*
 * plan_node.h
 *		The plan nodes "Custom Scan (GpuSort)" and, below it, "Custom Scan (GpuSort
 *		Collect)": how they are made, costed, executed.
 *
 * The node does what a Sort node does and stands where a Sort node would: one
 * child, in lefttree, whose rows it returns in order.  custom_private holds the
 * sort columns as a Sort node has them, so that the node can be copied, written
 * out and sent to parallel workers.
 *
 * GpuSort Collect is the part of it that parallel workers do: GpuSort's child is a
 * Gather then, and that one's a GpuSort Collect, which has the same columns and
 * returns only the rows that it could not collect.
 */
#ifndef GPUSORT_PLAN_NODE_H
#define GPUSORT_PLAN_NODE_H

#include "commands/explain.h"
#include "nodes/extensible.h"
#include "nodes/pathnodes.h"
#include "nodes/plannodes.h"

#include "cost/cost.h"
#include "exec/exec_cursor.h"
#include "plan/plan_pathkeys.h"
#include "sort/sort.h"

/* What custom_private's elements are: integer and OID lists, of the keys' properties. */
typedef enum GpuSortPrivate
{
	GPUSORT_PRIVATE_ATTNOS,
	GPUSORT_PRIVATE_SORTOPS,
	GPUSORT_PRIVATE_COLLATIONS,
	GPUSORT_PRIVATE_NULLS_FIRST,
	GPUSORT_PRIVATE_LATE,		/* one integer: rows are fetched by TID (plan_late.c) */
	GPUSORT_PRIVATE_SLICE_COLUMNS	/* of GpuSort Shared only: one integer */
} GpuSortPrivate;

typedef struct GpuSortScanState
{
	CustomScanState css;		/* must be first field */
	GpuSortSpec spec;
	MemoryContext context;		/* of the sort; below the query's context */
	GpuSort    *sort;			/* NULL before the first execution */
	struct GpuSortCollectState *collect;	/* collects the rows, or NULL */
	struct GpuSortLate *late;	/* fetches rows by TID, or NULL: they are stored */
	bool		random_access;
	bool		sorted;
	GpuSortCursor cursor;		/* if it is sorted */
	instr_time	collect_time;	/* the child's time included */
} GpuSortScanState;

/* plan_node.c */
extern const CustomScanMethods gpusort_scan_methods;
extern const CustomScanMethods gpusort_collect_methods;
extern CustomScan *gpusort_make_plan(const Sort *sort);
extern void gpusort_reference_child(CustomScan *scan);
extern List *gpusort_reference_columns(const Plan *child, int varno);
extern bool gpusort_is_our_plan(const Plan *plan);
extern Sort *gpusort_make_sort(const CustomScan *scan);
extern void gpusort_read_spec(const CustomScan *scan, GpuSortSpec *spec);
extern bool gpusort_is_late(const CustomScan *scan);

/* plan_statistics.c */

/*
 * Do statistics say that the rows come in order?  For a Sort of a finished plan
 * that has this range table.
 */
extern bool gpusort_input_is_sorted(const Sort *sort, const List *rtable);

/* Do the rows of a path that one process executes come in order by the first of these keys? */
extern bool gpusort_path_is_in_order(PlannerInfo *root, const Path *path,
									 const GpuSortPathKeys *keys);

/* Correlation of a column's order by the operator with that of the table's rows; 0: unknown. */
extern double gpusort_correlation(Oid relation, AttrNumber attno, Oid sortop, Oid collation);

/* plan_order_by.c, plan_replace.c */

/* Estimate a sort of an input path's rows; false if there is to be none. */
extern bool gpusort_estimate_path(PlannerInfo *root, const Path *input,
								  const GpuSortPathKeys *keys, double limit_rows,
								  GpuSortEstimate *estimate);

extern void gpusort_install_order_by_hook(void);
extern void gpusort_install_replace_hook(void);

/*
 * Why a Sort of a finished plan is left to PostgreSQL for its kind, size or limit (as
 * gpusort_worth_it() has it), or NULL if it may be taken over.  *estimate is filled in
 * unless its kind is the reason.
 */
extern const char *gpusort_reason_to_leave(const Sort *sort, double limit_rows,
										   const PlannedStmt *stmt, GpuSortEstimate *estimate);

/* What PostgreSQL's sort of the rows costs, its input apart. */
extern Cost gpusort_core_cost(const Sort *sort, const GpuSortEstimate *estimate,
							  const List *rtable);

/* plan_gather.c */

/*
 * Paths that sort the input's rows by root->sort_pathkeys, collected by parallel
 * workers: a List of Path, not projected yet.
 */
extern List *gpusort_make_gather_paths(PlannerInfo *root, RelOptInfo *input_rel,
									   RelOptInfo *ordered_rel, const GpuSortPathKeys *keys,
									   double limit_rows);

/* A GpuSort Collect node that collects what the Sort node sorts. */
extern CustomScan *gpusort_make_collect(const Sort *sort);


/* Is the plan a GpuSort Collect?  The Gather between it and a GpuSort, or NULL. */
extern bool gpusort_is_collect_plan(const Plan *plan);
extern Gather *gpusort_plan_gather(const CustomScan *scan);

/* In a finished plan: bring the Gather into its final form. */
extern void gpusort_reference_gathered(Gather *gather);

/* What does the same in workers that sort, for a node in its final form. */
extern Plan *gpusort_make_gather_merge(const CustomScan *scan);

/* plan_collect.c */

/* A finished plan that is being gone through. */
typedef struct GpuSortStatement
{
	PlannedStmt *stmt;
	int			last_node_id;	/* 0: not looked up yet */
} GpuSortStatement;

/*
 * Have the rows of a Sort below Gather Merge, or above Gather, collected by the workers,
 * if the plan is one of these and it is worth it; else the plan as it is.  The new
 * nodes are to be brought into their final form, like those of paths.
 */
extern Plan *gpusort_collect_sort(Plan *plan, double limit_rows, GpuSortStatement *statement);

/* exec_node.c */
extern Node *gpusort_create_scan_state(CustomScan *scan);

/*
 * Let a node return what it scans, minimal tuples, column by column, whatever its target
 * list has been made of: no projection, and the scan slot is the result.
 */
extern void gpusort_return_scanned_rows(CustomScanState *css);

/* exec_collect.c */
extern Node *gpusort_create_collect_state(CustomScan *scan);

/* explain_node.c, explain_collect.c */
extern void gpusort_explain(CustomScanState *node, List *ancestors, ExplainState *es);
extern void gpusort_explain_collect(CustomScanState *node, List *ancestors, ExplainState *es);

#endif							/* GPUSORT_PLAN_NODE_H */
