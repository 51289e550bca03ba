/*
 * parse_test.c
 *		Records and fields of delimited text (src/parse), against parse_reference.c.
 *
 *		parse_test [--small]
 *
 * Random inputs of the bytes that mean something, in random dialects: whole, cut at every byte, from
 * every state, with room for few fields only.  Buffers end at the end of an allocation, so that the
 * sanitizers see what is read behind them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "parse/gs_parse.h"
#include "parse_data.h"
#include "parse_reference.h"
#include "tap.h"

/* ---------- records ---------- */

static gs_records
room_for(size_t fields, size_t records)
{
	return (gs_records) {
		.field_ends = malloc((fields + GS_RECORDS_SLACK + 1) * sizeof(uint32_t)),
		.max_fields = fields + GS_RECORDS_SLACK + 1,
		.record_fields = malloc((records + GS_RECORDS_SLACK + 1) * sizeof(uint32_t)),
		.max_records = records + GS_RECORDS_SLACK + 1
	};
}

static void
free_room(gs_records *found)
{
	free(found->field_ends);
	free(found->record_fields);
}

static bool
same_field(const gs_dialect *dialect, const char *data, const ref_field *field, size_t begin,
		   uint32_t end)
{
	size_t		bytes = GS_FIELD_END(end) - begin;
	bool		escaped;
	char	   *value;
	bool		same;

	if (field->begin != begin || field->end != GS_FIELD_END(end) ||
		field->special != ((end & GS_FIELD_SPECIAL) != 0))
		return false;
	value = parse_copy(data + begin, bytes);
	same = gs_field_value(dialect, value, bytes, value, &escaped) == field->value_bytes &&
		memcmp(value, field->value, field->value_bytes) == 0;
	if (!field->special)
		same = field->value_bytes == bytes && memcmp(data + begin, field->value, bytes) == 0;
	free(value);
	return same;
}

/* Are the records found those of the answer, from some record on, at some offset? */
static const char *
fault_of_records(const gs_dialect *dialect, const char *data, const gs_records *found,
				 const ref_answer *answer, size_t first)
{
	size_t		base = first > 0 ? answer->records[first - 1].next : 0;
	size_t		skipped = first > 0 ? answer->records[first - 1].nfields : 0;

	if (found->nrecords > answer->nrecords - first)
		return "too many records";
	for (size_t r = 0; r < found->nrecords; r++)
	{
		const ref_record *record = &answer->records[first + r];
		size_t		begin = gs_record_begin(found, dialect, r);

		if (base + begin != record->begin || base + gs_record_end(found, r) != record->end)
			return "a record lies elsewhere";
		if (skipped + found->record_fields[r] != record->nfields)
			return "a record has other fields";
		if (found->nrecords < 50 && record->lines != gs_records_lines(found, dialect, data + base, r) +
			(first > 0 ? answer->records[first - 1].lines : 0))
			return "a record is on another line";
		for (size_t f = gs_record_first_field(found, r); f < found->record_fields[r]; f++)
		{
			ref_field	field = answer->fields[skipped + f];

			field.begin -= base;
			field.end -= base;
			if (!same_field(dialect, data + base, &field, begin, found->field_ends[f]))
				return "a field differs";
			begin = GS_FIELD_END(found->field_ends[f]) + 1;
		}
	}
	return NULL;
}

static const char *
fault_of_stop(const gs_records *found, const ref_answer *answer, size_t first, size_t bytes)
{
	size_t		base = first > 0 ? answer->records[first - 1].next : 0;
	size_t		records = first + found->nrecords;
	size_t		end = records > 0 ? answer->records[records - 1].next : 0;

	if (base + found->consumed != end)
		return "consumed is not the end of the last record";
	if (found->stop == GS_STOP_FULL || found->stop == GS_STOP_WIDE)
		return NULL;
	if (records != answer->nrecords)
		return "too few records";
	if ((found->stop == GS_STOP_ODD) != (answer->odd != GS_ODD_NONE) || found->odd != answer->odd)
		return "odd or not odd";
	if (answer->odd != GS_ODD_NONE && base + found->odd_at != answer->odd_at)
		return "odd elsewhere";
	return NULL;
}

