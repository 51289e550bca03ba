/*
 * exec_rest.c
 *		Queries that stop in the middle of their rows; see exec_rest.h.
 */
#include "postgres.h"

#include "executor/executor.h"
#include "tcop/pquery.h"

#include "exec/exec_junk.h"
#include "exec/exec_rest.h"
#include "exec/exec_sort.h"
#include "exec/worker_bound.h"
#include "pg_compat/executor.h"
#include "sort/sort_fetch.h"

static ExecutorRun_hook_type previous_run_hook = NULL;

/* Is it a portal's?  Others that want so many rows, such as a SELECT INTO in PL/pgSQL, want no more. */
static bool
may_go_on(const QueryDesc *query)
{
	return ActivePortal != NULL && ActivePortal->queryDesc == query;
}

/* Who asks for so many rows may ask for more, today or tomorrow. */
static void
run(GPUSORT_EXECUTOR_RUN_PARAMETERS)
{
	count = gpusort_rows_to_run_for(query, count);
	if (previous_run_hook)
		previous_run_hook(GPUSORT_EXECUTOR_RUN_ARGUMENTS);
	else
		standard_ExecutorRun(GPUSORT_EXECUTOR_RUN_ARGUMENTS);
	if (count == 0)
		return;
	gpusort_rest(query->estate->es_query_cxt);
	if (may_go_on(query))
		gpusort_give_way(gpusort_returning_node(query->planstate));
}

void
gpusort_install_executor_hook(void)
{
	previous_run_hook = ExecutorRun_hook;
	ExecutorRun_hook = run;
}
