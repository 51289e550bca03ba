/*
 * calibrate.c
 *		gpusort_calibrate(): what sorting costs on this machine, and which settings
 *		follow from it.
 *
 * Counting the rows of a cached table is charged cpu_tuple_cost and cpu_operator_cost a row, and
 * the time that it takes tells how many nanoseconds the planner's unit is worth.  With that,
 * measured times become settings.  cost.c has the formula in which the settings stand.  Each is
 * found from the difference of two sorts that differ in nothing but the number of sort columns, the
 * width of rows, or the collation.
 *
 * A sort takes some hundredths of a second, and all sorts a few seconds.  work_mem and some
 * settings of gpusort are set meanwhile, and restored afterwards, also after an error.  What could
 * not be measured comes out null, because a sort found no memory, for example, or gpusortd is not
 * running.
 */
#include "postgres.h"

#include <float.h>
#include <math.h>

#include "catalog/pg_collation.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/guc.h"
#include "utils/tuplestore.h"

#include "cost/calibrate_machine.h"
#include "cost/calibrate_sort.h"
#include "cost/cost.h"
#include "keys/key_codec.h"
#include "service/service.h"
#include "settings.h"

PGDLLEXPORT Datum gpusort_calibrate(PG_FUNCTION_ARGS);
PGDLLEXPORT Datum gpusort_calibrate_apply(PG_FUNCTION_ARGS);

PG_FUNCTION_INFO_V1(gpusort_calibrate);
PG_FUNCTION_INFO_V1(gpusort_calibrate_apply);

/*
 * Number of rows of most sorts: 8 MB of rows of 64 bytes, which is more than a core's own cache.
 * Sorts of wide rows have half as many.
 */
#define ROWS			((uint64) 1 << 17)
#define WIDE_ROWS		(ROWS / 2)
#define WIDE_BYTES		200
#define TEXT_ROWS		(ROWS / 4)
#define REPEAT			9
#define SMALL_REPEAT	21

/* The work_mem for these sorts, of which none needs more. */
#define WORK_MEM		"256MB"

/*
 * Candidates for the break-even point, from which gpusort.min_rows follows: three in a power of
 * ten.
 */
static const int break_even_rows[] = {100, 200, 500, 1000, 2000, 5000, 10000, 20000, 50000};

/* What was measured. */
typedef struct Measurements
{
	double		core_sort;		/* PostgreSQL's sort by one integer, nanoseconds a row */
	double		scan;			/* counting rows, nanoseconds a row */
	double		unit;			/* nanoseconds that one unit of the planner is worth, by scan */
	GpuSortTimes one_key;
	GpuSortTimes all_keys;
	GpuSortTimes wide;
	GpuSortTimes bytes;			/* by text under COLLATE "C" */
	GpuSortTimes collated;
	double		core_bytes;		/* PostgreSQL's sort of what bytes and collated sort */
	double		core_collated;
	/* of the database's collation; NULL if that compares byte by byte */
	const GpuSortCodec *collation_codec;
} Measurements;

/* One row of the result. */
typedef struct Finding
{
	const char *name;
	const char *unit;
	double		measured;
	const char *setting;		/* that follows from it; NULL if none does */
	double		suggested;
	const char *meaning;
} Finding;

/* Where rows of the result go, and what is done with them. */
typedef struct Report
{
	ReturnSetInfo *rsinfo;
	bool		apply;			/* the suggested values will be set */
} Report;

static void
put_finding(const Report *report, const Finding *finding)
{
	Datum		values[8];
	bool		nulls[8] = {0};
	double		measured = finding->measured;

	values[0] = CStringGetTextDatum(finding->name);
	values[1] = CStringGetTextDatum(finding->unit);
	values[2] = Float8GetDatum(measured);
	nulls[2] = isnan(measured);
	nulls[3] = nulls[4] = finding->setting == NULL;
	if (finding->setting != NULL)
	{
		values[3] = CStringGetTextDatum(finding->setting);
		values[4] = CStringGetTextDatum(GetConfigOption(finding->setting, false, false));
	}
	nulls[5] = nulls[2] || nulls[3] || isnan(finding->suggested);
	if (!nulls[5])
		values[5] = CStringGetTextDatum(psprintf(finding->suggested < 100 ? "%.2g" : "%.0f",
												 finding->suggested));
	values[6] = CStringGetTextDatum(finding->meaning);
	/* Only gpusort_calibrate(apply) has this column. */
	values[7] = BoolGetDatum(report->apply && !nulls[5]);
	tuplestore_putvalues(report->rsinfo->setResult, report->rsinfo->setDesc, values, nulls);
}

