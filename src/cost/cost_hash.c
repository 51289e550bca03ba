/*
 * cost_hash.c
 *		What PostgreSQL's hash tables, and groups of sorted rows, cost beyond the planner's estimate.
 *
 * The planner charges a row for its hash value, and a group for its tuple, whatever the size of the
 * table, and both less than they take in a table that is in the cache.  A row whose bucket and tuple
 * are not there takes half a microsecond more, and a group that is new takes as long again, since the
 * table grows by moving all of them (docs/performance.md, "Distinct values").
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
#include "cost/cost_hash.h"
#include "pg_compat/paths.h"
#include "settings.h"

/*
 * Of any table: finding a row's group, for each column beside that, and for each column that is no plain
 * value (text, numeric); making a group.  28, 15, 30 and 18 ns: what the difference between a hash table and
 * a GpuSort with Unique lacks.  (test/bench/plan_grid.pl --cpu: SELECT DISTINCT of 10^4 to 10^6 rows, 54 to 66
 * ns a row with 128 groups by two columns; with a group for two rows 51 by int8, 62 by int4 and date, 84 by
 * text, 156 by numeric.)
 */
#define ROW_COST			0.011
#define COLUMN_COST			0.006
#define REFERENCE_COST		0.012
#define GROUP_COST			0.007

/*
 * What an Agg node above sorted rows takes beyond the planner's estimate: 13 ns a row, 30 for each column
 * that is no plain value, and 25 for a group.  (the same: GROUP BY with a count lacks 41 to 49 ns a row with
 * 128 groups; with a group for two rows 26 by int8, 47 by int4 and date, 37 by text, 24 by numeric)
 */
#define SORTED_ROW_COST			0.005
#define SORTED_REFERENCE_COST	0.012
#define SORTED_GROUP_COST		0.01

/*
 * Of one by which a join's side is made unique, beside a join of ours, which lacks nothing: 40 ns more.  (CPU time
 * of EXISTS in 300,000 rows, with 3,000 groups, in which nothing misses: 95 ns a row above the scan and the join,
 * of which 6 are charged.)
 */
#define UNIQUE_ROW_COST		0.016

/* Of a table that no cache holds: finding a row's group; making one (400 and 370 ns). */
#define MISS_COST			0.16
#define NEW_GROUP_COST		0.15

/* Up to this size a table is in the cache; from so many times that on, none of it is. */
#define CACHED_BYTES		(1024.0 * 1024.0)
#define CACHED_SHARE_LOG2	4.0

/* Bucket, tuple header and what the allocator needs, of a group. */
#define GROUP_OVERHEAD		64

/*
 * What a row costs that is put into or looked up in a join's hash table, beyond what the planner charges
 * for it, if it misses all caches: 330 ns.  Up to the first size none does; with each doubling more do.
 * Measured were, for each of 600,000 outer rows beside a table in the cache, 13 ns with one of 2 MB, 45 with 4, 200
 * with 8, 260 with 15, 330 with 30, and 370 with 55 (2 cores, 2 MB of cache each).
 */
#define HASH_MISS_COST			0.13
#define HASH_CACHE_BYTES		(3 * 1024 * 1024.0)
#define HASH_CACHE_SHARE_LOG2	3.3

/*
 * Of a table that the cache holds, too: what finding the partner of an outer row, and putting an inner row into the
 * table, lack beside a join of sorts: 18 and 40 ns, and 15 for each column that is no plain value, which is fetched
 * and compared by a function.  (test/bench/plan_grid.pl --cpu --shapes join,join_tenth,semijoin,semijoin_tenth, 3000 to
 * 30,000 rows: for each row of both sides 29 ns by int8, 25 by int4 and date, 45 by text; with a tenth of the rows in
 * the table 25, 25 and 42; with a fiftieth 10 to 17, 33, and 30 to 45.)  What else an outer row has is passed on
 * by a hash join and stored by a sort: 0.3 ns a byte.  (SELECT * of 30,000 rows of 57 bytes that find their partners
 * in 3000: nothing is lacking.)
 */
#define JOIN_OUTER_ROW_COST		0.007
#define JOIN_OUTER_BYTE_COST	0.00012
#define JOIN_INNER_ROW_COST		0.016
#define JOIN_REFERENCE_COST		0.006

/* What the table has of a row besides its columns: header, link, and a share of the buckets. */
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
 * Of a join's side whose rows are made unique by a hash table of their own.  How many are left is a guess where that
 * is by expressions (plan/plan_statistics.c).
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

/* Finding partners in a table that is in the cache, and making it, beside a join of sorts. */
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
		inner->rows * JOIN_INNER_ROW_COST + (outer->rows + inner->rows) * JOIN_REFERENCE_COST * references;
}

/* Do these rows, sorted, stay in the cache? */
static bool
is_sorted_in_cache(const Path *side)
{
	double		row_bytes = MAXALIGN(side->pathtarget->width) + MAXALIGN(SizeofMinimalTupleHeader);

	return side->rows * row_bytes <= GPUSORT_CACHE_BYTES;
}

/* Missing caches, by rows of both sides. */
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

	/* neither workers' joins were measured nor those of few rows; a sort that leaves the cache takes as much more */
	if (hash->jpath.path.parallel_workers == 0 && Max(outer->rows, inner->rows) >= gpusort_min_rows &&
		is_sorted_in_cache(outer) && is_sorted_in_cache(inner))
		extra += cached_extra_cost(hash);
	return extra + unique_side_extra_cost(outer) + unique_side_extra_cost(inner);
}

Cost
gpusort_hash_join_cost(double outer_rows, double inner_rows, int inner_width)
{
	return cpu_operator_cost * (outer_rows + inner_rows) + cpu_tuple_cost * inner_rows +
		JOIN_OUTER_ROW_COST * outer_rows + JOIN_INNER_ROW_COST * inner_rows +
		missing_cost(outer_rows, inner_rows, inner_rows * (inner_width + HASH_ROW_BYTES));
}
