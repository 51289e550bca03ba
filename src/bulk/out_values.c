/*
 * out_values.c
 *		Writes values of few bytes as the types' output and send functions do; see out_values.h.
 *
 * Functions are known by their OIDs, so a writer also serves user-defined types that use one of
 * these functions.
 */
#include "postgres.h"

#include "common/shortest_dec.h"
#include "miscadmin.h"
#include "port/pg_bswap.h"
#include "utils/date.h"
#include "utils/datetime.h"
#include "utils/float.h"
#include "utils/fmgroids.h"
#include "utils/timestamp.h"
#include "utils/uuid.h"

#include "bulk/out_digits.h"
#include "bulk/out_interval.h"
#include "bulk/out_numeric.h"
#include "bulk/out_values.h"
#include "bulk/out_zone.h"

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