/* All of an input, with room for so many fields and records at a time. */
static const char *
fault_with_room(const gs_dialect *dialect, const char *data, size_t bytes, const ref_answer *answer,
				size_t fields, size_t records)
{
	gs_records	found = room_for(fields, records);
	size_t		first = 0;
	const char *fault = NULL;

	do
	{
		size_t		base = first > 0 ? answer->records[first - 1].next : 0;

		gs_records_find(dialect, data + base, bytes - base, true, &found);
		fault = fault_of_records(dialect, data, &found, answer, first);
		if (fault == NULL)
			fault = fault_of_stop(&found, answer, first, bytes);
		if (fault == NULL && found.stop == GS_STOP_FULL && found.nrecords == 0)
			fault = "full without a record";
		if (fault == NULL && found.stop == GS_STOP_WIDE)
		{
			/* more room, as a caller would make */
			if (fields > bytes)
				fault = "too wide for so many fields";
			fields = fields * 2 + 1;
			free_room(&found);
			found = room_for(fields, records);
			found.nrecords = 0;
			found.stop = GS_STOP_FULL;
		}
		first += found.nrecords;
	} while (fault == NULL && found.stop == GS_STOP_FULL);
	free_room(&found);
	return fault;
}

/* The input's first bytes, with more to come. */
static const char *
fault_of_beginning(const gs_dialect *dialect, const char *data, size_t bytes,
				   const ref_answer *answer)
{
	gs_records	found = room_for(bytes + 1, bytes + 1);
	char	   *copy = parse_copy(data, bytes);
	const char *fault;
	size_t		complete = 0;

	while (complete < answer->nrecords && answer->records[complete].next <= bytes &&
		   answer->records[complete].terminated)
		complete++;
	gs_records_find(dialect, copy, bytes, false, &found);
	fault = fault_of_records(dialect, copy, &found, answer, 0);
	if (fault == NULL && found.nrecords != complete)
		fault = "not all complete records of a beginning";
	if (fault == NULL && found.stop == GS_STOP_ODD &&
		(found.odd != answer->odd || found.odd_at != answer->odd_at))
		fault = "a beginning is odd";
	free_room(&found);
	free(copy);
	return fault;
}

/* ---------- chunks ---------- */

static bool
same_chunk(const gs_dialect *dialect, const gs_chunk *a, const gs_chunk *b)
{
	bool		same = a->bytes == b->bytes && a->ascii == b->ascii;

	for (unsigned s = 0; s < GS_STATES; s++)
		if (gs_dialect_has_state(dialect, (gs_parse_state) s))
			same = same && a->from[s].end == b->from[s].end && a->from[s].records == b->from[s].records &&
				a->from[s].lines == b->from[s].lines && a->from[s].first == b->from[s].first &&
				a->from[s].last == b->from[s].last;
	return same;
}

/* One byte after the other, by the meaning of the states. */
static gs_chunk
plain_scan(const gs_dialect *dialect, const char *data, size_t bytes)
{
	gs_chunk	chunk = {.bytes = bytes, .ascii = true};

	for (unsigned s = 0; s < GS_STATES; s++)
	{
		gs_chunk_from *from = &chunk.from[s];
		bool		quoted = dialect->csv && s != GS_STATE_PLAIN;
		bool		escaped = s == GS_STATE_ESCAPED;

		for (size_t at = 0; at < bytes; at++)
		{
			bool		data_byte = escaped || quoted;

			chunk.ascii = chunk.ascii && (unsigned char) data[at] < 128;
			if (!data_byte && data[at] == (dialect->newline == GS_NEWLINE_CR ? '\r' : '\n'))
			{
				from->records++;
				from->lines++;
				from->first = from->first > 0 ? from->first : at + 1;
				from->last = at + 1;
			}
			if (quoted && data[at] == (dialect->newline == GS_NEWLINE_LF ? '\n' : '\r'))
				from->lines++;
			if (escaped)
				escaped = false;
			else if (!dialect->csv)
				escaped = data[at] == '\\';
			else if (quoted && data[at] == dialect->escape && dialect->escape != dialect->quote)
				escaped = true;
			else if (data[at] == dialect->quote)
				quoted = !quoted;
		}
		from->end = escaped ? GS_STATE_ESCAPED : quoted ? GS_STATE_QUOTED : GS_STATE_PLAIN;
	}
	return chunk;
}

