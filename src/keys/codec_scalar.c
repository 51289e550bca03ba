/*
 * codec_scalar.c
 *		Codecs of the types whose order is that of one integer or float, or of two integers.
 *
 * Each of these codecs takes a few instructions to map a value to an unsigned
 * integer of the same order.
 *
 * A Datum of a 32-bit type may carry anything in its upper half, so every
 * value goes through the type's own DatumGetXxx() first.
 */
#include "postgres.h"

#include <math.h>

#include "storage/itemptr.h"
#include "utils/date.h"
#include "utils/timestamp.h"

#include "keys/codec_private.h"
#include "keys/key_codec.h"

/*
 * Floats are ordered by btfloat8cmp() with all NaNs equal and above infinity,
 * and -0 equal to 0.  IEEE 754 numbers of either sign compare like their bit
 * patterns taken as sign and magnitude; flipping the sign bit of positive ones
 * and all bits of negative ones turns that into unsigned order.  The largest
 * word made that way is infinity's, far below that of NaN, which is all ones.
 */
static bool
encode_float8(GpuSortEncoder *encoder, Datum value, GpuSortKey *key)
{
	float8		f = DatumGetFloat8(value);
	uint64		bits;

	if (unlikely(isnan(f)))
	{
		key->words[0] = PG_UINT64_MAX;
		return true;
	}
	f += 0.0;					/* turns -0 into 0 and nothing else */
	memcpy(&bits, &f, sizeof(bits));
	key->words[0] = bits ^ ((uint64) ((int64) bits >> 63) | (UINT64CONST(1) << 63));
	return true;
}

static bool
encode_float4(GpuSortEncoder *encoder, Datum value, GpuSortKey *key)
{
	float4		f = DatumGetFloat4(value);
	uint32		bits;

	if (unlikely(isnan(f)))
	{
		key->words[0] = PG_UINT32_MAX;
		return true;
	}
	f += 0.0f;
	memcpy(&bits, &f, sizeof(bits));
	key->words[0] = bits ^ ((uint32) ((int32) bits >> 31) | (UINT32_C(1) << 31));
	return true;
}

/* Encode the bits of a float as they are, so that equal values may have different words. */
static bool
encode_distinct_float8(GpuSortEncoder *encoder, Datum value, GpuSortKey *key)
{
	key->words[0] = gpusort_word_of_float8_bits((uint64) value);
	return true;
}

static bool
encode_distinct_float4(GpuSortEncoder *encoder, Datum value, GpuSortKey *key)
{
	key->words[0] = gpusort_word_of_float4_bits((uint32) value);
	return true;
}

static bool
encode_int2(GpuSortEncoder *encoder, Datum value, GpuSortKey *key)
{
	key->words[0] = word_from_int64(DatumGetInt16(value));
	return true;
}

static bool
encode_int4(GpuSortEncoder *encoder, Datum value, GpuSortKey *key)
{
	key->words[0] = word_from_int64(DatumGetInt32(value));
	return true;
}

static bool
encode_int8(GpuSortEncoder *encoder, Datum value, GpuSortKey *key)
{
	key->words[0] = word_from_int64(DatumGetInt64(value));
	return true;
}

static bool
encode_uint8(GpuSortEncoder *encoder, Datum value, GpuSortKey *key)
{
	key->words[0] = DatumGetUInt64(value);
	return true;
}

static bool
encode_oid(GpuSortEncoder *encoder, Datum value, GpuSortKey *key)
{
	key->words[0] = DatumGetObjectId(value);
	return true;
}

static bool
encode_bool(GpuSortEncoder *encoder, Datum value, GpuSortKey *key)
{
	key->words[0] = DatumGetBool(value);
	return true;
}

/* btcharcmp() compares "char" as unsigned. */
static bool
encode_char(GpuSortEncoder *encoder, Datum value, GpuSortKey *key)
{
	key->words[0] = DatumGetUInt8(value);
	return true;
}

/* ItemPointerCompare() compares the block numbers, then the offsets, both unsigned. */
static bool
encode_tid(GpuSortEncoder *encoder, Datum value, GpuSortKey *key)
{
	ItemPointer tid = (ItemPointer) DatumGetPointer(value);

	key->words[0] = ((uint64) ItemPointerGetBlockNumberNoCheck(tid) << 16) |
		ItemPointerGetOffsetNumberNoCheck(tid);
	return true;
}

const GpuSortCodec gpusort_codec_bool = {
	.name = "bool",
	.nwords = 1,
	.inverse = GPUSORT_INVERSE_UNSIGNED,
	.encode = encode_bool,
};

const GpuSortCodec gpusort_codec_char = {
	.name = "char",
	.nwords = 1,
	.inverse = GPUSORT_INVERSE_UNSIGNED,
	.encode = encode_char,
};

