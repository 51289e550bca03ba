/*
 * gs_reorder.c
 *		Bringing the rows of a sort into its order, on one device.
 *
 * Two windows take turns, each with memory of its own.  The host waits for a window's rows before
 * its memory is used again, so within the device only the queues have to wait for each other, in
 * the order up, work, down.
 *
 * Nothing that a session writes may make a device read or write where it should not: ids,
 * references and lengths are checked where they are used, and it is known how much room a window's
 * rows take before anything is copied.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/gs_engine.h"
#include "engine/device/gs_device_sort.h"

/*
 * So many bytes of rows are copied and sent at a time.  A window costs the host some 50 us, and the
 * link needs 0.6 ms for so many bytes.
 */
#define WINDOW_BYTES	(UINT64_C(32) << 20)

#define WINDOWS			2
#define MAX_BLOCKS		(WINDOWS * 4 + 2)

/* A window: rows on their way, up to position `end`. */
typedef struct window
{
	uint64_t	end;
	/* happens when the rows are in place; NULL: no rows are on their way */
	gs_event_ref event;
	uint32_t   *ids;			/* device memory, as the three below */
	uint64_t   *ends;
	uint32_t   *refs;
	void	   *rows;
} window;

struct gs_reorder
{
	gs_group   *group;
	gs_device  *device;			/* NULL: no device was chosen yet */
	char		message[320];

	/* rows on the device; slabs and blocks are the only memory taken there */
	uint64_t  **slabs;
	uint64_t	nslabs;
	uint64_t	slab_room;
	uint64_t	used_bytes;
	uint64_t	uploaded;		/* bytes of rows that were uploaded */
	unsigned	nblocks;
	void	   *blocks[MAX_BLOCKS];

	/* set by gs_reorder_run() */
	gs_reorder_args args;
	gs_stored_rows stored;
	uint64_t	window_bytes;
	uint64_t	window_rows;
	window		windows[WINDOWS];
	unsigned	next_window;	/* the window to be sent next; the other one is older */
	void	   *temp;
	uint64_t	next;			/* position of the first row that was not sent */
	uint64_t	sent_bytes;
};

/*
 * Calls an operation of the device, and returns its status unless that is GS_OK: DO(reorder,
 * upload, queue, to, ...).
 */
#define DO(reorder, operation, ...) \
	do { \
		gs_status	do_status = (reorder)->device->ops->operation((reorder)->device, __VA_ARGS__); \
		if (do_status != GS_OK) \
		{ \
			tell_device_error(reorder, do_status); \
			return do_status; \
		} \
	} while (0)

static gs_status
fail(gs_reorder *reorder, gs_status status, const char *message)
{
	snprintf(reorder->message, sizeof(reorder->message), "%s", message);
	return status;
}

/* Sets the message to the device's error. */
static void
tell_device_error(gs_reorder *reorder, gs_status status)
{
	const gs_device *device = reorder->device;

	snprintf(reorder->message, sizeof(reorder->message), "device %u: %s", device->index,
			 device->error[0] != '\0' ? device->error : gs_status_text(status));
}

gs_reorder *
gs_reorder_begin(gs_group *group)
{
	gs_reorder *reorder = calloc(1, sizeof(*reorder));

	if (reorder != NULL)
		reorder->group = group;
	return reorder;
}

/* Takes the device that has most memory free. */
static void
choose_device(gs_reorder *reorder)
{
	const gs_group *group = reorder->group;
	size_t		most = 0;

	for (unsigned d = 0; d < group->ndevices; d++)
	{
		gs_device  *device = group->devices[d];
		size_t		bytes = device->ops->largest_free(device);

		if (reorder->device == NULL || bytes > most)
		{
			reorder->device = device;
			most = bytes;
		}
	}
}

/*
 * Returns whether the reordering may take so many bytes more.  It may take half of the memory, and
 * only while a quarter stays free for sorts.
 */
static bool
may_take(const gs_reorder *reorder, uint64_t bytes)
{
	gs_device  *device = reorder->device;
	uint64_t	limit = reorder->group->options.memory_bytes;
	gs_device_info info;

	device->ops->info(device, &info);
	if (limit == 0 || limit > info.arena_bytes)
		limit = info.arena_bytes;
	return reorder->used_bytes <= limit / 2 && bytes <= limit / 2 - reorder->used_bytes &&
		device->ops->largest_free(device) >= bytes + limit / 4;
}

static void *
take_memory(gs_reorder *reorder, uint64_t bytes)
{
	void	   *memory;

	if (!may_take(reorder, bytes))
		return NULL;
	memory = reorder->device->ops->alloc(reorder->device, bytes);
	if (memory != NULL)
		reorder->used_bytes += bytes;
	return memory;
}

