/*
 * cost_hash.c
 *		What PostgreSQL's hash tables, and groups of sorted rows, cost beyond the planner's
 *		estimate.
 *
 * The planner charges a row for its hash value, and a group for its tuple, whatever the size of the
 * table, and both less than they take in a table that is in the cache.  A row whose bucket and
 * tuple are not in the cache takes half a microsecond more, and a new group takes as long again,
 * since the table grows by moving all groups (docs/performance.md, "Distinct values").
 */
#include "postgres.h"

#include <math.h>

#include "access/htup_details.h"
#include "executor/nodeHash.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"

#include "cost/cost.h"
#include "pg_compat/paths.h"
#include "settings.h"

/*
 * What a hash table of any size lacks: for finding a row's group, for each column that is grouped
 * by, for each of these that is no plain value (text, numeric), and for making a group.
 *
 * That is 28, 15, 30 and 18 ns, which is what the difference between a hash table and a GpuSort
 * with Unique lacks.  (test/bench/plan_grid.pl --cpu: SELECT DISTINCT of 10^4 to 10^6 rows, 54 to
 * 66 ns a row with 128 groups by two columns; with a group for two rows 51 by int8, 62 by int4 and
 * date, 84 by text, 156 by numeric.)
 */
#define ROW_COST			0.011
#define COLUMN_COST			0.006
#define REFERENCE_COST		0.012
#define GROUP_COST			0.007

/*
 * What an Agg node above sorted rows takes beyond the planner's estimate: 13 ns a row, 30 for each
 * column that is no plain value, and 25 for a group.  (The same measurements: GROUP BY with a count
 * lacks 41 to 49 ns a row with 128 groups; with a group for two rows 26 by int8, 47 by int4 and
 * date, 37 by text, 24 by numeric.)
 */
#define SORTED_ROW_COST			0.005
#define SORTED_REFERENCE_COST	0.012
#define SORTED_GROUP_COST		0.01

/*
 * What a row lacks in addition in the hash table by which a join's side is made unique, compared
 * with a join of ours, which lacks nothing: 40 ns.  (CPU time of EXISTS in 300,000 rows, with 3,000
 * groups, in which nothing misses: 95 ns a row above the scan and the join, of which 6 are
 * charged.)
 */
#define UNIQUE_ROW_COST		0.016

/*
 * What a row lacks in addition in a table that no cache holds: for finding its group, and for
 * making one (400 and 370 ns).
 */
#define MISS_COST			0.16
#define NEW_GROUP_COST		0.15

/*
 * A table of up to CACHED_BYTES is in the cache.  With each doubling more of it is not, and with 2
 * to the power of CACHED_SHARE_LOG2 times that size nothing is.
 */
#define CACHED_BYTES		(1024.0 * 1024.0)
#define CACHED_SHARE_LOG2	4.0

/* The bytes of a group besides its columns: bucket, tuple header and what the allocator needs. */
#define GROUP_OVERHEAD		64

/*
 * What a row that is put into a join's hash table, or looked up in it, costs beyond the planner's
 * estimate if it misses all caches: 330 ns.
 *
 * Up to HASH_CACHE_BYTES no row misses, and with each doubling more rows do.  Measured were, for
 * each of 600,000 outer rows beside a table in the cache, 13 ns with one of 2 MB, 45 with 4, 200
 * with 8, 260 with 15, 330 with 30, and 370 with 55 (2 cores, 2 MB of cache each).
 */
#define HASH_MISS_COST			0.13
#define HASH_CACHE_BYTES		(3 * 1024 * 1024.0)
#define HASH_CACHE_SHARE_LOG2	3.3

/*
 * What a hash join lacks, compared with a join of sorts, if its table is in the cache: for finding
 * the partner of an outer row, for putting an inner row into the table, and for each column that is
 * no plain value, which is fetched and compared by a function.
 *
 * That is 18, 40 and 15 ns.  (test/bench/plan_grid.pl --cpu --shapes
 * join,join_tenth,semijoin,semijoin_tenth, 3000 to 30,000 rows: for each row of both sides 29 ns by
 * int8, 25 by int4 and date, 45 by text; with a tenth of the rows in the table 25, 25 and 42; with
 * a fiftieth 10 to 17, 33, and 30 to 45.)
 *
 * The other columns of an outer row are passed on by a hash join and stored by a sort, so 0.3 ns a
 * byte are taken off for them.  (SELECT * of 30,000 rows of 57 bytes that find their partners in
 * 3000: nothing is lacking.)
 */
#define JOIN_OUTER_ROW_COST		0.007
#define JOIN_OUTER_BYTE_COST	0.00012
#define JOIN_INNER_ROW_COST		0.016
#define JOIN_REFERENCE_COST		0.006

/* The bytes of a row in the table besides its columns: header, link, and a share of the buckets. */
#define HASH_ROW_BYTES	40

