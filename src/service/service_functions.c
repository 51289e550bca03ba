/*
 * service_functions.c
 *		SQL functions that show gpusortd, what it sorts on, and who has what of the pool.
 *
 * Everything is read from the pool without locks, while others change it: each
 * number is right for itself, and they need not agree with each other.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"
#include "utils/tuplestore.h"

#include "memory/pool.h"

PGDLLEXPORT Datum gpusort_devices(PG_FUNCTION_ARGS);
PGDLLEXPORT Datum gpusort_service(PG_FUNCTION_ARGS);
PGDLLEXPORT Datum gpusort_engines(PG_FUNCTION_ARGS);
PGDLLEXPORT Datum gpusort_pool_holders(PG_FUNCTION_ARGS);

PG_FUNCTION_INFO_V1(gpusort_devices);
PG_FUNCTION_INFO_V1(gpusort_service);
PG_FUNCTION_INFO_V1(gpusort_engines);
PG_FUNCTION_INFO_V1(gpusort_pool_holders);

/* Columns of gpusort_service(). */
enum
{
	SERVICE_STATE,
	SERVICE_MESSAGE,
	SERVICE_PID,
	SERVICE_UPTIME,
	SERVICE_RESTARTS,
	SERVICE_ENGINE,
	SERVICE_DEVICES,
	SERVICE_JOBS_DONE,
	SERVICE_JOBS_FAILED,
	SERVICE_JOBS_CANCELLED,
	SERVICE_JOBS_OPEN,
	SERVICE_JOBS_QUEUED,
	SERVICE_ROWS_SORTED,
	SERVICE_FALLBACKS,
	SERVICE_DEVICE_BYTES_USED,
	SERVICE_POOL_BYTES,
	SERVICE_POOL_BYTES_FREE,
	SERVICE_POOL_HUGE_PAGES,
	SERVICE_COLUMNS
};

static const char *
state_name(uint32 state)
{
	switch ((gsd_service_state) state)
	{
		case GSD_SERVICE_OFF:
			return "off";
		case GSD_SERVICE_STARTING:
			return "starting";
		case GSD_SERVICE_UP:
			return "up";
		case GSD_SERVICE_DOWN:
			return "down";
		case GSD_SERVICE_NO_DEVICE:
			return "no device";
	}
	return "unknown";
}

static bool
job_is_taken(const gsd_job *job)
{
	return job->backend_state != GSD_BACKEND_NONE;
}

/* Returns whether a job has been told to run, but it is not its turn yet. */
static bool
job_is_queued(const gsd_job *job)
{
	return job->backend_state == GSD_BACKEND_RUN &&
		(job->daemon_state == GSD_DAEMON_IDLE || job->daemon_state == GSD_DAEMON_OPENED);
}

static int32
count_jobs(const gsd_header *header, bool (*matches) (const gsd_job *job))
{
	int32		count = 0;

	for (int i = 0; i < GSD_MAX_JOBS; i++)
		count += matches(&header->jobs[i]);
	return count;
}

static int64
free_pool_bytes(const gsd_header *header)
{
	int64		extents = 0;

	for (uint32 i = 0; i < header->nextents; i++)
		extents += header->owners[i] == GSD_OWNER_NONE;
	return extents << GSD_EXTENT_SHIFT;
}

/* Returns how long gpusortd has been running, as an interval. */
static Datum
uptime(const gsd_service *service)
{
	Interval   *interval = palloc0(sizeof(Interval));
	TimestampTz started = (TimestampTz) service->started_us -
		(POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE) * USECS_PER_DAY;

	interval->time = Max(GetCurrentTimestamp() - started, 0);
	return IntervalPGetDatum(interval);
}

static void
describe_service(const gsd_header *header, Datum *values, bool *nulls)
{
	const gsd_service *service = &header->service;
	bool		alive = service->daemon_pid != 0;
	bool		up = service->state == GSD_SERVICE_UP;

	values[SERVICE_STATE] = CStringGetTextDatum(state_name(service->state));
	values[SERVICE_MESSAGE] = CStringGetTextDatum(service->message);
	nulls[SERVICE_MESSAGE] = service->message[0] == '\0';
	values[SERVICE_PID] = Int32GetDatum((int32) service->daemon_pid);
	nulls[SERVICE_PID] = !alive;
	values[SERVICE_UPTIME] = uptime(service);
	nulls[SERVICE_UPTIME] = !alive;
	values[SERVICE_RESTARTS] =
		Int32GetDatum((int32) (service->starts > 0 ? service->starts - 1 : 0));
	values[SERVICE_ENGINE] = CStringGetTextDatum(service->engine != 0 ? "cuda" : "simulated");
	nulls[SERVICE_ENGINE] = !up;
	values[SERVICE_DEVICES] = Int32GetDatum(up ? (int32) service->ndevices : 0);
	values[SERVICE_JOBS_DONE] = Int64GetDatum(service->jobs_done);
	values[SERVICE_JOBS_FAILED] = Int64GetDatum(service->jobs_failed);
	values[SERVICE_JOBS_CANCELLED] = Int64GetDatum(service->jobs_cancelled);
	values[SERVICE_JOBS_OPEN] = Int32GetDatum(count_jobs(header, job_is_taken));
	values[SERVICE_JOBS_QUEUED] = Int32GetDatum(count_jobs(header, job_is_queued));
	values[SERVICE_ROWS_SORTED] = Int64GetDatum(service->rows_sorted);
	values[SERVICE_FALLBACKS] = Int64GetDatum(service->fallbacks);
	values[SERVICE_DEVICE_BYTES_USED] = Int64GetDatum(service->device_bytes_used);
	values[SERVICE_POOL_BYTES] = Int64GetDatum((int64) header->nextents << GSD_EXTENT_SHIFT);
	values[SERVICE_POOL_BYTES_FREE] = Int64GetDatum(free_pool_bytes(header));
	values[SERVICE_POOL_HUGE_PAGES] = BoolGetDatum(header->huge != 0);
}

