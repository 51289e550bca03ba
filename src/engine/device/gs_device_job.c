/*
 * gs_device_job.c
 *		What all steps of a sort on devices need: memory, waiting, messages.
 *
 * Every block of device memory that a job takes is in its list of allocations until it is given
 * back.  A block is given back only when no device can be busy with it any more: memory that is
 * freed may be handed out at once, to another job too, for use on any queue.  So blocks are given
 * back at the end of the job, after a failure and its reset(), or right after the host has waited
 * for the operations that used them.
 */
#define _POSIX_C_SOURCE 200809L

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "engine/device/gs_device_private.h"

/*
 * How to wait for an event: a device answers in about a microsecond, and a sleep takes some 60
 * longer than asked for, so the host asks SPINS times before it sleeps.
 */
#define SPINS			200
#define SLEEP_NS		20000

/* Keeps the error of a device as the job's message.  Returns status. */
gs_status
gs_job_failed(gs_device_job *job, unsigned d, gs_status status)
{
	const gs_device *device = job->devices[d].device;

	snprintf(job->message, sizeof(job->message), "device %u: %s", d,
			 device->error[0] != '\0' ? device->error : gs_status_text(status));
	return status;
}

gs_status
gs_job_fail(gs_device_job *job, gs_status status, const char *message)
{
	snprintf(job->message, sizeof(job->message), "%s", message);
	return status;
}

/* Returns how many bytes in one piece the job may still take on a device. */
size_t
gs_job_available(const gs_device_job *job, unsigned d)
{
	const gs_job_device *jd = &job->devices[d];
	size_t		bytes = jd->device->ops->largest_free(jd->device);
	uint64_t	limit = job->options.memory_bytes;

	if (limit != 0 && jd->used_bytes >= limit)
		return 0;
	if (limit != 0 && bytes > limit - jd->used_bytes)
		bytes = limit - jd->used_bytes;
	return bytes;
}

static bool
reserve_allocation(gs_device_job *job)
{
	unsigned	room = job->allocation_room == 0 ? 64 : 2 * job->allocation_room;
	gs_allocation *allocations;

	if (job->nallocations < job->allocation_room)
		return true;
	allocations = realloc(job->allocations, room * sizeof(*allocations));
	if (allocations == NULL)
		return false;
	job->allocations = allocations;
	job->allocation_room = room;
	return true;
}

/*
 * Takes memory on a device; returns NULL if the arena or the job's limit has no room, or the host
 * no memory.
 */
void *
gs_job_alloc(gs_device_job *job, unsigned d, size_t bytes)
{
	gs_job_device *jd = &job->devices[d];
	void	   *memory;

	if (bytes > gs_job_available(job, d) || !reserve_allocation(job))
		return NULL;
	memory = jd->device->ops->alloc(jd->device, bytes);
	if (memory == NULL)
		return NULL;
	job->allocations[job->nallocations++] = (gs_allocation) {d, bytes, memory};
	jd->used_bytes += bytes;
	return memory;
}

static void
free_allocation(gs_device_job *job, unsigned i)
{
	gs_allocation *a = &job->allocations[i];
	gs_job_device *jd = &job->devices[a->device];

	jd->device->ops->free(jd->device, a->memory);
	jd->used_bytes -= a->bytes;
	job->nallocations--;
	memmove(a, a + 1, (job->nallocations - i) * sizeof(*a));
}

/* Gives back a block, or does nothing with NULL. */
void
gs_job_free(gs_device_job *job, unsigned d, void *memory)
{
	for (unsigned i = job->nallocations; i-- > 0 && memory != NULL;)
		if (job->allocations[i].memory == memory && job->allocations[i].device == d)
		{
			free_allocation(job, i);
			return;
		}
}

/* Gives back all blocks but the first first_allocation that were taken. */
void
gs_job_free_from(gs_device_job *job, unsigned first_allocation)
{
	while (job->nallocations > first_allocation)
		free_allocation(job, job->nallocations - 1);
}

/* Returns the rows of some segments, the last of which may not be full. */
gs_rows
gs_job_rows(const gs_device_job *job, uint64_t first_segment, uint64_t nsegments)
{
	gs_rows		rows = {first_segment << GS_SEGMENT_SHIFT, nsegments << GS_SEGMENT_SHIFT};

	if (rows.nrows > job->args.nrows - rows.first_row)
		rows.nrows = job->args.nrows - rows.first_row;
	return rows;
}

