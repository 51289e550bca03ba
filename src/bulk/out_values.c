/*
 * out_values.c
 *		Writes values of few bytes as the types' output and send functions do; see
 *		out_row_private.h.
 *
 * Functions are known by their OIDs, so a writer also serves user-defined types that use one of
 * these functions.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "common/shortest_dec.h"
#include "miscadmin.h"
#include "pgtime.h"
#include "port/pg_bswap.h"
#include "utils/date.h"
#include "utils/datetime.h"
#include "utils/float.h"
#include "utils/fmgroids.h"
#include "utils/timestamp.h"
#include "utils/uuid.h"

#include "bulk/out_digits.h"
#include "bulk/out_row_private.h"
#include "numeric_format.h"

/* ---------- moments in the session's time zone ---------- */

/*
 * The server searches all changes of the zone for each moment.  Here we remember between which two
 * changes the last moment lay, separately for each of a number of stretches of time, since the
 * values of a column are mostly near to each other, or spread over a few years.
 */

/* A stretch has 2^22 seconds, or 48 days; few stretches have a change in them. */
#define STRETCH_SHIFT 22
#define STRETCHES 128

/*
 * What is known of a stretch: a period without a change, which begins in the stretch and ends
 * before `to`.  Both `from` and `to` are 0 if nothing is known.
 */
typedef struct ZoneStretch
{
	pg_time_t	from;
	pg_time_t	to;
	int			offset;
} ZoneStretch;

static pg_tz *zone = NULL;		/* zone that the stretches are of; a pg_tz is never freed */
static ZoneStretch stretches[STRETCHES];

/*
 * Find the zone's offset at a second, and the first second after it whose offset may differ.
 * Returns false if they are not known.
 */
static bool
look_up(pg_time_t second, long int *offset, pg_time_t *change)
{
	long int	after;
	int			is_dst;
	int			after_is_dst;
	int			found = pg_next_dst_boundary(&second, offset, &is_dst, change, &after,
											 &after_is_dst, zone);

	if (found == 0)
		*change = PG_INT64_MAX;
	return found >= 0;
}

/*
 * Look up the period that contains a second, and remember it for the stretch.  Returns false if it
 * is not known.
 */
static bool
find_stretch(ZoneStretch *stretch, pg_time_t second)
{
	long int	before;
	long int	later;
	pg_time_t	change;

	if (!look_up(second, &before, &change))
		return false;
	/*
	 * the server finds no change after the last one in its table, even if a rule goes on beyond the
	 * next second
	 */
	if (change == PG_INT64_MAX && (!look_up(second + 1, &later, &change) || change != PG_INT64_MAX))
		change = second + 1;
	/*
	 * if the known period ends at the same change, it is the same period and begins earlier than
	 * was known
	 */
	if (stretch->from < stretch->to && stretch->to == change && second < stretch->from)
	{
		stretch->from = second;
		return true;
	}
	*stretch = (ZoneStretch) {.from = second, .to = change, .offset = (int) before};
	return true;
}

/*
 * Set *offset to the seconds that local time is ahead of UTC at `timestamp`.  Returns false if that
 * is not known here.
 */
static bool
gpusort_out_zone_offset(TimestampTz timestamp, int *offset)
{
	int64		second = timestamp / USECS_PER_SEC - (timestamp % USECS_PER_SEC < 0);
	pg_time_t	time = second + (POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE) * (int64) SECS_PER_DAY;
	ZoneStretch *stretch = &stretches[(uint64) time >> STRETCH_SHIFT & (STRETCHES - 1)];

	if (unlikely(zone != session_timezone))
	{
		memset(stretches, 0, sizeof(stretches));
		zone = session_timezone;
	}
	if (unlikely(time < stretch->from || time >= stretch->to) && !find_stretch(stretch, time))
		return false;
	*offset = stretch->offset;
	return true;
}

/* ---------- intervals ---------- */

/*
 * An interval consists of years, months, days and a time, as far as they are not zero.  Each part
 * has a sign of its own; a plus is written only behind a part that is negative.
 */

/* What has been written of an interval. */
typedef struct Parts
{
	bool		any;
	bool		negative;		/* the last part written was negative */
} Parts;

static char *
begin_part(char *at, const Parts *parts, bool positive)
{
	if (parts->any)
		*at++ = ' ';
	if (positive && parts->negative)
		*at++ = '+';
	return at;
}

static char *
write_part(char *at, Parts *parts, int n, const char *unit, int unit_bytes)
{
	if (n == 0)
		return at;
	at = gpusort_out_put_int64(begin_part(at, parts, n > 0), n);
	memcpy(at, unit, unit_bytes);
	at += unit_bytes;
	if (n != 1)
		*at++ = 's';
	*parts = (Parts) {.any = true, .negative = n < 0};
	return at;
}

