/*
 * gpusort.c
 *		Library entry: settings, hooks, background worker.
 */
#include "postgres.h"

#include "fmgr.h"
#include "miscadmin.h"
#include "utils/builtins.h"

#include "plan_node.h"
#include "pool.h"
#include "settings.h"
#include "supervisor.h"

#define GPUSORT_VERSION "0.1"

PG_MODULE_MAGIC;

PGDLLEXPORT void _PG_init(void);
PGDLLEXPORT Datum gpusort_version(PG_FUNCTION_ARGS);

PG_FUNCTION_INFO_V1(gpusort_version);

void
_PG_init(void)
{
	gpusort_define_settings();
	if (process_shared_preload_libraries_in_progress)
	{
		gpusort_pool_install();
		gpusort_supervisor_install();
	}
	RegisterCustomScanMethods(&gpusort_scan_methods);
	gpusort_install_order_by_hook();
	gpusort_install_replace_hook();
}

Datum
gpusort_version(PG_FUNCTION_ARGS)
{
	PG_RETURN_TEXT_P(cstring_to_text(GPUSORT_VERSION));
}