/* From its beginning, a chunk has the answer's records, if nothing is odd. */
static const char *
fault_of_count(const gs_dialect *dialect, const gs_chunk *chunk, const ref_answer *answer)
{
	const gs_chunk_from *from = &chunk->from[GS_STATE_PLAIN];
	size_t		records = answer->nrecords;

	if (answer->odd != GS_ODD_NONE)
		return NULL;
	if (records > 0 && !answer->records[records - 1].terminated)
		records--;
	if (from->records != records)
		return "a chunk has other records";
	if (records == 0)
		return from->first == 0 && from->last == 0 ? NULL : "a chunk without a record has a first one";
	if (from->first != answer->records[0].next || from->last != answer->records[records - 1].next)
		return "a chunk's first or last record ends elsewhere";
	if (records == answer->nrecords && from->lines != answer->records[records - 1].lines)
		return "a chunk has other lines";
	return NULL;
}

static gs_chunk
scan_copy(const gs_dialect *dialect, const char *data, size_t bytes)
{
	char	   *copy = parse_copy(data, bytes);
	gs_chunk	chunk;

	gs_chunk_scan(dialect, copy, bytes, &chunk);
	free(copy);
	return chunk;
}

static const char *
fault_of_cuts(const gs_dialect *dialect, const char *data, size_t bytes, size_t step,
			  const ref_answer *answer)
{
	gs_chunk	whole = scan_copy(dialect, data, bytes);
	gs_chunk	plain = plain_scan(dialect, data, bytes);
	const char *fault = same_chunk(dialect, &whole, &plain) ? NULL : "a chunk differs";

	if (fault == NULL)
		fault = fault_of_count(dialect, &whole, answer);
	for (size_t cut = 0; cut <= bytes && fault == NULL; cut += step)
	{
		size_t		again = cut + parse_random((unsigned) (bytes - cut) + 1);
		gs_chunk	left = scan_copy(dialect, data, cut);
		gs_chunk	middle = scan_copy(dialect, data + cut, again - cut);
		gs_chunk	right = scan_copy(dialect, data + again, bytes - again);
		gs_chunk	grouped = middle;
		gs_chunk	none = gs_chunk_empty();

		gs_chunk_join(&grouped, &right);
		gs_chunk_join(&none, &left);
		gs_chunk_join(&none, &grouped);
		gs_chunk_join(&left, &middle);
		gs_chunk_join(&left, &right);
		if (!same_chunk(dialect, &left, &whole) || !same_chunk(dialect, &none, &whole))
			fault = "chunks joined differ from the whole";
	}
	return fault;
}

/* ---------- cases ---------- */

static void
note_input(const gs_dialect *dialect, const char *data, size_t bytes)
{
	char		text[4 * 300 + 1];
	char	   *at = text;

	for (size_t i = 0; i < bytes && i < 300; i++)
		at += sprintf(at, data[i] > ' ' && data[i] < 127 ? "%c" : "\\x%02x", (unsigned char) data[i]);
	tap_note("csv %d delimiter %02x quote %02x escape %02x newline %d marker %d: %zu bytes: %.*s",
			 dialect->csv, (unsigned char) dialect->delimiter, (unsigned char) dialect->quote,
			 (unsigned char) dialect->escape, dialect->newline, dialect->csv_end_marker, bytes,
			 (int) (at - text), text);
}

static const char *
fault_of_input(const gs_dialect *dialect, const char *data, size_t bytes, size_t step)
{
	ref_answer *answer = ref_read(dialect, data, bytes);
	const char *fault = fault_with_room(dialect, data, bytes, answer, bytes + 1, bytes + 1);

	if (fault == NULL)
		fault = fault_with_room(dialect, data, bytes, answer, parse_random(5) + 1, parse_random(5) + 1);
	for (size_t cut = 0; cut <= bytes && fault == NULL; cut += step)
		fault = fault_of_beginning(dialect, data, cut, answer);
	if (fault == NULL)
		fault = fault_of_cuts(dialect, data, bytes, step, answer);
	ref_free(answer);
	return fault;
}

