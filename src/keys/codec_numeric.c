/*
 * codec_numeric.c
 *		Codec of numeric.
 *
 * The key is the value itself as a fixed-point binary number: a first word,
 * and behind it as many bytes of fraction as the value's digits need.
 * Compared as bytes padded with zeros, keys have the order of the numbers, and
 * equal values have equal keys whatever their display scales.
 *
 * A finite value's magnitude is turned into such a number like this.  Its
 * first word is in mixed radix: a code for the weight (the power of 10000 of
 * the leading digit), then the four leading base-10000 digits.  10000^4 is a
 * little more than 2^53, so that half of the range of a word leaves 922 codes,
 * enough for all magnitudes from 10^-1840 to 10^1840.  The other digits follow
 * as two bytes each.  The 13 to 16 leading decimal digits of a value are thus
 * in the first word, and a value with no more needs only 8 bytes.  The outermost
 * codes are escapes for weights beyond the range: there, the weight itself and
 * all digits follow as two bytes each.
 *
 * Zero is the middle of the range; a positive value is the middle plus its
 * magnitude, a negative one the middle minus its magnitude.  The subtraction
 * is done on the whole number, fraction included: the fraction is negated in
 * two's complement and a nonzero one borrows 1 from the first word.  Therefore
 * a negative number needs neither a terminator nor a longer key than a positive
 * one.  Infinity and NaN are the ends of the range, which no finite value
 * reaches.
 */
#include "postgres.h"

#include "keys/codec_private.h"
#include "numeric_format.h"

/* Leading digits in the first word, and the number of values they can take. */
#define WORD_DIGITS 4
#define WORD_DIGITS_RANGE (UINT64CONST(10000) * 10000 * 10000 * 10000)

/* The first word of zero.  Magnitudes are smaller than this. */
#define MIDDLE (UINT64CONST(1) << 63)

/*
 * Weight codes.  The escape for tiny values is code 0; its digits are not all
 * zero, which would be the number zero.
 */
#define MAX_CODE 921
#define MIN_WORD_WEIGHT (-460)
#define MAX_WORD_WEIGHT (MIN_WORD_WEIGHT + MAX_CODE - 2)
#define TINY_WORD UINT64CONST(1)
#define HUGE_WORD (MAX_CODE * WORD_DIGITS_RANGE)

StaticAssertDecl(HUGE_WORD < MIDDLE - WORD_DIGITS_RANGE / 10,
				 "magnitudes must leave room for infinity");

/* The buffer of a key: its first word, and two bytes for each further digit. */
typedef struct NumericState
{
	char	   *buffer;
	uint32		size;
} NumericState;

static void
begin_numeric(GpuSortEncoder *encoder)
{
	NumericState *state = palloc(sizeof(NumericState));

	state->size = 64;
	state->buffer = palloc(state->size);
	encoder->private_data = state;
}

/*
 * Removes leading and trailing zero digits.  Stored values have none, but the comparison does
 * not rely on it, and neither do we.
 */
static inline void
strip_zeros(GpuSortNumeric *parts)
{
	while (unlikely(parts->ndigits > 0 && gpusort_numeric_digit(parts, 0) == 0))
	{
		parts->digits += sizeof(uint16);
		parts->ndigits--;
		parts->weight--;
	}
	while (unlikely(parts->ndigits > 0 && gpusort_numeric_digit(parts, parts->ndigits - 1) == 0))
		parts->ndigits--;
}

/* Returns the first word of the magnitude of a value whose weight has a code of its own. */
static inline uint64
leading_word(const GpuSortNumeric *parts)
{
	uint64		word = parts->weight - MIN_WORD_WEIGHT + 1;

	for (int i = 0; i < WORD_DIGITS; i++)
		word = word * NUMERIC_BASE + (i < parts->ndigits ? gpusort_numeric_digit(parts, i) : 0);
	return word;
}

/*
 * Appends the digits from number `first` on to the len bytes in the state's buffer.
 * Returns the new length.
 */
