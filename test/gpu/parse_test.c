/*
 * parse_test.c
 *		Delimited text on a GPU (cuda/gs_cuda_parse.h) against src/parse.
 *
 *		parse_test [--host] [--small]
 *
 * Random inputs in random dialects, in parts of random sizes, with and without odd bytes; and what
 * tiles and threads may stumble over.  --host has a parser in plain C in place of the GPU's, to
 * test the test; --small is for compute-sanitizer.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "parse_data.h"
#include "parse_side.h"
#include "tap.h"

static const parse_side *side = &parse_side_cuda;

/* A stream's answer, with offsets from the stream's beginning. */
typedef struct stream
{
	size_t		nfields;
	size_t		nrecords;
	uint64_t   *field_ends;		/* << 1, and whether they are special */
	uint64_t   *record_fields;
	uint64_t	odd_at;
	uint64_t	consumed;
	gs_parse_state state;
} stream;

static stream
new_stream(size_t bytes)
{
	return (stream) {
		.field_ends = malloc((bytes + 1) * sizeof(uint64_t)),
		.record_fields = malloc((bytes + 1) * sizeof(uint64_t)),
		.odd_at = UINT64_MAX
	};
}

static void
free_stream(stream *found)
{
	free(found->field_ends);
	free(found->record_fields);
}

static void
add_part(stream *found, const gs_cuda_part *part, uint64_t base, const uint32_t *field_ends,
		 const uint32_t *record_fields)
{
	if (found->odd_at == UINT64_MAX && part->odd_at != UINT32_MAX)
		found->odd_at = base + part->odd_at;
	for (uint32_t i = 0; i < part->nrecords; i++)
		found->record_fields[found->nrecords++] = found->nfields + record_fields[i];
	for (uint32_t i = 0; i < part->nfields; i++)
		found->field_ends[found->nfields++] = (base + GS_FIELD_END(field_ends[i])) << 1 |
			((field_ends[i] & GS_FIELD_SPECIAL) != 0);
	if (part->consumed > 0)
		found->consumed = base + part->consumed;
	found->state = (gs_parse_state) part->state;
}

/* Parse a stream in parts of some bytes, or in one part that is on the device. */
static stream
parse_stream(const gs_dialect *dialect, const char *data, size_t bytes, size_t part_bytes, bool on_device)
{
	stream		found = new_stream(bytes);
	size_t		most = bytes;
	void	   *parser = side->open(dialect, most, bytes + 1, bytes + 1);
	char	   *pinned = side->pinned(bytes);
	uint32_t   *field_ends = side->pinned((bytes + 1) * sizeof(uint32_t));
	uint32_t   *record_fields = side->pinned((bytes + 1) * sizeof(uint32_t));
	gs_cuda_part part;

	memcpy(pinned, data, bytes);
	if (on_device)
	{
		void	   *copy = side->on_device(data, bytes);

		/* twice: the first time spoils the second one if anything stays behind */
		side->put_device(parser, copy, bytes);
		side->begin(parser);
		side->put_device(parser, copy, bytes);
		side->fetch(parser, &part, NULL, NULL);
		side->fetch(parser, &part, field_ends, record_fields);
		side->wait(parser);
		add_part(&found, &part, 0, field_ends, record_fields);
		side->free_device(copy);
	}
	for (size_t at = 0, length; at < bytes && !on_device; at += length)
	{
		length = parse_part_bytes(pinned + at, bytes - at, part_bytes);
		side->put(parser, pinned + at, length);
		side->fetch(parser, &part, field_ends, record_fields);
		side->wait(parser);
		add_part(&found, &part, at, field_ends, record_fields);
	}
	side->close(parser);
	side->free_pinned(pinned);
	side->free_pinned(field_ends);
	side->free_pinned(record_fields);
	return found;
}

static const char *
fault_of_stream(const gs_dialect *dialect, const char *data, size_t bytes, const stream *found)
{
	gs_records	wanted = {
		.field_ends = malloc((bytes + 100) * sizeof(uint32_t)),
		.max_fields = bytes + 100,
		.record_fields = malloc((bytes + 100) * sizeof(uint32_t)),
		.max_records = bytes + 100
	};
	const char *fault = NULL;
	bool		half = dialect->newline == GS_NEWLINE_CRLF && bytes > 0 && data[bytes - 1] == '\r';

	gs_records_find(dialect, data, bytes, false, &wanted);
	if (wanted.stop == GS_STOP_ODD ? found->odd_at != wanted.odd_at :
		found->odd_at != UINT64_MAX && !(half && found->odd_at == bytes - 1))
		fault = "odd elsewhere";
	else if (wanted.stop == GS_STOP_ODD ? found->nrecords < wanted.nrecords :
			 found->nrecords != wanted.nrecords || found->consumed != wanted.consumed)
		fault = "other records";
	else if (found->nfields < wanted.nfields)
		fault = "too few fields";
	for (size_t i = 0; i < wanted.nrecords && fault == NULL; i++)
		if (found->record_fields[i] != wanted.record_fields[i])
			fault = "a record has other fields";
	for (size_t i = 0; i < wanted.nfields && fault == NULL; i++)
		if (found->field_ends[i] != ((uint64_t) GS_FIELD_END(wanted.field_ends[i]) << 1 |
									 ((wanted.field_ends[i] & GS_FIELD_SPECIAL) != 0)))
			fault = "a field ends elsewhere, or is special and should not be";
	free(wanted.field_ends);
	free(wanted.record_fields);
	return fault;
}

