/*
 * out_zone.c
 *		Finds the offset of the session's time zone from UTC at a moment; see out_zone.h.
 *
 * The server searches all changes of the zone for each moment.  Here we remember between which two
 * changes the last moment lay, separately for each of a number of stretches of time, since the
 * values of a column are mostly near to each other, or spread over a few years.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "pgtime.h"

#include "bulk/out_zone.h"

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
