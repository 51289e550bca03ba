/*
 * settings.c
 *		Configuration variables that more than one folder looks at.
 *
 * The variables of the pool and of kept memory are in memory/memory_settings.c, those of gpusortd
 * in service/service_settings.c.
 *
 * The cost constants are in the planner's units.  One unit is taken to be 2.5 us.  That is what a
 * sequential scan of a cached table takes for one unit of cpu_tuple_cost (25 ns a row, at 0.01),
 * and about what PostgreSQL's sort takes for one unit of the comparisons of integers that the
 * planner charges it for (1.5 us for 10^4 rows, 2.7 us for 10^7).  The defaults below are what
 * test/bench/plan_grid.pl found; gpusort_calibrate.sql measures them on a machine.
 */
#include "postgres.h"

#include <float.h>
#include <limits.h>

#include "postmaster/bgworker_internals.h"
#include "utils/guc.h"

#include "settings.h"

bool		gpusort_enabled = true;
bool		gpusort_enable_order_by = true;
bool		gpusort_enable_index_build = true;
bool		gpusort_enable_cluster = true;
bool		gpusort_enable_copy = true;
bool		gpusort_enable_select = true;
bool		gpusort_enable_create_table_as = true;
bool		gpusort_enable_insert = true;
bool		gpusort_enable_parallel_collect = true;
bool		gpusort_enable_shared_sort = true;
bool		gpusort_enable_join = true;
int			gpusort_engine = GPUSORT_ENGINE_AUTO;
int			gpusort_copy_indexes = GPUSORT_COPY_INDEXES_NEW;
int			gpusort_late_rows = GPUSORT_LATE_AUTO;
int			gpusort_min_rows = 2000;
bool		gpusort_force = false;
bool		gpusort_verify = false;
bool		gpusort_enable_spill = true;
bool		gpusort_track_sorts = true;
int			gpusort_log_min_duration = -1;
int			gpusort_inject_fault = GPUSORT_FAULT_NONE;
char	   *gpusort_inject_fault_at;
int			gpusort_slice_pages = 1000;
int			gpusort_max_sort_workers = -1;
int			gpusort_min_sort_worker_rows = 2000000;

double		gpusort_cost_startup = 10.0;
double		gpusort_cost_row = 0.004;
double		gpusort_cost_key_byte = 0.0002;
double		gpusort_cost_key_collated = 0.26;
double		gpusort_cost_row_byte = 0.0001;
double		gpusort_cost_emit = 0.006;
double		gpusort_cost_gather = 2000.0;
double		gpusort_first_row_weight = 1.0;
double		gpusort_cost_fetch = 0.2;

bool
gpusort_may_spill(size_t memory_bytes)
{
	return gpusort_enable_spill &&
		(temp_file_limit < 0 || temp_file_limit >= memory_bytes / 1024);
}

static const struct config_enum_entry engine_options[] = {
	{"auto", GPUSORT_ENGINE_AUTO, false},
	{"host", GPUSORT_ENGINE_HOST, false},
	{"cuda", GPUSORT_ENGINE_CUDA, false},
	{NULL, 0, false}
};

static const struct config_enum_entry copy_indexes_options[] = {
	{"new", GPUSORT_COPY_INDEXES_NEW, false},
	{"empty", GPUSORT_COPY_INDEXES_EMPTY, false},
	{"only_new", GPUSORT_COPY_INDEXES_ONLY_NEW, false},
	{"off", GPUSORT_COPY_INDEXES_OFF, false},
	{NULL, 0, false}
};

static const struct config_enum_entry late_options[] = {
	{"auto", GPUSORT_LATE_AUTO, false},
	{"off", GPUSORT_LATE_OFF, false},
	{"on", GPUSORT_LATE_ON, false},
	{NULL, 0, false}
};

static const struct config_enum_entry fault_options[] = {
	{"none", GPUSORT_FAULT_NONE, false},
	{"memory", GPUSORT_FAULT_MEMORY, false},
	{"codec", GPUSORT_FAULT_CODEC, false},
	{"verify", GPUSORT_FAULT_VERIFY, false},
	{"pause", GPUSORT_FAULT_PAUSE, false},
	{"small_pages", GPUSORT_FAULT_SMALL_PAGES, false},
	{"worker_memory", GPUSORT_FAULT_WORKER_MEMORY, false},
	{"slow_slices", GPUSORT_FAULT_SLOW_SLICES, false},
	{"worker_error", GPUSORT_FAULT_WORKER_ERROR, false},
	{"worker_exit", GPUSORT_FAULT_WORKER_EXIT, false},
	{"supervisor", GPUSORT_FAULT_SUPERVISOR, false},
	{NULL, 0, false}
};

