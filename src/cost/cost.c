/*
 * cost.c
 *		What a sort costs and how much memory it takes, and whether to take it over.
 *
 * A sort is charged for collecting each row, with its key and its bytes; for sorting it; and for
 * returning it.  PostgreSQL's sort of the same rows is charged what the planner's estimate leaves
 * out, so that the two can be compared.
 */
#include "postgres.h"

#include <math.h>

#include "access/htup_details.h"
#include "miscadmin.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"

#include "cost/cost.h"
#include "memory/memory_range.h"
#include "memory/pool.h"
#include "settings.h"
#include "sort/sort.h"
#include "team/workers.h"
#include "utils/lsyscache.h"

/*
 * The rows wanted of a sort, as a divisor of all rows, up to which PostgreSQL's bounded sort wins.
 *
 * PostgreSQL's bounded sort keeps the best k of n rows in a heap and throws nearly every row away
 * after one comparison (about 30 ns), while a full sort pays for all of them (about 100 ns).  It
 * wins up to k = n / 16 and somewhat beyond, before its k log k log(n/k) updates of the heap weigh
 * as much.
 *
 * A sort of ours that is told the bound throws rows away as well, for less.  But where the order is
 * verified, throwing a row away takes PostgreSQL's comparison in addition to the key, and our sort
 * wins only from k = n / 200 on.  (test/bench/limits.pl)
 */
#define BOUNDED_SORT_SHARE	16
#define BOUNDED_SORT_SHARE_VERIFIED	200

/*
 * The share of the cost of its bytes that a row still costs if a bounded sort drops it.  As a rule
 * all bytes are read, and copied to where the row before was; but only the key is read if that is
 * an integer.  (test/bench/late_rows.pl --limits 10,1: 0.15 ns a byte, and nothing)
 */
#define DROPPED_SHARE			0.5
#define DROPPED_SHARE_INTEGER	0.05

/*
 * How many rows a bounded sort keeps before it trims, as a multiple of the bound, and at least
 * (sort/sort_bound.c).
 */
#define BOUNDED_FACTOR		2
#define BOUNDED_MIN_ROWS	4096

/*
 * What PostgreSQL's sort costs beyond the planner's estimate, which is log2(rows) comparisons a row
 * of 2 cpu_operator_cost each, whatever the key and the row.
 *
 * That is right for integers.  A comparison takes CORE_COMPARE_BYTES times as long for strings of
 * bytes and for numerics, and CORE_COMPARE_LIBC times as long for libc's collations.  (ICU's have
 * abbreviated keys: see CORE_SHARE_ICU.)  libc's take longer the more the strings have in common,
 * as neighbours have if the rows come in order.  Copying a row, and waiting for it when it is
 * returned, is added.  (test/bench/plan_grid.pl: 8-12 ns, 13-20 ns and 60-73 ns for each of
 * log2(rows), 150 ns in order; 30 ns a row, 0.6 ns a byte.)
 */
#define CORE_COMPARE_BYTES	1.4
#define CORE_COMPARE_LIBC	5.5
#define CORE_COMPARE_LIBC_SORTED	14
#define CORE_COST_ROW		0.012
#define CORE_COST_ROW_BYTE	0.00024

/*
 * The share of gpusort.cost_row that collecting a row takes; sorting it takes the rest: 25 of 36 ns
 * (docs/performance.md, "What a row costs").
 */
#define COLLECT_SHARE	0.7

/*
 * The share of gpusort.cost_key_collated that a key of a lazy codec costs, and that an abbreviated
 * key costs PostgreSQL.
 *
 * A lazy codec makes the first words of all keys and the rest of few.  Where libc takes 650 ns for
 * whole keys, its words and the verification's strcoll() take 110 to 240, of which 40 are those of
 * any string; ICU's words and their verification take 20 to 140 beyond that, 58 as a rule.  Asking
 * ICU for a word, as PostgreSQL does for its abbreviated keys, takes 200.
 * (test/bench/plan_grid.pl)
 */