/* Fills in gpusort_service()'s row for a server without a pool: zeros, and a reason. */
static void
describe_nothing(Datum *values, bool *nulls)
{
	memset(values, 0, SERVICE_COLUMNS * sizeof(Datum));
	values[SERVICE_STATE] = CStringGetTextDatum(state_name(GSD_SERVICE_OFF));
	values[SERVICE_MESSAGE] = CStringGetTextDatum("this server has no pool for gpusort");
	nulls[SERVICE_PID] = true;
	nulls[SERVICE_UPTIME] = true;
	nulls[SERVICE_ENGINE] = true;
}

Datum
gpusort_service(PG_FUNCTION_ARGS)
{
	TupleDesc	desc;
	Datum		values[SERVICE_COLUMNS];
	bool		nulls[SERVICE_COLUMNS] = {0};

	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE ||
		desc->natts != SERVICE_COLUMNS)
		elog(ERROR, "gpusort_service() is declared wrongly");
	if (gpusort_pool != NULL)
		describe_service(gpusort_pool->header, values, nulls);
	else
		describe_nothing(values, nulls);
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc), values, nulls)));
}

/* Returns an array of the numbers of the other devices that device i reaches directly. */
static Datum
peers_array(const gsd_service *service, uint32 ndevices, uint32 i)
{
	Datum		peers[GSD_MAX_DEVICES];
	int			n = 0;

	for (uint32 peer = 0; peer < ndevices; peer++)
		if (peer != i && (service->devices[i].peers >> peer & 1) != 0)
			peers[n++] = Int32GetDatum((int32) service->devices[peer].number);
	return PointerGetDatum(construct_array(peers, n, INT4OID, sizeof(int32), true, TYPALIGN_INT));
}

Datum
gpusort_devices(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	const gsd_service *service = gpusort_pool != NULL ? &gpusort_pool->header->service : NULL;
	bool		up = service != NULL && service->state == GSD_SERVICE_UP;
	uint32		ndevices = up ? Min(service->ndevices, GSD_MAX_DEVICES) : 0;

	InitMaterializedSRF(fcinfo, 0);
	for (uint32 i = 0; i < ndevices; i++)
	{
		const gsd_device_info *device = &service->devices[i];
		Datum		values[] = {
			Int32GetDatum((int32) device->number),
			CStringGetTextDatum(device->name),
			Int64GetDatum(device->memory_bytes),
			Int64GetDatum(device->arena_bytes),
			peers_array(service, ndevices, i),
			CStringGetTextDatum(state_name(service->state)),
		};
		bool		nulls[lengthof(values)] = {0};

		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
	}
	return (Datum) 0;
}

/* Returns the processes that have memory of the pool, or keep private memory. */
Datum
gpusort_pool_holders(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	const gsd_header *header = gpusort_pool != NULL ? gpusort_pool->header : NULL;
	uint32		end = header != NULL ? header->holders_end : 0;

	InitMaterializedSRF(fcinfo, 0);
	for (uint32 i = 0; i < end; i++)
	{
		const gsd_holder *holder = &header->holders[i];
		uint32		pid = holder->pid;
		uint32		session = holder->session;
		Datum		values[] = {
			Int32GetDatum((int32) pid),
			Int32GetDatum((int32) session),
			ObjectIdGetDatum(holder->role),
			Int32GetDatum((int32) holder->sorts),
			Int32GetDatum((int32) holder->wants),
			Int64GetDatum((int64) holder->extents << GSD_EXTENT_SHIFT),
			Int64GetDatum((int64) holder->kept_bytes),
		};
		bool		nulls[lengthof(values)] = {[1] = session == pid};

		if (pid != 0)
			tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
	}
	return (Datum) 0;
}

/* Describes the engine "cuda"; returns whether it can sort now. */
static bool
describe_cuda(char *description, size_t size)
{
	const gsd_service *service;

	if (gpusort_pool == NULL)
	{
		strlcpy(description, "this server has no pool for gpusort", size);
		return false;
	}
	service = &gpusort_pool->header->service;
	if (service->state != GSD_SERVICE_UP)
		snprintf(description, size, "gpusortd is not there: %s", service->message);
	else if (service->engine == 0)
		snprintf(description, size, "gpusortd sorts on %u simulated devices", service->ndevices);
	else
		snprintf(description, size, "gpusortd sorts on %u GPUs", service->ndevices);
	return service->state == GSD_SERVICE_UP && service->engine != 0;
}

/* Returns the engines that gpusort.engine can name, and whether they can be used here. */
Datum
gpusort_engines(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	char		cuda[256];
	bool		cuda_available = describe_cuda(cuda, sizeof(cuda));
	const struct
	{
		const char *engine;
		bool		available;
		const char *description;
	}			engines[] = {
		{"host", true, "radix sort on the CPU, in the backend"},
		{"cuda", cuda_available, cuda},
	};

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
