/*
 * cost.h
 *		What a sort costs, in the planner's units, and whether to take it over.
 *
 * The settings gpusort.cost_* are the constants of the formula, which gpusort_calibrate.sql
 * measures.
 */
#ifndef GPUSORT_COST_H
#define GPUSORT_COST_H

#include "nodes/pathnodes.h"

#include "keys/key_codec.h"

/* What rows are sorted by, as far as costs depend on it: arrays of count elements. */
typedef struct GpuSortCostKeys
{
	int			count;
	const Oid  *sortops;
	const Oid  *types;
	const Oid  *collations;
	/*
	 * share of the rows whose string in the first column agrees with another row's in its first
	 * word; 0 if that is not known
	 */
	double		tied_share;
} GpuSortCostKeys;

typedef struct GpuSortEstimate
{
	/* what the sort costs */

	/* from the first input row to the first output row, without what the input costs */
	Cost		startup_cost;
	/*
	 * part of startup_cost that participants share: collecting the input, and writing and reading
	 * what is spilled
	 */
	Cost		collect_cost;
	/*
	 * part of startup_cost that participants share if they sort together: putting the rows in
	 * order, refining ties and verification included
	 */
	Cost		order_cost;
	Cost		run_cost;		/* returning all rows */

	/* what these costs are made of */
	double		row_bytes;
	Cost		key_cost;		/* making the key of a row */
	Cost		refine_cost;	/* ordering a row by what the first words of its key don't tell */
	/* share of the cost of a row's bytes that is left if the row is dropped */
	double		dropped_share;
	bool		untrusted;		/* the order by some key must be verified */
	bool		bounded;		/* the sort will be told how many rows are wanted */

	/* the memory that it takes */
	double		memory_bytes;
	/* memory that each participant takes for itself; 0 if they share memory_bytes */
	double		part_bytes;
	int			ranges;			/* number of ranges that rows are collected in */

	/* if rows are fetched from their table when they are returned (below) */

	/* width of the rows that are sorted instead; 0 if whole rows are sorted */
	int			late_width;
	Cost		fetch_cost;		/* part of run_cost: fetching the rows */

	/* what PostgreSQL's sort of the same rows costs */
	Cost		core_extra_cost;	/* beyond the planner's estimate */
	Cost		core_sorted_cost;	/* all of its cost if the rows come in order */
} GpuSortEstimate;

/* ---------- what it costs ---------- */

/*
 * Between these two calls, within the planner, the state of the pool is looked at once, so that all
 * estimates rest on the same.  The calls may be nested.
 */
extern void gpusort_begin_estimates(void);
extern void gpusort_end_estimates(void);

/*
 * Estimates a sort of `rows` rows, `width` bytes each.  Returns false with *reason if some key has
 * no codec.
 *
 * The functions that follow adjust the estimate that this one has made.
 */
extern bool gpusort_estimate(const GpuSortCostKeys *keys, double rows, int width,
							 GpuSortEstimate *estimate, const char **reason);

/*
 * Adjusts the estimate for a sort of which nothing but the keys is returned, if `width` says that a
 * row is no more than them: if keys tell the values, rows are not stored (sort/key_rows.c).
 */
extern void gpusort_estimate_key_rows(const GpuSortCostKeys *keys, double rows, int width,
									  GpuSortEstimate *estimate);

/*
 * Adjusts the estimate for rows that one process collects and that come in order by the first key:
 * nothing has to be moved, apart from ties, and rows are returned as they lie.
 */
extern void gpusort_estimate_in_order(int nkeys, double rows, GpuSortEstimate *estimate);

/*
 * Adjusts the estimate for a sort that will be told how many rows are wanted, and keeps little
 * more.  limit_rows is that number, GPUSORT_NO_LIMIT, or 0 if the planner does not know it.
 */
extern void gpusort_estimate_bounded(double rows, double limit_rows, GpuSortEstimate *estimate);

/*
 * Adjusts the estimate for rows that do not come from pages of tables.  A bounded sort of such rows
 * is charged as much as the planner charges PostgreSQL's, with which it is compared, although both
 * take less.
 */
extern void gpusort_estimate_slots(double rows, double limit_rows, GpuSortEstimate *estimate);

/*
 * What every sort of these rows costs at least, whatever they are sorted by.  If is_table, they may
 * come from pages, come in order, and be fetched later.
 */
typedef struct GpuSortLeastCost
{
	Cost		collect_cost;
	Cost		slot_cost;		/* added to collect_cost if rows don't come from pages */
	Cost		rest_cost;
} GpuSortLeastCost;

extern void gpusort_least_cost(double rows, int width, bool is_table, GpuSortLeastCost *least);

/*
 * Returns the cost until limit_rows of the rows have been returned, or all of them if no such
 * number is known.
 */
extern Cost gpusort_cost_until(const GpuSortEstimate *estimate, double rows, double limit_rows);

/*
 * Returns what a sort whose rows the participants of a parallel plan collect, and put in order
 * together, costs a participant that reads partial_rows of all_rows.  partial_cost is what reading
 * them costs, and is included.
 */