#define LAZY_SHARE_ICU	0.16
#define LAZY_SHARE_LIBC	0.13
#define CORE_SHARE_ICU	0.35

/*
 * What a string costs in addition to its key, in bytes of key.  It is a value of varying length and
 * alignment; the row store has a reference to it (18-37 ns, test/bench/plan_grid.pl); and one
 * process orders rows that agree in the string's first word by what follows (100 ns if nearly all
 * do, as words and names that begin alike).
 */
#define STRING_BYTES	60

/*
 * What a row whose string agrees with other rows' in its first word, as statistics tell, costs in
 * addition.
 *
 * Its next word is fetched from where the row lies, and the run of rows that agree is sorted by it,
 * in 75 ns; that is TIED_BYTES, in bytes of key.  Where a library makes the words, and compares
 * strings to verify the order, that took 70 to 180 ns of CPU time, and up to four times the
 * instructions.  The row is charged for TIED_KEY_SHARE more keys then, so that hash tables are kept
 * where they take fewer instructions, too.  (docs/performance.md, "Distinct values")
 */
#define TIED_BYTES			150
#define TIED_KEY_SHARE		3.0

/*
 * Rows that stay in a core's own cache (GPUSORT_CACHE_BYTES) between collecting and returning cost
 * this share of what rows cost that have to come from memory: 0.05 and 0.2 ns a byte, 5 and 15 ns a
 * row (test/bench/plan_grid.pl, 10^4 rows of 250 and of 1000 bytes).
 */
#define CACHED_SHARE	0.25

/*
 * The cost of a byte of memory that neither the pool nor the session has, as a multiple of
 * gpusort.cost_row_byte.  It is touched for the first time, which takes 0.5 s a GiB, where copying
 * rows takes 0.2 (docs/performance.md, "The pool").
 */
#define FRESH_BYTE_FACTOR	2.5

/*
 * The share of gpusort.cost_emit that returning a row costs in addition if another process has
 * written it, since its page has to be mapped: 8 ns beside the 9 of returning narrow ones
 * (test/bench/plan_grid.pl).
 */
#define FOREIGN_ROW_SHARE	1.0

/*
 * The bytes that a row takes besides itself and its keys: the reference to it, two items of the
 * engine, and, if it has strings, its position and a bit that says whether it equals the one
 * before.
 */
#define ROW_OVERHEAD_BYTES	25

/*
 * What a row that does not come from a page costs in addition: 30 ns for the slot that it is handed
 * over in.
 *
 * A sort that reads pages itself takes as much less than the scan was charged.  (EXCEPT of 15,000
 * and 150,000 integers, sorted: 7 ns a row if tables are scanned, 47 to 55 if these are index-only
 * scans, which take as long; of a join's rows 44, of generate_series() 41.)
 */
#define SLOT_ROW_COST	0.012

/*
 * How many extents a participant needs for each range, so that it does not have to spill all the
 * time.
 */
#define LEAST_EXTENTS	2

/*
 * The share of the pool that runs may keep when not all rows fit.  They keep nothing if that is
 * less than LEAST_KEPT_SHARE of their bytes.
 */
#define KEPT_SHARE			0.8
#define LEAST_KEPT_SHARE	0.25

/* The length that costs assume for the key of a byte string. */
#define STRING_KEY_BYTES	16

bool		gpusort_cost_pool_was_short = false;

/* The state of the pool when it was first looked at. */
static struct
{
	int			depth;			/* how many gpusort_begin_estimates() have not been ended */
	bool		known;
	size_t		available;
	uint32		other_sessions;
}			pool_now;

void
gpusort_begin_estimates(void)
{
	if (pool_now.depth++ == 0)
		pool_now.known = false;
}

void
gpusort_end_estimates(void)
{
	pool_now.depth--;
}

