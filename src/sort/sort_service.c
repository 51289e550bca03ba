/*
 * sort_service.c
 *		Having a sort done by gpusortd; see service_private.h.
 *
 * A sort that grows large opens a job while rows still come in, and feeds it the planes that will
 * not change any more, so that these are on the device when the last row arrives.  Final planes are
 * all but those of the first words of strings that begin alike so far: as soon as a string begins
 * differently, the words are taken from another place in the strings (key_planes.c).  The rest is
 * told when the job is run.
 *
 * The result, row ids, arrives in the workspace from its beginning on.  If no refinement,
 * verification or index build has to see all of it first, rows are returned as they become ready,
 * while others are still being sorted.  Then the job may go on with bringing the rows themselves
 * into order (sort_reorder.c).
 *
 * There are GSD_MAX_JOBS jobs for all sessions, and a cursor may stay open for hours.  So a job is
 * closed as soon as all of the result is seen to be there, and a query that stops in the middle of
 * its rows first waits for that (gpusort_rest()).
 *
 * Whatever goes wrong, at whatever moment, the host engine sorts instead.  It finds the very same
 * permutation, so it can take over half-way through the rows.  If gpusortd can't be made to let go
 * of the workspace, the host engine gets another one, and the old one stays with the job.
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "elapsed.h"
#include "memory/pool.h"
#include "service/service.h"
#include "settings.h"
#include "sort/keys_private.h"
#include "sort/memory_private.h"
#include "sort/order_private.h"
#include "sort/service_private.h"
#include "sort/spill_private.h"
#include "sort/state_private.h"
#include "sort/team_private.h"
#include "stats/stats.h"

/* The sorts of this process that have an open job. */
static dlist_head open_sorts = DLIST_STATIC_INIT(open_sorts);

/* Called with a range that a sort's job may hold on to, or with NULL. */
typedef void (*range_visitor) (GpuSort *sort, GpuSortRange *range);

bool
gpusort_sort_service_is_wanted(const GpuSort *sort, uint64 rows)
{
	if (sort->device.merge.failed ||
		(sort->runs.spill != NULL && sort->runs.spill->shared_first != NULL))
		return false;
	switch ((GpuSortEngine) gpusort_engine)
	{
		case GPUSORT_ENGINE_HOST:
			return false;
		case GPUSORT_ENGINE_CUDA:
			return gpusort_pool != NULL && rows > 1;
		case GPUSORT_ENGINE_AUTO:
			break;
	}
	return gpusort_pool != NULL && gpusort_pool->header->service.engine != 0 &&
		rows > 1 && rows >= (uint64) gpusort_min_gpu_rows;
}

unsigned
gpusort_list_planes(const GpuSortKeys *keys, GpuSortJobPlane *planes)
{
	unsigned	n = 0;

	for (int i = 0; i < keys->ncolumns; i++)
	{
		const GpuSortColumn *column = &keys->columns[i];

		if (column->bytes != GPUSORT_BYTES_NONE)
			planes[n++] = (GpuSortJobPlane) {column->prefix, column->nulls, .bytes = true};
		for (int w = 0; w < column->nwords; w++)
			planes[n++] = (GpuSortJobPlane) {column->words[w], column->nulls};
	}
	return n;
}

const char *
gpusort_sort_service_open(GpuSort *sort, unsigned nplanes, uint64 expected)
{
	const char *why;

	sort->device.descriptor = gpusort_acquire_range(sort, GPUSORT_RANGE_DESCRIPTOR);
	if (sort->device.descriptor == NULL)
		return GPUSORT_WHY_NO_SPACE;
	why = gpusort_job_open(&sort->device.job, sort->device.descriptor, nplanes, expected);
	if (why != NULL)
	{
		gpusort_range_release(sort->device.descriptor);
		sort->device.descriptor = NULL;
	}
	else
	{
		dlist_push_tail(&open_sorts, &sort->device.node);
		if (sort->shown.is_traced)
			gpusort_job_trace(&sort->device.job);
	}
	return why;
}

static const char *
open_job(GpuSort *sort, unsigned nplanes)
{
	return gpusort_sort_service_open(sort, nplanes, gpusort_rows_in_the_end(sort));
}

/* Returns whether nothing in the planes is final yet, so that there is nothing to feed. */
static bool
nothing_is_final(const GpuSortKeys *keys)
{
	const GpuSortColumn *first = &keys->columns[0];

	return first->bytes != GPUSORT_BYTES_NONE && !gpusort_prefix_is_final(first) &&
		(first->facts.long_keys || (first->nwords == 0 && keys->ncolumns == 1));
}

