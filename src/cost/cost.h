/*
 * cost.h
 *		What a sort costs, in the planner's units, and whether to take it over.
 *
 * The settings gpusort.cost_* are the constants of the formula; gpusort_calibrate()
 * measures them (calibrate.c).
 */
#ifndef GPUSORT_COST_H
#define GPUSORT_COST_H

#include "nodes/nodes.h"

#include "keys/key_codec.h"

/* By what rows are sorted, as far as costs depend on it: arrays of count elements. */
typedef struct GpuSortCostKeys
{
	int			count;
	const Oid  *sortops;
	const Oid  *types;
	const Oid  *collations;
	double		tied_share;		/* of rows, those that agree in the first word of the first column's
								 * strings with others; 0 if that is not known */
} GpuSortCostKeys;

typedef struct GpuSortEstimate
{
	/* the sort */
	Cost		startup_cost;	/* from the first input row to the first output row, without
								 * what the input itself costs */
	Cost		collect_cost;	/* of that, what participants share: collecting the input, and writing
								 * and reading what spills */
	Cost		order_cost;		/* ... and what those share who wait for it: putting the rows in order */
	Cost		run_cost;		/* returning all rows */

	/* what it is made of */
	double		row_bytes;
	Cost		key_cost;		/* making a row's key */
	Cost		refine_cost;	/* ordering it by what its key's first words don't tell */
	double		dropped_share;	/* of its bytes' cost, if it is dropped */
	bool		untrusted;		/* the order by some key is verified */
	bool		bounded;		/* it will be told how many rows are wanted */

	/* its memory */
	double		memory_bytes;
	double		part_bytes;		/* ... that each participant takes by itself; 0: they share it */
	int			ranges;			/* that rows are collected in */

	/* if rows are fetched from their table when they are returned (cost_late.h) */
	int			late_width;		/* of what is sorted instead; 0: whole rows are sorted */
	Cost		fetch_cost;		/* of run_cost, fetching the rows */

	/* PostgreSQL's sort of the same rows */
	Cost		core_extra_cost;	/* beyond the planner's estimate */
	Cost		core_sorted_cost;	/* all of it, if the rows come in order */
} GpuSortEstimate;

/* ---------- what it costs ---------- */

/*
 * Between these, in the planner, the pool is looked at once, and each estimate rests on the same.  They may be
 * nested.
 */
extern void gpusort_begin_estimates(void);
extern void gpusort_end_estimates(void);

/* Estimate a sort of so many rows; false with *reason if some key has no codec. */
extern bool gpusort_estimate(const GpuSortCostKeys *keys, double rows, int width,
							 GpuSortEstimate *estimate, const char **reason);

/*
 * The same if nothing but its keys is returned, as width tells: where these tell the values, rows are not stored
 * (sort/key_rows.c).
 */
extern void gpusort_estimate_key_rows(const GpuSortCostKeys *keys, double rows, int width,
									  GpuSortEstimate *estimate);

/*
 * The same if so many rows are collected by one process and come in order by the first key:
 * there is nothing to be moved, but for ties, and rows are returned as they lie.
 */
extern void gpusort_estimate_in_order(int nkeys, double rows, GpuSortEstimate *estimate);

/*
 * The same if the sort will be told how many rows are wanted, and keep little more: limit_rows,
 * GPUSORT_NO_LIMIT, or 0 if the planner does not know.
 */
extern void gpusort_estimate_bounded(double rows, double limit_rows, GpuSortEstimate *estimate);

/*
 * The same of rows that do not come from pages of tables; of a bounded sort what PostgreSQL's, with which ours is
 * compared, is charged, too, which is more than that takes.
 */
extern void gpusort_estimate_slots(double rows, double limit_rows, GpuSortEstimate *estimate);

/*
 * What every sort of so many rows costs at least, whatever they are sorted by.  is_table: they may come from
 * pages, in order, and be fetched later.
 */
typedef struct GpuSortLeastCost
{
	Cost		collect_cost;
	Cost		slot_cost;		/* if they don't come from pages */
	Cost		rest_cost;
} GpuSortLeastCost;

extern void gpusort_least_cost(double rows, int width, bool is_table, GpuSortLeastCost *least);

/* Until limit_rows of the rows have been returned; all of them if no such number is known. */
extern Cost gpusort_cost_until(const GpuSortEstimate *estimate, double rows, double limit_rows);

/*
 * If the participants of a parallel plan collect the rows, and put them in order together: what that
 * costs each that reads partial_rows of all, reading them included.
 */
extern Cost gpusort_participants_cost(const GpuSortEstimate *estimate, Cost partial_cost,
									  double partial_rows, double all_rows);

/* ... and what one of them does before the first row while the others have nothing to do. */
extern Cost gpusort_alone_cost(const GpuSortEstimate *estimate, double all_rows);

/* ... and what a GpuSort costs, given the cost of the Gather below it. */
extern void gpusort_gathered_costs(const GpuSortEstimate *estimate, Cost gather_cost, double all_rows,
								   Cost *startup_cost, Cost *total_cost);

/* ---------- whether ---------- */

/* A limit on the rows that will be fetched, if there is none; 0: it is not known yet. */
#define GPUSORT_NO_LIMIT	(-1.0)

/*
 * Whether, as far as estimates tell, a sort is worth and able to be taken over.  If not,
 * *reason says why (constant string).
 */
extern bool gpusort_worth_it(double rows, int width, double limit_rows,
							 const GpuSortEstimate *estimate, const char **reason);

/*
 * Whether private memory and what is free of the pool are estimated to hold all rows, if one
 * process collects them.
 */
extern bool gpusort_fits_memory(const GpuSortEstimate *estimate);

/*
 * Some estimate since this was last set to false would be another if all of the pool were
 * free: a plan that rests on it should not be kept for long.
 */
extern bool gpusort_pool_was_short;

/*
 * Whether the pool is estimated to hold all rows if so many participants collect
 * them, each in ranges of its own.
 */
extern bool gpusort_fits_pool(const GpuSortEstimate *estimate, int participants);

/* ... or enough for them to spill what it does not hold. */
extern bool gpusort_pool_suffices(const GpuSortEstimate *estimate, int participants);

/* ---------- parts of the formula, to be solved for its constants ---------- */

/* What a core's own cache holds, and how much of the full price memory accesses cost for so many bytes of rows. */
#define GPUSORT_CACHE_BYTES	(4.0 * 1024 * 1024)

extern double gpusort_memory_factor(double bytes);

/* How much of gpusort.cost_key_collated a codec's key costs. */
extern double gpusort_collated_share(const GpuSortCodec *codec, Oid collation);

#endif							/* GPUSORT_COST_H */