static void
look_at_pool(void)
{
	if (pool_now.depth > 0 && pool_now.known)
		return;
	pool_now.available = gpusort_sort_pool_available();
	pool_now.other_sessions = gpusort_pool_other_sessions();
	pool_now.known = true;
}

/*
 * Returns how many bytes of the pool a sort that would like `wanted` bytes may count on: what is
 * free now.  Other sorts may take it before this one begins, or give more back.
 */
static double
pool_bytes(double wanted)
{
	look_at_pool();
	if (wanted > pool_now.available && pool_now.available < gpusort_sort_pool_limit())
		gpusort_cost_pool_was_short = true;
	return (double) pool_now.available;
}

static double
key_bytes(const GpuSortCodec *codec)
{
	return codec->nwords * sizeof(uint64) +
		(codec->bytes != GPUSORT_BYTES_NONE ? STRING_KEY_BYTES : 0);
}

/* Returns the share of gpusort.cost_key_collated that a key of this codec costs. */
static double
collated_share(const GpuSortCodec *codec, Oid collation)
{
	if (!gpusort_codec_is_lazy(codec, collation))
		return 1;
	return codec->collated_by == GPUSORT_COLLATED_BY_LIBC ? LAZY_SHARE_LIBC : LAZY_SHARE_ICU;
}

/* Returns the cost of making the key of a row. */
static Cost
key_cost(const GpuSortCodec *codec, Oid collation)
{
	Cost		cost = key_bytes(codec) * gpusort_cost_key_byte;

	if (codec->collated_by != GPUSORT_COLLATED_BY_NONE)
		cost += gpusort_cost_key_collated * collated_share(codec, collation);
	return cost;
}

/* Returns the cost of ordering a row by a key of which the first word is not all. */
static Cost
refine_cost(const GpuSortCodec *codec)
{
	return codec->bytes != GPUSORT_BYTES_NONE ? STRING_BYTES * gpusort_cost_key_byte : 0;
}

/* Returns what refining a row that ties with others on the first word costs in addition. */
static Cost
tied_cost(const GpuSortCodec *codec, Oid collation)
{
	Cost		cost = TIED_BYTES * gpusort_cost_key_byte;

	if (codec->collated_by != GPUSORT_COLLATED_BY_NONE)
		cost += TIED_KEY_SHARE * gpusort_cost_key_collated *
			collated_share(codec, collation);
	return cost;
}

/*
 * Returns how many times as long as the planner thinks PostgreSQL's comparison of such a column
 * takes.
 */
static double
core_compare_factor(const GpuSortCodec *codec)
{
	if (codec->bytes == GPUSORT_BYTES_NONE)
		return 1;
	return codec->collated_by == GPUSORT_COLLATED_BY_LIBC ? CORE_COMPARE_LIBC : CORE_COMPARE_BYTES;
}

/* Returns the same factor for neighbours of rows that come in order. */
static double
core_sorted_factor(const GpuSortCodec *codec, Oid collation)
{
	double		factor = core_compare_factor(codec);

	return factor == CORE_COMPARE_LIBC && !gpusort_codec_copies(codec, collation)
		? CORE_COMPARE_LIBC_SORTED : factor;
}

/* Returns the cost of the abbreviated key that PostgreSQL makes for each row. */
static Cost
core_key_cost(const GpuSortCodec *codec)
{
	return codec->collated_by == GPUSORT_COLLATED_BY_ICU
		? gpusort_cost_key_collated * CORE_SHARE_ICU : 0;
}

/*
 * Estimates what the planner does not know about PostgreSQL's sort: what it costs beyond the
 * planner's estimate, and what it costs if the rows come in order, which it finds out with one
 * comparison a row.  The factors are of its comparisons, and of comparisons between neighbours of
 * rows in order; key is the cost of an abbreviated key.
 */
