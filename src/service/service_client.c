/*
 * service_client.c
 *		A session's side of a job for gpusortd.
 *
 * protocol/gsd_pool.h describes the handshake.  Two things are worth saying again.
 *
 * Memory that gpusortd may still write to must not be reused.  So a job that gpusortd has
 * not let go of after CLOSE_WAIT_MS keeps its memory, and the supervisor frees the job
 * and its memory when gpusortd has.
 *
 * No session waits for a gpusortd that is dead: the supervisor fails the jobs of a dead
 * one, and a session that waits looks for itself as well.  A gpusortd that hangs, in a
 * driver perhaps, is given up when it has made no progress with any job for
 * gpusort.daemon_timeout.  A gpusortd that is busy with other jobs is given up when it has
 * not begun with this one for gpusort.daemon_queue_timeout.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/latch.h"
#include "utils/timestamp.h"

#include "elapsed.h"
#include "memory/pool.h"
#include "pg_compat.h"
#include "protocol/gsd_wake.h"
#include "service/service.h"

/*
 * How long a session that closes a job waits for gpusortd to let go of it.  That takes
 * milliseconds if gpusortd is well.
 */
#define CLOSE_WAIT_MS	50

/*
 * How long a session waits for a job to be called done when its last row is ready, which takes next
 * to no time.
 */
#define DONE_WAIT_MS	50

/* How often a session that waits looks whether gpusortd is alive. */
#define LOOK_MS			1000

/*
 * A question that a session asks about a job until the answer is true: `wanted` rows are there, and
 * *rows is set; or they never will be, and *why says why.
 */
typedef bool (*job_question) (const GpuSortJob *job, uint64 wanted, uint64 *rows,
							  const char **why);

static gsd_job *
pool_job(const GpuSortJob *job)
{
	return &gpusort_pool->header->jobs[job->number];
}

bool
gpusort_service_is_up(bool *cuda)
{
	gsd_service *service;

	if (gpusort_pool == NULL)
		return false;
	service = &gpusort_pool->header->service;
	if (service->state != GSD_SERVICE_UP)
		return false;
	*cuda = service->engine != 0;
	return true;
}

const char *
gpusort_service_why_not(void)
{
	gsd_service *service;

	if (gpusort_pool == NULL)
		return NULL;
	service = &gpusort_pool->header->service;
	switch ((gsd_service_state) service->state)
	{
		case GSD_SERVICE_OFF:
		case GSD_SERVICE_NO_DEVICE:
			return NULL;
		case GSD_SERVICE_STARTING:
			return GPUSORT_WHY_STARTING;
		case GSD_SERVICE_DOWN:
			return GPUSORT_WHY_DOWN;
		case GSD_SERVICE_UP:
			break;
	}
	return GPUSORT_WHY_NOT_TAKEN;
}

/* Sets *extent to the first extent of a range; returns false if the range is not in the pool. */
static bool
first_extent(const GpuSortRange *range, uint32 *extent)
{
	const uint32 *list;
	uint32		count;

	if (!gpusort_range_extents(range, &list, &count) || count == 0)
		return false;
	*extent = list[0];
	return true;
}

/* Claims a job and clears its descriptor; returns NULL, or why that is not possible. */
static const char *
claim_job(GpuSortJob *job, GpuSortRange *memory)
{
	uint32		extent;
	int			number;

	if (!gpusort_range_grow(memory, GSD_EXTENT_BYTES) || !first_extent(memory, &extent))
		return GPUSORT_WHY_FULL;
	number = gsd_claim_job(gpusort_pool->header, gsd_owner_pid(memory->account->owner));
	if (number < 0)
		return GPUSORT_WHY_MANY;
	memset(job, 0, sizeof(*job));
	job->open = true;
	job->number = (uint32) number;
	job->descriptor = (gsd_descriptor *) memory->base;
	memset(job->descriptor, 0, offsetof(gsd_descriptor, spans));
	job->descriptor->list_size = 0;
	pool_job(job)->descriptor = extent;
	return NULL;
}

