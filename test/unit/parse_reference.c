/*
 * parse_reference.c
 *		Delimited text read a line at a time and then a field at a time, for tests of src/parse.
 *
 * As the server does it: a line reader that knows quotes and escapes only as far as it must, and a
 * field reader that looks at the bytes of one line.  Slow, and made of other thoughts than what it
 * is compared with.
 */
#include "parse_reference.h"

#include <stdlib.h>
#include <string.h>

typedef struct line
{
	size_t		end;
	size_t		next;
	bool		terminated;
	gs_odd		odd;
	size_t		odd_at;
	uint64_t	newlines;		/* between quotes */
} line;

static line
odd_line(gs_odd odd, size_t at)
{
	return (line) {.odd = odd, .odd_at = at};
}

/* A newline at "at"?  Sets the line's end; or the newline is odd. */
static bool
read_newline(const gs_dialect *dialect, const char *data, size_t bytes, size_t at, line *found)
{
	bool		pair = data[at] == '\r' && at + 1 < bytes && data[at + 1] == '\n';

	if (data[at] != '\r' && data[at] != '\n')
		return false;
	found->end = at;
	found->terminated = true;
	if (dialect->newline == GS_NEWLINE_CRLF && pair)
		found->next = at + 2;
	else if ((dialect->newline == GS_NEWLINE_LF && data[at] == '\n') ||
			 (dialect->newline == GS_NEWLINE_CR && data[at] == '\r'))
		found->next = at + 1;
	else
		*found = odd_line(GS_ODD_NEWLINE, at);
	return true;
}

static line
read_text_line(const gs_dialect *dialect, const char *data, size_t bytes, size_t begin)
{
	line		found = {.end = bytes, .next = bytes};

	for (size_t at = begin; at < bytes; at++)
	{
		if (data[at] == '\0')
			return odd_line(GS_ODD_NUL, at);
		if (read_newline(dialect, data, bytes, at, &found))
			return found;
		if (data[at] != '\\')
			continue;
		if (++at == bytes)
			return odd_line(GS_ODD_END, bytes);
		if (data[at] == '.')
			return odd_line(GS_ODD_MARKER, at - 1);
		if (data[at] == '\0')
			return odd_line(GS_ODD_NUL, at);
	}
	return found;
}

static line
read_csv_line(const gs_dialect *dialect, const char *data, size_t bytes, size_t begin)
{
	line		found = {.end = bytes, .next = bytes};
	bool		in_quote = false;
	bool		last_was_escape = false;
	bool		escapes = dialect->escape != dialect->quote;

	if (dialect->csv_end_marker && begin + 1 < bytes && memcmp(data + begin, "\\.", 2) == 0)
		return odd_line(GS_ODD_MARKER, begin);
	for (size_t at = begin; at < bytes; at++)
	{
		if (data[at] == '\0')
			return odd_line(GS_ODD_NUL, at);
		if (escapes && in_quote && data[at] == dialect->escape)
			last_was_escape = !last_was_escape;
		if (data[at] == dialect->quote && !last_was_escape)
			in_quote = !in_quote;
		if (!escapes || data[at] != dialect->escape)
			last_was_escape = false;
		if (in_quote && data[at] == (dialect->newline == GS_NEWLINE_LF ? '\n' : '\r'))
			found.newlines++;
		if (!in_quote && (data[at] == '\r' || data[at] == '\n'))
		{
			uint64_t	newlines = found.newlines;

			read_newline(dialect, data, bytes, at, &found);
			found.newlines = newlines;
			return found;
		}
	}
	return in_quote ? odd_line(GS_ODD_END, bytes) : found;
}

static int
hex_value(char byte)
{
	const char *digits = "0123456789abcdefABCDEF";
	const char *digit = byte != '\0' ? strchr(digits, byte) : NULL;

	if (digit == NULL)
		return -1;
	return digit - digits < 16 ? (int) (digit - digits) : (int) (digit - digits - 6);
}