void
gpusort_sort_service_feed(GpuSort *sort)
{
	GpuSortJobPlane planes[GS_MAX_PLANES];
	unsigned	plane = 0;
	unsigned	nplanes;
	bool		cuda;

	if (sort->rows.count < GSD_EXTENT_WORDS || nothing_is_final(&sort->keys) ||
		!gpusort_sort_service_is_wanted(sort, sort->rows.count))
		return;
	nplanes = gpusort_list_planes(&sort->keys, planes);
	if (!sort->device.job.open &&
		(!gpusort_service_is_up(&cuda) || open_job(sort, nplanes) != NULL))
		return;
	for (int i = 0; i < sort->keys.ncolumns; i++)
	{
		const GpuSortColumn *column = &sort->keys.columns[i];

		if (column->bytes != GPUSORT_BYTES_NONE)
		{
			if (gpusort_prefix_is_final(column))
				gpusort_job_feed(&sort->device.job, plane, planes[plane].words, sort->rows.count);
			plane++;
		}
		if (column->facts.long_keys)
			break;
		for (int w = 0; w < column->nwords; w++, plane++)
			gpusort_job_feed(&sort->device.job, plane, planes[plane].words, sort->rows.count);
	}
	gpusort_reorder_feed(sort);
}

/* Calls a visitor with each range of the job. */
static void
visit_job_ranges(GpuSort *sort, range_visitor visit)
{
	visit(sort, sort->device.descriptor);
	visit(sort, sort->order.workspace);
	visit(sort, sort->order.equal);
	visit(sort, sort->rows.store);
	visit(sort, sort->rows.refs);
	visit(sort, sort->device.reorder.rows);
	visit(sort, sort->device.reorder.refs);
	visit(sort, sort->device.merge.rest);
	visit(sort, sort->device.merge.nulls);
	for (int i = 0; i < sort->keys.ncolumns; i++)
	{
		GpuSortColumn *column = &sort->keys.columns[i];

		visit(sort, column->prefix);
		visit(sort, column->nulls);
		for (int w = 0; w < column->nwords; w++)
			visit(sort, column->words[w]);
	}
}

static void
leave_range(GpuSort *sort, GpuSortRange *range)
{
	if (range != NULL)
		gpusort_range_leave(range, sort->device.job.number);
}

/*
 * Traces what devices have done: the spans that they tell, or, if the job has not been done, one
 * span for all of it.
 */
static void
trace_devices(const GpuSort *sort)
{
	const GpuSortJob *job = &sort->device.job;
	const gsd_result *result = gpusort_job_result(job);
	uint32		pid = gpusort_pool->header->service.daemon_pid;
	double		begin_ms = gpusort_trace_ms(sort->device.run_at);
	double		end_ms = begin_ms + INSTR_TIME_GET_MILLISEC(gpusort_elapsed(sort->device.run_at));
	bool		over = sort->order.ready == sort->rows.count;
	const gsd_span *spans = NULL;
	uint32		nspans = over ? gpusort_job_spans(job, &spans) : 0;

	for (uint32 i = 0; i < nspans; i++)
	{
		char		name[sizeof(spans[i].name) + 1];

		strlcpy(name, spans[i].name, sizeof(name));
		gpusort_trace_device(pid, spans[i].device, spans[i].queue, name, spans[i].begin_ms,
							 spans[i].end_ms, job->nrows);
	}
	if (nspans > 0)
		end_ms = begin_ms = begin_ms + result->device_ms;
	if (sort->device.reorder.count > 0)
		end_ms = begin_ms + result->reorder_ms;
	for (unsigned i = 0; i < result->devices && begin_ms < end_ms; i++)
		gpusort_trace_device(pid, i, GPUSORT_TRACE_ANY_QUEUE, nspans > 0 ? "reorder" : "sort", begin_ms, end_ms,
							 job->nrows);
}

void
gpusort_sort_service_end(GpuSort *sort)
{
	sort->device.reorder.running = false;
	if (!sort->device.job.open)
		return;
	if (sort->shown.is_traced && sort->device.job.running)
		trace_devices(sort);
	dlist_delete(&sort->device.node);
	gpusort_job_close(&sort->device.job);
	if (sort->device.job.left_behind)
		visit_job_ranges(sort, leave_range);
	gpusort_range_release(sort->device.descriptor);
	sort->device.descriptor = NULL;
}

