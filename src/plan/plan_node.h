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

#include "exec/exec_cursor.h"
#include "keys/key_codec.h"
#include "sort/sort_state.h"

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

/* plan_cost.c */

/* What a sort is estimated to be; cost in the planner's units. */
typedef struct GpuSortEstimate
{
	Cost		startup_cost;	/* from the last input row to the first output row,
								 * and collecting the input */
	Cost		collect_cost;	/* the latter: what participants share */
	Cost		run_cost;		/* returning all rows */
	Cost		fetch_cost;		/* of that, fetching them from the table (plan_late.c) */
	double		memory_bytes;
	int			ranges;			/* that rows are collected in */
	int			late_width;		/* of what is sorted instead of rows that are fetched
								 * (plan_late.c); 0: rows are stored */

	/* PostgreSQL's sort of the same rows */
	Cost		core_extra_cost;	/* beyond the planner's estimate */
	Cost		core_sorted_cost;	/* all of it, if the rows come in order */
} GpuSortEstimate;

/*
 * Whether, as far as estimates tell, a sort is worth and able to be taken over.
 * limit_rows: how many rows will be fetched at most; negative: all; 0: some
 * number unknown yet.  If not, *reason says why (constant string).
 */
extern bool gpusort_worth_it(double rows, int width, double limit_rows,
							 const GpuSortEstimate *estimate, const char **reason);

/* Key codecs of all columns; false with *reason if one has none. */
extern bool gpusort_estimate(int nkeys, const Oid *sortops, const Oid *types,
							 const Oid *collations, double rows, int width,
							 GpuSortEstimate *estimate, const char **reason);

/*
 * The same if so many rows are collected by one process and come in order by the first key:
 * there is nothing to be moved, but for ties, and rows are returned as they lie.
 */
extern void gpusort_estimate_in_order(int nkeys, double rows, GpuSortEstimate *estimate);

/* What paths are to be sorted by: of each key, the expression and how it is ordered. */
typedef struct GpuSortPathKeys
{
	int			count;
	List	   *exprs;
	Oid		   *sortops;
	Oid		   *types;
	Oid		   *collations;
	double		rows;			/* to be sorted, by all participants together */
} GpuSortPathKeys;

/* Of pathkeys that the path will be sorted by; rows is left to the caller.  False as above. */
extern bool gpusort_read_pathkeys(const Path *input, List *pathkeys, GpuSortPathKeys *keys,
								  const char **reason);

/* gpusort_estimate() for so many rows, like those of a path, and pathkeys to sort them by. */
extern bool gpusort_estimate_pathkeys(const Path *input, List *pathkeys, double rows,
									  GpuSortEstimate *estimate, const char **reason);

/*
 * Whether the pool is estimated to hold all rows if so many participants collect
 * them, each in ranges of its own.
 */
extern bool gpusort_fits_pool(const GpuSortEstimate *estimate, int participants);

/*
 * If participants collect the rows.  What that costs each that reads so many of them,
 * reading them included; and GpuSort's costs, given those of the Gather below it.
 */
extern Cost gpusort_participants_cost(const GpuSortEstimate *estimate, Cost partial_cost,
									  double partial_rows, double all_rows);
extern void gpusort_gathered_costs(const GpuSortEstimate *estimate, Cost gather_cost,
								   Cost *startup_cost, Cost *total_cost);

/*
 * Parts of the formula: how much of the full price memory accesses cost for so many
 * bytes of rows, and how much of gpusort.cost_key_collated a codec's key costs.
 */
extern double gpusort_memory_factor(double bytes);
extern double gpusort_collated_share(const GpuSortCodec *codec);

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