const GpuSortCodec gpusort_codec_int2 = {
	.name = "int2",
	.nwords = 1,
	.inverse = GPUSORT_INVERSE_SIGNED,
	.encode = encode_int2,
};

const GpuSortCodec gpusort_codec_int4 = {
	.name = "int4",
	.nwords = 1,
	.integer_bytes = sizeof(int32),
	.inverse = GPUSORT_INVERSE_SIGNED,
	.encode = encode_int4,
};

const GpuSortCodec gpusort_codec_int8 = {
	.name = "int8",
	.nwords = 1,
	.integer_bytes = sizeof(int64),
	.inverse = GPUSORT_INVERSE_SIGNED,
	.encode = encode_int8,
};

const GpuSortCodec gpusort_codec_uint8 = {
	.name = "uint8",
	.nwords = 1,
	.inverse = GPUSORT_INVERSE_UNSIGNED,
	.encode = encode_uint8,
};

const GpuSortCodec gpusort_codec_oid = {
	.name = "oid",
	.nwords = 1,
	.inverse = GPUSORT_INVERSE_UNSIGNED,
	.encode = encode_oid,
};

const GpuSortCodec gpusort_codec_tid = {
	.name = "tid",
	.nwords = 1,
	.encode = encode_tid,
};

static const GpuSortCodec distinct_float4 = {
	.name = "float4",
	.nwords = 1,
	.inverse = GPUSORT_INVERSE_FLOAT4,
	.encode = encode_distinct_float4,
};

const GpuSortCodec gpusort_codec_float4 = {
	.name = "float4",
	.nwords = 1,
	.distinct = &distinct_float4,
	.encode = encode_float4,
};

static const GpuSortCodec distinct_float8 = {
	.name = "float8",
	.nwords = 1,
	.inverse = GPUSORT_INVERSE_FLOAT8,
	.encode = encode_distinct_float8,
};

const GpuSortCodec gpusort_codec_float8 = {
	.name = "float8",
	.nwords = 1,
	.distinct = &distinct_float8,
	.encode = encode_float8,
};

/* ---------- date and time types that are more than one integer ---------- */

/*
 * date, time and the timestamps are plain integers with their infinities at the ends of the range.
 */

/*
 * timetz_cmp() orders by the time in UTC, then by the zone, a displacement in
 * seconds west of Greenwich.
 *
 * Both fit in one word: a zone cannot exceed the 167 hours that a POSIX time
 * zone specification can ask for, 601200 seconds, so that 21 bits hold it with
 * its sign, and a day plus such a zone in microseconds needs 41 bits.
 */
#define TIMETZ_ZONE_BITS 21
#define TIMETZ_ZONE_LIMIT (1 << (TIMETZ_ZONE_BITS - 1))

static bool
encode_timetz(GpuSortEncoder *encoder, Datum value, GpuSortKey *key)
{
	TimeTzADT  *timetz = DatumGetTimeTzADTP(value);
	int32		zone = timetz->zone;
	int64		utc;

	/* No input function lets such values through, but wrong data must not be sorted wrongly. */
	if (unlikely(zone < -TIMETZ_ZONE_LIMIT || zone >= TIMETZ_ZONE_LIMIT ||
				 timetz->time < 0 || timetz->time > USECS_PER_DAY))
		return false;

	utc = timetz->time + zone * USECS_PER_SEC;
	key->words[0] = word_from_int64(utc * (INT64CONST(1) << TIMETZ_ZONE_BITS) +
									(zone + TIMETZ_ZONE_LIMIT));
	return true;
}

/*
 * interval_cmp() orders by the whole span in microseconds, a month taken as 30
 * days and a day as 24 hours.  That needs more than 64 bits, but whole days and
 * the microseconds beyond them (never negative) order the same and fit a word
 * each.  The infinite intervals of PostgreSQL 17, all fields at their limits,
 * need no special care.
 */
static bool
encode_interval(GpuSortEncoder *encoder, Datum value, GpuSortKey *key)
{
	Interval   *interval = DatumGetIntervalP(value);
	int64		days = interval->time / USECS_PER_DAY;
	int64		usecs = interval->time % USECS_PER_DAY;

	if (usecs < 0)
	{
		usecs += USECS_PER_DAY;
		days--;
	}
	days += interval->day + interval->month * INT64CONST(30);

	key->words[0] = word_from_int64(days);
	key->words[1] = (uint64) usecs;
	return true;
}

const GpuSortCodec gpusort_codec_timetz = {
	.name = "timetz",
	.nwords = 1,
	.encode = encode_timetz,
};

const GpuSortCodec gpusort_codec_interval = {
	.name = "interval",
	.nwords = 2,
	.encode = encode_interval,
};