static void *
take_block(gs_reorder *reorder, uint64_t bytes)
{
	void	   *memory = take_memory(reorder, bytes);

	if (memory != NULL)
		reorder->blocks[reorder->nblocks++] = memory;
	return memory;
}

static bool
add_slab(gs_reorder *reorder)
{
	if (reorder->nslabs == reorder->slab_room)
	{
		uint64_t	room = reorder->slab_room == 0 ? 64 : 2 * reorder->slab_room;
		uint64_t  **slabs = realloc(reorder->slabs, room * sizeof(*slabs));

		if (slabs == NULL)
			return false;
		reorder->slabs = slabs;
		reorder->slab_room = room;
	}
	reorder->slabs[reorder->nslabs] = take_memory(reorder, GS_SLAB_BYTES);
	if (reorder->slabs[reorder->nslabs] == NULL)
		return false;
	reorder->nslabs++;
	return true;
}

/* Makes room for so many bytes of rows; returns false if there is none. */
static bool
reserve_slabs(gs_reorder *reorder, uint64_t bytes)
{
	while (reorder->nslabs << GS_SLAB_SHIFT < bytes)
		if (!add_slab(reorder))
			return false;
	return true;
}

/* Uploads the next bytes of the rows, for which there is room. */
static gs_status
upload_rows(gs_reorder *reorder, const void *from, uint64_t bytes)
{
	while (bytes > 0)
	{
		uint64_t	offset = reorder->uploaded & (GS_SLAB_BYTES - 1);
		uint64_t	count = GS_SLAB_BYTES - offset < bytes ? GS_SLAB_BYTES - offset : bytes;
		char	   *slab = (char *) reorder->slabs[reorder->uploaded >> GS_SLAB_SHIFT];

		DO(reorder, upload, GS_QUEUE_UP, slab + offset, from, count);
		from = (const char *) from + count;
		reorder->uploaded += count;
		bytes -= count;
	}
	return GS_OK;
}

bool
gs_reorder_feed(gs_reorder *reorder, const void *rows, uint64_t bytes)
{
	if (reorder->device == NULL)
		choose_device(reorder);
	return reserve_slabs(reorder, reorder->uploaded + bytes) &&
		upload_rows(reorder, rows, bytes) == GS_OK;
}

/* Returns how many bytes from an offset of a span on lie in one part, at most `bytes`. */
static uint64_t
piece_bytes(gs_span span, uint64_t offset, uint64_t bytes)
{
	uint64_t	part_bytes = UINT64_C(1) << span.shift;
	uint64_t	count = part_bytes - offset % part_bytes;

	return count < bytes ? count : bytes;
}

static gs_status
upload_span(gs_reorder *reorder, void *to, gs_span from, uint64_t offset, uint64_t bytes)
{
	while (bytes > 0)
	{
		uint64_t	count = piece_bytes(from, offset, bytes);

		DO(reorder, upload, GS_QUEUE_UP, to, gs_span_at(from, offset), count);
		to = (char *) to + count;
		offset += count;
		bytes -= count;
	}
	return GS_OK;
}

static gs_status
download_span(gs_reorder *reorder, gs_span to, uint64_t offset, const void *from, uint64_t bytes)
{
	while (bytes > 0)
	{
		uint64_t	count = piece_bytes(to, offset, bytes);

		DO(reorder, download, GS_QUEUE_DOWN, gs_span_at(to, offset), from, count);
		from = (const char *) from + count;
		offset += count;
		bytes -= count;
	}
	return GS_OK;
}

/* Has a queue wait for what is on another one now. */
static gs_status
follow(gs_reorder *reorder, gs_queue queue, gs_queue behind)
{
	gs_event_ref event;

	DO(reorder, record, behind, &event);
	DO(reorder, wait, queue, event);
	reorder->device->ops->release(reorder->device, event);
	return GS_OK;
}

/* Waits until the device does nothing for the reordering any more. */
static gs_status
drain(gs_reorder *reorder)
{
	for (unsigned i = 0; i < WINDOWS; i++)
	{
		if (reorder->windows[i].event != NULL)
			reorder->device->ops->release(reorder->device, reorder->windows[i].event);
		reorder->windows[i].event = NULL;
	}
	for (int queue = 0; queue < GS_QUEUES; queue++)
	{
		gs_event_ref event;

		DO(reorder, record, (gs_queue) queue, &event);
		DO(reorder, sync, event);
		reorder->device->ops->release(reorder->device, event);
	}
	return GS_OK;
}

/*
 * Stops, gives back all device memory, and forgets the rows.  Returns status, or GS_DEVICE_LOST if
 * the device turns out to be lost.
 */