static void
test_random(const char *name, parse_blend blend, size_t bytes, size_t step, unsigned rounds)
{
	char	   *data = malloc(bytes + 8);
	const char *fault = NULL;

	for (unsigned round = 0; round < rounds && fault == NULL; round++)
	{
		gs_dialect	dialect = parse_random_dialect();
		size_t		length = parse_random_input(&dialect, &blend, parse_random((unsigned) bytes), data);
		char	   *copy = parse_copy(data, length);

		fault = fault_of_input(&dialect, copy, length, step);
		if (fault != NULL)
			note_input(&dialect, copy, length);
		free(copy);
	}
	tap_ok(fault == NULL, "%s%s%s", name, fault != NULL ? ": " : "", fault != NULL ? fault : "");
	free(data);
}

/* A record of very many bytes, between two small ones. */
static void
test_long_record(size_t bytes, gs_dialect dialect)
{
	char	   *data = malloc(bytes + 20);
	gs_records	found = room_for(1000, 1000);
	gs_chunk	chunk;
	size_t		end = bytes + 9;

	memcpy(data, "a,b\n1,\"", 7);
	for (size_t i = 0; i < bytes; i++)
		data[7 + i] = i % 100 == 99 ? '\n' : (char) ('a' + i % 26);
	memcpy(data + 7 + bytes, "\"\n2,3\n", 6);
	gs_chunk_scan(&dialect, data, bytes + 13, &chunk);
	gs_records_find(&dialect, data, bytes + 13, true, &found);
	tap_ok(chunk.from[GS_STATE_PLAIN].records == 3 &&
		   chunk.from[GS_STATE_PLAIN].lines == 3 + bytes / 100 && chunk.from[GS_STATE_PLAIN].first == 4 &&
		   found.stop == GS_STOP_END && found.nrecords == 3 && found.nfields == 6 &&
		   gs_record_end(&found, 1) == end - 1 && gs_record_begin(&found, &dialect, 2) == end &&
		   GS_FIELD_END(found.field_ends[4]) == end + 1 &&
		   gs_records_lines(&found, &dialect, data, 1) == 2 + bytes / 100,
		   "a record of %zu bytes", bytes);
	free_room(&found);
	free(data);
}

/* Blocks full of ends, with room for exactly as many, and a last record without a newline. */
static void
test_full_blocks(void)
{
	gs_dialect	dialect = {.csv = true, .delimiter = ',', .quote = '"', .escape = '"', .newline = GS_NEWLINE_LF};
	const char *fault = NULL;

	for (size_t bytes = 1; bytes <= 300 && fault == NULL; bytes++)
		for (unsigned newlines = 0; newlines < 3 && fault == NULL; newlines++)
		{
			char	   *data = malloc(bytes);
			ref_answer *answer;

			for (size_t i = 0; i < bytes; i++)
				data[i] = newlines == 2 || (newlines == 1 && i % 2 == 0) ? '\n' : ',';
			answer = ref_read(&dialect, data, bytes);
			for (size_t room = 0; room < 200 && fault == NULL; room += 1 + room / 70 * 10)
				fault = fault_with_room(&dialect, data, bytes, answer, room, room);
			ref_free(answer);
			free(data);
		}
	tap_ok(fault == NULL, "blocks of nothing but ends%s%s", fault != NULL ? ": " : "",
		   fault != NULL ? fault : "");
}

typedef struct first_case
{
	const char *data;
	bool		csv;
	bool		at_end;
	gs_first_result result;
	gs_first_record first;
} first_case;

