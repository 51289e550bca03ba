/*
 * codec_datetime.c
 *		Codecs of the date and time types that are more than one integer.
 *
 * date, time and the timestamps are plain integers with their infinities at
 * the ends of the range, see codec_scalar.c.
 */
#include "postgres.h"

#include "utils/date.h"
#include "utils/timestamp.h"

#include "keys/codec_private.h"

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