/* Sets a setting until the current GUC nesting level ends. */
static void
set_for_now(const char *name, const char *value)
{
	(void) set_config_option(name, value, superuser() ? PGC_SUSET : PGC_USERSET, PGC_S_SESSION,
							 GUC_ACTION_SAVE, true, 0, false);
}

static bool
all_as_wanted(const Measurements *m)
{
	return m->one_key.as_wanted && m->all_keys.as_wanted && m->wide.as_wanted;
}

/* Returns what a row takes until the sort is done, before any row is returned. */
static double
until_sorted(const GpuSortTimes *times)
{
	return times->collect + times->sort + times->refine;
}

/* Returns the codec of text in the database's collation, or NULL if that has no sort keys. */
static const GpuSortCodec *
find_collation_codec(void)
{
	const char *reason;
	bool		reverse;
	const GpuSortCodec *codec = gpusort_codec_lookup(TextLessOperator, TEXTOID,
													 DEFAULT_COLLATION_OID, &reverse, &reason);

	return codec != NULL && codec->collated_by != GPUSORT_COLLATED_BY_NONE ? codec : NULL;
}

/*
 * Measures the sorts by integers.  Sorts that are compared with each other are measured in turn, so
 * that what disturbs one of them for a while disturbs all.
 */
static void
measure_sorts(Measurements *m)
{
	const GpuSortTimedRows one_key = {.rows = ROWS, .nkeys = 1};
	const GpuSortTimedRows all_keys = {.rows = ROWS, .nkeys = GPUSORT_TIMED_COLUMNS};
	const GpuSortTimedRows wide = {.rows = WIDE_ROWS, .nkeys = 1, .pad_bytes = WIDE_BYTES};

	m->scan = gpusort_time_scan(SMALL_REPEAT);
	m->unit = m->scan / Max(cpu_tuple_cost + cpu_operator_cost, DBL_MIN);
	for (int i = 0; i < REPEAT; i++)
	{
		gpusort_time_core_sort(&one_key, 1, &m->core_sort);
		gpusort_time_sort(&one_key, 1, &m->one_key);
		gpusort_time_sort(&all_keys, 1, &m->all_keys);
		gpusort_time_sort(&wide, 1, &m->wide);
	}
}

static void
measure_collation(Measurements *m)
{
	const GpuSortTimedRows bytes = {.rows = TEXT_ROWS, .text_collation = C_COLLATION_OID};
	const GpuSortTimedRows collated = {.rows = TEXT_ROWS, .text_collation = DEFAULT_COLLATION_OID};

	m->collation_codec = find_collation_codec();
	for (int i = 0; i < REPEAT && m->collation_codec != NULL; i++)
	{
		gpusort_time_sort(&bytes, 1, &m->bytes);
		gpusort_time_core_sort(&bytes, 1, &m->core_bytes);
		gpusort_time_sort(&collated, 1, &m->collated);
		gpusort_time_core_sort(&collated, 1, &m->core_collated);
	}
}

/*
 * Returns the number of rows from which on gpusort is faster, with beginning and ending the sort;
 * NAN if it never is.
 */
static double
measure_break_even(void)
{
	for (int i = 0; i < lengthof(break_even_rows); i++)
	{
		GpuSortTimedRows what = {.rows = break_even_rows[i], .nkeys = 1};
		GpuSortTimes times = {0};
		double		core = 0;

		gpusort_time_sort(&what, SMALL_REPEAT, &times);
		gpusort_time_core_sort(&what, SMALL_REPEAT, &core);
		if (times.as_wanted && times.total < core)
			return break_even_rows[i];
	}
	return NAN;
}

static void
put_reference(const Report *report, const Measurements *m)
{
	double		core_units = 2.0 * cpu_operator_cost * log2(ROWS) + cpu_operator_cost;

	put_finding(report, &(Finding)
				{"scan", "ns/row", m->scan, NULL, NAN,
				"counting the rows of a cached table"});
	put_finding(report, &(Finding)
				{"cost_unit", "ns", m->unit, NULL, NAN,
				"one unit of the planner, by what it takes that for; all suggestions rest on it"});
	put_finding(report, &(Finding)
				{"postgres_sort", "ns/row", m->core_sort, NULL, NAN, "PostgreSQL's sort by one bigint"});
	put_finding(report, &(Finding)
				{"postgres_sort_unit", "ns", m->core_sort / core_units, NULL, NAN,
				"one unit of what the planner takes that sort for"});
	put_finding(report, &(Finding)
				{"fresh_memory", "ns/byte", gpusort_time_fresh_memory(), NULL, NAN,
				"memory that is used for the first time: what a pool saves, and gpusort.keep_memory"});
}

