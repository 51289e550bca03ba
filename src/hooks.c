/*
 * hooks.c
 *		The server's hooks: which of our functions each calls, and in which order.
 *
 * Each hook is installed once, by the table at the end of this file.  The function that we install
 * for a hook calls the previous function of that hook, or the server's standard function, exactly
 * once: code before that call runs before the server's own work, and code after it runs afterwards.
 * Only a COPY that gpusort takes over is not passed on (bulk/README.md).
 * Whether a statement concerns gpusort at all is decided here, so that other statements cost one
 * call and a few comparisons for each hook.
 */
#include "postgres.h"

#include "catalog/objectaccess.h"
#include "catalog/pg_class.h"
#include "catalog/pg_database.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "optimizer/paths.h"
#include "optimizer/planner.h"
#include "storage/ipc.h"
#include "tcop/pquery.h"
#include "tcop/utility.h"

#include "bulk/bulk.h"
#include "exec/exec.h"
#include "cluster/cluster.h"
#include "hooks.h"
#include "index/index.h"
#include "into/into.h"
#include "memory/pool.h"
#include "pg_compat/executor.h"
#include "pg_compat/explain.h"
#include "pg_compat/planner.h"
#include "pg_compat/tables.h"
#include "plan/plan.h"
#include "settings.h"
#include "sort/sort.h"
#include "stats/stats.h"

/* The functions that the hooks had before ours, each under its hook's name. */
static struct
{
	/* these are the server's function if the hook was not set, so never NULL */
	planner_hook_type planner_hook;
	ExecutorStart_hook_type ExecutorStart_hook;
	ExecutorRun_hook_type ExecutorRun_hook;
	ProcessUtility_hook_type ProcessUtility_hook;

	/* these are NULL if the hook was not set */
	shmem_request_hook_type shmem_request_hook;
	shmem_startup_hook_type shmem_startup_hook;
	GpuSortRelationHook GPUSORT_RELATION_HOOK;
	set_rel_pathlist_hook_type set_rel_pathlist_hook;
	set_join_pathlist_hook_type set_join_pathlist_hook;
	create_upper_paths_hook_type create_upper_paths_hook;
	object_access_hook_type object_access_hook;
#ifdef GPUSORT_HAS_EXPLAIN_OPTIONS
	explain_per_node_hook_type explain_per_node_hook;
#endif
} previous;

/* ---------- shared memory ---------- */

static void
request_memory(void)
{
	if (previous.shmem_request_hook)
		previous.shmem_request_hook();
	gpusort_request_activity();
	gpusort_request_counts();
}

static void
make_memory(void)
{
	if (previous.shmem_startup_hook)
		previous.shmem_startup_hook();
	gpusort_make_pool();
	gpusort_make_activity();
	gpusort_make_counts();
}

/* ---------- planning ---------- */

/*
 * Looks for the planning of an index build, or of a copy of a table in the order of an index, which
 * the server asks for when it decides about parallel workers or a sort.  Its query has no FROM
 * clause.
 */
static void
look_at_relation(GPUSORT_RELATION_HOOK_PARAMETERS)
{
	Oid			table = GPUSORT_RELATION_HOOK_TABLE;

	if (previous.GPUSORT_RELATION_HOOK)
		previous.GPUSORT_RELATION_HOOK(GPUSORT_RELATION_HOOK_ARGUMENTS);
	if (root->parse->jointree != NULL || !OidIsValid(table))
		return;
	gpusort_take_index_builds(table, rel);
	gpusort_cluster_take_copy(table, rel);
}

static void
consider_table(PlannerInfo *root, RelOptInfo *rel, Index rti, RangeTblEntry *rte)
{
	if (previous.set_rel_pathlist_hook)
		previous.set_rel_pathlist_hook(root, rel, rti, rte);
	gpusort_consider_table(root, rel);
}

static void
consider_joins(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *outerrel,
			   RelOptInfo *innerrel, JoinType jointype, JoinPathExtraData *extra)
{
	if (previous.set_join_pathlist_hook)
		previous.set_join_pathlist_hook(root, joinrel, outerrel, innerrel, jointype, extra);
	gpusort_consider_joins(root, joinrel, outerrel, innerrel, jointype, extra);
}

static void
consider_upper_paths(PlannerInfo *root, UpperRelationKind stage, RelOptInfo *input_rel,
					 RelOptInfo *output_rel, void *extra)
{
	if (previous.create_upper_paths_hook)
		previous.create_upper_paths_hook(root, stage, input_rel, output_rel, extra);
	gpusort_consider_upper_paths(root, stage, input_rel, output_rel, extra);
}

static PlannedStmt *
plan(GPUSORT_PLANNER_PARAMETERS)
{
	return gpusort_plan(previous.planner_hook, GPUSORT_PLANNER_ARGUMENTS);
}

/* ---------- queries ---------- */

/*
 * When all nodes of the query have been made, tells each GpuSort among them what it cannot see from
 * its own place in the plan: its Limit, and columns that only the junk filter reads.
 */
static void
start(QueryDesc *query, int eflags)
{
	uint64		begun = gpusort_nodes_begun;

	previous.ExecutorStart_hook(query, eflags);
	if (gpusort_nodes_begun == begun || query->planstate == NULL)
		return;
	gpusort_tell_bounds(query->planstate);
	gpusort_leave_out_junk(query);
}

/*
 * Returns a receiver of ours for the rows of a query that a GpuSort returns, or NULL if the rows go
 * to the query's own receiver.
 */