bool
gpusort_sort_service_holds_memory(const GpuSort *sort)
{
	return sort->device.job.left_behind;
}

void
gpusort_sort_service_abandon(GpuSort *sort)
{
	if (sort->device.job.left_behind)
		gpusort_job_abandon(&sort->device.job);
}

/*
 * Reports a fallback: in the log if gpusortd has failed for another reason than the last time, else
 * at DEBUG1.
 */
static void
report_fallback(const char *why, bool failed)
{
	static char reported[sizeof(((GpuSortStats *) NULL)->fallback)];
	bool		news = failed && strncmp(reported, why, sizeof(reported) - 1) != 0;

	if (news)
		strlcpy(reported, why, sizeof(reported));
	ereport(news ? LOG : DEBUG1,
			(errmsg("gpusort sorts on the CPU: %s", why)));
}

/* Gets other ranges in place of those that gpusortd may still write to. */
static void
replace_written(GpuSort *sort)
{
	GpuSortRange **written[] = {&sort->order.workspace, &sort->order.equal};

	for (int i = 0; i < lengthof(written); i++)
	{
		if (*written[i] != NULL)
			gpusort_range_release(*written[i]);
		*written[i] = NULL;
	}
	gpusort_need_ranges(sort);
}

void
gpusort_sort_service_fall_back(GpuSort *sort, const char *why, bool failed)
{
	strlcpy(sort->stats.fallback, why, sizeof(sort->stats.fallback));
	gpusort_pool->header->service.fallbacks++;
	gpusort_sort_service_end(sort);
	gpusort_release_reordered(sort);
	if (sort->device.job.left_behind)
		replace_written(sort);
	report_fallback(sort->stats.fallback, failed);
}

/* Tells gpusortd everything about the sort, and has it begin.  Returns NULL, or why it does not. */
static const char *
run_job(GpuSort *sort)
{
	GpuSortJobPlane planes[GS_MAX_PLANES];
	unsigned	nplanes = gpusort_list_planes(&sort->keys, planes);
	uint64		nrows = sort->rows.count;
	bool		equal = needs_equal_rows(sort);
	const char *why;
	bool		cuda;

	if (!gpusort_service_is_up(&cuda))
		return GPUSORT_WHY_DOWN;
	if (!gpusort_range_grow(sort->order.workspace, nrows * sizeof(uint32)) ||
		(equal && !gpusort_range_grow(sort->order.equal, gpusort_bitmap_bytes(nrows))))
		return GPUSORT_WHY_NO_ROOM;
	if (!sort->device.job.open && (why = open_job(sort, nplanes)) != NULL)
		return why;
	for (unsigned i = 0; i < sort->keys.nplanes; i++)
		planes[i].null_order = sort->keys.planes[i].null_order;
	gpusort_reorder_begin(sort);
	INSTR_TIME_SET_CURRENT(sort->device.run_at);
	return gpusort_job_run(&sort->device.job, nrows, sort->keys.nplanes, planes,
						   sort->order.workspace, equal ? sort->order.equal : NULL);
}

/* Closes a job that has nothing more to tell. */
static void
end_if_answered(GpuSort *sort)
{
	if (sort->order.ready == sort->rows.count && !sort->device.reorder.running)
		gpusort_sort_service_end(sort);
}

void
gpusort_note_result(GpuSort *sort, const gsd_result *result)
{
	bool		cuda = gpusort_pool->header->service.engine != 0;

	sort->stats.engine = cuda ? GPUSORT_SORTED_BY_CUDA : GPUSORT_SORTED_BY_SIMULATION;
	sort->stats.key_bits = result->key_bits;
	sort->stats.devices = result->devices;
	sort->stats.rounds = result->rounds;
	sort->stats.refined_rows = result->refined_rows;
	sort->stats.presorted = result->presorted != 0;
}

static void
take_result(GpuSort *sort)
{
	gpusort_note_result(sort, gpusort_job_result(&sort->device.job));
	sort->order.ids = RANGE_U32(sort->order.workspace);
	end_if_answered(sort);
}

/* Waits until the first `rows` rows are ready.  Returns NULL, or why they will never be. */
static const char *
wait_for_rows(GpuSort *sort, uint64 rows)
{
	const char *why = NULL;
	instr_time	start;

	INSTR_TIME_SET_CURRENT(start);
	gs_progress_plan(sort->progress, sort->rows.count);
	while (why == NULL && sort->order.ready < rows)
	{
		uint64		before = sort->order.ready;

		why = gpusort_job_wait(&sort->device.job, before + 1, &sort->order.ready);
		gs_progress_advance(sort->progress, sort->order.ready - before);
	}
	gpusort_add_elapsed(&sort->stats.wait_time, start);
	return why;
}

