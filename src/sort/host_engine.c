/*
 * host_engine.c
 *		Having the engine sort in this process, and in others that help; see order_private.h.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "sort/memory_private.h"
#include "sort/order_private.h"
#include "sort/rows_private.h"
#include "sort/state_private.h"
#include "sort/team_private.h"
#include "team/worker_wait.h"

/*
 * The engine is restarted this often for any interrupt, and then only stops to end the query or
 * session.
 */
#define MAX_RESTARTS 3

/*
 * Tells the engine which flags make it stop: all interrupts at first, but after MAX_RESTARTS
 * restarts only those that end the query or the session.  Interrupts that can't be served now are
 * left out, since the engine would stop for them in vain.
 */
static void
listen_to_interrupts(gs_sort_args *args, int restarts)
{
	volatile sig_atomic_t *flag = restarts < MAX_RESTARTS ? &InterruptPending : &QueryCancelPending;
	bool		may_die = InterruptHoldoffCount == 0 && CritSectionCount == 0;
	bool		may_cancel = may_die && QueryCancelHoldoffCount == 0;

	args->cancel = may_cancel ? (const volatile int *) flag : NULL;
	args->also_cancel = may_die ? (const volatile int *) &ProcDiePending : NULL;
}

/*
 * Interrupts are served while the engine works: it stops, and starts from the beginning if the
 * interrupt did not end the query.  That must not go on for ever, as some interrupts come back
 * regularly (client_connection_check_interval), and others can't be served now.
 */
void
gpusort_host_engine_run(gs_sort_args *args, gs_sort_result *result)
{
	gs_status	status;
	int			restarts = 0;

	do
	{
		CHECK_FOR_INTERRUPTS();
		listen_to_interrupts(args, restarts++);
		gpusort_worker_watch_rests = true;
		status = gs_sort(args, result);
		gpusort_worker_watch_rests = false;
	} while (status == GS_CANCELLED);
	if (status != GS_OK)
		elog(ERROR, "gpusort: engine failed: %s", gs_status_text(status));
}

/*
 * Runs the engine together with the processes that wait for the result, or with workers that are
 * started for it.  Returns false if there is nobody to help, or if it is not worth it.
 */
static bool
run_with_others(GpuSort *sort, const gs_sort_args *args, gs_sort_result *result)
{
	const GpuSortTeamUse *use = &sort->team;

	return gpusort_team_pays((double) args->nrows) &&
		(use->team != NULL || gpusort_start_sort_workers(sort, args->nrows)) &&
		gpusort_team_run(sort, args, result);
}

bool
gpusort_sort_on_host(GpuSort *sort)
{
	gs_sort_args args = {0};
	gs_sort_result result;

	if (!gpusort_grow_workspace(sort))
		return false;
	args.nrows = sort->rows.count;
	args.planes = sort->keys.planes;
	args.nplanes = sort->keys.nplanes;
	args.id_bytes = sizeof(uint32);
	args.workspace = sort->order.workspace->base;
	args.workspace_bytes = sort->order.workspace->usable;
	args.equal = needs_equal_rows(sort) ? RANGE_U64(sort->order.equal) : NULL;
	args.want_keys = sort->key_rows.used;
	args.progress = sort->progress;
	sort->stats.processes = 0;
	if (!run_with_others(sort, &args, &result))
		gpusort_host_engine_run(&args, &result);

	sort->order.ids = result.ids;
	sort->order.keys = NULL;
	if (result.keys != NULL)
		gpusort_read_keys(sort, result.keys, result.layout);
	gpusort_team_withdraw(sort);
	sort->order.ready = sort->rows.count;
	sort->stats.engine = GPUSORT_SORTED_BY_HOST;
	sort->stats.key_bits = result.key_bits;
	sort->stats.passes = result.passes;
	sort->stats.refined_rows = result.refined_rows;
	sort->stats.presorted = result.presorted;
	return true;
}
