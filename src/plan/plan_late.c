/*
 * plan_late.c
 *		Sorting TIDs instead of rows: late materialisation.
 *
 * A sort of wide rows copies each of them into its memory, which is a waste if few are wanted
 * (LIMIT), and impossible if there is no room for them.  So a GpuSort above a table may read only
 * the sort columns and the TID, and fetch the rows from the table when they are returned:
 *
 *		Custom Scan (GpuSort)		columns of the table's rows, fetched by TID
 *		  -> Seq Scan				ctid and sort columns
 *
 * With parallel workers, these collect TIDs:
 *
 *		Custom Scan (GpuSort)		columns of the table's rows, fetched by TID
 *		  -> Gather					ctid and sort columns
 *		    -> GpuSort Collect		ctid and sort columns
 *		      -> Parallel Seq Scan	ctid and sort columns
 *
 * Between reading and returning, the sort is like any other: the child's rows are merely short.  A
 * plan is made late when it has been brought into its final form: what the scan would have returned
 * becomes the node's custom_scan_tlist, whose Vars refer to the table, and the executor projects
 * (exec_late.c).  The cost of a path is that of whichever sort is cheaper, and the same estimate
 * decides about the finished plan.
 *
 * Each expression of the target list is evaluated once for a row at most: sort expressions before
 * the sort, whose short rows carry the values, and the other expressions later, or not at all for
 * rows that are not wanted.  So none of them may be volatile, or depend on what the executor may
 * have changed in the meantime (parameters that it sets, subplans).
 *
 * Statements that may check rows anew after waiting for another transaction (EvalPlanQual: UPDATE,
 * DELETE, MERGE, FOR UPDATE) are left out, since such a row need not be the one that its TID leads
 * to.
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/sysattr.h"
#include "access/table.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "storage/bufmgr.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "plan/plan_estimate_private.h"
#include "plan/plan_node.h"
#include "settings.h"

/* The number of columns before the sort columns: the TID. */
#define TID_COLUMNS		1

/* ---------- whether ---------- */

static bool
refers_to_executor(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, Param) && ((Param *) node)->paramkind == PARAM_EXEC)
		return true;
	return expression_tree_walker(node, refers_to_executor, context);
}

/*
 * Returns whether expressions, or target list entries, have the same value when they are evaluated
 * later.
 */
static bool
can_wait(List *exprs)
{
	Node	   *node = (Node *) exprs;

	return !contain_volatile_functions(node) && !contain_subplans(node) &&
		!refers_to_executor(node, NULL);
}

/* Returns whether a statement of this kind, with these rows to lock, may use EvalPlanQual. */
static bool
may_check_rows_anew(CmdType command, const List *row_marks, bool modifying_cte)
{
	return (command != CMD_SELECT && command != CMD_INSERT) || row_marks != NIL || modifying_cte;
}

/* Looks at a table that the statement has locked; returns false if its rows can't be fetched. */
static bool
look_at_table(Oid relid, GpuSortFetch *fetch)
{
	Relation	rel = table_open(relid, NoLock);
	bool		heap = rel->rd_tableam == GetHeapamTableAmRoutine();

	fetch->relid = relid;
	if (heap)
	{
		fetch->pages = RelationGetNumberOfBlocks(rel);
		fetch->table_rows = Max(rel->rd_rel->reltuples, 0);
	}
	table_close(rel, NoLock);
	return heap;
}

/* Returns the bytes of the sort columns' values and of the TID. */
static int
narrow_width(const GpuSortFetch *fetch, List *keys)
{
	int			width = MAXALIGN(sizeof(ItemPointerData));
	ListCell   *lc;

	foreach(lc, keys)
	{
		Node	   *key = (Node *) lfirst(lc);
		int			bytes = 0;

		if (IsA(key, Var) && ((Var *) key)->varattno > 0)
			bytes = get_attavgwidth(fetch->relid, ((Var *) key)->varattno);
		width += bytes > 0 ? bytes : get_typavgwidth(exprType(key), exprTypmod(key));
	}
	return width;
}

/*
 * Finds out what is known about fetching rows in the order of these expressions.  sortop and
 * collation are the first one's.
 */
static void
look_at_keys(List *keys, Oid sortop, Oid collation, GpuSortFetch *fetch)
{
	const Var  *first = linitial(keys);

	fetch->width = narrow_width(fetch, keys);
	if (!IsA(first, Var) || first->varattno <= 0)
		return;
	fetch->correlation = gpusort_correlation(fetch->relid, first->varattno, sortop, collation);
	if (fetch->correlation == 0)	/* of the opposite order, perhaps */
		fetch->correlation = gpusort_correlation(fetch->relid, first->varattno,
												 get_commutator(sortop), collation);
}

/* Returns the scan whose rows a sort above this plan would fetch, or NULL. */
static SeqScan *
scan_below(Plan *child)
{
	if (gpusort_is_collect_gather(child))
		child = child->lefttree->lefttree;
	return IsA(child, SeqScan) ? (SeqScan *) child : NULL;
}