/*
 * Solves the formula of cost.c for its constants.  Where the difference of two sorts is small, it
 * may come out negative; a constant is never less than `least`, since nothing is free.
 */
static void
put_costs(const Report *report, const Measurements *m)
{
	const double least = 0.1;
	bool		valid = all_as_wanted(m);
	double		memory = gpusort_memory_factor(ROWS * m->one_key.row_bytes);
	double		wide_memory = gpusort_memory_factor(WIDE_ROWS * m->wide.row_bytes);
	GpuSortTimedRows two_rows = {.rows = 2, .nkeys = 1};
	GpuSortTimes two = {0};
	double		startup;
	double		key_byte;
	double		row_byte;
	double		row;

	gpusort_time_sort(&two_rows, SMALL_REPEAT, &two);
	startup = two.total * two_rows.rows;
	key_byte = Max((until_sorted(&m->all_keys) - until_sorted(&m->one_key)) /
				   ((GPUSORT_TIMED_COLUMNS - 1) * sizeof(uint64)), least);
	row_byte = Max((m->wide.collect + m->wide.emit - m->one_key.collect - m->one_key.emit) /
				   (m->wide.row_bytes * wide_memory - m->one_key.row_bytes * memory), least / 10);
	row = Max(until_sorted(&m->one_key) - key_byte * sizeof(uint64) -
			  m->one_key.row_bytes * row_byte * memory, least);

	put_finding(report, &(Finding)
				{"startup", "ns", valid ? startup : NAN, "gpusort.cost_startup", startup / m->unit,
				"a sort of two rows"});
	put_finding(report, &(Finding)
				{"row", "ns/row", valid ? row : NAN, "gpusort.cost_row", row / m->unit,
				"collecting and sorting a row, without its key's and its own bytes"});
	put_finding(report, &(Finding)
				{"key_byte", "ns/byte", valid ? key_byte : NAN, "gpusort.cost_key_byte",
				key_byte / m->unit, "a byte of sort key"});
	put_finding(report, &(Finding)
				{"row_byte", "ns/byte", valid ? row_byte : NAN, "gpusort.cost_row_byte",
				row_byte / m->unit, "a byte of row, where rows are more than the cache holds"});
	put_finding(report, &(Finding)
				{"emit", "ns/row", valid ? m->one_key.emit / memory : NAN, "gpusort.cost_emit",
				m->one_key.emit / memory / m->unit,
				"returning a row, where rows are more than the cache holds"});
}

static void
put_collation(const Report *report, const Measurements *m)
{
	bool		valid = m->collation_codec != NULL && m->bytes.as_wanted && m->collated.as_wanted;
	double		key = NAN;

	if (valid)
		key = Max(until_sorted(&m->collated) - until_sorted(&m->bytes), 0) /
			gpusort_collated_share(m->collation_codec, DEFAULT_COLLATION_OID);
	put_finding(report, &(Finding)
				{"collated_key", "ns", key, "gpusort.cost_key_collated", key / m->unit,
				"a sort key of the database's collation beyond the string's bytes; null if it has none"});
	put_finding(report, &(Finding)
				{"postgres_collation", "ratio", valid ? m->core_collated / m->core_bytes : NAN,
				NULL, NAN, "PostgreSQL's sort by that collation as a multiple of that by COLLATE \"C\""});
}

/* Reports what it takes to have workers at all, before they have collected anything. */
static void
put_workers(const Report *report, const Measurements *m)
{
	double		workers = gpusort_time_workers(SMALL_REPEAT);

	put_finding(report, &(Finding)
				{"workers", "ns", workers, "gpusort.cost_gather",
				Max(workers / m->unit - parallel_setup_cost, 0),
				"parallel workers of one query that do nothing; parallel_setup_cost is a part of it"});
}