static void
estimate_core(double rows, double row_bytes, double factor, double sorted_factor, Cost key,
			  GpuSortEstimate *estimate)
{
	Cost		row = CORE_COST_ROW + row_bytes * CORE_COST_ROW_BYTE + key;
	Cost		comparison = 2.0 * cpu_operator_cost;

	estimate->core_extra_cost = rows * (row + (factor - 1) * comparison * log2(Max(rows, 2.0)));
	estimate->core_sorted_cost = rows * (row + sorted_factor * comparison +
										 cpu_operator_cost);
}

/* Returns the cost of touching the memory that the sort has to get from the system. */
static Cost
fresh_memory_cost(double bytes)
{
	double		warm = pool_bytes(bytes) + (double) gpusort_range_keep_bytes();

	return Max(bytes - warm, 0) * gpusort_cost_row_byte * FRESH_BYTE_FACTOR;
}

/* Returns which part of runs of so many bytes does not stay in memory (sort/spill_plan.c). */
static double
spilled_share(double bytes)
{
	double		kept = pool_bytes(bytes) * KEPT_SHARE / bytes;

	return kept < LEAST_KEPT_SHARE ? 1 : Max(1 - kept, 0);
}

/*
 * Returns the cost of writing rows to temporary files and reading them back, or 0 if they fit into
 * memory: what the planner charges PostgreSQL's sort for its pages, and collecting and refining the
 * rows once more.
 */
static Cost
spill_cost(double rows, double row_bytes, const GpuSortEstimate *estimate)
{
	double		bytes = rows * row_bytes;
	Cost		page_cost = 0.75 * seq_page_cost + 0.25 * random_page_cost;

	if (!gpusort_may_spill(gpusort_memory_limit()) || gpusort_fits_memory(estimate))
		return 0;
	return 2 * bytes / BLCKSZ * page_cost * spilled_share(bytes) + estimate->collect_cost +
		rows * estimate->refine_cost;
}

/* Returns the share of the full price that memory accesses cost, if the rows are so many bytes. */
static double
memory_factor(double bytes)
{
	return bytes <= GPUSORT_CACHE_BYTES ? CACHED_SHARE
		: 1 - (1 - CACHED_SHARE) * GPUSORT_CACHE_BYTES / bytes;
}

/* Computes the costs of a sort of `rows` rows, from those of their keys and from memory_bytes. */
static void
estimate_cost(double rows, double row_bytes, GpuSortEstimate *estimate)
{
	double		memory = memory_factor(rows * row_bytes);

	estimate->order_cost = rows * (gpusort_cost_row * (1 - COLLECT_SHARE) + estimate->refine_cost);
	estimate->collect_cost = rows * (gpusort_cost_row * COLLECT_SHARE + estimate->key_cost +
									 row_bytes * gpusort_cost_row_byte * memory);
	estimate->collect_cost += spill_cost(rows, row_bytes, estimate);
	estimate->startup_cost = gpusort_cost_startup + estimate->collect_cost + estimate->order_cost +
		fresh_memory_cost(estimate->memory_bytes);
	estimate->run_cost = rows * gpusort_cost_emit * memory;
}