static char
unescape(const char *data, size_t *at, size_t end)
{
	char		byte = data[(*at)++];
	unsigned	value = 0;
	int			read = 0;

	if (byte >= '0' && byte <= '7')
	{
		for (--*at; read < 3 && *at < end && data[*at] >= '0' && data[*at] <= '7'; read++)
			value = value * 8 + (unsigned) (data[(*at)++] - '0');
		return (char) value;
	}
	if (byte == 'x' && *at < end && hex_value(data[*at]) >= 0)
	{
		for (; read < 2 && *at < end && hex_value(data[*at]) >= 0; read++)
			value = value * 16 + (unsigned) hex_value(data[(*at)++]);
		return (char) value;
	}
	switch (byte)
	{
		case 'b':
			return '\b';
		case 'f':
			return '\f';
		case 'n':
			return '\n';
		case 'r':
			return '\r';
		case 't':
			return '\t';
		case 'v':
			return '\v';
		default:
			return byte;
	}
}

/* One field from "at" on; sets its end and value. */
static void
read_text_field(const gs_dialect *dialect, const char *data, size_t at, size_t end, ref_field *field)
{
	while (at < end && data[at] != dialect->delimiter)
	{
		if (data[at] == '\\')
		{
			field->special = true;
			at++;
			field->value[field->value_bytes++] = unescape(data, &at, end);
		}
		else
			field->value[field->value_bytes++] = data[at++];
	}
	field->end = at;
}

static void
read_csv_field(const gs_dialect *dialect, const char *data, size_t at, size_t end, ref_field *field)
{
	for (;;)
	{
		for (; at < end && data[at] != dialect->delimiter && data[at] != dialect->quote; at++)
			field->value[field->value_bytes++] = data[at];
		if (at == end || data[at] == dialect->delimiter)
			break;
		field->special = true;
		for (at++; at < end; at++)
		{
			if (data[at] == dialect->escape && at + 1 < end &&
				(data[at + 1] == dialect->escape || data[at + 1] == dialect->quote))
				at++;
			else if (data[at] == dialect->quote)
				break;
			field->value[field->value_bytes++] = data[at];
		}
		at++;
	}
	field->end = at;
}

static void
read_fields(const gs_dialect *dialect, const char *data, const line *found, size_t begin,
			ref_answer *answer, char **values)
{
	size_t		at = begin;

	for (;;)
	{
		ref_field  *field = &answer->fields[answer->nfields++];

		*field = (ref_field) {.begin = at, .value = *values};
		if (dialect->csv)
			read_csv_field(dialect, data, at, found->end, field);
		else
			read_text_field(dialect, data, at, found->end, field);
		*values += field->value_bytes;
		if (field->end == found->end)
			return;
		at = field->end + 1;
	}
}

ref_answer *
ref_read(const gs_dialect *dialect, const char *data, size_t bytes)
{
	ref_answer *answer = calloc(1, sizeof(*answer));
	char	   *values = answer->values = malloc(bytes + 1);
	size_t		at = 0;
	uint64_t	lines = 0;

	answer->records = malloc((bytes + 1) * sizeof(ref_record));
	answer->fields = malloc((bytes + 1) * sizeof(ref_field));
	while (at < bytes)
	{
		line		found = dialect->csv ? read_csv_line(dialect, data, bytes, at) :
			read_text_line(dialect, data, bytes, at);

		answer->odd = found.odd;
		answer->odd_at = found.odd_at;
		if (found.odd != GS_ODD_NONE)
			break;
		lines += 1 + found.newlines;
		read_fields(dialect, data, &found, at, answer, &values);
		answer->records[answer->nrecords++] = (ref_record) {
			at, found.end, found.next, found.terminated, lines, answer->nfields
		};
		at = found.next;
	}
	return answer;
}

void
ref_free(ref_answer *answer)
{
	free(answer->records);
	free(answer->fields);
	free(answer->values);
	free(answer);
}