static void
test_first_record(void)
{
	static const first_case cases[] = {
		{"a,b\nc\r\n", true, false, GS_FIRST_FOUND, {GS_NEWLINE_LF, 4, 1}},
		{"a,b\r\nc", true, false, GS_FIRST_FOUND, {GS_NEWLINE_CRLF, 5, 1}},
		{"a,b\rc", true, false, GS_FIRST_FOUND, {GS_NEWLINE_CR, 4, 1}},
		{"a,b\r", true, false, GS_FIRST_MORE, {0}},
		{"a,b\r", true, true, GS_FIRST_FOUND, {GS_NEWLINE_CR, 4, 1}},
		{"a,b\r\xc3", true, false, GS_FIRST_ODD, {0}},
		{"\"\n\"\r\n", true, false, GS_FIRST_FOUND, {GS_NEWLINE_CRLF, 5, 1}},
		{"\"\r\n\r\"\n", true, false, GS_FIRST_FOUND, {GS_NEWLINE_LF, 6, 3}},
		{"\"a\n", true, false, GS_FIRST_MORE, {0}},
		{"\"a\n", true, true, GS_FIRST_ODD, {0}},
		{"a", true, true, GS_FIRST_FOUND, {GS_NEWLINE_LF, 1, 1}},
		{"", false, true, GS_FIRST_FOUND, {GS_NEWLINE_LF, 0, 1}},
		{"\\.\n", true, false, GS_FIRST_ODD, {0}},
		{"a\\.\n", true, false, GS_FIRST_FOUND, {GS_NEWLINE_LF, 4, 1}},
		{"a\\.\n", false, false, GS_FIRST_ODD, {0}},
		{"a\\\\.\n", false, false, GS_FIRST_FOUND, {GS_NEWLINE_LF, 5, 1}},
		{"a\\\nb\\\r\r\n", false, false, GS_FIRST_FOUND, {GS_NEWLINE_CRLF, 8, 1}},
		{"a\\", false, true, GS_FIRST_ODD, {0}},
	};
	bool		good = true;

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
	{
		const first_case *c = &cases[i];
		gs_dialect	dialect = {.csv = c->csv, .delimiter = c->csv ? ',' : '\t', .quote = '"', .escape = '"', .newline = GS_NEWLINE_CR, .csv_end_marker = true};
		gs_first_record first;
		bool		right = gs_first_record_find(&dialect, c->data, strlen(c->data), c->at_end, &first) == c->result &&
			(c->result != GS_FIRST_FOUND ||
			 (first.newline == c->first.newline && first.bytes == c->first.bytes && first.lines == c->first.lines));

		if (!right)
			tap_note("first record, case %u", i);
		good = good && right;
	}
	tap_ok(good, "the first record decides the newline");
}

int
main(int argc, char **argv)
{
	unsigned	some = argc > 1 && strcmp(argv[1], "--small") == 0 ? 1 : 10;
	size_t		long_bytes = (size_t) 20000000 * some;
	gs_dialect	csv = {.csv = true, .delimiter = ',', .quote = '"', .escape = '"', .newline = GS_NEWLINE_LF, .csv_end_marker = true};
	gs_dialect	escaped = {.csv = true, .delimiter = ',', .quote = '"', .escape = '\\', .newline = GS_NEWLINE_LF, .csv_end_marker = true};

#ifdef GS_PARSE_PORTABLE
	some = some > 3 ? 3 : some;
	long_bytes = 1000000;
#endif
	test_first_record();
	test_full_blocks();
	test_random("short inputs, cut at every byte", (parse_blend) {2, 0, 2}, 24, 1, 2000 * some);
	test_random("... with odd bytes", (parse_blend) {2, 6, 2}, 24, 1, 2000 * some);
	test_random("inputs of some blocks, cut at every byte", (parse_blend) {3, 0, 80}, 300, 1, 50 * some);
	test_random("... with odd bytes", (parse_blend) {3, 200, 80}, 300, 1, 50 * some);
	test_random("... of few bytes that mean anything", (parse_blend) {30, 100, 150}, 1000, 7, 100 * some);
	test_random("long inputs", (parse_blend) {8, 0, 200}, 20000, 997, 20 * some);
	test_random("long inputs, sparse", (parse_blend) {100, 500, 3}, 20000, 997, 20 * some);
	test_long_record(long_bytes, csv);
	test_long_record(long_bytes, escaped);
	return tap_finish();
}
