/*
 * parse_data.c
 *		Random dialects and inputs for tests of src/parse.
 */
#include "parse_data.h"

#include <stdlib.h>
#include <string.h>

static uint64_t seed = 1;

unsigned
parse_random(unsigned bound)
{
	seed = seed * 6364136223846793005 + 1442695040888963407;
	return (unsigned) (seed >> 33) % bound;
}

static bool
one_in(unsigned n)
{
	return parse_random(n) == 0;
}

gs_dialect
parse_random_dialect(void)
{
	static const char bytes[] = ",;|\t'\"~^\\x.\xe9";
	gs_dialect made;

	do
	{
		bool		csv = !one_in(3);
		char		delimiter = csv ? ',' : '\t';
		char		quote = one_in(2) ? '"' : bytes[parse_random(sizeof(bytes) - 1)];

		made = (gs_dialect) {
			.csv = csv,
			.delimiter = one_in(2) ? delimiter : bytes[parse_random(sizeof(bytes) - 1)],
			.quote = quote,
			.escape = one_in(2) ? quote : bytes[parse_random(sizeof(bytes) - 1)],
			.newline = (gs_newline) parse_random(3),
			.csv_end_marker = one_in(2)
		};
	} while (!gs_dialect_supported(&made));
	return made;
}

static const char *const newlines[] = {"\n", "\r", "\r\n"};

static size_t
put_piece(const gs_dialect *dialect, const parse_blend *blend, char *at)
{
	const char *newline = newlines[dialect->newline];

	if (blend->odd > 0 && one_in(blend->odd))
	{
		*at = "\0\n\r.\\"[parse_random(5)];
		return 1;
	}
	switch (parse_random(4))
	{
		case 0:
			memcpy(at, newline, strlen(newline));
			return strlen(newline);
		case 1:
			*at = dialect->delimiter;
			break;
		case 2:
			*at = dialect->csv ? dialect->quote : '\\';
			break;
		default:
			*at = gs_escape_byte(dialect);
	}
	return 1;
}

size_t
parse_random_input(const gs_dialect *dialect, const parse_blend *blend, size_t bytes, char *data)
{
	size_t		length = 0;

	while (length < bytes)
	{
		size_t		piece = 1;

		if (one_in(blend->plain))
			piece = put_piece(dialect, blend, data + length);
		else
			data[length] = "abx017\xc3\xa9 n"[parse_random(10)];
		length += piece;
		for (unsigned more = one_in(8) ? parse_random(blend->run) : 0; more > 0 && length < bytes; more--)
		{
			memcpy(data + length, data + length - piece, piece);
			length += piece;
		}
	}
	return length;
}

char *
parse_copy(const char *data, size_t bytes)
{
	char	   *copy = malloc(bytes > 0 ? bytes : 1);

	memcpy(copy, data, bytes);
	return copy;
}
