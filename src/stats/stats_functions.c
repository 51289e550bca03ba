/*
 * stats_functions.c
 *		The SQL functions below the views pg_stat_gpusort and pg_stat_gpusort_activity.
 */
#include "postgres.h"

#include "catalog/pg_authid.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"
#include "utils/tuplestore.h"

#include "stats/stats.h"

PGDLLEXPORT Datum gpusort_sorts_of(PG_FUNCTION_ARGS);
PGDLLEXPORT Datum gpusort_sorts_reset(PG_FUNCTION_ARGS);
PGDLLEXPORT Datum gpusort_activity(PG_FUNCTION_ARGS);

PG_FUNCTION_INFO_V1(gpusort_sorts_of);
PG_FUNCTION_INFO_V1(gpusort_sorts_reset);
PG_FUNCTION_INFO_V1(gpusort_activity);

/* Columns of gpusort_sorts_of(): the kind, counts, times, and since when. */
#define SORTS_COLUMNS		(1 + GPUSORT_KEPT_COUNTS + GPUSORT_KEPT_TIMES + 1)

/*
 * Columns of gpusort_activity().  Columns from ACTIVITY_GUARDED on are null for users who may not
 * see them.
 */
enum
{
	ACTIVITY_PID,
	ACTIVITY_LEADER_PID,
	ACTIVITY_DATABASE,
	ACTIVITY_ROLE,
	ACTIVITY_GUARDED,
	ACTIVITY_KIND = ACTIVITY_GUARDED,
	ACTIVITY_PHASE,
	ACTIVITY_PERCENT,
	ACTIVITY_ENGINE,
	ACTIVITY_ROWS,
	ACTIVITY_ESTIMATED_ROWS,
	ACTIVITY_BYTES,
	ACTIVITY_POOL_BYTES,
	ACTIVITY_SPILLED_BYTES,
	ACTIVITY_STARTED,
	ACTIVITY_COLUMNS
};

static void
require_preloaded(bool there)
{
	if (!there)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("gpusort must be loaded via shared_preload_libraries to keep statistics")));
}

static void
put_sorts(ReturnSetInfo *rsinfo, GpuSortKind kind, const GpuSortTally *tally, TimestampTz since)
{
	Datum		values[SORTS_COLUMNS];
	bool		nulls[SORTS_COLUMNS] = {0};
	int			n = 0;

	values[n++] = CStringGetTextDatum(gpusort_kind_name(kind));
	for (int i = 0; i < GPUSORT_KEPT_COUNTS; i++)
		values[n++] = Int64GetDatum(tally->places[i]);
	for (int i = 0; i < GPUSORT_KEPT_TIMES; i++)
		values[n++] = Float8GetDatum(tally->places[GPUSORT_TALLY_TIMES + i] / 1000.0);
	values[n++] = TimestampTzGetDatum(since);
	tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
}

/* Returns whether the columns of gpusort_sorts_of() are those that the list of counters names. */
static bool
are_sorts_columns(TupleDesc desc)
{
	int			n = 1;

	if (desc->natts != SORTS_COLUMNS)
		return false;
	for (int i = 0; i < GPUSORT_COUNTERS; i++)
		if (gpusort_counters[i].column != NULL &&
			strcmp(NameStr(TupleDescAttr(desc, n++)->attname), gpusort_counters[i].column) != 0)
			return false;
	return true;
}

/* Returns what was sorted in a database, by kind. */
Datum
gpusort_sorts_of(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	Oid			database = PG_GETARG_OID(0);

	require_preloaded(gpusort_has_counts());
	InitMaterializedSRF(fcinfo, 0);
	if (!are_sorts_columns(rsinfo->setDesc))
		elog(ERROR, "gpusort_sorts_of() is declared wrongly");
	for (int kind = 0; kind < GPUSORT_KINDS; kind++)
	{
		GpuSortTally tally;
		TimestampTz since;

		if (gpusort_read_counts(database, kind, &tally, &since))
			put_sorts(rsinfo, kind, &tally, since);
	}
	return (Datum) 0;
}

/* Resets the counts of a database, or of all if its argument is 0. */
Datum
gpusort_sorts_reset(PG_FUNCTION_ARGS)
{
	require_preloaded(gpusort_has_counts());
	gpusort_reset_counts(PG_GETARG_OID(0));
	PG_RETURN_VOID();
}

/* Returns whether the user may see what sessions of a role do, by the rule of pg_stat_activity. */
static bool
may_see(Oid role)
{
	return has_privs_of_role(GetUserId(), ROLE_PG_READ_ALL_STATS) ||
		has_privs_of_role(GetUserId(), role);
}

static void
put_activity(ReturnSetInfo *rsinfo, const GpuSortActivity *activity)
{
	const char *engine = activity->engine < 0 ? NULL : gpusort_engine_name(activity->engine);
	Datum		values[ACTIVITY_COLUMNS] = {
		[ACTIVITY_PID] = Int32GetDatum(activity->pid),
		[ACTIVITY_LEADER_PID] = Int32GetDatum(activity->leader_pid),
		[ACTIVITY_DATABASE] = ObjectIdGetDatum(activity->database),
		[ACTIVITY_ROLE] = ObjectIdGetDatum(activity->role),
		[ACTIVITY_KIND] = CStringGetTextDatum(gpusort_kind_name(activity->kind)),
		[ACTIVITY_PHASE] = CStringGetTextDatum(gpusort_phase_name(activity->phase,
																	  activity->kind)),
		[ACTIVITY_PERCENT] = Float8GetDatum(activity->done * 1000 / GPUSORT_ACTIVITY_WHOLE / 10.0),
		[ACTIVITY_ROWS] = Int64GetDatum(activity->rows),
		[ACTIVITY_ESTIMATED_ROWS] = Float8GetDatum(activity->estimated_rows),
		[ACTIVITY_BYTES] = Int64GetDatum(activity->bytes),
		[ACTIVITY_POOL_BYTES] = Int64GetDatum(activity->pool_bytes),
		[ACTIVITY_SPILLED_BYTES] = Int64GetDatum(activity->spilled_bytes),
		[ACTIVITY_STARTED] = TimestampTzGetDatum(activity->started),
	};
	bool		nulls[ACTIVITY_COLUMNS] = {
		[ACTIVITY_LEADER_PID] = activity->leader_pid == 0,
		[ACTIVITY_ENGINE] = engine == NULL,
		[ACTIVITY_ESTIMATED_ROWS] = activity->estimated_rows == 0,
	};

	if (engine != NULL)
		values[ACTIVITY_ENGINE] = CStringGetTextDatum(engine);
	for (int i = ACTIVITY_GUARDED; i < ACTIVITY_COLUMNS && !may_see(activity->role); i++)
		nulls[i] = true;
	tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
}

/* Returns the sorts that are running. */
Datum
gpusort_activity(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	GpuSortActivity activity;

	require_preloaded(gpusort_has_activity());
	InitMaterializedSRF(fcinfo, 0);
	if (rsinfo->setDesc->natts != ACTIVITY_COLUMNS)
		elog(ERROR, "gpusort_activity() is declared wrongly");
	for (int i = 0; gpusort_read_activity(i, &activity); i++)
		if (activity.pid != 0)
			put_activity(rsinfo, &activity);
	return (Datum) 0;
}
