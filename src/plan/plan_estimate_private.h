/*
 * plan_estimate_private.h
 *		What is found out about sorts in plans: what they sort by, what statistics tell, what they
 *		cost, and whether their rows are fetched afterwards.
 */
#ifndef GPUSORT_PLAN_ESTIMATE_PRIVATE_H
#define GPUSORT_PLAN_ESTIMATE_PRIVATE_H

#include "nodes/pathnodes.h"
#include "nodes/plannodes.h"

#include "cost/cost.h"
#include "stats/stats.h"

/* ---------- known: what has been found out about relations and clauses ---------- */

/* It is kept as long as these are there. */

/*
 * Returns `size` bytes that are kept for `about`, a relation or clause that was allocated by
 * itself, and are found again by its address.  They are zeros the first time.  They lie in the
 * memory context of `about`, and end with it.
 */
extern void *gpusort_known(PlannerInfo *root, const void *about, Size size);

/* ---------- pathkeys: what the rows of a path are to be sorted by ---------- */

typedef struct GpuSortPathKeys
{
	GpuSortCostKeys by;
	List	   *pathkeys;
	List	   *exprs;			/* expression of each of the pathkeys */
	double		rows;			/* number to be sorted, by all participants together */
	bool		joined;			/* the rows may be joined, by a node that looks into stored rows */
	bool		estimated;
	int			width;			/* width of the rows that estimate is of, if estimated */
	GpuSortEstimate estimate;	/* for rows that don't come from pages, in any order */
} GpuSortPathKeys;

/*
 * Returns whether the values that a mergeable clause compares are in one order.
 *
 * They are not if its operator depends on more than the values, as those between timestamps with
 * and without time zone depend on the session's zone: where that sets its clocks back, what is
 * later in the one type is earlier in the other.  PostgreSQL's merge joins are made all the same,
 * and fail if they notice.  A clause that does not compare two values says nothing against an
 * order.
 */
extern bool gpusort_clause_is_order(const RestrictInfo *clause);

/* Returns whether one of the pathkeys is of this class. */
extern bool gpusort_has_class(const List *pathkeys, const EquivalenceClass *ec);

/*
 * Looks up the pathkeys that the path will be sorted by; rows is left to the caller.  Returns false
 * with *reason if some type has no ordering operator, or the members of a class have no common
 * order.
 */
extern bool gpusort_read_pathkeys(const Path *input, List *pathkeys, GpuSortPathKeys *keys,
								  const char **reason);

/* ---------- statistics: what they tell about the input of a sort, and about groups ---------- */

/*
 * Returns whether the rows of a path that one process executes come in order by the first of these
 * keys, because statistics tell so, or because an index is read, even if the planner does not know
 * its order.
 */
extern bool gpusort_path_is_in_order(PlannerInfo *root, const Path *path,
									 const GpuSortPathKeys *keys);

/* Returns the same for the input of a Sort in a finished plan that has this range table. */
extern bool gpusort_plan_input_is_in_order(const Sort *sort, const List *rtable);

/*
 * Returns the correlation of a column's order by the operator with that of the table's rows; 0 if
 * it is not known.
 */
extern double gpusort_correlation(Oid relation, AttrNumber attno, Oid sortop, Oid collation);

/*
 * Returns which share of the rows to be sorted by these keys have a string in the first column that
 * agrees with another row's in its first word, as the column's histogram tells.  Returns 0 if there
 * is none, if the column has no strings, and for few rows.
 */
extern double gpusort_tied_share(PlannerInfo *root, const GpuSortPathKeys *keys);

/*
 * Returns how many groups by these expressions there are at least: those by the expressions that
 * are columns or have statistics of their own, from an index or extended ones; 0 if there are none
 * of these.  How many values any other expression has is a guess: as many as its columns.
 */
extern double gpusort_known_groups(PlannerInfo *root, const List *exprs, double rows);

/*
 * Returns the same for pathkeys by which the planner expects `groups` groups, or that number if no
 * pathkey's is a guess.
 */
extern double gpusort_known_groups_by(PlannerInfo *root, const List *pathkeys, double rows,
									  double groups);

/* ---------- estimates of sorts: of a path's rows, and of a finished plan's Sort ---------- */

/*
 * How many rows of a finished plan's Sort will be fetched.
 *
 * rows is that number, GPUSORT_NO_LIMIT, or 0 if the limit is not known yet.  is_told says that a
 * node of ours in the Sort's place is told the limit when it begins (exec/exec_query.c).  all_read
 * says that there is no limit, and no node above is known that might stop before the last row.
 * kind is what the nodes above want the order for.
 */
typedef struct GpuSortLimit
{
	double		rows;
	bool		is_told;
	bool		all_read;
	GpuSortKind kind;
} GpuSortLimit;

/*
 * Estimates a sort of an input path's rows, which will be told the limit if there is one.  Returns
 * false if the sort is not to be taken over.
 */
extern bool gpusort_estimate_path(PlannerInfo *root, const Path *input,
								  GpuSortPathKeys *keys, double limit_rows,
								  GpuSortEstimate *estimate);

/*
 * Returns what a relation's rows cost at least until they are sorted by us, whoever collects them,
 * with what is below the sort, and row_cost more for each row.  Returning the rows is left out,
 * since a Unique above does not want all.
 */
extern Cost gpusort_least_sorted_cost(const RelOptInfo *rel, List *pathkeys, Cost row_cost);

/*
 * Returns why a Sort of a finished plan is left to PostgreSQL, for its sort columns, its size or
 * its limit (as gpusort_worth_it()), or NULL if it may be taken over.  *estimate is filled in
 * unless the sort columns are the reason.
 */
extern const char *gpusort_reason_to_leave(const Sort *sort, GpuSortLimit limit,
										   const PlannedStmt *stmt, GpuSortEstimate *estimate);

/* Returns what PostgreSQL's sort of the rows costs, without its input. */
extern Cost gpusort_core_cost(const Sort *sort, const GpuSortEstimate *estimate,
							  const List *rtable);

/* ---------- late sorts: rows are fetched by TID when they are returned ---------- */

/*
 * Return whether the rows of a sort can be fetched by TID, and fill in *fetch: of a Sort of a
 * finished plan, which may stand above a Gather and a GpuSort Collect; or of an input path that is
 * to be sorted by these keys.
 */
extern bool gpusort_plan_can_fetch(const Sort *sort, const PlannedStmt *stmt,
								   GpuSortFetch *fetch);
extern bool gpusort_path_can_fetch(PlannerInfo *root, const Path *path,
								   const GpuSortPathKeys *keys, GpuSortFetch *fetch);

/*
 * Makes a GpuSort in its final form fetch its rows, for which gpusort_plan_can_fetch() must hold.
 * width is the late_width of its estimate.
 */
extern void gpusort_make_late(CustomScan *scan, int width);

#endif							/* GPUSORT_PLAN_ESTIMATE_PRIVATE_H */
