/*
 * gs_find_fields.c
 *		Finding the records and fields of chunks of delimited text, on one device.
 *
 * Chunks are worked on in rounds, as many at a time as there is memory for.  Within a round one
 * chunk is uploaded while the one before is read.  How much there is to download is known only when
 * the numbers that the round has found are there.
 */
#include <string.h>

#include "engine/device/gs_device_sort.h"

/* More chunks at a time gain nothing: a megabyte takes a device some 30 us. */
#define MOST_SLOTS	16

/* Device memory for one chunk. */
typedef struct slot
{
	char	   *data;
	uint32_t   *field_ends;
	uint32_t   *record_fields;
	void	   *temp;
} slot;

typedef struct finder
{
	gs_device  *device;
	const gs_find_fields_args *args;
	void	   *memory;			/* device memory that found and the slots lie in */
	unsigned	nslots;
	slot		slots[MOST_SLOTS];
	gs_found   *found;			/* what was found in a round's chunks, in device memory */
	gs_found	round[MOST_SLOTS];	/* the same, in host memory */
} finder;

#define DO(finder, operation, ...) \
	GS_TRY((finder)->device->ops->operation((finder)->device, __VA_ARGS__))

static size_t
aligned(size_t bytes)
{
	return (bytes + 255) / 256 * 256;
}

#define FOUND_BYTES		aligned(MOST_SLOTS * sizeof(gs_found))

static size_t
slot_bytes(const finder *finder)
{
	const gs_find_fields_args *args = finder->args;

	return aligned(args->max_bytes) + aligned(args->max_fields * sizeof(uint32_t)) +
		aligned(args->max_records * sizeof(uint32_t)) +
		aligned(finder->device->ops->find_fields_temp_bytes(finder->device, args->max_bytes));
}

/* Takes memory for as many slots as are needed, or as there is room for. */
static bool
take_memory(finder *finder)
{
	const gs_device_ops *ops = finder->device->ops;

	finder->nslots = finder->args->nchunks < MOST_SLOTS ? finder->args->nchunks : MOST_SLOTS;
	for (; finder->nslots > 0; finder->nslots /= 2)
	{
		finder->memory = ops->alloc(finder->device,
									FOUND_BYTES + finder->nslots * slot_bytes(finder));
		if (finder->memory != NULL)
			return true;
	}
	return false;
}

/* Divides that memory up. */
static void
lay_out(finder *finder)
{
	const gs_find_fields_args *args = finder->args;
	char	   *at = (char *) finder->memory + FOUND_BYTES;

	finder->found = finder->memory;
	for (unsigned i = 0; i < finder->nslots; i++)
	{
		slot	   *slot = &finder->slots[i];

		slot->data = at;
		at += aligned(args->max_bytes);
		slot->field_ends = (uint32_t *) at;
		at += aligned(args->max_fields * sizeof(uint32_t));
		slot->record_fields = (uint32_t *) at;
		at += aligned(args->max_records * sizeof(uint32_t));
		slot->temp = at;
		at += aligned(finder->device->ops->find_fields_temp_bytes(finder->device, args->max_bytes));
	}
}

static gs_status
put_chunk(finder *finder, unsigned i, const gs_text_chunk *chunk)
{
	const gs_find_fields_args *args = finder->args;
	const slot *slot = &finder->slots[i];
	gs_event_ref uploaded;
	gs_text		text = {
		.dialect = args->dialect,
		.data = slot->data,
		.bytes = chunk->bytes,
		.max_fields = args->max_fields,
		.max_records = args->max_records,
		.field_ends = slot->field_ends,
		.record_fields = slot->record_fields,
		.found = &finder->found[i],
		.temp = slot->temp
	};

	DO(finder, upload, GS_QUEUE_UP, slot->data, chunk->data, (chunk->bytes + 15) / 16 * 16);
	DO(finder, record, GS_QUEUE_UP, &uploaded);
	DO(finder, wait, GS_QUEUE_WORK, uploaded);
	finder->device->ops->release(finder->device, uploaded);
	DO(finder, find_fields, GS_QUEUE_WORK, &text);
	return GS_OK;
}

static gs_status
get_chunk(finder *finder, unsigned i, gs_text_chunk *chunk)
{
	const gs_find_fields_args *args = finder->args;
	const slot *slot = &finder->slots[i];

	chunk->found = finder->round[i];
	if (chunk->found.nfields > args->max_fields || chunk->found.nrecords > args->max_records)
		return GS_OK;
	if (chunk->found.nfields > 0)
		DO(finder, download, GS_QUEUE_DOWN, chunk->field_ends, slot->field_ends,
		   chunk->found.nfields * sizeof(uint32_t));
	if (chunk->found.nrecords > 0)
		DO(finder, download, GS_QUEUE_DOWN, chunk->record_fields, slot->record_fields,
		   chunk->found.nrecords * sizeof(uint32_t));
	return GS_OK;
}

/* Waits for all that is on a queue. */
static gs_status
wait_for_queue(finder *finder, gs_queue queue)
{
	gs_event_ref event;
	gs_status	status;

	DO(finder, record, queue, &event);
	status = finder->device->ops->sync(finder->device, event);
	finder->device->ops->release(finder->device, event);
	return status;
}

static gs_status
find_round(finder *finder, gs_text_chunk *chunks, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		GS_TRY(put_chunk(finder, i, &chunks[i]));
	DO(finder, download, GS_QUEUE_WORK, finder->round, finder->found, count * sizeof(gs_found));
	GS_TRY(wait_for_queue(finder, GS_QUEUE_WORK));
	for (unsigned i = 0; i < count; i++)
		GS_TRY(get_chunk(finder, i, &chunks[i]));
	return wait_for_queue(finder, GS_QUEUE_DOWN);
}

static gs_status
find_all(finder *finder)
{
	const gs_find_fields_args *args = finder->args;

	for (unsigned at = 0; at < args->nchunks; at += finder->nslots)
	{
		unsigned	left = args->nchunks - at;

		if (args->cancel != NULL && *args->cancel)
			return GS_CANCELLED;
		GS_TRY(find_round(finder, args->chunks + at,
						  left < finder->nslots ? left : finder->nslots));
	}
	return GS_OK;
}

gs_status
gs_find_fields(gs_device *device, const gs_find_fields_args *args)
{
	finder		finder = {.device = device, .args = args};
	gs_status	status;

	device->error[0] = '\0';
	if (!take_memory(&finder))
		return GS_NO_SPACE;
	lay_out(&finder);
	status = find_all(&finder);
	if (status != GS_OK && status != GS_CANCELLED)
	{
		gs_status	reset;
		char		error[sizeof(device->error)];

		/* the reset waits until nothing runs; the message of the first failure is kept */
		memcpy(error, device->error, sizeof(error));
		reset = device->ops->reset(device);
		if (reset == GS_DEVICE_LOST)
			status = reset;
		memcpy(device->error, error, sizeof(error));
	}
	device->ops->free(device, finder.memory);
	return status;
}