bool
gpusort_estimate(const GpuSortCostKeys *keys, double rows, int width,
				 GpuSortEstimate *estimate, const char **reason)
{
	double		all_key_bytes = 0;
	int			ranges = 2;		/* one for rows, and one for references to them */
	double		row_bytes = MAXALIGN(width) + MAXALIGN(SizeofMinimalTupleHeader);
	double		key_row_bytes = 0;
	double		core_factor = 1;
	double		sorted_factor = 1;
	Cost		core_key = 0;

	memset(estimate, 0, sizeof(*estimate));
	if (keys->count > GPUSORT_MAX_KEYS)
	{
		*reason = "too many sort columns";
		return false;
	}
	for (int i = 0; i < keys->count; i++)
	{
		bool		reverse;
		const GpuSortCodec *codec = gpusort_codec_lookup(keys->sortops[i], keys->types[i],
														 keys->collations[i], &reverse,
														 reason);

		if (codec == NULL)
			return false;
		all_key_bytes += key_bytes(codec);
		estimate->key_cost += key_cost(codec, keys->collations[i]);
		estimate->refine_cost += refine_cost(codec);
		ranges += codec->nwords + (codec->bytes != GPUSORT_BYTES_NONE ? 2 : 0);
		key_row_bytes += gpusort_codec_extra_bytes(codec, keys->collations[i],
												   Min(width, STRING_KEY_BYTES));

		/*
		 * This column is charged as if all columns before it were equal, since a sort of ours
		 * encodes it in any case.
		 */
		core_factor = Max(core_factor, core_compare_factor(codec));
		sorted_factor = Max(sorted_factor, core_sorted_factor(codec, keys->collations[i]));
		if (i == 0)
		{
			core_key = core_key_cost(codec);
			estimate->refine_cost += keys->tied_share * tied_cost(codec, keys->collations[i]);
			estimate->dropped_share = codec->integer_bytes > 0 ? DROPPED_SHARE_INTEGER
				: DROPPED_SHARE;
		}
		estimate->untrusted |= gpusort_codec_is_untrusted(codec);
	}

	estimate->memory_bytes = rows * (row_bytes + key_row_bytes + all_key_bytes +
									ROW_OVERHEAD_BYTES);
	estimate->ranges = ranges;
	estimate->row_bytes = row_bytes;
	estimate_cost(rows, row_bytes, estimate);
	estimate_core(rows, row_bytes, core_factor, sorted_factor, core_key, estimate);
	return true;
}

/*
 * Returns whether the key of column i tells its value, in rows that have no other columns than
 * these.
 */
static bool
key_tells_value(const GpuSortCostKeys *keys, int i)
{
	bool		reverse;
	const char *reason;
	const GpuSortCodec *codec = gpusort_codec_lookup(keys->sortops[i], keys->types[i],
													 keys->collations[i], &reverse, &reason);

	if (codec != NULL && codec->inverse == GPUSORT_INVERSE_NONE)
		codec = codec->distinct;
	return codec != NULL && codec->inverse != GPUSORT_INVERSE_NONE && get_typbyval(keys->types[i]);
}

/*
 * Leaves out what the bytes of a row cost: they are neither written nor read from anywhere in
 * memory.
 */
void
gpusort_estimate_key_rows(const GpuSortCostKeys *keys, double rows, int width,
						  GpuSortEstimate *estimate)
{
	int			bytes = 0;

	for (int i = 0; i < keys->count; i++)
	{
		bytes += get_typlen(keys->types[i]);
		if (!key_tells_value(keys, i))
			return;
	}
	if (bytes != width || (keys->count > 1 && bytes > sizeof(uint64)) ||
		!gpusort_fits_memory(estimate))
		return;
	estimate->memory_bytes -= rows * estimate->row_bytes;
	estimate_cost(rows, 0, estimate);
}

void
gpusort_estimate_in_order(int nkeys, double rows, GpuSortEstimate *estimate)
{
	if (nkeys == 1)
	{
		/* ties are looked for in any case */
		Cost		refinement = rows * estimate->refine_cost;

		estimate->startup_cost -= estimate->order_cost - refinement;
		estimate->order_cost = refinement;
	}
	estimate->run_cost = Min(estimate->run_cost, rows * gpusort_cost_emit * CACHED_SHARE);
}

/*
 * Of rows in random order, `stored` are among the first limit_rows when they come.  These are
 * stored, sorted and encoded again, BOUNDED_FACTOR times each.
 */
