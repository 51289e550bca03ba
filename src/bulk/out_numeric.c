/*
 * out_numeric.c
 *		Numerics of few digits; see out_numeric.h.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "port/pg_bswap.h"

#include "bulk/out_digits.h"
#include "bulk/out_numeric.h"
#include "bulk/out_values.h"
#include "numeric_format.h"

#define WORD_DIGITS 4

/* A finite value, taken apart. */
typedef struct NumericParts
{
	bool		negative;
	int			weight;
	int			scale;
	int			nwords;
	const char *words;			/* 16-bit integers below 10000, not aligned */
} NumericParts;

static inline uint16
load_word(const char *p)
{
	uint16		word;

	memcpy(&word, p, sizeof(word));
	return word;
}

/* Of words behind the last one, and in front of the first, there is nothing. */
static inline int
word_at(const NumericParts *parts, int i)
{
	return i >= 0 && i < parts->nwords ? load_word(parts->words + i * sizeof(uint16)) : 0;
}

/* False if it is no number, or not here. */
static bool
take_apart(Datum value, NumericParts *parts)
{
	struct varlena *stored = (struct varlena *) DatumGetPointer(value);
	const char *data;
	int			bytes;
	uint16		header;

	if (VARATT_IS_COMPRESSED(stored) || VARATT_IS_EXTERNAL(stored))
		return false;
	data = VARDATA_ANY(stored);
	bytes = VARSIZE_ANY_EXHDR(stored) - sizeof(uint16);
	header = load_word(data);
	data += sizeof(uint16);
	if ((header & NUMERIC_KIND_MASK) == NUMERIC_KIND_SPECIAL)
		return false;
	if ((header & NUMERIC_KIND_MASK) == NUMERIC_KIND_SHORT)
	{
		parts->negative = (header & NUMERIC_SHORT_NEGATIVE) != 0;
		parts->scale = (header & NUMERIC_SHORT_SCALE_MASK) >> NUMERIC_SHORT_SCALE_SHIFT;
		parts->weight = ((header & NUMERIC_SHORT_WEIGHT_MASK) ^ NUMERIC_SHORT_WEIGHT_SIGN) -
			NUMERIC_SHORT_WEIGHT_SIGN;
	}
	else
	{
		parts->negative = (header & NUMERIC_KIND_MASK) == NUMERIC_LONG_NEGATIVE;
		parts->scale = header & NUMERIC_LONG_SCALE_MASK;
		parts->weight = (int16) load_word(data);
		data += sizeof(uint16);
		bytes -= sizeof(uint16);
	}
	parts->words = data;
	parts->nwords = bytes / sizeof(uint16);
	return true;
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
	NumericParts parts;
	char	   *end;

	/* a sign, a point, and words of which the last may be longer than the scale */
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
	NumericParts parts;

	if (!take_apart(value, &parts) || (4 + parts.nwords) * sizeof(int16) > GPUSORT_OUT_VALUE_BYTES)
		return NULL;
	at = send_int16(at, parts.nwords);
	at = send_int16(at, parts.weight);
	at = send_int16(at, parts.negative ? NUMERIC_LONG_NEGATIVE : 0);
	at = send_int16(at, parts.scale);
	for (int i = 0; i < parts.nwords; i++)
		at = send_int16(at, word_at(&parts, i));
	return at;
}
