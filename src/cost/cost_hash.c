/*
 * cost_hash.c
 *		What PostgreSQL's hash tables cost beyond the planner's estimate.
 *
 * The planner charges a row for its hash value, and a group for its tuple, whatever the size of the
 * table.  A row whose bucket and tuple are not in the cache takes half a microsecond more, and
 * a group that is new takes as long again, since the table grows by moving all of them
 * (docs/performance.md, "Distinct values").
 */
#include "postgres.h"

#include <math.h>

#include "executor/nodeHash.h"
#include "miscadmin.h"

#include "cost/cost_hash.h"

/* Of a table that no cache holds: finding a row's group; making one (400 and 370 ns). */
#define MISS_COST			0.16
#define NEW_GROUP_COST		0.15

/* Up to this size a table is in the cache; from so many times that on, none of it is. */
#define CACHED_BYTES		(1024.0 * 1024.0)
#define CACHED_SHARE_LOG2	4.0

/* Bucket, tuple header and what the allocator needs, of a group. */
#define GROUP_OVERHEAD		64

/*
 * What a row costs that is put into or looked up in a hash table, beyond what the planner charges
 * for it, if it misses the core's own cache: 150 ns.  Measured were 300 beside a table of 18 MB and
 * 370 beside 55 MB (2 cores, CPU time); and joining with one of 5 MB took three times as long as
 * merging, with one of 2 MB as long.
 */
#define HASH_MISS_COST	0.06
#define HASH_CACHE_BYTES	(1024 * 1024.0)

/* What the table has of a row besides its columns: header, link, and a share of the buckets. */
#define HASH_ROW_BYTES	40

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

Cost
gpusort_hash_join_extra_cost(const HashPath *hash)
{
	const Path *outer = hash->jpath.outerjoinpath;
	const Path *inner = hash->jpath.innerjoinpath;
	bool		shared = hash->jpath.path.parallel_aware;
	double		rows = shared ? hash->inner_rows_total : inner->rows;
	double		limit = (double) get_hash_memory_limit() *
		(shared ? hash->jpath.path.parallel_workers + 1 : 1);
	double		table_bytes = Min(rows * (inner->pathtarget->width + HASH_ROW_BYTES), limit);
	double		missed = 1 - Min(HASH_CACHE_BYTES / Max(table_bytes, 1), 1);

	return HASH_MISS_COST * missed * (outer->rows + inner->rows);
}