static uint32
append_digits(NumericState *state, uint32 len, const GpuSortNumeric *parts, int first)
{
	for (int i = first; i < parts->ndigits; i++)
	{
		uint16		d = pg_hton16((uint16) gpusort_numeric_digit(parts, i));

		memcpy(state->buffer + len, &d, sizeof(d));
		len += sizeof(d);
	}
	return len;
}

/* Negates, in two's complement, the number that the buffer's len bytes are. */
static void
negate_bytes(char *buffer, uint32 len)
{
	while (len > 0 && buffer[len - 1] == 0)
		len--;
	if (len > 0)
	{
		len--;
		buffer[len] = -buffer[len];
	}
	while (len > 0)
	{
		len--;
		buffer[len] = ~buffer[len];
	}
}

/* Makes the key of a value that does not fit into the first word. */
static pg_noinline bool
encode_long(NumericState *state, const GpuSortNumeric *parts, GpuSortKey *key)
{
	uint32		size = sizeof(uint64) + (parts->ndigits + 1) * sizeof(uint16);
	uint32		len = sizeof(uint64);
	uint64		word;
	int			first_digit;

	if (size > state->size)
	{
		state->size = Max(size, 2 * state->size);
		state->buffer = repalloc(state->buffer, state->size);
	}

	if (parts->weight >= MIN_WORD_WEIGHT && parts->weight <= MAX_WORD_WEIGHT)
	{
		word = leading_word(parts);
		first_digit = WORD_DIGITS;
	}
	else
	{
		/* All weights of one escape have the same sign: no need to flip it. */
		uint16		weight = pg_hton16((uint16) parts->weight);

		word = parts->weight < MIN_WORD_WEIGHT ? TINY_WORD : HUGE_WORD;
		memcpy(state->buffer + len, &weight, sizeof(weight));
		len += sizeof(weight);
		first_digit = 0;
	}
	len = append_digits(state, len, parts, first_digit);

	/* To add the middle is to flip the first bit, also after a negation. */
	store_be64(state->buffer, word);
	if (parts->negative)
		negate_bytes(state->buffer, len);
	state->buffer[0] ^= 0x80;

	key->data = state->buffer;
	key->len = len;
	return true;
}

static bool
encode_numeric(GpuSortEncoder *encoder, Datum value, GpuSortKey *key)
{
	NumericState *state = encoder->private_data;
	struct varlena *numeric = detoast_packed(value);
	const char *data = VARDATA_ANY(numeric);
	GpuSortNumeric parts;
	uint64		word;

	if (unlikely(!gpusort_numeric_take_apart(data, VARSIZE_ANY_EXHDR(numeric), &parts)))
	{
		uint16		kind = gpusort_numeric_load(data) & NUMERIC_SPECIAL_MASK;

		if (kind == NUMERIC_NAN)
			word = PG_UINT64_MAX;
		else if (kind == NUMERIC_PLUS_INFINITY)
			word = PG_UINT64_MAX - 1;
		else
			word = 0;
	}
	else
	{
		strip_zeros(&parts);
		if (parts.ndigits == 0)
			word = MIDDLE;
		else if (likely(parts.ndigits <= WORD_DIGITS &&
						parts.weight >= MIN_WORD_WEIGHT && parts.weight <= MAX_WORD_WEIGHT))
		{
			word = leading_word(&parts);
			word = parts.negative ? MIDDLE - word : MIDDLE + word;
		}
		else
			return encode_long(state, &parts, key);
	}

	store_be64(state->buffer, word);
	key->data = state->buffer;
	key->len = sizeof(word);
	return true;
}

/*
 * A stored value has 2 bytes for each digit, after 3 to 8 bytes of headers; the
 * first four digits become 8 bytes of key.
 */
static double
extra_bytes_numeric(double width, bool lazy)
{
	return Max(width - 4, sizeof(uint64));
}

const GpuSortCodec gpusort_codec_numeric = {
	.name = "numeric",
	.bytes = GPUSORT_BYTES_PADDED,
	.begin = begin_numeric,
	.encode = encode_numeric,
	.extra_bytes = extra_bytes_numeric,
};
