/*
 * out_numeric.c
 *		Writes numerics of few digits; see out_row_private.h.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "port/pg_bswap.h"

#include "bulk/out_digits.h"
#include "bulk/out_row_private.h"
#include "numeric_format.h"

#define WORD_DIGITS 4

/*
 * Returns a word, that is, a digit to the base 10000.  Words in front of the first and behind the
 * last one are 0.
 */
static inline int
word_at(const GpuSortNumeric *parts, int i)
{
	return i >= 0 && i < parts->ndigits ? gpusort_numeric_digit(parts, i) : 0;
}

/*
 * Take a numeric apart.  Returns false if it is NaN or infinite, or is compressed or out of line.
 */
static bool
take_apart(Datum value, GpuSortNumeric *parts)
{
	struct varlena *stored = (struct varlena *) DatumGetPointer(value);

	return !VARATT_IS_COMPRESSED(stored) && !VARATT_IS_EXTERNAL(stored) &&
		gpusort_numeric_take_apart(VARDATA_ANY(stored), VARSIZE_ANY_EXHDR(stored), parts);
}

static inline char *
write_word(char *at, int word)
{
	*at++ = '0' + word / 1000;
	*at++ = '0' + word / 100 % 10;
	*at++ = '0' + word / 10 % 10;
	*at++ = '0' + word % 10;
	return at;
}

char *
gpusort_out_write_numeric(char *at, Datum value)
{
	GpuSortNumeric parts;
	char	   *end;

	/* a sign, a point, and words, the last of which may go on beyond the scale */
	if (!take_apart(value, &parts) ||
		2 + (Max(parts.weight, 0) + 1) * WORD_DIGITS + parts.scale + WORD_DIGITS >
		GPUSORT_OUT_VALUE_BYTES - GPUSORT_OUT_DIGITS_BYTES)
		return NULL;
	if (parts.negative)
		*at++ = '-';
	at = gpusort_out_put_uint64(at, parts.weight >= 0 ? word_at(&parts, 0) : 0);
	for (int i = 1; i <= parts.weight; i++)
		at = write_word(at, word_at(&parts, i));
	if (parts.scale == 0)
		return at;
	*at++ = '.';
	end = at + parts.scale;
	for (int i = parts.weight + 1; at < end; i++)
		at = write_word(at, word_at(&parts, i));
	return end;
}

static inline char *
send_int16(char *at, int n)
{
	uint16		sent = pg_hton16((uint16) n);

	memcpy(at, &sent, sizeof(sent));
	return at + sizeof(sent);
}

char *
gpusort_out_send_numeric(char *at, Datum value)
{
	GpuSortNumeric parts;

	if (!take_apart(value, &parts) || (4 + parts.ndigits) * sizeof(int16) > GPUSORT_OUT_VALUE_BYTES)
		return NULL;
	at = send_int16(at, parts.ndigits);
	at = send_int16(at, parts.weight);
	at = send_int16(at, parts.negative ? NUMERIC_LONG_NEGATIVE : 0);
	at = send_int16(at, parts.scale);
	for (int i = 0; i < parts.ndigits; i++)
		at = send_int16(at, word_at(&parts, i));
	return at;
}
