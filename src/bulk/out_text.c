/*
 * out_text.c
 *		Writes the escapes and quotes of COPY's text and CSV formats; see out_text.h.
 *
 * In encodings that only clients use, a byte that looks like an ASCII character may be a part of
 * another character.  Strings in such encodings are searched character by character.
 */
#include "postgres.h"

#include "mb/pg_wchar.h"

#include "bulk/out_stops.h"
#include "bulk/out_text.h"

struct GpuSortOutText
{
	GpuSortOutFormat format;
	bool		csv;
	bool		embeds_ascii;	/* the encoding is one that only clients use (see above) */
	bool		plain_values;
	/* text: bytes to be escaped; CSV: bytes because of which a value is quoted */
	GpuSortOutStops stops;
	GpuSortOutStops quoted_stops;	/* CSV: bytes to be escaped between quotes */
	/* text: character that follows the backslash, for each byte to be escaped */
	char		letters[256];
	char	   *null_print;		/* null string in the encoding that is written */
	int			null_length;
};

/* Letters that stand for control characters. */
static const struct
{
	char		control;
	char		letter;
}			escapes[] =
{
	{'\b', 'b'},
	{'\f', 'f'},
	{'\n', 'n'},
	{'\r', 'r'},
	{'\t', 't'},
	{'\v', 'v'}
};

static void
begin_escapes(GpuSortOutText *text)
{
	char		delimiter = text->format.delimiter;

	gpusort_out_add_stop(&text->stops, '\\');
	text->letters[(uint8) '\\'] = '\\';
	gpusort_out_add_stop(&text->stops, delimiter);
	text->letters[(uint8) delimiter] = delimiter;
	for (int i = 0; i < lengthof(escapes); i++)
	{
		gpusort_out_add_stop(&text->stops, escapes[i].control);
		text->letters[(uint8) escapes[i].control] = escapes[i].letter;
	}
}

static void
begin_quotes(GpuSortOutText *text)
{
	gpusort_out_add_stop(&text->stops, text->format.delimiter);
	gpusort_out_add_stop(&text->stops, text->format.quote);
	gpusort_out_add_stop(&text->stops, '\n');
	gpusort_out_add_stop(&text->stops, '\r');
	gpusort_out_add_stop(&text->quoted_stops, text->format.quote);
	gpusort_out_add_stop(&text->quoted_stops, text->format.escape);
}

static bool
has_plain_values(const GpuSortOutText *text)
{
	for (int c = 1; c < 256; c++)
		if ((text->stops.stops[c] || text->quoted_stops.stops[c]) &&
			(isalnum(c) || strchr("+-.: ", c) != NULL))
			return false;
	return true;
}

GpuSortOutText *
gpusort_out_begin_text(const GpuSortOutFormat *format)
{
	GpuSortOutText *text = palloc0(sizeof(GpuSortOutText));

	text->format = *format;
	text->csv = format->style == GPUSORT_OUT_CSV;
	text->embeds_ascii = PG_ENCODING_IS_CLIENT_ONLY(format->encoding);
	gpusort_out_clear_stops(&text->stops);
	gpusort_out_clear_stops(&text->quoted_stops);
	if (text->csv)
		begin_quotes(text);
	else
		begin_escapes(text);
	text->plain_values = has_plain_values(text);
	text->null_print = pg_server_to_any(pstrdup(format->null_print), format->null_length,
										format->encoding);
	text->null_length = strlen(text->null_print);
	return text;
}

bool
gpusort_out_values_are_plain(const GpuSortOutText *text)
{
	return text->plain_values;
}

bool
gpusort_out_looks_null(const GpuSortOutText *text, const char *string, int length)
{
	return text->csv && length == text->format.null_length &&
		memcmp(string, text->format.null_print, length) == 0;
}

void
gpusort_out_put_null(const GpuSortOutText *text, StringInfo out)
{
	appendBinaryStringInfoNT(out, text->null_print, text->null_length);
}

/* Returns the first of the stops that is a character of its own, or the string's end. */
static inline const char *
find_stop(const GpuSortOutText *text, const GpuSortOutStops *stops, const char *p, const char *end)
{
	if (likely(!text->embeds_ascii))
		return gpusort_out_find_stop(stops, p, end);
	while (p < end)
		if (IS_HIGHBIT_SET(*p))
			p += pg_encoding_mblen(text->format.encoding, p);
		else if (stops->stops[(uint8) *p])
			return p;
		else
			p++;
	return end;
}

static void
put_escaped(const GpuSortOutText *text, StringInfo out, const char *p, const char *end)
{
	for (;;)
	{
		const char *stop = find_stop(text, &text->stops, p, end);

		appendBinaryStringInfoNT(out, p, stop - p);
		if (stop == end)
			break;
		appendStringInfoCharMacro(out, '\\');
		appendStringInfoCharMacro(out, text->letters[(uint8) *stop]);
		p = stop + 1;
	}
}

/* Returns whether a line with only this value would be taken for the end of the data. */
static bool
looks_like_end(const GpuSortOutText *text, const char *string, const char *end)
{
	return text->format.ncolumns == 1 && end - string == 2 && memcmp(string, "\\.", 2) == 0;
}

static void
put_csv(const GpuSortOutText *text, StringInfo out, const char *p, const char *end, bool quote)
{
	if (!quote && find_stop(text, &text->stops, p, end) == end && !looks_like_end(text, p, end))
	{
		appendBinaryStringInfoNT(out, p, end - p);
		return;
	}
	appendStringInfoCharMacro(out, text->format.quote);
	for (;;)
	{
		const char *stop = find_stop(text, &text->quoted_stops, p, end);

		appendBinaryStringInfoNT(out, p, stop - p);
		if (stop == end)
			break;
		appendStringInfoCharMacro(out, text->format.escape);
		appendStringInfoCharMacro(out, *stop);
		p = stop + 1;
	}
	appendStringInfoCharMacro(out, text->format.quote);
}

void
gpusort_out_put_text(const GpuSortOutText *text, StringInfo out, const char *string, int length,
					 bool quote)
{
	if (text->csv)
		put_csv(text, out, string, string + length, quote);
	else
		put_escaped(text, out, string, string + length);
}

bool
gpusort_out_copy_plain(const GpuSortOutText *text, char *at, const char *string, int length)
{
	if (unlikely(text->embeds_ascii) || gpusort_out_looks_null(text, string, length) ||
		(text->csv && looks_like_end(text, string, string + length)))
		return false;
	return gpusort_out_copy_unstopped(&text->stops, at, string, length);
}
