/*
 * ops_side.c
 *		One of the two devices that ops_test.c compares, and its memory.
 *
 * Data goes up on GS_QUEUE_UP and the work queue waits for it, so that events
 * between queues are used throughout.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ops_side.h"

void
must(side *s, gs_status status, const char *what)
{
	if (status == GS_OK)
		return;
	printf("Bail out! %s: %s: %s (%s)\n", s->name, what, gs_status_text(status),
		   s->device->error);
	exit(1);
}

static void
let_queue_wait(side *s, gs_queue waiting, gs_queue waited_for)
{
	const gs_device_ops *ops = s->device->ops;
	gs_event_ref event;

	must(s, ops->record(s->device, waited_for, &event), "record");
	must(s, ops->wait(s->device, waiting, event), "wait");
	ops->release(s->device, event);
}

static void
remember(side *s, void *block, void *table)
{
	if (s->nblocks == SIDE_MAX_BLOCKS)
	{
		printf("Bail out! %s: too many blocks\n", s->name);
		exit(1);
	}
	s->blocks[s->nblocks] = block;
	s->tables[s->nblocks++] = table;
}

void *
side_alloc(side *s, size_t bytes)
{
	void	   *memory = s->device->ops->alloc(s->device, bytes == 0 ? 1 : bytes);

	if (memory == NULL)
	{
		printf("Bail out! %s: no room for %zu bytes\n", s->name, bytes);
		exit(1);
	}
	remember(s, memory, NULL);
	return memory;
}

void *
side_put(side *s, const void *data, size_t bytes)
{
	void	   *memory = side_alloc(s, bytes);

	must(s, s->device->ops->upload(s->device, GS_QUEUE_UP, memory, data, bytes), "upload");
	let_queue_wait(s, GS_QUEUE_WORK, GS_QUEUE_UP);
	return memory;
}

void
side_get(side *s, void *to, const void *from, size_t bytes)
{
	const gs_device_ops *ops = s->device->ops;
	gs_event_ref event;

	let_queue_wait(s, GS_QUEUE_DOWN, GS_QUEUE_WORK);
	must(s, ops->download(s->device, GS_QUEUE_DOWN, to, from, bytes), "download");
	must(s, ops->record(s->device, GS_QUEUE_DOWN, &event), "record");
	must(s, ops->sync(s->device, event), "sync");
	if (!ops->done(s->device, event))
		must(s, GS_DEVICE_ERROR, "done() after sync()");
	ops->release(s->device, event);
}

static uint64_t *
register_copy(side *s, const uint64_t *data, uint64_t nwords)
{
	size_t		bytes = (nwords * sizeof(uint64_t) + 4095) / 4096 * 4096;
	uint64_t   *copy = aligned_alloc(4096, bytes);

	memcpy(copy, data, nwords * sizeof(uint64_t));
	must(s, s->device->ops->host_register(s->device, copy, bytes), "host_register");
	remember(s, NULL, copy);
	return copy;
}

const uint64_t *const *
side_segments(side *s, const uint64_t *data, uint64_t nwords, uint64_t segment_words,
			  segment_places places)
{
	uint64_t	nsegments = (nwords + segment_words - 1) / segment_words;
	uint64_t  **pointers = malloc((nsegments + 1) * sizeof(*pointers));
	uint64_t   *whole;

	if (places == SEGMENTS_ADJOIN)
		whole = side_put(s, data, nwords * sizeof(uint64_t));
	else if (places == SEGMENTS_ON_HOST)
		whole = register_copy(s, data, nwords);
	else
		whole = side_alloc(s, nsegments * segment_words * sizeof(uint64_t));
	side_alloc(s, 1);
	s->tables[s->nblocks - 1] = pointers;
	for (uint64_t i = 0; i < nsegments; i++)
	{
		uint64_t	first = i * segment_words;
		uint64_t	count = nwords - first < segment_words ? nwords - first : segment_words;

		pointers[i] = whole + first;
		if (places != SEGMENTS_SHUFFLED)
			continue;
		pointers[i] = whole + (nsegments - 1 - i) * segment_words;
		must(s, s->device->ops->upload(s->device, GS_QUEUE_WORK, pointers[i], data + first,
									   count * sizeof(uint64_t)), "upload");
	}
	return (const uint64_t *const *) pointers;
}

void
side_get_segments(side *s, uint64_t *to, const uint64_t *const *segments, uint64_t nwords,
				  uint64_t segment_words)
{
	for (uint64_t first = 0; first < nwords; first += segment_words)
	{
		uint64_t	count = nwords - first < segment_words ? nwords - first : segment_words;

		side_get(s, to + first, segments[first / segment_words], count * sizeof(uint64_t));
	}
}

void
side_clear(side *s)
{
	must(s, s->device->ops->reset(s->device), "reset");
	for (unsigned i = 0; i < s->nblocks; i++)
	{
		if (s->blocks[i] == NULL)
			s->device->ops->host_unregister(s->device, s->tables[i]);
		s->device->ops->free(s->device, s->blocks[i]);
		free(s->tables[i]);
	}
	s->nblocks = 0;
}
