/*
 * fields_test.c
 *		Fields of delimited text found by devices (gs_device_sort.h), and whether what somebody says of
 *		them is believed (gs_parse.h).
 *
 *		fields_test [--small]
 *
 * What the host's parser finds is right: parse_test.c tests that.
 */
#include <stdlib.h>
#include <string.h>

#include "engine/device/gs_device_sort.h"
#include "lazy_device.h"
#include "parse/gs_parse.h"
#include "parse_data.h"
#include "tap.h"
#include "test_group.h"

#define MAX_CHUNKS		20
#define MAX_BYTES		3000
#define ARENA_BYTES		((size_t) 8 << 20)

/* ---------- what is believed ---------- */

static gs_records
records_of(const gs_dialect *dialect, const char *data, size_t bytes)
{
	gs_records	found = {
		.field_ends = malloc((bytes + 100) * sizeof(uint32_t)),
		.max_fields = bytes + 100,
		.record_fields = malloc((bytes + 100) * sizeof(uint32_t)),
		.max_records = bytes + 100
	};

	gs_records_find(dialect, data, bytes, false, &found);
	return found;
}

static void
free_records(gs_records *found)
{
	free(found->field_ends);
	free(found->record_fields);
}

/* Something else that might be said of a record; returns the number of fields. */
static size_t
change(uint32_t *ends, size_t nfields, size_t bytes)
{
	size_t		i = parse_random((unsigned) nfields);

	switch (parse_random(6))
	{
		case 0:
			ends[i] ^= GS_FIELD_SPECIAL;
			return nfields;
		case 1:
			ends[i] ^= 1u << parse_random(12);
			return nfields;
		case 2:
			ends[i] = parse_random((unsigned) bytes + 2) | (ends[i] & GS_FIELD_SPECIAL);
			return nfields;
		case 3:					/* two fields in one */
			memmove(ends + i, ends + i + 1, (nfields - i - 1) * sizeof(*ends));
			return nfields - 1;
		case 4:					/* one in two */
			memmove(ends + i + 1, ends + i, (nfields - i) * sizeof(*ends));
			ends[i] = parse_random((unsigned) bytes) | (parse_random(2) ? GS_FIELD_SPECIAL : 0);
			return nfields + 1;
		default:				/* the record goes on */
			ends[nfields] = parse_random((unsigned) bytes) | (parse_random(2) ? GS_FIELD_SPECIAL : 0);
			return nfields + 1;
	}
}

/* All that is right is believed, and nothing else. */
static const char *
fault_of_check(const gs_dialect *dialect, const char *data, size_t bytes)
{
	gs_records	found = records_of(dialect, data, bytes);
	uint32_t   *ends = malloc((found.nfields + 2) * sizeof(uint32_t));
	const char *fault = NULL;
	gs_check	check;

	gs_check_begin(&check, dialect);
	for (size_t r = 0; r < found.nrecords && fault == NULL; r++)
	{
		size_t		first = gs_record_first_field(&found, r);
		size_t		nfields = found.record_fields[r] - first;
		size_t		begin = gs_record_begin(&found, dialect, r);
		bool		right = gs_check_record(&check, data, bytes, begin, found.field_ends + first, nfields);
		size_t		changed;

		if (!right && !(dialect->csv && dialect->csv_end_marker && data[begin] == '\\'))
			fault = "a record is refused";
		memcpy(ends, found.field_ends + first, nfields * sizeof(uint32_t));
		changed = change(ends, nfields, bytes);
		if (gs_check_record(&check, data, bytes, begin, ends, changed) &&
			(changed != nfields || memcmp(ends, found.field_ends + first, nfields * sizeof(uint32_t)) != 0))
			fault = "another record is believed";
	}
	/* what is odd, or has no end, is none */
	if (fault == NULL && found.consumed < bytes)
		for (uint32_t end = 0; end <= bytes && fault == NULL; end++)
			for (uint32_t special = 0; special <= 1; special++)
			{
				ends[0] = end | special << 31;
				if (gs_check_record(&check, data, bytes, found.consumed, ends, 1))
					fault = "what is no record is believed";
			}
	free(ends);
	free_records(&found);
	return fault;
}

static void
test_check(const char *label, parse_blend blend, size_t bytes, unsigned times)
{
	const char *fault = NULL;

	for (unsigned i = 0; i < times && fault == NULL; i++)
	{
		gs_dialect	dialect = parse_random_dialect();
		char	   *data = malloc(bytes + 8);
		size_t		length = parse_random_input(&dialect, &blend, bytes, data);
		char	   *copy = parse_copy(data, length);

		fault = fault_of_check(&dialect, copy, length);
		free(copy);
		free(data);
	}
	tap_ok(fault == NULL, "%s: %s", label, fault != NULL ? fault : "right ones are believed");
}

/* ---------- devices ---------- */

typedef struct fields_case
{
	gs_find_fields_args args;
	gs_text_chunk chunks[MAX_CHUNKS];
} fields_case;

static void
make_case(fields_case *c, unsigned nchunks, uint32_t max_fields)
{
	static const parse_blend blend = {5, 400, 30};

	memset(c, 0, sizeof(*c));
	c->args = (gs_find_fields_args) {
		.dialect = parse_random_dialect(),
		.max_bytes = MAX_BYTES,
		.max_fields = max_fields,
		.max_records = max_fields,
		.nchunks = nchunks,
		.chunks = c->chunks
	};
	for (unsigned i = 0; i < nchunks; i++)
	{
		gs_text_chunk *chunk = &c->chunks[i];
		char	   *data = test_memory_alloc(MAX_BYTES + 24);

		memset(data, 0, MAX_BYTES + 24);
		chunk->bytes = (uint32_t) parse_random_input(&c->args.dialect, &blend, 1 + parse_random(MAX_BYTES - 8), data);
		chunk->data = data;
		chunk->field_ends = test_memory_alloc((max_fields + 1) * sizeof(uint32_t));
		chunk->record_fields = test_memory_alloc((max_fields + 1) * sizeof(uint32_t));
		memset(chunk->field_ends, 0xee, (max_fields + 1) * sizeof(uint32_t));
		memset(chunk->record_fields, 0xee, (max_fields + 1) * sizeof(uint32_t));
	}
}