/* Reports what gpusortd takes, and from how many rows on that is less than the host takes. */
static void
put_device(const Report *report, const Measurements *m)
{
	GpuSortTimedRows two_rows = {.rows = 2, .nkeys = 1};
	GpuSortTimedRows many_rows = {.rows = ROWS, .nkeys = 1};
	GpuSortTimes two = {0};
	GpuSortTimes many = {0};
	double		saved;
	bool		cuda;
	bool		valid = false;

	if (gpusort_service_is_up(&cuda))
	{
		set_for_now("gpusort.engine", "cuda");
		gpusort_time_sort(&two_rows, SMALL_REPEAT, &two);
		gpusort_time_sort(&many_rows, REPEAT, &many);
		valid = two.as_wanted && many.as_wanted;
	}
	saved = m->one_key.sort - many.sort;
	put_finding(report, &(Finding)
				{"device_round_trip", "ns", valid ? 2 * two.sort : NAN, "gpusort.min_gpu_rows",
				valid && saved > 0 ? 2 * two.sort / saved : NAN,
				"two rows sorted by gpusortd; from the suggested number on it is faster than the session"});
	put_finding(report, &(Finding)
				{"device_sort", "ns/row", valid ? many.sort : NAN, NULL, NAN,
				"keys sorted by gpusortd, as far as collecting has not hidden it"});
	put_finding(report, &(Finding)
				{"host_sort", "ns/row", m->one_key.sort, NULL, NAN, "keys sorted by the session"});
}

/* Measures everything, and returns what was found as rows of the result. */
static void
calibrate(const Report *report)
{
	Measurements m = {0};
	double		break_even;
	int			nest_level = NewGUCNestLevel();

	set_for_now("work_mem", WORK_MEM);
	set_for_now("gpusort.engine", "host");
	set_for_now("gpusort.verify", "off");

	measure_sorts(&m);
	measure_collation(&m);
	put_reference(report, &m);
	put_costs(report, &m);
	put_collation(report, &m);
	put_workers(report, &m);
	break_even = measure_break_even();
	put_finding(report, &(Finding)
				{"break_even", "rows", break_even, "gpusort.min_rows", 2 * break_even,
				"so many rows by one bigint are sorted faster than by PostgreSQL's sort; "
				"twice as many also as the first of a session"});
	put_device(report, &m);

	AtEOXact_GUC(true, nest_level);
}

/* Does ALTER SYSTEM SET name = value. */
static void
alter_system(const char *name, const char *value)
{
	AlterSystemStmt *alter = makeNode(AlterSystemStmt);
	VariableSetStmt *set = makeNode(VariableSetStmt);
	A_Const    *constant = makeNode(A_Const);

	constant->val.sval.type = T_String;
	constant->val.sval.sval = pstrdup(value);
	set->kind = VAR_SET_VALUE;
	set->name = pstrdup(name);
	set->args = list_make1(constant);
	alter->setstmt = set;
	AlterSystemSetConfigFile(alter);
}

/* Puts all suggestions of the result into effect for the server, and rewinds the result. */
static void
apply_suggestions(ReturnSetInfo *rsinfo)
{
	TupleTableSlot *slot = MakeSingleTupleTableSlot(rsinfo->setDesc, &TTSOpsMinimalTuple);

	while (tuplestore_gettupleslot(rsinfo->setResult, true, false, slot))
	{
		slot_getallattrs(slot);
		if (!slot->tts_isnull[5])
			alter_system(TextDatumGetCString(slot->tts_values[3]),
						 TextDatumGetCString(slot->tts_values[5]));
	}
	ExecDropSingleTupleTableSlot(slot);
	tuplestore_rescan(rsinfo->setResult);
	(void) OidFunctionCall0(F_PG_RELOAD_CONF);
}

Datum
gpusort_calibrate(PG_FUNCTION_ARGS)
{
	InitMaterializedSRF(fcinfo, 0);
	calibrate(&(Report) {(ReturnSetInfo *) fcinfo->resultinfo, false});
	return (Datum) 0;
}

/*
 * Measures as gpusort_calibrate() does, and sets what is suggested, which a rollback does not undo.
 * Users who may not do that are refused before the measurements have taken their seconds.
 */
Datum
gpusort_calibrate_apply(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	bool		apply = PG_GETARG_BOOL(0);

	if (apply && !superuser())
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied to set what gpusort_calibrate() suggests"),
				 errdetail("Only superusers may call it with apply => true.")));
	InitMaterializedSRF(fcinfo, 0);
	calibrate(&(Report) {rsinfo, apply});
	if (apply)
		apply_suggestions(rsinfo);
	return (Datum) 0;
}