const char *
gpusort_job_open(GpuSortJob *job, GpuSortRange *memory, unsigned nplanes, uint64 expected_rows)
{
	const char *why = claim_job(job, memory);
	gsd_descriptor *descriptor = job->descriptor;

	if (why != NULL)
		return why;
	job->plane_extents = Min(gpusort_pool->header->nextents, GSD_LIST_MAX / (nplanes + 2));
	job->list_used = job->plane_extents * (nplanes + 1);
	descriptor->kind = GSD_JOB_SORT;
	descriptor->nplanes = nplanes;
	descriptor->expected_rows = expected_rows;
	for (unsigned i = 0; i < nplanes; i++)
		descriptor->planes[i].words.first = i * job->plane_extents;
	descriptor->rows.rows.first = nplanes * job->plane_extents;
	pool_job(job)->backend_state = GSD_BACKEND_OPEN;
	gsd_ring(gpusort_pool->header);
	return NULL;
}

const char *
gpusort_job_run_text(GpuSortJob *job, GpuSortRange *memory, const gs_dialect *dialect,
					 const GpuSortJobChunk *chunks, uint32 nchunks)
{
	const char *why = claim_job(job, memory);
	gsd_descriptor *descriptor = job->descriptor;
	uint64		bytes = 0;

	if (why != NULL)
		return why;
	descriptor->kind = GSD_JOB_TEXT;
	descriptor->text = (gsd_text) {
		.csv = dialect->csv,
		.delimiter = (uint8_t) dialect->delimiter,
		.quote = (uint8_t) dialect->quote,
		.escape = (uint8_t) dialect->escape,
		.newline = dialect->newline,
		.csv_end_marker = dialect->csv_end_marker,
		.nchunks = nchunks
	};
	for (uint32 i = 0; i < nchunks; i++)
	{
		descriptor->text.chunks[i] = (gsd_chunk) {
			.extent = chunks[i].extent,.bytes = chunks[i].bytes
		};
		bytes += chunks[i].bytes;
	}
	descriptor->nrows = bytes / GSD_TEXT_ROW_BYTES;
	job->nrows = nchunks;
	job->running = true;
	pool_job(job)->backend_state = GSD_BACKEND_RUN;
	gsd_ring(gpusort_pool->header);
	return NULL;
}

const gs_found *
gpusort_job_found(const GpuSortJob *job, uint32 chunk)
{
	return &job->descriptor->text.chunks[chunk].found;
}

/*
 * Adds a range's new extents to its own place in the list: for ranges that grow while rows arrive.
 * Returns false if the range is not in the pool, or the place has no room.
 */
static bool
list_growing(GpuSortJob *job, const GpuSortRange *range, gsd_extents *extents)
{
	const uint32 *list;
	uint32		count;

	if (!gpusort_range_extents(range, &list, &count) || count > job->plane_extents)
		return false;
	memcpy(job->descriptor->list + extents->first + extents->count, list + extents->count,
		   (count - extents->count) * sizeof(uint32));
	extents->count = count;
	return true;
}

static bool
list_words(GpuSortJob *job, unsigned plane, const GpuSortRange *words)
{
	return list_growing(job, words, &job->descriptor->planes[plane].words);
}

/*
 * Lists `count` extents of a range, from extent `from` on, behind all that is listed already.
 * Returns false if the range is not in the pool or has fewer extents, or the list has no room.
 */
static bool
list_part(GpuSortJob *job, const GpuSortRange *range, uint32 from, uint32 count,
		  gsd_extents *extents)
{
	const uint32 *list;
	uint32		present;

	if (!gpusort_range_extents(range, &list, &present) || from > present ||
		count > present - from || count > GSD_LIST_MAX - job->list_used)
		return false;
	memcpy(job->descriptor->list + job->list_used, list + from, count * sizeof(uint32));
	extents->first = job->list_used;
	extents->count = count;
	job->list_used += count;
	return true;
}

/* Lists all extents of a range in the same way. */
static bool
list_range(GpuSortJob *job, const GpuSortRange *range, gsd_extents *extents)
{
	const uint32 *list;
	uint32		count;

	return gpusort_range_extents(range, &list, &count) &&
		list_part(job, range, 0, count, extents);
}

bool
gpusort_job_add_words(GpuSortJob *job, unsigned plane, const GpuSortRange *range, uint32 from,
					  uint32 count)
{
	gsd_extents *extents = &job->descriptor->planes[plane].words;
	const uint32 *list;
	uint32		present;

	if (!gpusort_range_extents(range, &list, &present) || from > present ||
		count > present - from || count > job->plane_extents - extents->count)
		return false;
	memcpy(job->descriptor->list + extents->first + extents->count, list + from,
		   count * sizeof(uint32));
	extents->count += count;
	return true;
}