extern Cost gpusort_participants_cost(const GpuSortEstimate *estimate, Cost partial_cost,
									  double partial_rows, double all_rows);

/*
 * Returns what one participant does before the first row is returned, while the others have nothing
 * to do.
 */
extern Cost gpusort_alone_cost(const GpuSortEstimate *estimate, double all_rows);

/*
 * Computes the costs of a GpuSort whose rows participants collect, given the cost of the Gather
 * below it.
 */
extern void gpusort_gathered_costs(const GpuSortEstimate *estimate, Cost gather_cost,
								   double all_rows, Cost *startup_cost, Cost *total_cost);

/* ---------- whether ---------- */

/*
 * The value of limit_rows if all rows will be fetched; 0 says that there is a limit, but not known
 * yet.
 */
#define GPUSORT_NO_LIMIT	(-1.0)

/*
 * Returns whether a sort is worth being taken over, and can be, as far as estimates tell.  If not,
 * *reason is a constant string that says why.
 */
extern bool gpusort_worth_it(double rows, int width, double limit_rows,
							 const GpuSortEstimate *estimate, const char **reason);

/*
 * Returns whether private memory and what is free of the pool are estimated to hold all rows, if
 * one process collects them.
 */
extern bool gpusort_fits_memory(const GpuSortEstimate *estimate);

/*
 * Whether an estimate made since this was last set to false would be another if all of the pool
 * were free.  A plan that rests on such an estimate should not be kept for long.
 */
extern bool gpusort_cost_pool_was_short;

/*
 * Returns whether the pool is estimated to hold all rows, if so many participants collect them,
 * each in ranges of its own.
 */
extern bool gpusort_fits_pool(const GpuSortEstimate *estimate, int participants);

/*
 * Returns whether the pool is estimated to hold all rows, or at least enough for participants to
 * spill the rest.
 */
extern bool gpusort_cost_pool_suffices(const GpuSortEstimate *estimate, int participants);

/* How many bytes a core's own cache holds. */
#define GPUSORT_CACHE_BYTES	(4.0 * 1024 * 1024)

/* ---------- hash tables and groups ---------- */

/*
 * What PostgreSQL's hash tables, and groups of sorted rows, cost beyond the planner's estimate.
 */

/*
 * Returns what a hash join costs beyond the planner's estimate: cache misses, and the hash tables
 * by which rows of a side were made unique.
 */
extern Cost gpusort_hash_join_extra_cost(const HashPath *hash);

/*
 * Returns all that a hash join of so many rows costs, apart from its inputs and from what it
 * returns.
 */
extern Cost gpusort_hash_join_cost(double outer_rows, double inner_rows, int inner_width);

/* Returns what of that the planner charges, for hashing by one column. */
extern Cost gpusort_hash_join_charge(double outer_rows, double inner_rows);

/* Rows that are to be grouped. */
typedef struct GpuSortGroups
{
	double		rows;
	double		groups;
	int			width;			/* of the tuple of a group, in bytes */
	int			columns;		/* number of columns that are grouped by */
	int			references;		/* number of these whose types are passed by reference */
} GpuSortGroups;

/*
 * Returns what hash tables of groups cost beyond the planner's estimate.  If there are several
 * participants, each makes groups of its rows first.
 */
extern Cost gpusort_hash_extra_cost(const GpuSortGroups *all, int participants);

/* Returns what an Agg node above rows in order costs beyond the planner's estimate. */
extern Cost gpusort_sorted_agg_extra_cost(const GpuSortGroups *all);

/* ---------- fetching rows ---------- */

/*
 * Returns the cost of fetching a row by its TID from a page in memory.  ordered says how far the
 * table is in the order in which rows are fetched, from 0 to 1: the square of the correlation.
 */
extern Cost gpusort_fetch_row_cost(double ordered);

/* ---------- late sorts: TIDs are sorted, and rows fetched when they are returned ---------- */

/* What fetching rows of a table in the order of a sort depends on. */
typedef struct GpuSortFetch
{
	/* about the table */
	Oid			relid;
	double		pages;
	double		table_rows;

	/* about the sort */
	double		correlation;	/* of the table's order with the sort's, -1 to 1 */
	int			width;			/* of the rows that are sorted instead */
	int			participants;	/* number of participants that collect */
} GpuSortFetch;

/*
 * Returns whether fetching might pay, given the estimate of a sort of the whole rows.  As a rule it
 * can't, and then nothing need be found out about the table.
 */
extern bool gpusort_late_may_pay(double rows, double limit_rows, const GpuSortEstimate *estimate);

/*
 * Given the estimates of a sort of the whole rows and of one of rows of fetch->width bytes
 * (narrow), replaces the former by that of a late sort if fetching is expected to pay.
 */
extern void gpusort_choose_late(const GpuSortFetch *fetch, double rows, double limit_rows,
								const GpuSortEstimate *narrow, GpuSortEstimate *estimate);

#endif							/* GPUSORT_COST_H */