static Cost
extra_cost(const GpuSortGroups *all, double rows, double groups)
{
	double		bytes = groups * (GROUP_OVERHEAD + all->width);
	double		missing = log2(Max(bytes / CACHED_BYTES, 1)) / CACHED_SHARE_LOG2;
	Cost		row = ROW_COST + all->columns * COLUMN_COST + all->references * REFERENCE_COST;

	missing = Min(missing, 1);
	return rows * (row + missing * MISS_COST) + groups * (GROUP_COST + missing * NEW_GROUP_COST);
}

Cost
gpusort_hash_extra_cost(const GpuSortGroups *all, int participants)
{
	double		share = all->rows / participants;

	if (participants == 1)
		return extra_cost(all, all->rows, Min(all->groups, all->rows));
	return extra_cost(all, share, Min(all->groups, share)) +
		extra_cost(all, Min(all->rows, all->groups * participants), all->groups);
}

Cost
gpusort_sorted_agg_extra_cost(const GpuSortGroups *all)
{
	return all->rows * (SORTED_ROW_COST + all->references * SORTED_REFERENCE_COST) +
		Min(all->groups, all->rows) * SORTED_GROUP_COST;
}

/*
 * Returns what the hash table by which the rows of a join's side were made unique lacks; 0 if there
 * is none.  How many rows are left is a guess if an expression is made unique
 * (plan/plan_statistics.c), and then only UNIQUE_ROW_COST is counted.
 */
static Cost
unique_side_extra_cost(const Path *side)
{
	List	   *columns = NIL;
	const Path *input = gpusort_hashed_unique_input(side, &columns);
	GpuSortGroups groups = {.columns = list_length(columns)};
	ListCell   *lc;

	if (input == NULL)
		return 0;
	groups.rows = input->rows;
	groups.groups = side->rows;
	groups.width = side->pathtarget->width;
	foreach(lc, columns)
	{
		if (!IsA(strip_implicit_coercions(lfirst(lc)), Var))
			return groups.rows * UNIQUE_ROW_COST;
		if (!get_typbyval(exprType(lfirst(lc))))
			groups.references++;
	}
	return groups.rows * UNIQUE_ROW_COST + gpusort_hash_extra_cost(&groups, 1);
}

/*
 * Returns what making a hash table that is in the cache, and finding partners in it, lack compared
 * with a join of sorts.
 */
static Cost
cached_extra_cost(const HashPath *hash)
{
	const Path *outer = hash->jpath.outerjoinpath;
	const Path *inner = hash->jpath.innerjoinpath;
	int			passed_on = outer->pathtarget->width;
	int			references = 0;
	ListCell   *lc;

	foreach(lc, hash->path_hashclauses)
	{
		const Node *key = get_leftop(lfirst_node(RestrictInfo, lc)->clause);
		int16		length;
		bool		is_value;

		get_typlenbyval(exprType(key), &length, &is_value);
		passed_on -= length > 0 ? length : get_typavgwidth(exprType(key), exprTypmod(key));
		if (!is_value)
			references++;
	}
	return outer->rows * Max(JOIN_OUTER_ROW_COST - Max(passed_on, 0) * JOIN_OUTER_BYTE_COST, 0) +
		inner->rows * JOIN_INNER_ROW_COST +
		(outer->rows + inner->rows) * JOIN_REFERENCE_COST * references;
}

/* Returns whether these rows stay in the cache while they are sorted. */
static bool
is_sorted_in_cache(const Path *side)
{
	double		row_bytes = MAXALIGN(side->pathtarget->width) + MAXALIGN(SizeofMinimalTupleHeader);

	return side->rows * row_bytes <= GPUSORT_CACHE_BYTES;
}

/* Returns the cost of missing caches, for the rows of both sides. */
static Cost
missing_cost(double outer_rows, double inner_rows, double table_bytes)
{
	double		missed = log2(Max(table_bytes / HASH_CACHE_BYTES, 1)) / HASH_CACHE_SHARE_LOG2;

	return HASH_MISS_COST * Min(missed, 1) * (outer_rows + inner_rows);
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
	Cost		extra = missing_cost(outer->rows, inner->rows, table_bytes);

	/*
	 * This cost is left out where it was not measured, for joins by workers and of few rows; and
	 * where the sort of a side leaves the cache, since it takes as much more then.
	 */
	if (hash->jpath.path.parallel_workers == 0 &&
		Max(outer->rows, inner->rows) >= gpusort_min_rows &&
		is_sorted_in_cache(outer) && is_sorted_in_cache(inner))
		extra += cached_extra_cost(hash);
	return extra + unique_side_extra_cost(outer) + unique_side_extra_cost(inner);
}

Cost
gpusort_hash_join_charge(double outer_rows, double inner_rows)
{
	return cpu_operator_cost * (outer_rows + inner_rows) + cpu_tuple_cost * inner_rows;
}

Cost
gpusort_hash_join_cost(double outer_rows, double inner_rows, int inner_width)
{
	return gpusort_hash_join_charge(outer_rows, inner_rows) +
		JOIN_OUTER_ROW_COST * outer_rows + JOIN_INNER_ROW_COST * inner_rows +
		missing_cost(outer_rows, inner_rows, inner_rows * (inner_width + HASH_ROW_BYTES));
}