/* Write the time part, whose hours may have more than two digits. */
static char *
write_clock(char *at, const Parts *parts, int64 time)
{
	uint64		us = time < 0 ? -(uint64) time : (uint64) time;
	uint64		seconds = us / USECS_PER_SEC;
	uint64		hours = seconds / SECS_PER_HOUR;

	at = begin_part(at, parts, time >= 0);
	if (time < 0)
		*at++ = '-';
	at = hours < 100 ? gpusort_out_put_two_digits(at, (int) hours)
		: gpusort_out_put_uint64(at, hours);
	*at++ = ':';
	at = gpusort_out_put_two_digits(at, (int) (seconds / SECS_PER_MINUTE % MINS_PER_HOUR));
	*at++ = ':';
	at = gpusort_out_put_two_digits(at, (int) (seconds % SECS_PER_MINUTE));
	return gpusort_out_put_fraction(at, (int) (us % USECS_PER_SEC));
}

/*
 * A GpuSortOutWriter for interval_out().  Returns NULL if the style is another one or the interval
 * may be infinite.
 */
static char *
gpusort_out_write_interval(char *at, Datum value)
{
	const Interval *interval = DatumGetIntervalP(value);
	Parts		parts = {false, false};

	/* from PostgreSQL 17 on, infinite intervals have the largest or smallest value in each field */
	if (IntervalStyle != INTSTYLE_POSTGRES || interval->month == PG_INT32_MAX ||
		interval->month == PG_INT32_MIN)
		return NULL;
	at = write_part(at, &parts, interval->month / MONTHS_PER_YEAR, " year", 5);
	at = write_part(at, &parts, interval->month % MONTHS_PER_YEAR, " mon", 4);
	at = write_part(at, &parts, interval->day, " day", 4);
	if (parts.any && interval->time == 0)
		return at;
	return write_clock(at, &parts, interval->time);
}

/* ---------- text ---------- */

static char *
write_int2(char *at, Datum value)
{
	return gpusort_out_put_int64(at, DatumGetInt16(value));
}

static char *
write_int4(char *at, Datum value)
{
	return gpusort_out_put_int64(at, DatumGetInt32(value));
}

static char *
write_int8(char *at, Datum value)
{
	return gpusort_out_put_int64(at, DatumGetInt64(value));
}

static char *
write_oid(char *at, Datum value)
{
	return gpusort_out_put_uint64(at, DatumGetObjectId(value));
}

static char *
write_bool(char *at, Datum value)
{
	*at = DatumGetBool(value) ? 't' : 'f';
	return at + 1;
}

static char *
write_float4(char *at, Datum value)
{
	if (extra_float_digits <= 0)
		return NULL;
	return at + float_to_shortest_decimal_buf(DatumGetFloat4(value), at);
}

static char *
write_float8(char *at, Datum value)
{
	if (extra_float_digits <= 0)
		return NULL;
	return at + double_to_shortest_decimal_buf(DatumGetFloat8(value), at);
}

static char *
write_uuid(char *at, Datum value)
{
	static const char digits[] = "0123456789abcdef";
	const uint8 *bytes = DatumGetUUIDP(value)->data;

	for (int i = 0; i < UUID_LEN; i++)
	{
		if (i == 4 || i == 6 || i == 8 || i == 10)
			*at++ = '-';
		*at++ = digits[bytes[i] >> 4];
		*at++ = digits[bytes[i] & 15];
	}
	return at;
}

/*
 * Write a day, given in days since 2000, in ISO format.  Returns NULL if its year does not have
 * four digits.
 */
static char *
write_day(char *at, int32 day)
{
	int			y;
	int			m;
	int			d;

	j2date(day + POSTGRES_EPOCH_JDATE, &y, &m, &d);
	if (y < 1 || y > 9999)
		return NULL;
	at = gpusort_out_put_two_digits(gpusort_out_put_two_digits(at, y / 100), y % 100);
	*at++ = '-';
	at = gpusort_out_put_two_digits(at, m);
	*at++ = '-';
	return gpusort_out_put_two_digits(at, d);
}

static char *
write_date(char *at, Datum value)
{
	DateADT		date = DatumGetDateADT(value);

	if (DATE_NOT_FINITE(date) || DateStyle != USE_ISO_DATES)
		return NULL;
	return write_day(at, date);
}

/* Write a time, given in microseconds since midnight. */
static char *
write_time_of_day(char *at, int64 time)
{
	int			seconds = (int) (time / USECS_PER_SEC);

	at = gpusort_out_put_two_digits(at, seconds / SECS_PER_HOUR);
	*at++ = ':';
	at = gpusort_out_put_two_digits(at, seconds / SECS_PER_MINUTE % MINS_PER_HOUR);
	*at++ = ':';
	at = gpusort_out_put_two_digits(at, seconds % SECS_PER_MINUTE);
	return gpusort_out_put_fraction(at, (int) (time % USECS_PER_SEC));
}

static char *
write_time(char *at, Datum value)
{
	return write_time_of_day(at, DatumGetTimeADT(value));
}

/*
 * Write a moment, given in microseconds since 2000, in ISO format.  Returns NULL if its year does
 * not have four digits.
 */