bool
gpusort_plan_can_fetch(const Sort *sort, const PlannedStmt *stmt, GpuSortFetch *fetch)
{
	Plan	   *child = sort->plan.lefttree;
	SeqScan    *scan = scan_below(child);
	List	   *keys = NIL;
	Oid			relid;

	memset(fetch, 0, sizeof(*fetch));
	if (gpusort_late_rows == GPUSORT_LATE_OFF || scan == NULL ||
		may_check_rows_anew(stmt->commandType, stmt->rowMarks, stmt->hasModifyingCTE) ||
		!can_wait(scan->scan.plan.targetlist))
		return false;
	fetch->participants = 1;
	if (gpusort_is_collect_gather(child))
		fetch->participants += ((Gather *) child)->num_workers;
	relid = rt_fetch(scan->scan.scanrelid, stmt->rtable)->relid;
	if (!look_at_table(relid, fetch))
		return false;
	for (int i = 0; i < sort->numCols; i++)
		keys = lappend(keys, list_nth_node(TargetEntry, scan->scan.plan.targetlist,
										   sort->sortColIdx[i] - 1)->expr);
	look_at_keys(keys, sort->sortOperators[0], sort->collations[0], fetch);
	return true;
}

bool
gpusort_path_can_fetch(PlannerInfo *root, const Path *path, const GpuSortPathKeys *keys,
					   GpuSortFetch *fetch)
{
	List	   *exprs = path->pathtarget->exprs;

	memset(fetch, 0, sizeof(*fetch));
	if (gpusort_late_rows == GPUSORT_LATE_OFF)
		return false;
	for (PlannerInfo *level = root; level != NULL; level = level->parent_root)
		if (may_check_rows_anew(level->parse->commandType, level->parse->rowMarks,
								level->parse->hasModifyingCTE))
			return false;
	fetch->participants = path->parallel_workers + 1;
	if (IsA(path, ProjectionPath) && ((const ProjectionPath *) path)->dummypp)
		path = ((const ProjectionPath *) path)->subpath;
	if (path->pathtype != T_SeqScan || !can_wait(exprs) ||
		!look_at_table(planner_rt_fetch(path->parent->relid, root)->relid, fetch))
		return false;
	look_at_keys(keys->exprs, keys->by.sortops[0], keys->by.collations[0], fetch);
	return true;
}

/* ---------- the plan ---------- */

/* Makes a target list of the TID and the sort columns of what a scan returns. */
static List *
narrow_columns(const SeqScan *scan, List *attnos)
{
	Var		   *ctid = makeVar(scan->scan.scanrelid, SelfItemPointerAttributeNumber, TIDOID, -1,
							   InvalidOid, 0);
	List	   *columns = list_make1(makeTargetEntry((Expr *) ctid, 1, pstrdup("ctid"), false));
	ListCell   *lc;

	foreach(lc, attnos)
	{
		TargetEntry *key = copyObject(list_nth_node(TargetEntry, scan->scan.plan.targetlist,
													lfirst_int(lc) - 1));

		key->resno = list_length(columns) + 1;
		key->resjunk = false;
		columns = lappend(columns, key);
	}
	return columns;
}

/*
 * Numbers the sort columns as in the short rows, behind the TID, and keeps their numbers in the
 * rows returned.
 */
static void
renumber_columns(CustomScan *scan)
{
	List	   *attnos = list_nth(scan->custom_private, GPUSORT_PRIVATE_ATTNOS);
	ListCell   *lc;

	lfirst(list_nth_cell(scan->custom_private, GPUSORT_PRIVATE_LATE)) = list_copy(attnos);
	foreach(lc, attnos)
		lfirst_int(lc) = foreach_current_index(lc) + 1 + TID_COLUMNS;
}

/*
 * Returns what a column of the rows returned is made of: the table's columns, as in the scan; or
 * the value that a short row carries, if it is a sort expression, which has been evaluated before
 * the sort.
 */
static Expr *
late_column(const TargetEntry *column, const List *narrow, List *attnos)
{
	ListCell   *lc;

	if (IsA(column->expr, Var))
		return column->expr;
	foreach(lc, attnos)
	{
		if (lfirst_int(lc) == column->resno)
			return (Expr *)
				makeVarFromTargetEntry(OUTER_VAR,
									   list_nth_node(TargetEntry, narrow,
													 foreach_current_index(lc) + TID_COLUMNS));
	}
	return column->expr;
}

void
gpusort_make_late(CustomScan *scan, int width)
{
	Gather	   *gather = gpusort_find_gather(scan);
	SeqScan    *table = scan_below(scan->scan.plan.lefttree);
	List	   *attnos = list_nth(scan->custom_private, GPUSORT_PRIVATE_ATTNOS);
	List	   *columns = table->scan.plan.targetlist;
	List	   *narrow = narrow_columns(table, attnos);
	ListCell   *lc;

	table->scan.plan.targetlist = narrow;
	table->scan.plan.plan_width = width;
	foreach(lc, scan->custom_scan_tlist)
		lfirst_node(TargetEntry, lc)->expr =
			late_column(list_nth_node(TargetEntry, columns, foreach_current_index(lc)), narrow,
						attnos);
	renumber_columns(scan);
	if (gather != NULL)
	{
		CustomScan *collect = (CustomScan *) gather->plan.lefttree;

		collect->scan.plan.targetlist = copyObject(table->scan.plan.targetlist);
		collect->scan.plan.plan_width = width;
		gpusort_reference_child(collect);
		/* Both nodes share the description of the sort, in which columns have been renumbered. */
		collect->custom_private = scan->custom_private;
		gpusort_reference_gathered(gather);
		gather->plan.plan_width = width;
	}
}
