/*
 * out_text.c
 *		Writes the escapes and quotes of COPY's text and CSV formats; see out_row_private.h.
 *
 * In encodings that only clients use, a byte that looks like an ASCII character may be a part of
 * another character.  Strings in such encodings are searched character by character.
 */
#include "postgres.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "mb/pg_wchar.h"

#include "bulk/out_row_private.h"

/* ---------- stops ---------- */

/*
 * Finds the bytes of a string that can't be written as they are, called stops here.
 */

#define GPUSORT_OUT_STOPS 4
#define LAST_CONTROL 0x1f

typedef struct GpuSortOutStops
{
	bool		stops[256];		/* whether each byte is a stop */
	uint8		bytes[GPUSORT_OUT_STOPS];	/* stops other than control characters */
	/* bytes up to this one may be stops, too; 0 if no control characters are */
	uint8		controls;
	/* `bytes`, and then `controls`, each 16 times */
	uint8		wide[GPUSORT_OUT_STOPS + 1][16];
} GpuSortOutStops;

/* Begin with no stops. */
static void
gpusort_out_clear_stops(GpuSortOutStops *stops)
{
	memset(stops, 0, sizeof(*stops));
}

/*
 * Add a stop.  There can be GPUSORT_OUT_STOPS stops that are not control characters, and any number
 * of those that are.  A string has no zero bytes, so unused places for stops can search for zero.
 */
static void
gpusort_out_add_stop(GpuSortOutStops *stops, char c)
{
	uint8		byte = (uint8) c;

	if (stops->stops[byte])
		return;
	stops->stops[byte] = true;
	if (byte <= LAST_CONTROL)
	{
		stops->controls = LAST_CONTROL;
		memset(stops->wide[GPUSORT_OUT_STOPS], LAST_CONTROL, sizeof(stops->wide[0]));
		return;
	}
	for (int i = 0; i < GPUSORT_OUT_STOPS; i++)
		if (stops->bytes[i] == 0)
		{
			stops->bytes[i] = byte;
			memset(stops->wide[i], byte, sizeof(stops->wide[0]));
			return;
		}
	elog(ERROR, "too many bytes to look for");
}

#ifdef __SSE2__
/* Returns a bit for each of 16 bytes, set if the byte may be a stop. */
static inline int
gpusort_out_stop_mask(const GpuSortOutStops *stops, __m128i v)
{
	const __m128i *wide = (const __m128i *) stops->wide;
	__m128i		hits = _mm_cmpeq_epi8(_mm_min_epu8(v, _mm_loadu_si128(wide + GPUSORT_OUT_STOPS)),
									  v);

	for (int i = 0; i < GPUSORT_OUT_STOPS; i++)
		hits = _mm_or_si128(hits, _mm_cmpeq_epi8(v, _mm_loadu_si128(wide + i)));
	return _mm_movemask_epi8(hits);
}
#endif

/* Returns the first stop in a string, or its end. */
static inline const char *
gpusort_out_find_stop(const GpuSortOutStops *stops, const char *p, const char *end)
{
#ifdef __SSE2__
	for (; end - p >= 16; p += 16)
	{
		int			mask = gpusort_out_stop_mask(stops, _mm_loadu_si128((const __m128i *) p));

		for (; mask != 0; mask &= mask - 1)
		{
			const char *hit = p + __builtin_ctz(mask);

			if (stops->stops[(uint8) *hit])
				return hit;
		}
	}
#endif
	while (p < end && !stops->stops[(uint8) *p])
		p++;
	return p;
}

/* Copy a string.  Returns false if it may have stops; some of it may be copied by then. */
static inline bool
gpusort_out_copy_unstopped(const GpuSortOutStops *stops, char *at, const char *p, int length)
{
#ifdef __SSE2__
	if (length >= 16)
	{
		int			last = length - 16;

		for (int i = 0;; i = Min(i + 16, last))
		{
			__m128i		v = _mm_loadu_si128((const __m128i *) (p + i));

			if (gpusort_out_stop_mask(stops, v) != 0)
				return false;
			_mm_storeu_si128((__m128i *) (at + i), v);
			if (i == last)
				return true;
		}
	}
	if (length >= 8)
	{
		uint64		head;
		uint64		tail;

		memcpy(&head, p, sizeof(head));
		memcpy(&tail, p + length - sizeof(tail), sizeof(tail));
		if (gpusort_out_stop_mask(stops, _mm_set_epi64x((int64) tail, (int64) head)) != 0)
			return false;
		memcpy(at, &head, sizeof(head));
		memcpy(at + length - sizeof(tail), &tail, sizeof(tail));
		return true;
	}
	if (length >= 4)
	{
		uint32		head;
		uint32		tail;

		memcpy(&head, p, sizeof(head));
		memcpy(&tail, p + length - sizeof(tail), sizeof(tail));
		if (gpusort_out_stop_mask(stops,
								  _mm_set1_epi64x((int64) ((uint64) tail << 32 | head))) != 0)
			return false;
		memcpy(at, &head, sizeof(head));
		memcpy(at + length - sizeof(tail), &tail, sizeof(tail));
		return true;
	}
#endif
	for (int i = 0; i < length; i++)
	{
		if (stops->stops[(uint8) p[i]])
			return false;
		at[i] = p[i];
	}
	return true;
}

/* ---------- escapes and quotes ---------- */

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
