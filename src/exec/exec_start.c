/*
 * exec_start.c
 *		Queries whose nodes have been made; see exec_start.h.
 */
#include "postgres.h"

#include "executor/executor.h"

#include "exec/exec_bound.h"
#include "exec/exec_junk.h"
#include "exec/exec_sort.h"
#include "exec/exec_start.h"

static ExecutorStart_hook_type previous_start_hook = NULL;

static void
start(QueryDesc *query, int eflags)
{
	uint64		begun = gpusort_nodes_begun;

	if (previous_start_hook)
		previous_start_hook(query, eflags);
	else
		standard_ExecutorStart(query, eflags);
	if (gpusort_nodes_begun == begun || query->planstate == NULL)
		return;
	gpusort_tell_bounds(query->planstate);
	gpusort_leave_out_junk(query);
}

void
gpusort_install_start_hook(void)
{
	previous_start_hook = ExecutorStart_hook;
	ExecutorStart_hook = start;
}