void
gpusort_estimate_bounded(double rows, double limit_rows, GpuSortEstimate *estimate)
{
	double		kept = Max(limit_rows * BOUNDED_FACTOR, BOUNDED_MIN_ROWS);
	double		stored = limit_rows * (1 + log(Max(rows / Max(limit_rows, 1), 1)));
	double		memory = memory_factor(kept * estimate->row_bytes);

	estimate->bounded = limit_rows >= 0;
	if (limit_rows <= 0 || kept >= rows)
		return;
	stored = Min(Max(stored, kept), rows);
	estimate->order_cost = BOUNDED_FACTOR * stored *
		(gpusort_cost_row * (1 - COLLECT_SHARE) + estimate->key_cost + estimate->refine_cost);
	estimate->memory_bytes *= kept / rows;
	estimate->part_bytes = estimate->memory_bytes;
	estimate->collect_cost =
		rows * (gpusort_cost_row * COLLECT_SHARE + estimate->key_cost) +
		(stored * memory + (rows - stored) * estimate->dropped_share) *
		estimate->row_bytes * gpusort_cost_row_byte;
	estimate->startup_cost = gpusort_cost_startup + estimate->collect_cost + estimate->order_cost +
		fresh_memory_cost(estimate->memory_bytes);
	estimate->run_cost = rows * gpusort_cost_emit * memory;
	estimate->core_extra_cost *= stored / rows;
}

static void
add_to_collecting(GpuSortEstimate *estimate, Cost cost)
{
	estimate->collect_cost += cost;
	estimate->startup_cost += cost;
}

/*
 * For a bounded sort the planner charges log2(2k) comparisons a row, although nearly all rows take
 * one.  If a sort of ours were charged what it takes, one process would seem to be faster than
 * PostgreSQL's workers, although both spend their time below the sort.
 */
void
gpusort_estimate_slots(double rows, double limit_rows, GpuSortEstimate *estimate)
{
	double		planned = rows * 2.0 * cpu_operator_cost * log2(2 * Max(limit_rows, 1));

	if (limit_rows > 0 && 2 * limit_rows < rows)
		add_to_collecting(estimate, Max(planned - estimate->startup_cost, 0));
	else
		add_to_collecting(estimate, rows * SLOT_ROW_COST);
}

void
gpusort_least_cost(double rows, int width, bool is_table, GpuSortLeastCost *least)
{
	double		row_bytes = is_table ? 0 : MAXALIGN(width) + MAXALIGN(SizeofMinimalTupleHeader);
	double		memory = memory_factor(rows * row_bytes);

	least->collect_cost =
		rows * (gpusort_cost_row * COLLECT_SHARE + sizeof(uint64) * gpusort_cost_key_byte +
				  row_bytes * gpusort_cost_row_byte * memory);
	least->slot_cost = is_table ? 0 : rows * SLOT_ROW_COST;
	least->rest_cost =
		rows * (gpusort_cost_emit * memory +
				(is_table ? 0 : gpusort_cost_row * (1 - COLLECT_SHARE)));
}

Cost
gpusort_cost_until(const GpuSortEstimate *estimate, double rows, double limit_rows)
{
	double		share = limit_rows > 0 && limit_rows < rows ? limit_rows / rows : 1;

	return estimate->startup_cost + estimate->run_cost * share;
}

/* ---------- parallel collection ---------- */

/*
 * Returns how many processors other sessions' sorts leave, each of which takes one; this session
 * has one in any case.
 */
static double
processors_left(void)
{
	look_at_pool();
	return Max(gpusort_processors() - pool_now.other_sessions, 1);
}

/*
 * Returns what a participant spends: its share of `cost`, and partial_cost.
 *
 * Each does as much as it reads rows: those of the partial path.  The planner divides work among
 * participants as if each had a processor to itself, so the result is raised if there are fewer
 * processors.  (In forced plans it is not, so that these are the same on every machine.)
 */
static Cost
divided_cost(Cost partial_cost, Cost cost, double partial_rows, double all_rows)
{
	double		share = Min(partial_rows / all_rows, 1);
	double		crowding = gpusort_force ? 1 : Max(1 / (share * processors_left()), 1);

	return (partial_cost + cost * share) * crowding;
}

/* Returns the cost of what all participants of a sort whose rows they collect do together. */
static Cost
together_cost(const GpuSortEstimate *estimate, double all_rows)
{
	return estimate->collect_cost + (gpusort_team_pays(all_rows) ? estimate->order_cost : 0);
}

