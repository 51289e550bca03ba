/*
 * gs_field.c
 *		A field's value: without quotes and escapes.
 */
#include "parse/gs_parse.h"

#include <string.h>

/*
 * Finds the value in CSV whose escape is the quote: quotes toggle, and two of them between quotes
 * are one.
 */
static size_t
quoted_value(char quote, const char *field, size_t bytes, char *value)
{
	size_t		length = 0;
	size_t		at = 0;
	bool		quoted = false;

	for (;;)
	{
		const char *next = memchr(field + at, quote, bytes - at);
		size_t		plain = (next != NULL ? (size_t) (next - field) : bytes) - at;

		memmove(value + length, field + at, plain);
		length += plain;
		at += plain + 1;
		if (next == NULL)
			return length;
		if (quoted && at < bytes && field[at] == quote)
			value[length++] = field[at++];
		else
			quoted = !quoted;
	}
}

static size_t
csv_value(const gs_dialect *dialect, const char *field, size_t bytes, char *value)
{
	size_t		length = 0;
	bool		quoted = false;

	for (size_t at = 0; at < bytes; at++)
	{
		char		byte = field[at];

		if (quoted && byte == dialect->escape && at + 1 < bytes &&
			(field[at + 1] == dialect->escape || field[at + 1] == dialect->quote))
			value[length++] = field[++at];
		else if (byte == dialect->quote)
			quoted = !quoted;
		else
			value[length++] = byte;
	}
	return length;
}

/* Returns a digit's value, or -1. */
static int
digit_value(char byte, int base)
{
	int			value = -1;

	if (byte >= '0' && byte <= '9')
		value = byte - '0';
	else if (byte >= 'a' && byte <= 'f')
		value = byte - 'a' + 10;
	else if (byte >= 'A' && byte <= 'F')
		value = byte - 'A' + 10;
	return value < base ? value : -1;
}

/* Reads as many digits as there are, but at most "most"; moves *at behind them. */
static int
read_digits(const char *field, size_t bytes, size_t *at, int base, int most)
{
	int			value = 0;

	for (int read = 0; read < most && *at < bytes && digit_value(field[*at], base) >= 0; read++)
		value = value * base + digit_value(field[(*at)++], base);
	return value & 0xff;
}

/*
 * Returns the byte that an escape stands for; *at is behind the backslash, and is moved behind the
 * escape.
 */
static char
read_escape(const char *field, size_t bytes, size_t *at, bool *escaped_bytes)
{
	static const char names[] = "bfnrtv";
	static const char values[] = "\b\f\n\r\t\v";
	char		byte = field[*at];
	const char *name;

	if (digit_value(byte, 8) >= 0)
		byte = (char) read_digits(field, bytes, at, 8, 3);
	else if (byte == 'x' && *at + 1 < bytes && digit_value(field[*at + 1], 16) >= 0)
	{
		(*at)++;
		byte = (char) read_digits(field, bytes, at, 16, 2);
	}
	else
	{
		(*at)++;
		name = byte != '\0' ? strchr(names, byte) : NULL;
		return name != NULL ? values[name - names] : byte;
	}
	if (byte == '\0' || (byte & 0x80) != 0)
		*escaped_bytes = true;
	return byte;
}

static size_t
text_value(const char *field, size_t bytes, char *value, bool *escaped_bytes)
{
	size_t		length = 0;
	size_t		at = 0;

	while (at < bytes)
	{
		const char *backslash = memchr(field + at, '\\', bytes - at);
		size_t		plain = (backslash != NULL ? (size_t) (backslash - field) : bytes) - at;

		memmove(value + length, field + at, plain);
		length += plain;
		at += plain + 1;
		if (at < bytes)
			value[length++] = read_escape(field, bytes, &at, escaped_bytes);
	}
	return length;
}

size_t
gs_field_value(const gs_dialect *dialect, const char *field, size_t bytes, char *value,
			   bool *escaped_bytes)
{
	*escaped_bytes = false;
	if (dialect->csv && dialect->escape == dialect->quote)
		return quoted_value(dialect->quote, field, bytes, value);
	if (dialect->csv)
		return csv_value(dialect, field, bytes, value);
	return text_value(field, bytes, value, escaped_bytes);
}