bool
gpusort_sort_service_sort(GpuSort *sort, bool all_at_once)
{
	const char *why;
	bool		cuda;

	if (!gpusort_sort_service_is_wanted(sort, sort->rows.count))
		return false;
	if (!gpusort_service_is_up(&cuda) && gpusort_service_why_not() == NULL)
	{
		/* gpusortd is not running, and no user expects it to be */
		gpusort_sort_service_end(sort);
		return false;
	}
	why = run_job(sort);
	if (why == NULL)
		why = wait_for_rows(sort, all_at_once ? sort->rows.count : 1);
	if (why != NULL)
	{
		gpusort_sort_service_fall_back(sort, why,
									   sort->device.job.open && sort->device.job.running);
		return false;
	}
	take_result(sort);
	return true;
}

/* Wait until the first `rows` positions are ready. */
static void
gpusort_sort_service_await(GpuSort *sort, uint64 rows)
{
	const char *why;
	instr_time	start;
	bool		sorted;

	INSTR_TIME_SET_CURRENT(start);
	why = gpusort_job_wait(&sort->device.job, rows, &sort->order.ready);
	gpusort_add_elapsed(&sort->stats.wait_time, start);
	if (why != NULL)
	{
		gpusort_sort_service_fall_back(sort, why, true);
		sorted = gpusort_sort_on_host(sort);
		gpusort_end_sort_workers(sort);
		if (!sorted)
			ereport(ERROR,
					(errcode(ERRCODE_OUT_OF_MEMORY),
					 errmsg("out of memory"),
					 errdetail("gpusortd has failed during a sort, and there is no memory to repeat it.")));
	}
	else
		end_if_answered(sort);
}

/* Find out how many positions are ready by now.  The sort must have a job. */
static void
gpusort_sort_service_poll(GpuSort *sort)
{
	sort->order.ready = Max(sort->order.ready, gpusort_job_ready(&sort->device.job));
	end_if_answered(sort);
}

GpuSort *
gpusort_sort_service_find(MemoryContext context)
{
	dlist_iter	iter;

	dlist_foreach(iter, &open_sorts)
	{
		GpuSort    *sort = dlist_container(GpuSort, device.node, iter.cur);
		MemoryContext above = sort->context;

		while (above != NULL && above != context)
			above = MemoryContextGetParent(above);
		if (above != NULL && sort->order.performed)
			return sort;
	}
	return NULL;
}

/* ---------- waiting for what gpusortd has yet to do ---------- */

/*
 * While rows are brought into order: finds out how many already are, or, with gpusort.reorder_rows
 * = on, waits until `rows` are.
 */
static void
look_for_reordered(GpuSort *sort, uint64 rows)
{
	GpuSortJob *job = &sort->device.job;
	GpuSortOrder *order = &sort->order;
	GpuSortReordered *reorder = &sort->device.reorder;
	bool		wait = gpusort_reorder_rows == GPUSORT_REORDER_ON;
	bool		over;

	/* row ids come first: the job must not be closed before all of them are there */
	if (order->ready < sort->rows.count && wait)
		gpusort_sort_service_await(sort, sort->rows.count);
	else if (order->ready < sort->rows.count)
		order->ready = Max(order->ready, gpusort_job_ready(job));
	if (order->ready < sort->rows.count || !reorder->running)
		return;
	if (wait && reorder->count < rows)
		over = gpusort_job_wait_reordered(job, rows, &reorder->count);
	else
		over = gpusort_job_reordered(job, &reorder->count);
	if (over)
		gpusort_sort_service_end(sort);
}

void
gpusort_await_rows(GpuSort *sort, uint64 rows)
{
	if (rows > sort->order.ready)
		gpusort_sort_service_await(sort, rows);
	if (sort->device.reorder.running)
		look_for_reordered(sort, rows);
	else if (sort->device.job.open)
		gpusort_sort_service_poll(sort);
}

void
gpusort_await_all(GpuSort *sort)
{
	uint64		rows = sort->rows.count;

	if (sort->order.ready < rows)
		gpusort_sort_service_await(sort, rows);
	if (!sort->device.reorder.running)
		return;
	(void) gpusort_job_wait_reordered(&sort->device.job, rows, &sort->device.reorder.count);
	gpusort_sort_service_end(sort);
}