Cost
gpusort_participants_cost(const GpuSortEstimate *estimate, Cost partial_cost,
						  double partial_rows, double all_rows)
{
	return divided_cost(partial_cost, together_cost(estimate, all_rows), partial_rows, all_rows);
}

Cost
gpusort_alone_cost(const GpuSortEstimate *estimate, double all_rows)
{
	return estimate->startup_cost - together_cost(estimate, all_rows);
}

void
gpusort_gathered_costs(const GpuSortEstimate *estimate, Cost gather_cost, double all_rows,
					   Cost *startup_cost, Cost *total_cost)
{
	*startup_cost = gather_cost + gpusort_cost_gather + gpusort_alone_cost(estimate, all_rows);
	*total_cost = *startup_cost + estimate->run_cost +
		(estimate->run_cost - estimate->fetch_cost) * FOREIGN_ROW_SHARE;
}

/* ---------- whether ---------- */

/*
 * Returns whether PostgreSQL's bounded sort wins, for which the rows wanted must fit into work_mem.
 * The size of a row is computed as cost_sort() does it.
 */
static bool
is_for_bounded_sort(double rows, int width, double limit_rows, const GpuSortEstimate *estimate)
{
	double		row_bytes = MAXALIGN(width) + MAXALIGN(SizeofHeapTupleHeader);
	double		share = estimate->bounded ? BOUNDED_SORT_SHARE_VERIFIED : BOUNDED_SORT_SHARE;

	if (estimate->bounded && !estimate->untrusted)
		return false;
	return limit_rows >= 0 && limit_rows < rows / share &&
		limit_rows * row_bytes <= work_mem * 1024.0;
}

bool
gpusort_fits_memory(const GpuSortEstimate *estimate)
{
	double		private_bytes = (double) gpusort_memory_limit();

	return estimate->memory_bytes <=
		private_bytes + pool_bytes(estimate->memory_bytes - private_bytes);
}

static const char *
why_memory_is_short(const GpuSortEstimate *estimate)
{
	if (gpusort_sort_pool_limit() == 0)
		return "rows estimated not to fit into work_mem * hash_mem_multiplier";
	if (estimate->memory_bytes <= gpusort_memory_limit() + gpusort_sort_pool_limit())
		return "rows estimated not to fit into what is free of the pool";
	return "rows estimated not to fit into work_mem * hash_mem_multiplier and gpusort.pool_quota";
}

bool
gpusort_worth_it(double rows, int width, double limit_rows, const GpuSortEstimate *estimate,
				 const char **reason)
{
	if (gpusort_force)
		return true;
	if (rows < gpusort_min_rows)
		*reason = "fewer rows estimated than gpusort.min_rows";
	else if (is_for_bounded_sort(rows, width, limit_rows, estimate))
		*reason = "few rows wanted of many, which a bounded sort finds faster";
	else if (!gpusort_may_spill(gpusort_memory_limit()) && !gpusort_fits_memory(estimate))
		*reason = why_memory_is_short(estimate);
	else
		return true;
	return false;
}

/*
 * In addition to the rows, half an extent is counted for each range, since its last extent is half
 * empty on average.
 */
bool
gpusort_fits_pool(const GpuSortEstimate *estimate, int participants)
{
	double		bytes = Max(estimate->memory_bytes, estimate->part_bytes * participants) +
		participants * estimate->ranges * (GSD_EXTENT_BYTES / 2.0);

	return bytes <= pool_bytes(bytes);
}

bool
gpusort_cost_pool_suffices(const GpuSortEstimate *estimate, int participants)
{
	double		least_bytes = (double) participants * estimate->ranges * LEAST_EXTENTS *
		GSD_EXTENT_BYTES;

	return gpusort_fits_pool(estimate, participants) ||
		(gpusort_may_spill(gpusort_memory_limit()) && least_bytes <= pool_bytes(least_bytes));
}
