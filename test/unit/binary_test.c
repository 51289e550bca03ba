/*
 * binary_test.c
 *		Records and fields of COPY's binary format (src/parse/gs_binary.c).
 *
 *		binary_test [--small]
 *
 * Random records, cut at every byte, with bytes that are changed, and with room for few fields
 * only, against a reader that goes from field to field.  Buffers end at the end of an allocation,
 * so that the sanitizers see what is read behind them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "parse/gs_parse.h"
#include "parse_data.h"
#include "tap.h"

#define MAX_RECORDS		12
#define MAX_FIELDS		6
#define MAX_BYTES		2048

/* ---------- inputs ---------- */

static size_t
put_number(char *data, size_t bytes, uint32_t number)
{
	for (size_t i = 0; i < bytes; i++)
		data[i] = (char) (number >> 8 * (bytes - 1 - i));
	return bytes;
}

/*
 * Writes some records, and in most cases a trailer, which something may follow; returns how many
 * bytes that is.
 */
static size_t
make_input(unsigned nfields, char *data)
{
	size_t		at = 0;

	for (unsigned n = parse_random(MAX_RECORDS); n > 0; n--)
	{
		at += put_number(data + at, 2, nfields);
		for (unsigned i = 0; i < nfields; i++)
		{
			unsigned	length = parse_random(4) * parse_random(6);
			bool		null = parse_random(5) == 0;

			at += put_number(data + at, 4, null ? UINT32_MAX : length);
			for (; !null && length > 0; length--)
				data[at++] = "\0\0\1\2\3\xff\xff\x80x"[parse_random(9)];
		}
	}
	if (parse_random(4) > 0)
		at += put_number(data + at, 2, 0xffff);
	if (parse_random(8) == 0)
		at += put_number(data + at, 1 + parse_random(2), 0xffff);
	return at;
}

/* ---------- the answer ---------- */

typedef struct answer
{
	size_t		nrecords;
	size_t		nfields;
	uint32_t	ends[MAX_BYTES];
	size_t		consumed;
	bool		trailer;		/* what follows the records is the trailer */
	bool		odd;			/* what follows has a mistake in it */
} answer;

static bool
get_number(const char *data, size_t bytes, size_t *at, int size, int64_t *number)
{
	*number = 0;
	if (*at + size > bytes)
		return false;
	for (int i = 0; i < size; i++)
		*number = *number * 256 + (unsigned char) data[(*at)++];
	if (*number >= (int64_t) 1 << (8 * size - 1))
		*number -= (int64_t) 1 << 8 * size;
	return true;
}

/* Reads the fields of a record; returns false if it is not there, or not all of it. */
static bool
answer_record(unsigned nfields, const char *data, size_t bytes, answer *answer)
{
	size_t		at = answer->consumed;
	int64_t		number;

	if (!get_number(data, bytes, &at, 2, &number))
		return false;
	answer->trailer = number == -1;
	answer->odd = !answer->trailer && number != (int64_t) nfields;
	if (answer->trailer || answer->odd)
		return false;
	for (unsigned i = 0; i < nfields; i++)
	{
		if (!get_number(data, bytes, &at, 4, &number))
			return false;
		answer->odd = number < -1;
		if (answer->odd || (number > 0 && at + number > bytes))
			return false;
		at += number > 0 ? number : 0;
		answer->ends[answer->nfields + i] = (uint32_t) at | (number < 0 ? GS_FIELD_SPECIAL : 0);
	}
	answer->nfields += nfields;
	answer->nrecords++;
	answer->consumed = at;
	return true;
}

static void
answer_input(unsigned nfields, const char *data, size_t bytes, answer *answer)
{
	memset(answer, 0, sizeof(*answer));
	while (answer_record(nfields, data, bytes, answer))
		;
}

/* ---------- comparing ---------- */

/* Is what was found the answer from some record on, which begins at "base"? */
static bool
has_records(const gs_dialect *dialect, const gs_records *found, const answer *answer, size_t first,
			size_t base)
{
	const uint32_t *ends = answer->ends + first * dialect->nfields;

	for (size_t i = 0; i < found->nfields; i++)
	{
		if (found->field_ends[i] != ends[i] - base)
			return false;
	}
	for (size_t i = 0; i < found->nrecords; i++)
	{
		if (found->record_fields[i] != (i + 1) * dialect->nfields ||
			gs_record_end(found, i) != gs_record_begin(found, dialect, i + 1) ||
			gs_records_lines(found, dialect, NULL, i) != i + 1)
			return false;
	}
	return found->nfields == found->nrecords * dialect->nfields;
}