static void
note_dialect(const gs_dialect *dialect, const char *data, size_t bytes, size_t part_bytes)
{
	tap_note("csv %d delimiter %02x quote %02x escape %02x newline %d marker %d: %zu bytes, parts of %zu",
			 dialect->csv, (unsigned char) dialect->delimiter, (unsigned char) dialect->quote,
			 (unsigned char) dialect->escape, dialect->newline, dialect->csv_end_marker, bytes, part_bytes);
}

static void
test_random(const char *name, parse_blend blend, size_t bytes, unsigned rounds)
{
	char	   *data = malloc(bytes + 8);
	const char *fault = NULL;

	for (unsigned round = 0; round < rounds && fault == NULL; round++)
	{
		gs_dialect	dialect = parse_random_dialect();
		size_t		length = parse_random_input(&dialect, &blend, parse_random((unsigned) bytes) + 1, data);
		size_t		part_bytes = round % 3 == 0 ? length : parse_random((unsigned) length) / 3 + length / 50 + 1;
		stream		found = parse_stream(&dialect, data, length, part_bytes, round % 3 == 0);

		fault = fault_of_stream(&dialect, data, length, &found);
		if (fault != NULL)
			note_dialect(&dialect, data, length, part_bytes);
		free_stream(&found);
	}
	tap_ok(fault == NULL, "%s%s%s", name, fault != NULL ? ": " : "", fault != NULL ? fault : "");
	free(data);
}

/* The same byte, or two in turn, for many tiles. */
static void
test_monotony(const char *pattern, size_t bytes)
{
	gs_dialect	dialects[] = {
		{.delimiter = '\t', .quote = '"', .escape = '"', .newline = GS_NEWLINE_LF, .csv_end_marker = true},
		{.csv = true, .delimiter = ',', .quote = '"', .escape = '"', .newline = GS_NEWLINE_LF, .csv_end_marker = true},
		{.csv = true, .delimiter = ',', .quote = '"', .escape = '\\', .newline = GS_NEWLINE_LF, .csv_end_marker = true},
		{.csv = true, .delimiter = ',', .quote = '"', .escape = '\\', .newline = GS_NEWLINE_CRLF},
		{.csv = true, .delimiter = ',', .quote = '"', .escape = '"', .newline = GS_NEWLINE_CR}
	};
	char	   *data = malloc(bytes);
	size_t		length = strlen(pattern);
	const char *fault = NULL;

	for (size_t i = 0; i < bytes; i++)
		data[i] = pattern[i % length];
	for (unsigned d = 0; d < sizeof(dialects) / sizeof(dialects[0]) && fault == NULL; d++)
	{
		stream		found = parse_stream(&dialects[d], data, bytes, bytes, d % 2 == 0);

		fault = fault_of_stream(&dialects[d], data, bytes, &found);
		if (fault != NULL)
			note_dialect(&dialects[d], data, bytes, bytes);
		free_stream(&found);
	}
	tap_ok(fault == NULL, "%zu bytes of %zu in turn%s%s", bytes, length, fault != NULL ? ": " : "",
		   fault != NULL ? fault : "");
	free(data);
}

int
main(int argc, char **argv)
{
	static const char *const patterns[] = {
		",", "\n", "\"", "\\", "\t", "a", ",\n", "\",", "\\\"", "\"\n\",", "1,22\n", "\"\\", "\r\n", "\\\t\n"
	};

	unsigned	some = 30;

	for (int i = 1; i < argc; i++)
	{
		if (strcmp(argv[i], "--host") == 0)
			side = &parse_side_host;
		else if (strcmp(argv[i], "--small") == 0)
			some = 1;
	}
	test_random("short inputs", (parse_blend) {2, 0, 5}, 300, 5 * some);
	test_random("... with odd bytes", (parse_blend) {3, 30, 5}, 300, 5 * some);
	test_random("some tiles", (parse_blend) {4, 0, 90}, 60000, 5 * some);
	test_random("... with odd bytes", (parse_blend) {6, 1000, 90}, 60000, 5 * some);
	test_random("... of few bytes that mean anything", (parse_blend) {200, 0, 3}, 200000, 2 * some);
	test_random("... and odd ones", (parse_blend) {200, 500, 3}, 200000, 2 * some);
	test_random("many tiles", (parse_blend) {8, 0, 300}, 160000 * some, 2 + some / 3);
	for (unsigned i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++)
		test_monotony(patterns[i], 20000 + 2667 * some);
	return tap_finish();
}