bool
gpusort_job_set_nulls(GpuSortJob *job, unsigned plane, const GpuSortRange *range, uint32 from,
					  uint32 count)
{
	return list_part(job, range, from, count, &job->descriptor->planes[plane].nulls);
}

void
gpusort_job_feed(GpuSortJob *job, unsigned plane, const GpuSortRange *words, uint64 rows)
{
	rows -= rows % GSD_EXTENT_WORDS;
	if (rows <= job->descriptor->fed_rows[plane] || !list_words(job, plane, words))
		return;
	job->descriptor->fed_rows[plane] = rows;
	gsd_ring(gpusort_pool->header);
}

void
gpusort_job_feed_rows(GpuSortJob *job, const GpuSortRange *rows, size_t bytes)
{
	gsd_descriptor *descriptor = job->descriptor;

	bytes -= bytes % GSD_EXTENT_BYTES;
	if (bytes <= descriptor->fed_row_bytes ||
		!list_growing(job, rows, &descriptor->rows.rows))
		return;
	descriptor->fed_row_bytes = bytes;
	gsd_ring(gpusort_pool->header);
}

bool
gpusort_job_reorder(GpuSortJob *job, const GpuSortJobRows *rows)
{
	gsd_rows   *to = &job->descriptor->rows;
	uint32		list_used = job->list_used;

	to->row_bytes = rows->row_bytes;
	to->stride = rows->stride;
	to->unit = rows->unit;
	to->length_shift = rows->length_shift;
	to->length_mask = rows->length_mask;
	job->reorder = list_growing(job, rows->rows, &to->rows) &&
		list_range(job, rows->to_rows, &to->to_rows) &&
		(rows->refs == NULL || list_range(job, rows->refs, &to->refs)) &&
		(rows->to_refs == NULL || list_range(job, rows->to_refs, &to->to_refs));
	if (!job->reorder)
		job->list_used = list_used;
	return job->reorder;
}

const char *
gpusort_job_run(GpuSortJob *job, uint64 nrows, unsigned nplanes, const GpuSortJobPlane *planes,
				const GpuSortRange *ids, const GpuSortRange *equal)
{
	gsd_descriptor *descriptor = job->descriptor;
	bool		listed = list_range(job, ids, &descriptor->ids);

	if (equal != NULL)
		listed = listed && list_range(job, equal, &descriptor->equal);
	for (unsigned i = 0; listed && i < nplanes; i++)
	{
		descriptor->planes[i].null_order = planes[i].null_order;
		descriptor->planes[i].bytes = planes[i].bytes;
		if (planes[i].words != NULL)
			listed = list_words(job, i, planes[i].words);
		if (listed && planes[i].words != NULL && planes[i].nulls != NULL)
			listed = list_range(job, planes[i].nulls, &descriptor->planes[i].nulls);
	}
	if (!listed)
		return GPUSORT_WHY_OUTSIDE;

	/* rows may have been fed that will not be reordered after all */
	if (!job->reorder)
		descriptor->rows.rows.count = 0;
	descriptor->nrows = job->nrows = nrows;
	descriptor->nplanes = nplanes;
	descriptor->id_bytes = sizeof(uint32);
	descriptor->list_size = job->list_used;
	job->running = true;
	pool_job(job)->backend_state = GSD_BACKEND_RUN;
	gsd_ring(gpusort_pool->header);
	return NULL;
}

uint64
gpusort_job_ready(const GpuSortJob *job)
{
	const gsd_job *shared = pool_job(job);
	bool		failed = shared->daemon_state == GSD_DAEMON_FAILED;
	uint64		ready = Min(shared->ready_rows, job->nrows);

	/* if all ids are in place, the job has failed at something else, and they are right */
	return failed && ready < job->nrows ? 0 : ready;
}