static const char *
fault_of(const gs_dialect *dialect, const char *data, size_t bytes, bool at_end, size_t room,
		 const answer *answer)
{
	uint32_t	field_ends[MAX_BYTES];
	uint32_t	record_fields[MAX_BYTES];
	gs_records	found = {
		.field_ends = field_ends,
		.max_fields = room * dialect->nfields,
		.record_fields = record_fields,
		.max_records = room
	};
	bool		trailing = answer->trailer && bytes == answer->consumed + 2;
	size_t		base = 0;
	size_t		first = 0;

	for (;;)
	{
		gs_records_find(dialect, data + base, bytes - base, at_end, &found);
		if (!has_records(dialect, &found, answer, first, base))
			return "other records";
		first += found.nrecords;
		if (found.stop != GS_STOP_FULL)
			break;
		if (found.nrecords != room)
			return "there was room";
		base += found.consumed;
	}
	if (first != answer->nrecords)
		return "not all records";
	if (base + found.consumed != answer->consumed + (trailing && at_end ? 2 : 0))
		return "another end";
	if (answer->odd || (answer->trailer && !trailing) ||
		(at_end && !trailing && answer->consumed < bytes))
		return found.stop == GS_STOP_ODD && found.odd == GS_ODD_RECORD ? NULL : "not odd";
	return found.stop == GS_STOP_END ? NULL : "odd";
}

static const char *
fault_of_cut(const gs_dialect *dialect, const char *data, size_t bytes, const answer *answer)
{
	bool		odd = answer->odd || (answer->trailer && bytes > answer->consumed + 2);

	if (gs_binary_cut(dialect, data, bytes) != (odd ? bytes : answer->consumed))
		return "cut elsewhere";
	return gs_lines_count(dialect, data, bytes) == answer->nrecords ? NULL : "other lines";
}

static const char *
fault_of_buffer(const gs_dialect *dialect, const char *input, size_t bytes)
{
	static answer answer;
	char	   *data = parse_copy(input, bytes);
	size_t		offset = bytes > 0 ? 0 : 1;		/* the copy of nothing has one byte */
	const char *fault;

	answer_input(dialect->nfields, data + offset, bytes, &answer);
	fault = fault_of(dialect, data + offset, bytes, false, MAX_RECORDS, &answer);
	if (fault == NULL)
		fault = fault_of(dialect, data + offset, bytes, true, 1 + parse_random(3), &answer);
	if (fault == NULL)
		fault = fault_of_cut(dialect, data + offset, bytes, &answer);
	free(data);
	return fault;
}

/* ---------- tests ---------- */

static void
test_inputs(const char *what, int count, unsigned changes)
{
	char		data[MAX_BYTES];
	const char *fault = NULL;

	for (int n = 0; n < count && fault == NULL; n++)
	{
		gs_dialect	dialect = {.binary = true,.nfields = 1 + parse_random(MAX_FIELDS)};
		size_t		bytes = make_input(dialect.nfields, data);

		for (unsigned i = parse_random(changes + 1); i > 0 && bytes > 0; i--)
			data[parse_random((unsigned) bytes)] = "\0\1\2\x7f\x80\xfe\xff"[parse_random(7)];
		for (size_t cut = 0; cut <= bytes && fault == NULL; cut++)
			fault = fault_of_buffer(&dialect, data, cut);
	}
	tap_ok(fault == NULL, "%s%s%s", what, fault != NULL ? ": " : "", fault != NULL ? fault : "");
}

/* Fields of many bytes, and lengths that no buffer has. */
static void
test_long(void)
{
	gs_dialect	dialect = {.binary = true,.nfields = 2};
	uint32_t	field_ends[4];
	uint32_t	record_fields[2];
	gs_records	found = {
		.field_ends = field_ends,
		.max_fields = 4,
		.record_fields = record_fields,
		.max_records = 2
	};
	size_t		bytes = 2 + 4 + 100000 + 4;
	char	   *data = calloc(bytes, 1);

	put_number(data, 2, 2);
	put_number(data + 2, 4, 100000);
	gs_records_find(&dialect, data, bytes, true, &found);
	tap_ok(found.nrecords == 1 && field_ends[0] == 100006 && field_ends[1] == 100010 &&
		   found.consumed == bytes && found.stop == GS_STOP_END, "a long field");
	put_number(data + 2, 4, INT32_MAX);
	gs_records_find(&dialect, data, bytes, false, &found);
	tap_ok(found.nrecords == 0 && found.stop == GS_STOP_END &&
		   gs_binary_cut(&dialect, data, bytes) == 0, "a field of which more is to come");
	gs_records_find(&dialect, data, bytes, true, &found);
	tap_ok(found.nrecords == 0 && found.stop == GS_STOP_ODD, "a field of which more does not come");
	found.max_fields = 1;
	gs_records_find(&dialect, data, bytes, false, &found);
	tap_ok(found.nrecords == 0 && found.stop == GS_STOP_WIDE, "a record that there is no room for");
	free(data);
}

int
main(int argc, char **argv)
{
	int			count = argc > 1 && strcmp(argv[1], "--small") == 0 ? 300 : 3000;

	test_inputs("records", count, 0);
	test_inputs("records with bytes that were changed", count, 3);
	test_long();
	return tap_finish();
}