static DestReceiver *
make_receiver(QueryDesc *query, ScanDirection direction, uint64 count)
{
	if (query->operation != CMD_SELECT || query->planstate == NULL || count != 0 ||
		!ScanDirectionIsForward(direction) || !gpusort_enabled ||
		!gpusort_is_sort(gpusort_returning_node(query->planstate)))
		return NULL;
	switch (query->dest->mydest)
	{
		case DestRemote:
		case DestRemoteExecute:
			return gpusort_make_select_receiver(query);
		case DestIntoRel:
		case DestTransientRel:
			return gpusort_make_into_receiver(query);
		default:
			return NULL;
	}
}

/*
 * Called when a query stops in the middle of its rows, as a cursor does between two FETCHes.  Its
 * sorts must not hold what other sessions wait for.  A query that no portal runs, such as a SELECT
 * INTO of PL/pgSQL, will not be asked for more rows, so its GpuSort is not told to give way.
 */
static void
pause_sorts(QueryDesc *query)
{
	gpusort_rest(query->estate->es_query_cxt);
	if (ActivePortal != NULL && ActivePortal->queryDesc == query)
		gpusort_give_way(gpusort_returning_node(query->planstate));
}

static void
run(GPUSORT_EXECUTOR_RUN_PARAMETERS)
{
	DestReceiver *server = query->dest;
	DestReceiver *ours = make_receiver(query, direction, count);

	if (ours != NULL)
		query->dest = ours;
	count = gpusort_exec_rows_to_run_for(query, count);
	if (query->operation == CMD_INSERT && gpusort_insert_is_ours(query, direction))
		gpusort_into_run_insert(previous.ExecutorRun_hook, GPUSORT_EXECUTOR_RUN_ARGUMENTS);
	else
		previous.ExecutorRun_hook(GPUSORT_EXECUTOR_RUN_ARGUMENTS);
	if (count != 0)
		pause_sorts(query);
	if (ours != NULL)
	{
		ours->rDestroy(ours);
		query->dest = server;
	}
}

#ifdef GPUSORT_HAS_EXPLAIN_OPTIONS
static void
explain_node(PlanState *node, List *ancestors, const char *relationship, const char *plan_name,
			 ExplainState *es)
{
	if (previous.explain_per_node_hook)
		previous.explain_per_node_hook(node, ancestors, relationship, plan_name, es);
	gpusort_explain_sorts_of(node, es);
}
#endif

/* ---------- utility commands ---------- */

static void
run_utility(PlannedStmt *pstmt, const char *text, bool read_only, ProcessUtilityContext context,
			ParamListInfo params, QueryEnvironment *environment, DestReceiver *dest,
			QueryCompletion *completion)
{
	bool		is_watched = previous.ProcessUtility_hook != standard_ProcessUtility;

	if (IsA(pstmt->utilityStmt, CopyStmt) &&
		gpusort_copy(pstmt, text, environment, completion, is_watched))
		return;
	previous.ProcessUtility_hook(pstmt, text, read_only, context, params, environment, dest,
								 completion);
}

static void
process_utility(PlannedStmt *pstmt, const char *text, bool read_only,
				ProcessUtilityContext context, ParamListInfo params,
				QueryEnvironment *environment, DestReceiver *dest, QueryCompletion *completion)
{
	bool		copies = gpusort_is_cluster(pstmt->utilityStmt);
	bool		outer_copies = gpusort_cluster_set_copies(copies);
	bool		raised = gpusort_raise_workers(pstmt->utilityStmt);
	volatile bool done = false;

	if (!copies && !raised)
	{
		run_utility(pstmt, text, read_only, context, params, environment, dest, completion);
		gpusort_cluster_set_copies(outer_copies);
		return;
	}
	PG_TRY();
	{
		run_utility(pstmt, text, read_only, context, params, environment, dest, completion);
		done = true;
	}
	PG_FINALLY();
	{
		if (raised)
			gpusort_lower_workers(done);
		if (copies)
			gpusort_cluster_end_redirection();
		gpusort_cluster_set_copies(outer_copies);
	}
	PG_END_TRY();
}

/* ---------- objects ---------- */

static void
access_object(ObjectAccessType access, Oid class, Oid object, int sub, void *arg)
{
	if (previous.object_access_hook)
		previous.object_access_hook(access, class, object, sub, arg);
	if (access == OAT_DROP && class == DatabaseRelationId)
		gpusort_drop_counts(object);
	else if (access == OAT_POST_CREATE && class == RelationRelationId && sub == 0)
		gpusort_note_made_table(object);
}

/* ---------- the table ---------- */

#define INSTALL(hook, ours)		(previous.hook = hook, hook = ours)
#define INSTALL_AROUND(hook, standard, ours) \
	(previous.hook = hook != NULL ? hook : standard, hook = ours)

void
gpusort_install_hooks(void)
{
	if (process_shared_preload_libraries_in_progress)
	{
		INSTALL(shmem_request_hook, request_memory);
		INSTALL(shmem_startup_hook, make_memory);
	}
	INSTALL_AROUND(planner_hook, standard_planner, plan);
	INSTALL(GPUSORT_RELATION_HOOK, look_at_relation);
	INSTALL(set_rel_pathlist_hook, consider_table);
	INSTALL(set_join_pathlist_hook, consider_joins);
	INSTALL(create_upper_paths_hook, consider_upper_paths);
	INSTALL_AROUND(ExecutorStart_hook, standard_ExecutorStart, start);
	INSTALL_AROUND(ExecutorRun_hook, standard_ExecutorRun, run);
	INSTALL_AROUND(ProcessUtility_hook, standard_ProcessUtility, process_utility);
	INSTALL(object_access_hook, access_object);
#ifdef GPUSORT_HAS_EXPLAIN_OPTIONS
	INSTALL(explain_per_node_hook, explain_node);
#endif
}
