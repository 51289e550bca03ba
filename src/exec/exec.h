/*
 * exec.h
 *		What other folders use of the nodes that sort.
 */
#ifndef GPUSORT_EXEC_H
#define GPUSORT_EXEC_H

#include "executor/execdesc.h"
#include "nodes/execnodes.h"
#include "nodes/extensible.h"

#include "pg_compat/explain.h"
#include "sort/sort_result.h"

/* ---------- nodes: what all kinds of our nodes have in common ---------- */

/*
 * A kind of node is one table, which says what its nodes do differently from those of other kinds.
 * Everything else is done in exec_node.c: making a node's state, beginning and ending its children,
 * and having the server call the function that returns its rows.
 *
 * The server calls that function as ExecProcNode, without the detour over its own custom scans, so
 * it checks for interrupts itself.
 */
typedef struct GpuSortNodeKind
{
	/* filled in by gpusort_register_node() */
	CustomScanMethods plan;		/* must be first field */

	/*
	 * CustomName, and the callbacks that the kind needs of those that are not below.
	 * gpusort_register_node() fills in the others that the server calls.
	 */
	CustomExecMethods methods;

	/* the size of the state, a struct that begins with a CustomScanState; 0: never executed */
	Size		state_bytes;

	/* what the children have to support, of the EXEC_FLAG_xxx that our nodes provide themselves */
	int			child_eflags;

	/*
	 * The node returns the minimal tuples that it scans, column by column, whatever its target list
	 * says: there is no projection, and the scan slot is the result slot.
	 */
	bool		returns_scanned_rows;

	void		(*begin) (CustomScanState *css, int eflags);	/* the children have begun */
	ExecProcNodeMtd next;		/* returns the next row; begin() may set another function */

	/*
	 * Counts the rows that this process would return, instead of returning them; NULL if the kind
	 * can't.  The node's plan must have neither conditions on pairs of rows nor columns.
	 */
	uint64		(*count) (PlanState *ps);

	void		(*release) (CustomScanState *css);	/* the children are about to end; or NULL */
	void		(*end) (CustomScanState *css);	/* the children have ended; or NULL */
} GpuSortNodeKind;

/* The kinds of nodes in this folder. */
extern GpuSortNodeKind gpusort_sort_kind;
extern GpuSortNodeKind gpusort_collect_kind;
extern GpuSortNodeKind gpusort_shared_kind;
extern GpuSortNodeKind gpusort_unique_kind;
extern GpuSortNodeKind gpusort_count_kind;
extern GpuSortNodeKind gpusort_ordered_set_kind;

/* Registers a kind, so that the server finds it by the name in plans; called from _PG_init(). */
extern void gpusort_register_node(GpuSortNodeKind *kind);

static inline bool
gpusort_exec_is_kind(const PlanState *node, const GpuSortNodeKind *kind)
{
	return IsA(node, CustomScanState) &&
		((const CustomScanState *) node)->methods == &kind->methods;
}

/* Returns the kind of a node of ours. */
extern const GpuSortNodeKind *gpusort_node_kind_of(const CustomScan *scan);

/*
 * Returns whether rows may be read more than once, or backward, according to the flags that a node
 * is begun with.
 */
extern bool gpusort_is_random_access(int eflags);

/*
 * Returns how many rows all participants together are expected to get from a partial plan that runs
 * with so many workers.
 */
extern double gpusort_exec_rows_of_all(const Plan *partial, int workers);

/*
 * For a node that reads its child's rows by position instead of executing the child: time between
 * these two calls counts as the child's own in EXPLAIN ANALYZE, and `rows` as rows that the child
 * has returned.
 */
extern void gpusort_start_in_child(PlanState *child);
extern void gpusort_stop_in_child(PlanState *child, double rows);

/* ---------- bounds: which Limit takes the rows of a GpuSort ---------- */

/*
 * Tells each GpuSort node in the tree of a query about the Limit above it.  The nodes have just
 * been initialized.
 */
extern void gpusort_tell_bounds(PlanState *query);

/* ---------- worker bound: how many rows a worker is told to return to its Gather ---------- */

/*
 * Called in a worker: the number of rows that it was told is what a Limit wanted before the Gather
 * was rescanned, and must not be believed.
 */
extern void gpusort_exec_bound_is_old(void);

/*
 * Returns how many rows a query is to be run for, if the executor was asked to run it for `count`
 * rows; 0 means all.  The result differs from `count` only for a worker's part of a plan.
 */
extern uint64 gpusort_exec_rows_to_run_for(QueryDesc *query, uint64 count);

/* ---------- junk: rows of a GpuSort without the columns that are only sorted by ---------- */