static gs_status
clean_up(gs_reorder *reorder, gs_status status)
{
	gs_device  *device = reorder->device;
	bool		broken = status == GS_DEVICE_ERROR || status == GS_DEVICE_LOST;

	if (device == NULL)
		return status;
	if (broken || drain(reorder) != GS_OK)
	{
		if (device->ops->reset(device) == GS_DEVICE_LOST)
		{
			status = GS_DEVICE_LOST;
			tell_device_error(reorder, status);
		}
		for (unsigned i = 0; i < WINDOWS; i++)
			reorder->windows[i].event = NULL;
	}
	for (uint64_t i = 0; i < reorder->nslabs; i++)
		device->ops->free(device, reorder->slabs[i]);
	for (unsigned i = 0; i < reorder->nblocks; i++)
		device->ops->free(device, reorder->blocks[i]);
	reorder->nslabs = reorder->nblocks = 0;
	reorder->uploaded = reorder->used_bytes = 0;
	reorder->device = NULL;
	return status;
}

static bool
args_valid(const gs_reorder_args *args)
{
	bool		varied_valid = args->unit >= 8 && (args->unit & (args->unit - 1)) == 0 &&
		args->length.shift < 64;

	return args->nrows > 0 && args->nrows <= UINT32_MAX && args->row_bytes > 0 &&
		(args->stride == 0 ? varied_valid
		 : args->stride % 8 == 0 && args->nrows - 1 <= (args->row_bytes - 1) / args->stride);
}

/* Uploads what is missing: rows, and the references to them. */
static gs_status
upload_rest(gs_reorder *reorder)
{
	const gs_reorder_args *args = &reorder->args;
	uint64_t	bytes = reorder->stored.bytes;

	if (!reserve_slabs(reorder, bytes))
		return fail(reorder, GS_NO_SPACE, "not enough device memory for the rows");
	while (reorder->uploaded < bytes)
	{
		uint64_t	offset = reorder->uploaded;
		uint64_t	count = piece_bytes(args->rows, offset, bytes - offset);

		GS_TRY(upload_rows(reorder, gs_span_at(args->rows, offset), count));
	}
	reorder->stored.slabs = (const uint64_t *const *) reorder->slabs;
	if (args->stride == 0)
	{
		uint32_t   *refs = take_block(reorder, args->nrows * sizeof(uint32_t));

		if (refs == NULL)
			return fail(reorder, GS_NO_SPACE, "not enough device memory for the rows");
		reorder->stored.refs = refs;
		return upload_span(reorder, refs, args->refs, 0, args->nrows * sizeof(uint32_t));
	}
	return GS_OK;
}

/* Takes memory for windows, as the rows need it. */
static gs_status
take_windows(gs_reorder *reorder)
{
	const gs_reorder_args *args = &reorder->args;
	uint64_t	row_bytes = args->stride > 0 ? args->stride : args->row_bytes / args->nrows + 1;
	uint64_t	rows;
	bool		taken = true;

	reorder->window_bytes = reorder->group->options.window_bytes;
	if (reorder->window_bytes == 0)
		reorder->window_bytes = WINDOW_BYTES;
	if (reorder->window_bytes > reorder->stored.bytes)
		reorder->window_bytes = reorder->stored.bytes;
	if (reorder->window_bytes < row_bytes)
		reorder->window_bytes = (row_bytes + 7) / 8 * 8;

	/* rows that differ in length take more room in one window than in another, by chance */
	rows = reorder->window_bytes / row_bytes;
	if (args->stride == 0)
		rows -= rows / 8;
	reorder->window_rows = rows = rows < args->nrows ? rows : args->nrows;
	for (unsigned i = 0; i < WINDOWS; i++)
	{
		window	   *w = &reorder->windows[i];

		w->ids = take_block(reorder, rows * sizeof(uint32_t));
		w->rows = take_block(reorder, reorder->window_bytes);
		taken = taken && w->ids != NULL && w->rows != NULL;
		if (args->stride > 0)
			continue;
		w->ends = take_block(reorder, rows * sizeof(uint64_t));
		w->refs = take_block(reorder, rows * sizeof(uint32_t));
		taken = taken && w->ends != NULL && w->refs != NULL;
	}
	if (args->stride == 0)
	{
		reorder->temp = take_block(reorder, reorder->device->ops->place_temp_bytes(reorder->device,
																				   rows));
		taken = taken && reorder->temp != NULL;
	}
	return taken ? GS_OK : fail(reorder, GS_NO_SPACE, "not enough device memory for the rows");
}

