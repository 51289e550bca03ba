/*
 * out_interval.c
 *		Writes intervals in PostgreSQL's style; see out_interval.h.
 *
 * An interval consists of years, months, days and a time, as far as they are not zero.  Each part
 * has a sign of its own; a plus is written only behind a part that is negative.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/timestamp.h"

#include "bulk/out_digits.h"
#include "bulk/out_interval.h"

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

char *
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