/*
 * The executor passes the rows of a query with such columns through a junk filter, which deforms
 * every row and stores the wanted values as another row.  But the wanted columns are the first
 * ones, as a rule, and a slot whose descriptor has fewer columns than its tuple shows just the
 * first ones.  So if a GpuSort returns the query's rows, we tell it to return them in a slot with
 * the filter's descriptor (exec_private.h), and remove the filter.
 */

/*
 * Returns the node of a query whose slots hold the query's rows: the top node, or the node below a
 * Limit that passes slots on as they are.
 */
extern PlanState *gpusort_returning_node(PlanState *query);

/*
 * Removes the junk filter of a query, which has just been started, if a GpuSort can leave the junk
 * columns out instead.
 */
extern void gpusort_leave_out_junk(QueryDesc *query);

/* ---------- GpuSort ---------- */

/* The number of GpuSort nodes that this process has ever begun. */
extern uint64 gpusort_nodes_begun;

extern bool gpusort_is_sort(const PlanState *node);

/*
 * If the node is a GpuSort, tells it before it begins to sort that a node above will ask for a view
 * of its rows, which must be stored then, not made of their keys.
 */
extern void gpusort_tell_viewed(PlanState *node);

/* Rows of a sort that was performed, by position. */
typedef struct GpuSortReturned
{
	GpuSort    *sort;
	TupleDesc	desc;			/* of the columns returned, the first ones of a row */
	bool		all_columns;	/* they are all columns of the stored rows */
	uint64		from;
	uint64		to;				/* position behind the last row */
} GpuSortReturned;

/*
 * For a node that has just returned a row.  If the node is a GpuSort, and all its rows are stored
 * in memory, fills in the positions of that row and the rows after it, as many as the Limit above
 * will take, and returns true.  A caller that reads these rows by position must not ask the node
 * for more.
 */
extern bool gpusort_returned_rows(PlanState *node, GpuSortReturned *returned);

/*
 * For a node above that reads two GpuSorts by position.  gpusort_exec_collect_sort() collects the
 * rows of one GpuSort.  gpusort_exec_sort_merged() then sorts the rows of both at once, if that is
 * possible (sort.h); otherwise each is sorted when it is first viewed.  Sorts that were performed
 * at once must be read by views only, and both nodes have to be rescanned if one is.
 */
extern void gpusort_exec_collect_sort(PlanState *node);
extern void gpusort_exec_sort_merged(PlanState *const nodes[2]);

/*
 * For the node that returns a query's rows, when nobody knows when more of them will be fetched: if
 * it is a GpuSort, makes it give up pool memory that other sorts are short of.
 */
extern void gpusort_give_way(PlanState *node);

/* ---------- the result of a GpuSort or a GpuSort Shared ---------- */

/*
 * Returns the result of a GpuSort or a GpuSort Shared, for a node above that reads rows by
 * position; valid until the node is rescanned.  Sorts now if need be.  is_viewed: the node above
 * will ask for a view, so rows must be stored, not made of their keys.  Returns NULL if the rows
 * have to be read through the node.
 */
extern GpuSortResult *gpusort_exec_result(PlanState *node, bool is_viewed);

/* ---------- several shared sorts ---------- */

/*
 * The nodes passed in are GpuSort Shared nodes.
 *
 * These are for a node above that has its participants make several shared sorts, and reads all
 * rows of each in every participant, by position.  That node has a barrier of its own.  Every
 * participant collects rows for all sorts.  When all have collected, one participant performs each
 * sort, while the others help until the result is there; or one performs two sorts, both at once if
 * possible (sort.h).  Then all participants open the results.  To be called only if
 * gpusort_shared_is_parallel() returns true.
 */
extern bool gpusort_shared_is_parallel(const PlanState *node);
extern void gpusort_shared_collect(PlanState *node);

/* Returns how many rows all participants together have collected.  All must have finished. */
extern uint64 gpusort_shared_collected(const PlanState *node);

extern void gpusort_shared_sort(PlanState *node);
extern void gpusort_shared_sort_both(PlanState *const nodes[2]);
extern void gpusort_shared_help(PlanState *node);
extern void gpusort_shared_open(PlanState *node);

/* ---------- EXPLAIN (GPUSORT): why gpusort or PostgreSQL does each sort of a plan ---------- */

/*
 * Called from _PG_init(): registers the option, on servers where extensions may add options to
 * EXPLAIN.
 */
extern void gpusort_install_explain_option(void);

/* Called from explain_per_node_hook: explains the sorts that this node does, or could do. */
extern void gpusort_explain_sorts_of(const PlanState *node, ExplainState *es);

#endif							/* GPUSORT_EXEC_H */