static char *
write_moment(char *at, int64 moment)
{
	int64		day = moment / USECS_PER_DAY;
	int64		time = moment % USECS_PER_DAY;

	if (time < 0)
	{
		time += USECS_PER_DAY;
		day--;
	}
	if ((at = write_day(at, (int32) day)) == NULL)
		return NULL;
	*at++ = ' ';
	return write_time_of_day(at, time);
}

static char *
write_timestamp(char *at, Datum value)
{
	Timestamp	timestamp = DatumGetTimestamp(value);

	if (TIMESTAMP_NOT_FINITE(timestamp) || DateStyle != USE_ISO_DATES)
		return NULL;
	return write_moment(at, timestamp);
}

/* Write an offset from UTC: hours, and minutes and seconds if there are any. */
static char *
write_offset(char *at, int seconds)
{
	*at++ = seconds >= 0 ? '+' : '-';
	seconds = abs(seconds);
	at = gpusort_out_put_two_digits(at, seconds / SECS_PER_HOUR);
	if (seconds % SECS_PER_HOUR == 0)
		return at;
	*at++ = ':';
	at = gpusort_out_put_two_digits(at, seconds / SECS_PER_MINUTE % MINS_PER_HOUR);
	if (seconds % SECS_PER_MINUTE == 0)
		return at;
	*at++ = ':';
	return gpusort_out_put_two_digits(at, seconds % SECS_PER_MINUTE);
}

static char *
write_timestamptz(char *at, Datum value)
{
	TimestampTz timestamp = DatumGetTimestampTz(value);
	int			offset;

	if (TIMESTAMP_NOT_FINITE(timestamp) || DateStyle != USE_ISO_DATES ||
		!gpusort_out_zone_offset(timestamp, &offset) ||
		(at = write_moment(at, timestamp + offset * USECS_PER_SEC)) == NULL)
		return NULL;
	return write_offset(at, offset);
}

/* The zone is stored as seconds west of UTC. */
static char *
write_timetz(char *at, Datum value)
{
	const TimeTzADT *time = DatumGetTimeTzADTP(value);

	return write_offset(write_time_of_day(at, time->time), -time->zone);
}

/* ---------- binary ---------- */

static char *
send_int2(char *at, Datum value)
{
	uint16		n = pg_hton16((uint16) DatumGetInt16(value));

	memcpy(at, &n, sizeof(n));
	return at + sizeof(n);
}

static char *
send_int4(char *at, Datum value)
{
	uint32		n = pg_hton32((uint32) DatumGetInt32(value));

	memcpy(at, &n, sizeof(n));
	return at + sizeof(n);
}

static char *
send_int8(char *at, Datum value)
{
	uint64		n = pg_hton64((uint64) DatumGetInt64(value));

	memcpy(at, &n, sizeof(n));
	return at + sizeof(n);
}

static char *
send_bool(char *at, Datum value)
{
	*at = DatumGetBool(value) ? 1 : 0;
	return at + 1;
}

static char *
send_uuid(char *at, Datum value)
{
	memcpy(at, DatumGetUUIDP(value)->data, UUID_LEN);
	return at + UUID_LEN;
}

/* ---------- all of them ---------- */

static const struct
{
	Oid			function;
	GpuSortOutWriter writer;
}			writers[] =
{
	{F_INT2OUT, write_int2},
	{F_INT4OUT, write_int4},
	{F_INT8OUT, write_int8},
	{F_OIDOUT, write_oid},
	{F_BOOLOUT, write_bool},
	{F_FLOAT4OUT, write_float4},
	{F_FLOAT8OUT, write_float8},
	{F_UUID_OUT, write_uuid},
	{F_DATE_OUT, write_date},
	{F_TIMESTAMP_OUT, write_timestamp},
	{F_TIMESTAMPTZ_OUT, write_timestamptz},
	{F_TIME_OUT, write_time},
	{F_TIMETZ_OUT, write_timetz},
	{F_INTERVAL_OUT, gpusort_out_write_interval},
	{F_NUMERIC_OUT, gpusort_out_write_numeric},
	{F_INT2SEND, send_int2},
	{F_INT4SEND, send_int4},
	{F_INT8SEND, send_int8},
	{F_OIDSEND, send_int4},
	{F_BOOLSEND, send_bool},
	/* a float's Datum has the bits of an integer of the same size */
	{F_FLOAT4SEND, send_int4},
	{F_FLOAT8SEND, send_int8},
	{F_UUID_SEND, send_uuid},
	{F_DATE_SEND, send_int4},
	{F_TIMESTAMP_SEND, send_int8},
	{F_TIMESTAMPTZ_SEND, send_int8},
	{F_TIME_SEND, send_int8},
	{F_NUMERIC_SEND, gpusort_out_send_numeric}
};

GpuSortOutWriter
gpusort_out_writer(Oid function)
{
	for (int i = 0; i < lengthof(writers); i++)
		if (writers[i].function == function)
			return writers[i].writer;
	return NULL;
}

/* ---------- numerics of few digits ---------- */

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