/* Finds out where the rows of a window go, and halves their number until they fit. */
static gs_status
place_window(gs_reorder *reorder, gs_gather *gather, uint64_t *bytes)
{
	uint64_t	units;

	if (reorder->args.stride > 0)
		*bytes = gather->nrows * reorder->args.stride;
	else
		for (;;)
		{
			DO(reorder, place_rows, GS_QUEUE_WORK, gather, &units);
			*bytes = units * reorder->args.unit;
			if (*bytes <= reorder->window_bytes)
				break;
			if (gather->nrows == 1)
				return fail(reorder, GS_NO_SPACE, "a row is too long");
			gather->nrows /= 2;
		}
	if (*bytes > reorder->args.to_bytes - reorder->sent_bytes)
		return fail(reorder, GS_INVALID, "the rows are longer than the room for them");
	return GS_OK;
}

/* Puts the operations for the next window of rows on queues. */
static gs_status
send_window(gs_reorder *reorder)
{
	const gs_reorder_args *args = &reorder->args;
	window	   *w = &reorder->windows[reorder->next_window];
	uint64_t	left = args->nrows - reorder->next;
	uint64_t	bytes;
	gs_gather	gather = {
		.from = reorder->stored,
		.nrows = left < reorder->window_rows ? left : reorder->window_rows,
		.ids = w->ids,
		.rows = w->rows,
		.ends = w->ends,
		.first_ref = args->stride == 0 ? (uint32_t) (reorder->sent_bytes / args->unit) : 0,
		.refs = w->refs,
		.temp = reorder->temp,
	};

	GS_TRY(upload_span(reorder, w->ids, args->ids, reorder->next * sizeof(uint32_t),
					gather.nrows * sizeof(uint32_t)));
	GS_TRY(follow(reorder, GS_QUEUE_WORK, GS_QUEUE_UP));
	GS_TRY(place_window(reorder, &gather, &bytes));
	DO(reorder, gather_rows, GS_QUEUE_WORK, &gather);
	GS_TRY(follow(reorder, GS_QUEUE_DOWN, GS_QUEUE_WORK));
	GS_TRY(download_span(reorder, args->to_rows, reorder->sent_bytes, w->rows, bytes));
	if (args->stride == 0)
		GS_TRY(download_span(reorder, args->to_refs, reorder->next * sizeof(uint32_t), w->refs,
						  gather.nrows * sizeof(uint32_t)));
	DO(reorder, record, GS_QUEUE_DOWN, &w->event);
	reorder->next += gather.nrows;
	reorder->sent_bytes += bytes;
	w->end = reorder->next;
	reorder->next_window = (reorder->next_window + 1) % WINDOWS;
	return GS_OK;
}

static gs_status
start(gs_reorder *reorder)
{
	if (!args_valid(&reorder->args))
		return fail(reorder, GS_INVALID, gs_status_text(GS_INVALID));
	if (reorder->device == NULL)
		choose_device(reorder);
	reorder->stored = (gs_stored_rows) {
		.bytes = (reorder->args.row_bytes + 7) / 8 * 8,
		.nrows = reorder->args.nrows,
		.stride = reorder->args.stride,
		.unit = reorder->args.unit,
		.length = reorder->args.length,
	};
	GS_TRY(take_windows(reorder));
	GS_TRY(upload_rest(reorder));
	return send_window(reorder);
}

gs_status
gs_reorder_run(gs_reorder *reorder, const gs_reorder_args *args, const char **message)
{
	gs_status	status;

	*message = reorder->message;
	reorder->args = *args;
	status = start(reorder);
	return status == GS_OK ? GS_OK : clean_up(reorder, status);
}

/* Sends another window while the one before comes in, and waits for the latter. */
static gs_status
next_rows(gs_reorder *reorder, uint64_t *ready)
{
	window	   *w = &reorder->windows[(reorder->next_window + 1) % WINDOWS];
	gs_event_ref event = w->event;

	if (gs_cancelled(reorder->args.cancel))
		return fail(reorder, GS_CANCELLED, "reordering was cancelled");
	if (reorder->next < reorder->args.nrows)
		GS_TRY(send_window(reorder));
	DO(reorder, sync, event);
	reorder->device->ops->release(reorder->device, event);
	w->event = NULL;
	*ready = w->end;
	return GS_OK;
}

gs_status
gs_reorder_wait(gs_reorder *reorder, uint64_t *ready, const char **message)
{
	gs_status	status;

	*message = reorder->message;
	if (*ready >= reorder->args.nrows)
		return GS_OK;
	status = next_rows(reorder, ready);
	return status == GS_OK ? GS_OK : clean_up(reorder, status);
}

void
gs_reorder_end(gs_reorder *reorder)
{
	if (reorder == NULL)
		return;
	(void) clean_up(reorder, GS_OK);
	free(reorder->slabs);
	free(reorder);
}
