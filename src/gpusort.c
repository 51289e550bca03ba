/*
 * gpusort.c
 *		The library's entry: defines settings, registers nodes, installs the background worker.
 *		The hooks are in hooks.c.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/guc.h"

#include "exec/exec.h"
#include "cluster/cluster.h"
#include "hooks.h"
#include "index/index.h"
#include "join/join.h"
#include "leaves/leaves.h"
#include "memory/pool.h"
#include "plan/plan_node.h"
#include "service/service.h"
#include "settings.h"
#include "stats/stats.h"

PG_MODULE_MAGIC;

PGDLLEXPORT void _PG_init(void);
PGDLLEXPORT Datum gpusort_version(PG_FUNCTION_ARGS);
PGDLLEXPORT Datum gpusort_index_builds(PG_FUNCTION_ARGS);
PGDLLEXPORT Datum gpusort_clusters(PG_FUNCTION_ARGS);
PGDLLEXPORT Datum gpusort_calibrate(PG_FUNCTION_ARGS);

PG_FUNCTION_INFO_V1(gpusort_version);
PG_FUNCTION_INFO_V1(gpusort_index_builds);
PG_FUNCTION_INFO_V1(gpusort_clusters);
PG_FUNCTION_INFO_V1(gpusort_calibrate);

/* Nodes that stand in no finished plan (plan_aggregate.c, plan_join.c). */
static GpuSortNodeKind aggregate_kind = {.methods = {.CustomName = GPUSORT_AGGREGATE_NODE}};
static GpuSortNodeKind unfinished_join_kind = {
	.methods = {.CustomName = GPUSORT_UNFINISHED_JOIN_NODE}
};

/* All nodes of ours. */
static GpuSortNodeKind *const nodes[] = {
	&gpusort_sort_kind,
	&gpusort_collect_kind,
	&gpusort_shared_kind,
	&gpusort_unique_kind,
	&gpusort_count_kind,
	&gpusort_ordered_set_kind,
	&gpusort_join_kind,
	&gpusort_leaf_join_kind,
	&aggregate_kind,
	&unfinished_join_kind,
};

void
_PG_init(void)
{
	gpusort_define_settings();
	gpusort_define_memory_settings();
	gpusort_define_service_settings();
	gpusort_define_trace_file();
	MarkGUCPrefixReserved("gpusort");
	if (process_shared_preload_libraries_in_progress)
	{
		gpusort_supervisor_install();
		gpusort_install_counts();
	}
	for (int i = 0; i < lengthof(nodes); i++)
		gpusort_register_node(nodes[i]);
	gpusort_install_explain_option();
	gpusort_install_hooks();
}

Datum
gpusort_version(PG_FUNCTION_ARGS)
{
	PG_RETURN_TEXT_P(cstring_to_text(GPUSORT_VERSION));
}

/* Returns a row of `count` counters as the result of a function. */
static Datum
row_of_counters(FunctionCallInfo fcinfo, const int64 *counters, int count)
{
	Datum		values[8];
	bool		nulls[8] = {0};
	TupleDesc	desc;

	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	for (int i = 0; i < count; i++)
		values[i] = Int64GetDatum(counters[i]);
	return HeapTupleGetDatum(heap_form_tuple(desc, values, nulls));
}

/* Returns what became of the index builds of this session. */
Datum
gpusort_index_builds(PG_FUNCTION_ARGS)
{
	const int64 counters[] = {
		gpusort_index_counters.built,
		gpusort_index_counters.given_up,
		gpusort_index_counters.left,
		gpusort_index_counters.workers,
		gpusort_index_counters.slices,
	};

	PG_RETURN_DATUM(row_of_counters(fcinfo, counters, lengthof(counters)));
}

/* Returns what became of the tables that this session has clustered. */
Datum
gpusort_clusters(PG_FUNCTION_ARGS)
{
	const int64 counters[] = {
		gpusort_cluster_counters.sorted,
		gpusort_cluster_counters.given_up,
		gpusort_cluster_counters.left,
	};

	PG_RETURN_DATUM(row_of_counters(fcinfo, counters, lengthof(counters)));
}

/* Databases of 0.1 that have not been upgraded have this function.  A script does its work now. */
Datum
gpusort_calibrate(PG_FUNCTION_ARGS)
{
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("gpusort_calibrate() has become a script"),
			 errhint("Run gpusort_calibrate.sql by psql: it lies beside gpusort.control. ALTER EXTENSION gpusort UPDATE drops the function.")));
}
