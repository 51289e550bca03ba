/*
 * select_hook.c
 *		How rows of queries get to the client: an ExecutorRun hook; see select_hook.h.
 *
 * A query whose rows are a GpuSort's, and that a portal runs to its end for the client, is given
 * another receiver while it runs.
 */
#include "postgres.h"

#include "executor/executor.h"
#include "tcop/pquery.h"

#include "bulk/out_target.h"
#include "bulk/select_hook.h"
#include "bulk/select_receiver.h"
#include "exec/exec_junk.h"
#include "exec/exec_sort.h"
#include "pg_compat/executor.h"
#include "settings.h"

static ExecutorRun_hook_type previous_run_hook = NULL;

static bool
is_sorted(const QueryDesc *query)
{
	return query->operation == CMD_SELECT && query->planstate != NULL &&
		gpusort_is_sort(gpusort_returning_node(query->planstate));
}

/* Are the rows those that a portal returns to the client, all of them? */
static bool
is_client_query(const QueryDesc *query, ScanDirection direction, uint64 count)
{
	return count == 0 && ScanDirectionIsForward(direction) &&
		(query->dest->mydest == DestRemote || query->dest->mydest == DestRemoteExecute) &&
		ActivePortal != NULL && ActivePortal->queryDesc == query &&
		gpusort_out_client_is_there();
}

static void
run(GPUSORT_EXECUTOR_RUN_PARAMETERS)
{
	DestReceiver *client = NULL;

	if (is_sorted(query) && gpusort_enabled && gpusort_enable_select &&
		is_client_query(query, direction, count))
	{
		client = query->dest;
		query->dest = gpusort_make_select_receiver(query, client, ActivePortal->formats);
	}
	if (previous_run_hook)
		previous_run_hook(GPUSORT_EXECUTOR_RUN_ARGUMENTS);
	else
		standard_ExecutorRun(GPUSORT_EXECUTOR_RUN_ARGUMENTS);
	if (client != NULL)
	{
		query->dest->rDestroy(query->dest);
		query->dest = client;
	}
}

void
gpusort_install_select_hook(void)
{
	previous_run_hook = ExecutorRun_hook;
	ExecutorRun_hook = run;
}