static void
define_bool(const char *name, const char *description, bool *variable)
{
	DefineCustomBoolVariable(name, description, NULL, variable, *variable,
							 PGC_USERSET, GUC_EXPLAIN, NULL, NULL, NULL);
}

static void
define_cost(const char *name, const char *description, double *variable)
{
	DefineCustomRealVariable(name, description, NULL, variable, *variable,
							 0, DBL_MAX, PGC_USERSET, GUC_EXPLAIN,
							 NULL, NULL, NULL);
}

/* What is taken over, and how careful gpusort is. */
static void
define_switches(void)
{
	define_bool("gpusort.enabled",
				"Lets gpusort take over sorts.", &gpusort_enabled);
	define_bool("gpusort.enable_order_by",
				"Lets gpusort take over the sorts of queries: ORDER BY, and those that joins, grouping and others need.",
				&gpusort_enable_order_by);
	define_bool("gpusort.enable_index_build",
				"Lets gpusort build btree indexes.",
				&gpusort_enable_index_build);
	define_bool("gpusort.enable_cluster",
				"Lets gpusort sort the rows of tables for CLUSTER.",
				&gpusort_enable_cluster);
	define_bool("gpusort.enable_copy",
				"Lets gpusort carry out COPY, in both directions.",
				&gpusort_enable_copy);
	define_bool("gpusort.enable_create_table_as",
				"Lets gpusort fill new tables with sorted rows.",
				&gpusort_enable_create_table_as);
	define_bool("gpusort.enable_insert",
				"Lets gpusort insert the sorted rows of a query.",
				&gpusort_enable_insert);
	define_bool("gpusort.enable_select",
				"Lets gpusort send sorted rows to the client.",
				&gpusort_enable_select);
	define_bool("gpusort.enable_parallel_collect",
				"Lets the planner have parallel workers collect the rows of one sort.",
				&gpusort_enable_parallel_collect);
	define_bool("gpusort.enable_shared_sort",
				"Lets the planner have parallel workers sort together what they read, below window functions, grouping and merge joins.",
				&gpusort_enable_shared_sort);
	define_bool("gpusort.enable_join",
				"Lets the planner join two sorted inputs, or indexes, in one node, by pieces that parallel workers take.",
				&gpusort_enable_join);
	define_bool("gpusort.force",
				"Takes over every eligible sort, whatever its size and cost.",
				&gpusort_force);
	define_bool("gpusort.enable_spill",
				"Lets sorts that run out of memory write sorted rows to temporary files and go on.",
				&gpusort_enable_spill);
	define_bool("gpusort.verify",
				"Compares neighbouring rows of every result with the operator class's comparison.",
				&gpusort_verify);
}

static void
define_choices(void)
{
	DefineCustomEnumVariable("gpusort.engine",
							 "Chooses what sorts the keys.",
							 "\"auto\" takes a GPU where there is one, and the CPU otherwise.",
							 &gpusort_engine, gpusort_engine, engine_options,
							 PGC_USERSET, GUC_EXPLAIN, NULL, NULL, NULL);
	DefineCustomEnumVariable("gpusort.copy_indexes",
							 "Chooses the tables whose indexes COPY FROM builds when the rows are there.",
							 "\"new\": those that the transaction has created or truncated; \"empty\": all without rows, which others then wait for; \"only_new\": as \"new\", and tables in use are left to PostgreSQL.",
							 &gpusort_copy_indexes, gpusort_copy_indexes, copy_indexes_options,
							 PGC_USERSET, GUC_EXPLAIN, NULL, NULL, NULL);
	DefineCustomEnumVariable("gpusort.late_rows",
							 "Lets sorts of a table keep sort columns and TIDs only, and fetch the rows when they are returned.",
							 "\"auto\" does so where it is estimated to pay.",
							 &gpusort_late_rows, gpusort_late_rows, late_options,
							 PGC_USERSET, GUC_EXPLAIN, NULL, NULL, NULL);
	DefineCustomIntVariable("gpusort.min_rows",
							"Sets the number of estimated rows below which a sort is left to PostgreSQL.",
							NULL, &gpusort_min_rows, gpusort_min_rows, 0, INT_MAX,
							PGC_USERSET, GUC_EXPLAIN, NULL, NULL, NULL);
}

