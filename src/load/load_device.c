/*
 * load_device.c
 *		Records and fields of an input, found by gpusortd; see load_share_private.h.
 *
 * The memory in the pool is one range: an extent for the job's descriptor, and an extent for each
 * chunk.  There is one job at a time.  If gpusortd does not let go of it, the range is left to that
 * job, but its chunks can still be filled again: gpusortd only reads their bytes, it writes only
 * behind them, and nobody looks at what it writes there any more.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "load/load_share_private.h"
#include "memory/memory_range.h"
#include "memory/pool.h"
#include "service/service.h"
#include "settings.h"

/*
 * Chunks for each participant: one is being loaded, one is ready, and two are with gpusortd or
 * waiting for it.
 */
#define CHUNKS_EACH		4

StaticAssertDecl(GPUSORT_LOAD_CHUNK_BYTES == GSD_CHUNK_BYTES, "chunks are chunks");

struct GpuSortLoadDevice
{
	gs_dialect	dialect;
	int			places;
	GpuSortPoolAccount account;
	GpuSortRange *range;		/* the descriptor, and the chunks */
	const uint32 *extents;		/* of the chunks */
	GpuSortJob	job;
	const char *why;			/* why the open job has no answer; NULL: not known yet */
	bool		given_up;
	uint64		found;			/* chunks whose fields gpusortd has found */
	uint64		total;
	MemoryContextCallback callback;
};

/* ---------- beginning and ending ---------- */

static bool
is_wanted(void)
{
	bool		cuda;

	return gpusort_copy_parser == GPUSORT_COPY_PARSER_DEVICE &&
		gpusort_engine != GPUSORT_ENGINE_HOST &&
		gpusort_service_is_up(&cuda);
}

static void
close_job(GpuSortLoadDevice *device)
{
	gpusort_job_close(&device->job);
	device->why = NULL;
	if (device->job.left_behind)
	{
		device->given_up = true;
		gpusort_range_leave(device->range, device->job.number);
	}
}

/* Gives everything back, if that has not been done yet. */
static void
release(void *arg)
{
	GpuSortLoadDevice *device = arg;

	if (device->range == NULL)
		return;
	if (device->job.open)
		close_job(device);
	gpusort_range_release(device->range);
	device->range = NULL;
	if (device->job.left_behind)
		gpusort_job_abandon(&device->job);
	gpusort_pool_close(&device->account);
}

/* Takes extents for the descriptor and the chunks; returns false if there are not so many. */
static bool
take_memory(GpuSortLoadDevice *device)
{
	size_t		bytes = (device->places + 1) * (size_t) GSD_EXTENT_BYTES;
	uint32		count;

	device->range = gpusort_range_acquire(GPUSORT_RANGE_ROWS, bytes, &device->account);
	if (device->range == NULL || !gpusort_range_grow_in_pool(device->range, bytes, bytes) ||
		!gpusort_range_extents(device->range, &device->extents, &count) || count <= device->places)
		return false;
	device->extents++;
	return true;
}

GpuSortLoadDevice *
gpusort_load_device_begin(const gs_dialect *dialect, int nworkers)
{
	GpuSortLoadDevice *device;

	if (!is_wanted())
		return NULL;
	device = palloc0(sizeof(GpuSortLoadDevice));
	device->dialect = *dialect;
	device->places = CHUNKS_EACH * (nworkers + 1);
	gpusort_pool_open(&device->account, Min(device->places + 1, gpusort_pool_quota_extents()));
	device->account.pool_only = true;
	device->callback.func = release;
	device->callback.arg = device;
	MemoryContextRegisterResetCallback(CurrentMemoryContext, &device->callback);
	if (take_memory(device))
		return device;
	release(device);
	gpusort_pool_close(&device->account);
	ereport(DEBUG1,
			(errmsg_internal("gpusort finds fields on the CPU: %s", GPUSORT_WHY_FULL)));
	return NULL;
}

void
gpusort_load_device_end(GpuSortLoadDevice *device)
{
	if (device == NULL)
		return;
	release(device);
	ereport(DEBUG1,
			(errmsg_internal("gpusortd found the fields of %llu chunks of %llu",
							 (unsigned long long) device->found,
							 (unsigned long long) device->total)));
}

int
gpusort_load_places(const GpuSortLoadDevice *device, int nworkers)
{
	return device != NULL ? device->places : 2 * (nworkers + 1) + 2;
}

const uint32 *
gpusort_load_device_extents(const GpuSortLoadDevice *device)
{
	return device != NULL ? device->extents : NULL;
}

/* ---------- jobs ---------- */

/* Has participants find the fields from now on. */
static void
give_up(GpuSortLoadDevice *device, const char *why, bool failed)
{
	device->given_up = true;
	gpusort_pool->header->service.fallbacks++;
	ereport(failed ? LOG : DEBUG1,
			(errmsg("gpusort finds fields on the CPU: %s", why)));
}

/* Lets participants take the chunks of the job, which has been answered. */
static void
finish_job(GpuSortLoadDevice *device, GpuSortLoadShare *share, const char *why)
{
	uint64		count = device->job.nrows;

	for (uint64 i = 0; i < count; i++)
		gpusort_share_add(share, why == NULL ? gpusort_job_found(&device->job, i) : NULL);
	device->total += count;
	if (why == NULL)
		device->found += count;
	else
		give_up(device, why, gpusort_fallback_cause(why) == GPUSORT_FALLBACK_FAILED);
	close_job(device);
}

/*
 * Gives gpusortd a job for the chunks that have been filled; returns false if it is not to be given
 * any job from now on.
 */
static bool
run_job(GpuSortLoadDevice *device, GpuSortLoadShare *share)
{
	GpuSortJobChunk chunks[GSD_MAX_CHUNKS];
	uint64		count = gpusort_share_filled(share, chunks, GSD_MAX_CHUNKS);
	const char *why;

	if (count == 0)
		return true;
	why = gpusort_job_run_text(&device->job, device->range, &device->dialect, chunks, count);
	if (why != NULL)
		give_up(device, why, false);
	return why == NULL;
}

/* Lets participants take all chunks that have been filled, with nothing found in them. */
static void
add_filled(GpuSortLoadDevice *device, GpuSortLoadShare *share)
{
	GpuSortJobChunk chunk;

	while (gpusort_share_filled(share, &chunk, 1) > 0)
	{
		gpusort_share_add(share, NULL);
		device->total++;
	}
}

void
gpusort_load_device_serve(GpuSortLoadDevice *device, GpuSortLoadShare *share)
{
	const char *why;

	if (device == NULL)
		return;
	if (device->job.open && (device->why != NULL || gpusort_job_is_answered(&device->job, &why)))
		finish_job(device, share, device->why != NULL ? device->why : why);
	if (gpusort_share_is_mistaken(share) && !device->given_up)
		give_up(device, "gpusortd has found fields where there are none", true);
	if (!device->job.open && (device->given_up || !run_job(device, share)))
		add_filled(device, share);
}

bool
gpusort_load_device_wait(GpuSortLoadDevice *device)
{
	uint64		ready = 0;

	if (device == NULL || !device->job.open)
		return false;
	device->why = gpusort_job_wait(&device->job, device->job.nrows, &ready);
	return true;
}