static void
free_case(fields_case *c)
{
	for (unsigned i = 0; i < c->args.nchunks; i++)
	{
		test_memory_free((char *) c->chunks[i].data);
		test_memory_free(c->chunks[i].field_ends);
		test_memory_free(c->chunks[i].record_fields);
	}
}

static const char *
fault_of_chunk(const fields_case *c, const gs_text_chunk *chunk)
{
	gs_records	right = records_of(&c->args.dialect, chunk->data, chunk->bytes);
	const gs_found *found = &chunk->found;
	const char *fault = NULL;
	bool		odd = right.stop == GS_STOP_ODD;

	if (chunk->field_ends[c->args.max_fields] != 0xeeeeeeee ||
		chunk->record_fields[c->args.max_fields] != 0xeeeeeeee)
		fault = "written where nobody asked for";
	else if (found->nrecords < right.nrecords || (!odd && found->nrecords != right.nrecords))
		fault = "other records";
	else if (!odd && found->consumed != right.consumed)
		fault = "another end";
	else if (odd && found->odd_at != right.odd_at)
		fault = "odd elsewhere";
	else if (found->nfields <= c->args.max_fields &&
			 (memcmp(chunk->record_fields, right.record_fields, right.nrecords * sizeof(uint32_t)) != 0 ||
			  memcmp(chunk->field_ends, right.field_ends, right.nfields * sizeof(uint32_t)) != 0))
		fault = "other fields";
	free_records(&right);
	return fault;
}

static const char *
fault_of_run(gs_device *device, fields_case *c)
{
	size_t		idle_bytes = device->ops->largest_free(device);
	const char *fault = NULL;

	if (gs_find_fields(device, &c->args) != GS_OK)
		return "it fails";
	for (unsigned i = 0; i < c->args.nchunks && fault == NULL; i++)
		fault = fault_of_chunk(c, &c->chunks[i]);
	if (fault == NULL && device->ops->largest_free(device) != idle_bytes)
		fault = "memory is not given back";
	return fault;
}

static void
test_devices(unsigned times)
{
	const char *fault = NULL;

	for (unsigned i = 0; i < times && fault == NULL; i++)
	{
		/* memory for all chunks, or for some */
		size_t		bytes = i % 3 == 0 ? ARENA_BYTES / 80 : ARENA_BYTES;
		gs_group   *group = test_group_open(1, bytes);
		lazy_group *lazy = lazy_group_open(1, bytes, i + 1);
		fields_case c;

		make_case(&c, 1 + parse_random(MAX_CHUNKS), i % 4 == 0 ? 100 : MAX_BYTES);
		fault = fault_of_run(group->devices[0], &c);
		if (fault == NULL)
			fault = fault_of_run(lazy_group_of(lazy)->devices[0], &c);
		if (fault == NULL)
			fault = lazy_group_fault(lazy);
		free_case(&c);
		test_group_close(group);
		lazy_group_close(lazy);
	}
	tap_ok(fault == NULL, "chunks: %s", fault != NULL ? fault : "fields are found");
}

static void
test_little_memory(void)
{
	gs_group   *group = test_group_open(1, 4096);
	volatile int cancel = 1;
	fields_case c;

	make_case(&c, 2, MAX_BYTES);
	tap_ok(gs_find_fields(group->devices[0], &c.args) == GS_NO_SPACE, "no memory is no space");
	test_group_close(group);
	group = test_group_open(1, ARENA_BYTES);
	c.args.cancel = &cancel;
	tap_ok(gs_find_fields(group->devices[0], &c.args) == GS_CANCELLED, "cancelled");
	free_case(&c);
	test_group_close(group);
}

/* Each operation in turn. */
static void
test_failures(void)
{
	gs_status	status = GS_DEVICE_ERROR;
	bool		right = true;
	unsigned	n;

	for (n = 1; status != GS_OK && right; n++)
	{
		gs_group   *group = test_group_open_failing(1, ARENA_BYTES, 0, n);
		gs_device  *device = group->devices[0];
		size_t		idle_bytes = device->ops->largest_free(device);
		fields_case c;

		make_case(&c, 3, MAX_BYTES);
		status = gs_find_fields(device, &c.args);
		right = (status == GS_OK || (status == GS_DEVICE_ERROR && device->error[0] != '\0')) &&
			device->ops->largest_free(device) == idle_bytes &&
			(status == GS_OK || fault_of_run(device, &c) == NULL);
		free_case(&c);
		test_group_close(group);
	}
	tap_ok(right && n > 15, "operation after operation fails, %u in all", n);
}

int
main(int argc, char **argv)
{
	unsigned	some = argc > 1 && strcmp(argv[1], "--small") == 0 ? 1 : 10;

	test_check("short records", (parse_blend) {2, 0, 2}, 30, 10000 * some);
	test_check("... with odd bytes", (parse_blend) {2, 6, 2}, 30, 10000 * some);
	test_check("longer ones", (parse_blend) {10, 100, 20}, 500, 300 * some);
	test_devices(30 * some);
	test_little_memory();
	test_failures();
	return tap_finish();
}