static void
define_reports(void)
{
	DefineCustomBoolVariable("gpusort.track_sorts",
							 "Counts sorts for the view pg_stat_gpusort.",
							 NULL, &gpusort_track_sorts, gpusort_track_sorts,
							 PGC_SUSET, 0, NULL, NULL, NULL);
	DefineCustomIntVariable("gpusort.log_min_duration",
							"Sets the duration of a sort from which on it is logged.",
							"-1 logs none, 0 all.",
							&gpusort_log_min_duration, gpusort_log_min_duration, -1, INT_MAX,
							PGC_SUSET, GUC_UNIT_MS, NULL, NULL, NULL);
}

static void
define_workers(void)
{
	DefineCustomIntVariable("gpusort.max_sort_workers",
							"Sets how many parallel workers may help one process to sort its rows.",
							"-1 is as many as max_parallel_workers_per_gather.",
							&gpusort_max_sort_workers, gpusort_max_sort_workers, -1,
							MAX_PARALLEL_WORKER_LIMIT,
							PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomIntVariable("gpusort.min_sort_worker_rows",
							"Sets the number of rows from which on parallel workers help to sort them.",
							NULL, &gpusort_min_sort_worker_rows, gpusort_min_sort_worker_rows,
							2, INT_MAX,
							PGC_USERSET, 0, NULL, NULL, NULL);
}

static void
define_faults(void)
{
	DefineCustomEnumVariable("gpusort.inject_fault",
							 "Provokes the named failure in every sort, for testing.",
							 NULL, &gpusort_inject_fault, gpusort_inject_fault,
							 fault_options, PGC_SUSET,
							 GUC_NOT_IN_SAMPLE | GUC_NO_SHOW_ALL, NULL, NULL, NULL);
	DefineCustomStringVariable("gpusort.inject_fault_at",
							   "Sets which part of the work of several processes a failure is provoked in, for testing.",
							   NULL, &gpusort_inject_fault_at, "", PGC_SUSET,
							   GUC_NOT_IN_SAMPLE | GUC_NO_SHOW_ALL, NULL, NULL, NULL);
	DefineCustomIntVariable("gpusort.slice_pages",
							"Sets how many pages of an index a process writes at a time, for testing.",
							NULL, &gpusort_slice_pages, gpusort_slice_pages, 1, 1000000,
							PGC_SUSET, GUC_NOT_IN_SAMPLE | GUC_NO_SHOW_ALL, NULL, NULL, NULL);
}

static void
define_costs(void)
{
	define_cost("gpusort.cost_startup",
				"Sets the planner's cost of starting a sort.", &gpusort_cost_startup);
	define_cost("gpusort.cost_row",
				"Sets the planner's cost of collecting and sorting a row.",
				&gpusort_cost_row);
	define_cost("gpusort.cost_key_byte",
				"Sets the planner's cost of a byte of sort key.", &gpusort_cost_key_byte);
	define_cost("gpusort.cost_key_collated",
				"Sets the planner's cost of a sort key of a libc collation.",
				&gpusort_cost_key_collated);
	define_cost("gpusort.cost_row_byte",
				"Sets the planner's cost of a byte of row.", &gpusort_cost_row_byte);
	define_cost("gpusort.cost_emit",
				"Sets the planner's cost of returning a sorted row.", &gpusort_cost_emit);
	define_cost("gpusort.cost_gather",
				"Sets the planner's cost of having rows collected by parallel workers.",
				&gpusort_cost_gather);
	define_cost("gpusort.cost_fetch",
				"Sets the planner's cost of fetching a row of a cached table by its TID.",
				&gpusort_cost_fetch);
	DefineCustomRealVariable("gpusort.first_row_weight",
							 "Sets how many times the cost of a sort an index may have that gives the order.",
							 "Rows by an index begin to come at once.  1 has costs alone decide.",
							 &gpusort_first_row_weight, gpusort_first_row_weight,
							 1, DBL_MAX, PGC_USERSET, GUC_EXPLAIN, NULL, NULL, NULL);
}

void
gpusort_define_settings(void)
{
	define_switches();
	define_choices();
	define_reports();
	define_workers();
	define_faults();
	define_costs();
}