/* The question whether `rows` rows are ready; *ready is raised to how many are. */
static bool
look_at_answer(const GpuSortJob *job, uint64 rows, uint64 *ready, const char **why)
{
	gsd_job    *shared = pool_job(job);
	bool		failed = shared->daemon_state == GSD_DAEMON_FAILED;
	bool		cuda;

	*why = NULL;
	*ready = Max(*ready, gpusort_job_ready(job));
	if (*ready >= rows)
		return true;
	if (failed)
	{
		*why = shared->message;
		return true;
	}
	if (gpusort_service_is_up(&cuda))
		return false;
	*why = gpusort_service_why_not();
	if (*why == NULL)
		*why = GPUSORT_WHY_OFF;
	return true;
}

bool
gpusort_job_reordered(const GpuSortJob *job, uint64 *rows)
{
	const gsd_job *shared = pool_job(job);
	uint32		state = shared->daemon_state;

	*rows = Min(shared->reordered_rows, job->nrows);
	return state == GSD_DAEMON_DONE || state == GSD_DAEMON_FAILED;
}

/* The question whether `wanted` rows have been reordered; *rows is set to how many have. */
static bool
look_at_reordered(const GpuSortJob *job, uint64 wanted, uint64 *rows, const char **why)
{
	bool		cuda;

	*why = NULL;
	if (gpusort_job_reordered(job, rows) || !gpusort_service_is_up(&cuda))
		*why = "gpusortd reorders no more rows";
	return *why != NULL || *rows >= wanted;
}

/* Returns a number that changes when gpusortd makes progress with any job. */
static uint64
progress_of_service(void)
{
	const gsd_header *header = gpusort_pool->header;
	uint64		progress = header->service.jobs_done + header->service.jobs_failed +
		header->service.jobs_cancelled;

	for (int i = 0; i < GSD_MAX_JOBS; i++)
		progress = progress * 31 + header->jobs[i].ready_rows +
			header->jobs[i].reordered_rows + header->jobs[i].daemon_state;
	return progress;
}

/* Returns whether gpusortd has not begun with the job for longer than the session wants to wait. */
static bool
is_out_of_patience(const GpuSortJob *job, TimestampTz since)
{
	uint32		state = pool_job(job)->daemon_state;

	return gpusort_daemon_queue_timeout > 0 &&
		(state == GSD_DAEMON_IDLE || state == GSD_DAEMON_OPENED) &&
		TimestampDifferenceExceeds(since, GetCurrentTimestamp(), gpusort_daemon_queue_timeout);
}

/* Returns how long a session sleeps at most before it asks again without having been woken. */
static long
sleep_ms(void)
{
	return gpusort_daemon_queue_timeout > 0 ? Min(LOOK_MS, gpusort_daemon_queue_timeout) : LOOK_MS;
}

/*
 * Asks until the answer is true, or waiting is pointless.  Returns NULL, or why there will not be
 * so many rows.
 */
static const char *
ask(GpuSortJob *job, job_question look, uint64 rows, uint64 *ready)
{
	static uint32 wait_event = 0;
	uint64		progress = progress_of_service();
	TimestampTz begun = GetCurrentTimestamp();
	TimestampTz since = begun;
	const char *why;

	while (!look(job, rows, ready, &why))
	{
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, sleep_ms(),
						 gpusort_wait_event(&wait_event, "GpuSortJob"));
		ResetLatch(MyLatch);
		CHECK_FOR_INTERRUPTS();
		if (progress != progress_of_service())
		{
			progress = progress_of_service();
			since = GetCurrentTimestamp();
		}
		else if (gpusort_daemon_timeout > 0 &&
				 TimestampDifferenceExceeds(since, GetCurrentTimestamp(), gpusort_daemon_timeout))
			return "gpusortd does not answer";
		if (is_out_of_patience(job, begun))
			return GPUSORT_WHY_BUSY;
	}
	return why;
}

/*
 * Does what ask() does, and has gpusortd wake this process when there is news.  If an interrupt
 * raises an error, gpusort_job_close() resets the waiter.
 */
static const char *
wait_for(GpuSortJob *job, job_question look, uint64 rows, uint64 *ready)
{
	const char *why;

	pool_job(job)->waiter = (uint32) MyProcPid;
	why = ask(job, look, rows, ready);
	pool_job(job)->waiter = 0;
	return why;
}

bool
gpusort_job_is_answered(const GpuSortJob *job, const char **why)
{
	uint64		ready = 0;

	return look_at_answer(job, job->nrows, &ready, why);
}

