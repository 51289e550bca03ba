/*
 * cost_hash.c
 *		What PostgreSQL's hash tables of groups cost beyond the planner's estimate.
 *
 * The planner charges a row for its hash value, and a group for its tuple, whatever the size of the
 * table.  A row whose bucket and tuple are not in the cache takes half a microsecond more, and
 * a group that is new takes as long again, since the table grows by moving all of them
 * (docs/performance.md, "Distinct values").
 */
#include "postgres.h"

#include <math.h>

#include "cost/cost_hash.h"

/* Of a table that no cache holds: finding a row's group; making one (400 and 370 ns). */
#define MISS_COST			0.16
#define NEW_GROUP_COST		0.15

/* Up to this size a table is in the cache; from so many times that on, none of it is. */
#define CACHED_BYTES		(1024.0 * 1024.0)
#define CACHED_SHARE_LOG2	4.0

/* Bucket, tuple header and what the allocator needs, of a group. */
#define GROUP_OVERHEAD		64

static Cost
extra_cost(double rows, double groups, int width)
{
	double		bytes = groups * (GROUP_OVERHEAD + width);
	double		missing = log2(Max(bytes / CACHED_BYTES, 1)) / CACHED_SHARE_LOG2;

	missing = Min(missing, 1);
	return missing * (rows * MISS_COST + groups * NEW_GROUP_COST);
}

Cost
gpusort_hash_extra_cost(double rows, double groups, int width, int participants)
{
	double		share = rows / participants;
	Cost		together = extra_cost(rows, Min(groups, rows), width);
	Cost		apart;

	if (participants == 1)
		return together;
	apart = extra_cost(share, Min(groups, share), width) +
		extra_cost(Min(rows, groups * participants), groups, width);
	return Min(together, apart);
}
