/*
 * out_zone.c
 *		What a moment's time is ahead of UTC; see out_zone.h.
 *
 * The server looks a moment up among all changes of the zone.  Here it is remembered between which
 * two changes it found one, for each of some stretches of time: values of a column are mostly near
 * to each other, or all over a few years.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "pgtime.h"

#include "bulk/out_zone.h"

/* A stretch is of 2^22 seconds, 48 days, which few changes are in. */
#define STRETCH_SHIFT 22
#define STRETCHES 128

/* Between from and to, which is behind the last second, nothing changes; both are 0: not known. */
typedef struct ZoneStretch
{
	pg_time_t	from;
	pg_time_t	to;
	int			offset;
} ZoneStretch;

static pg_tz *zone = NULL;		/* of which these are; zones stay where they are */
static ZoneStretch stretches[STRETCHES];

/* What the zone is ahead at a second, and the first second behind that may differ; false: not known. */
static bool
look_up(pg_time_t second, long int *offset, pg_time_t *change)
{
	long int	after;
	int			is_dst;
	int			after_is_dst;
	int			found = pg_next_dst_boundary(&second, offset, &is_dst, change, &after, &after_is_dst, zone);

	if (found == 0)
		*change = PG_INT64_MAX;
	return found >= 0;
}

static bool
find_stretch(ZoneStretch *stretch, pg_time_t second)
{
	long int	before;
	long int	later;
	pg_time_t	change;

	if (!look_up(second, &before, &change))
		return false;
	/* the server knows of no change behind the last one in its table, even if the next second is one of a rule that goes on */
	if (change == PG_INT64_MAX && (!look_up(second + 1, &later, &change) || change != PG_INT64_MAX))
		change = second + 1;
	/* one that ends where this one ends is the same, and longer than known */
	if (stretch->from < stretch->to && stretch->to == change && second < stretch->from)
	{
		stretch->from = second;
		return true;
	}
	*stretch = (ZoneStretch) {.from = second, .to = change, .offset = (int) before};
	return true;
}

bool
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