const char *
gpusort_job_wait(GpuSortJob *job, uint64 rows, uint64 *ready)
{
	return wait_for(job, look_at_answer, rows, ready);
}

bool
gpusort_job_wait_reordered(GpuSortJob *job, uint64 wanted, uint64 *rows)
{
	return wait_for(job, look_at_reordered, wanted, rows) != NULL;
}

const gsd_result *
gpusort_job_result(const GpuSortJob *job)
{
	return &pool_job(job)->result;
}

void
gpusort_job_trace(GpuSortJob *job)
{
	job->descriptor->traced = 1;
}

uint32
gpusort_job_spans(const GpuSortJob *job, const gsd_span **spans)
{
	const gsd_job *shared = pool_job(job);

	for (int i = 0; i < DONE_WAIT_MS && shared->daemon_state == GSD_DAEMON_RUNNING; i++)
		pg_usleep(1000L);
	*spans = job->descriptor->spans;
	return shared->daemon_state == GSD_DAEMON_DONE ?
		Min(job->descriptor->nspans, GSD_MAX_SPANS) : 0;
}

/*
 * Wakes the supervisor if there is no gpusortd: it then looks after the jobs.  While
 * the service has the PID of a gpusortd that has died, the supervisor has yet to look at
 * all jobs, and will see the state of this one.
 */
static void
wake_heir(void)
{
	if (gpusort_pool->header->service.daemon_pid == 0)
		gsd_wake_supervisor(gpusort_pool->header);
}

void
gpusort_job_close(GpuSortJob *job)
{
	gsd_job    *shared;
	bool		answered;

	if (!job->open)
		return;
	shared = pool_job(job);
	answered = shared->daemon_state == GSD_DAEMON_DONE || shared->daemon_state == GSD_DAEMON_FAILED;
	shared->waiter = 0;
	shared->cancel = !answered;
	shared->backend_state = GSD_BACKEND_CLOSED;
	gsd_ring(gpusort_pool->header);

	wake_heir();
	job->open = false;
	if (gsd_sleep_until_let_go(shared, CLOSE_WAIT_MS))
		shared->backend_state = GSD_BACKEND_NONE;
	else if (answered)
		gpusort_job_abandon(job);	/* gpusortd does not touch an answered job's memory any more */
	else
	{
		job->left_behind = true;
		gsd_wake_supervisor(gpusort_pool->header);
	}
}

void
gpusort_job_abandon(GpuSortJob *job)
{
	gsd_job    *shared = pool_job(job);

	job->left_behind = false;
	shared->abandoned = 1;
	/* if the job is not IDLE, the process that makes it so wakes the supervisor */
	if (shared->daemon_state == GSD_DAEMON_IDLE)
		gsd_wake_supervisor(gpusort_pool->header);
	else
		wake_heir();
}

/* ---------- causes ---------- */

static const struct
{
	const char *why;
	GpuSortFallback cause;
}			causes[] = {
	{GPUSORT_WHY_STARTING, GPUSORT_FALLBACK_DOWN},
	{GPUSORT_WHY_DOWN, GPUSORT_FALLBACK_DOWN},
	{GPUSORT_WHY_OFF, GPUSORT_FALLBACK_DOWN},
	{GPUSORT_WHY_NOT_TAKEN, GPUSORT_FALLBACK_DOWN},
	{GPUSORT_WHY_BUSY, GPUSORT_FALLBACK_BUSY},
	{GPUSORT_WHY_MANY, GPUSORT_FALLBACK_BUSY},
	{GPUSORT_WHY_FULL, GPUSORT_FALLBACK_MEMORY},
	{GPUSORT_WHY_OUTSIDE, GPUSORT_FALLBACK_MEMORY},
	{GPUSORT_WHY_NO_ROOM, GPUSORT_FALLBACK_MEMORY},
	{GPUSORT_WHY_NO_SPACE, GPUSORT_FALLBACK_MEMORY},
};

GpuSortFallback
gpusort_fallback_cause(const char *why)
{
	for (int i = 0; i < lengthof(causes); i++)
		if (strcmp(why, causes[i].why) == 0)
			return causes[i].cause;
	return GPUSORT_FALLBACK_FAILED;
}
