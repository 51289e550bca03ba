/*
 * gpusort.c
 *		Library entry: settings, hooks, and the SQL functions.
 */
#include "postgres.h"

#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/tuplestore.h"

#include "plan_node.h"
#include "pool.h"
#include "service_settings.h"
#include "settings.h"
#include "supervisor.h"

#define GPUSORT_VERSION "0.1"

PG_MODULE_MAGIC;

PGDLLEXPORT void _PG_init(void);
PGDLLEXPORT Datum gpusort_version(PG_FUNCTION_ARGS);
PGDLLEXPORT Datum gpusort_engines(PG_FUNCTION_ARGS);

PG_FUNCTION_INFO_V1(gpusort_version);
PG_FUNCTION_INFO_V1(gpusort_engines);

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

/* Engines that gpusort.engine can name, and whether they can be used here. */
Datum
gpusort_engines(PG_FUNCTION_ARGS)
{
	static const struct
	{
		const char *engine;
		bool		available;
		const char *description;
	}			engines[] = {
		{"host", true, "radix sort on the CPU, in the backend"},
		{"cuda", false, "not part of this build"},
	};
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;

	InitMaterializedSRF(fcinfo, 0);
	for (int i = 0; i < lengthof(engines); i++)
	{
		Datum		values[] = {
			CStringGetTextDatum(engines[i].engine),
			BoolGetDatum(engines[i].available),
			CStringGetTextDatum(engines[i].description),
		};
		bool		nulls[lengthof(values)] = {0};

		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
	}
	return (Datum) 0;
}
