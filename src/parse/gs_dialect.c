/*
 * gs_dialect.c
 *		Delimited text as COPY reads it: which bytes mean what.
 */
#include "parse/gs_dialect.h"

#include <string.h>

static bool
is_newline(char byte)
{
	return byte == '\n' || byte == '\r';
}

static bool
no_ascii(char byte)
{
	return byte == '\0' || (byte & 0x80) != 0;
}

bool
gs_dialect_supported(const gs_dialect *dialect)
{
	char		delimiter = dialect->delimiter;

	if (delimiter == '\0' || is_newline(delimiter))
		return false;
	/* after \x the server takes hexadecimal digits before it looks for delimiters */
	if (!dialect->csv)
		return memchr("\\.ABCDEFabcdefghijklmnopqrstuvwxyz0123456789", delimiter, 44) == NULL;
	if (dialect->quote == '\0' || is_newline(dialect->quote) || dialect->quote == delimiter)
		return false;
	return dialect->escape != '\0' && !is_newline(dialect->escape) && dialect->escape != delimiter;
}

gs_parse_state
gs_state_after(const gs_dialect *dialect, gs_parse_state state, char byte)
{
	if (state == GS_STATE_ESCAPED)
		return dialect->csv ? GS_STATE_QUOTED : GS_STATE_PLAIN;
	if (!dialect->csv)
		return byte == '\\' ? GS_STATE_ESCAPED : GS_STATE_PLAIN;
	if (state == GS_STATE_QUOTED && byte == dialect->escape && byte != dialect->quote)
		return GS_STATE_ESCAPED;
	if (byte == dialect->quote)
		return state == GS_STATE_QUOTED ? GS_STATE_PLAIN : GS_STATE_QUOTED;
	return state;
}

gs_first_result
gs_first_record_find(const gs_dialect *dialect, const char *data, size_t bytes, bool at_end,
					 gs_first_record *first)
{
	gs_parse_state state = GS_STATE_PLAIN;

	*first = (gs_first_record) {GS_NEWLINE_LF, bytes, 1};
	for (size_t at = 0; at < bytes; at++)
	{
		gs_parse_state before = state;

		if (data[at] == '\0')
			return GS_FIRST_ODD;
		if (before == GS_STATE_PLAIN && is_newline(data[at]))
		{
			if (data[at] == '\r' && at + 1 == bytes && !at_end)
				return GS_FIRST_MORE;
			if (data[at] == '\r')
				first->newline = at + 1 < bytes && data[at + 1] == '\n' ? GS_NEWLINE_CRLF
					: GS_NEWLINE_CR;
			/*
			 * the server looks at the next byte as well, and complains on this line if it is no
			 * character
			 */
			if (first->newline == GS_NEWLINE_CR && at + 1 < bytes && no_ascii(data[at + 1]))
				return GS_FIRST_ODD;
			first->bytes = at + (first->newline == GS_NEWLINE_CRLF ? 2 : 1);
			return GS_FIRST_FOUND;
		}
		state = gs_state_after(dialect, before, data[at]);
		first->lines += dialect->csv && before != GS_STATE_PLAIN && data[at] == '\r';

		/* the end marker, or what the server takes for a broken one */
		if (at > 0 && data[at - 1] == '\\' && data[at] == '.' &&
			(dialect->csv ? dialect->csv_end_marker && at == 1 : before == GS_STATE_ESCAPED))
			return GS_FIRST_ODD;
	}
	if (!at_end)
		return GS_FIRST_MORE;
	return state == GS_STATE_PLAIN ? GS_FIRST_FOUND : GS_FIRST_ODD;
}