/* Sets up a device's tables, unless that has been done. */
gs_status
gs_job_open_device(gs_device_job *job, unsigned d)
{
	gs_job_device *jd = &job->devices[d];

	if (jd->tables != NULL)
		return GS_OK;
	jd->touched = true;
	jd->tables = gs_job_alloc(job, d, sizeof(*jd->tables));
	if (jd->tables == NULL)
		return gs_job_fail(job, GS_NO_SPACE, "not enough device memory");
	for (unsigned p = 0; p < GS_MAX_PLANES; p++)
		job->stats[d][p] = (gs_plane_stats) GS_PLANE_STATS_INIT;
	GS_DO(job, d, upload, GS_QUEUE_WORK, jd->tables->stats, job->stats[d], sizeof(job->stats[d]));
	return GS_OK;
}

gs_status
gs_job_poll(gs_device_job *job)
{
	return gs_cancelled(job->args.cancel)
		? gs_job_fail(job, GS_CANCELLED, "sort was cancelled") : GS_OK;
}

/* Waits on the host for an event, or for the job to be cancelled, and releases the event. */
gs_status
gs_job_sync(gs_device_job *job, unsigned d, gs_event_ref event)
{
	gs_device  *device = job->devices[d].device;
	const struct timespec pause = {0, SLEEP_NS};

	for (unsigned spins = 0; !device->ops->done(device, event); spins++)
	{
		GS_TRY(gs_job_poll(job));
		if (spins >= SPINS)
			nanosleep(&pause, NULL);
	}
	GS_DO(job, d, sync, event);
	device->ops->release(device, event);
	return gs_job_poll(job);
}

/* Waits in the same way for everything that is on a queue now. */
gs_status
gs_job_sync_queue(gs_device_job *job, unsigned d, gs_queue queue)
{
	gs_event_ref event;

	GS_DO(job, d, record, queue, &event);
	return gs_job_sync(job, d, event);
}

/* Waits until no device does anything for the job. */
gs_status
gs_job_drain(gs_device_job *job)
{
	for (unsigned d = 0; d < job->group->ndevices; d++)
		for (int queue = 0; queue < GS_QUEUES && job->devices[d].touched; queue++)
			GS_TRY(gs_job_sync_queue(job, d, (gs_queue) queue));
	return GS_OK;
}

/* Has a queue wait for what is on another one now. */
gs_status
gs_job_follow(gs_device_job *job, unsigned d, gs_queue queue, unsigned behind_device,
			  gs_queue behind)
{
	gs_device  *other = job->devices[behind_device].device;
	gs_event_ref event;

	if (d == behind_device && queue == behind)
		return GS_OK;
	GS_DO(job, behind_device, record, behind, &event);
	GS_DO(job, d, wait, queue, event);
	other->ops->release(other, event);
	return GS_OK;
}

void
gs_job_span_begin(gs_device_job *job, unsigned d, gs_queue queue, const char *name)
{
	gs_device  *device = job->devices[d].device;

	device->ops->span_begin(device, queue, name);
}

void
gs_job_span_end(gs_device_job *job, unsigned d, gs_queue queue)
{
	gs_device  *device = job->devices[d].device;

	device->ops->span_end(device, queue);
}

/* ---------- a part of the key of one row ---------- */

uint64_t
gs_row_section(const gs_section *section, const gs_plane_rows *planes, uint64_t row)
{
	uint64_t	s = row >> GS_SEGMENT_SHIFT;
	uint64_t	key = 0;

	for (unsigned i = 0; i < section->npieces; i++)
	{
		gs_field	field = *section->pieces[i].field;
		gs_section	piece = {.width = section->pieces[i].width, .npieces = 1};

		field.words = planes[i].words == NULL ? NULL : planes[i].words[s];
		field.nulls = planes[i].nulls == NULL ? NULL : planes[i].nulls[s];
		piece.pieces[0] = section->pieces[i];
		piece.pieces[0].field = &field;
		key = key << (piece.width - 1) << 1 | gs_pack_row(&piece, row & (GS_SEGMENT_ROWS - 1));
	}
	return key;
}
