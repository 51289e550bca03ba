/*
 * cost_late.c
 *		What it costs to sort TIDs and fetch the rows later; see cost.h.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "nodes/pathnodes.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "storage/bufmgr.h"

#include "cost/cost.h"
#include "settings.h"
#include "sort/sort.h"

/*
 * What a narrow row costs in addition when it is collected, since the scan projects it and it is
 * made of values instead of being copied (test/bench/late_rows.pl: that takes as long as copying
 * some 300 bytes).
 */
#define NARROW_ROW_COST	0.03

/* The share of gpusort.cost_fetch that a row costs if it lies beside the one fetched before. */
#define ORDERED_SHARE	0.3

/* The cost of copying a page from the kernel's cache. */
#define PAGE_COPY_COST	1.0

Cost
gpusort_fetch_row_cost(double ordered)
{
	return gpusort_cost_fetch * (1 - ordered + ordered * ORDERED_SHARE);
}

/*
 * Returns the cost of fetching so many rows of the table, which has just been read.  Pages that fit
 * into the caches are there, and the rest of them cost random reads.  As in cost_index(), the
 * result lies between that for rows that lie anywhere and that for rows that lie side by side.
 */
static Cost
fetch_cost(const GpuSortFetch *fetch, double rows)
{
	PlannerInfo root = {.type = T_PlannerInfo};
	double		pages = Max(fetch->pages, 1);
	double		ordered = fetch->correlation * fetch->correlation;
	double		scattered_pages;
	double		ordered_pages = pages * Min(rows / Max(fetch->table_rows, 1), 1);
	double		uncached = Max(1 - effective_cache_size / pages, 0);
	double		unbuffered = Max(1 - NBuffers / pages, 0) - uncached;

	/* This is the only thing that index_pages_fetched() wants to know about the query. */
	root.total_table_pages = pages;
	scattered_pages = index_pages_fetched(rows, (BlockNumber) pages, 0, &root);

	return rows * gpusort_fetch_row_cost(ordered) +
		(scattered_pages * (1 - ordered) + ordered_pages * ordered) *
		(uncached * random_page_cost + Max(unbuffered, 0) * PAGE_COPY_COST);
}

/*
 * Returns whether there is room for the rows.  If there are several participants, only the pool
 * counts.
 */
static bool
fits(const GpuSortEstimate *estimate, int participants)
{
	return participants > 1 ? gpusort_fits_pool(estimate, participants)
		: gpusort_fits_memory(estimate);
}

/*
 * A late sort costs at least this: each row is collected as a narrow one, and each that is wanted
 * is fetched, at best in the table's order.  If nothing can be spilled, fetching may pay whatever
 * it costs, since memory decides.
 */
bool
gpusort_late_may_pay(double rows, double limit_rows, const GpuSortEstimate *estimate)
{
	double		wanted = limit_rows > 0 ? Min(limit_rows, rows) : rows;
	Cost		least = rows * NARROW_ROW_COST + wanted * gpusort_cost_fetch * ORDERED_SHARE;

	return gpusort_late_rows == GPUSORT_LATE_ON || !gpusort_may_spill(gpusort_memory_limit()) ||
		gpusort_cost_until(estimate, rows, limit_rows) > least;
}

void
gpusort_choose_late(const GpuSortFetch *fetch, double rows, double limit_rows,
					const GpuSortEstimate *narrow, GpuSortEstimate *estimate)
{
	GpuSortEstimate late = *narrow;
	double		wanted = limit_rows > 0 ? Min(limit_rows, rows) : rows;
	bool		cheaper;

	late.late_width = fetch->width;
	late.core_extra_cost = estimate->core_extra_cost;
	late.core_sorted_cost = estimate->core_sorted_cost;
	late.collect_cost += rows * NARROW_ROW_COST;
	late.startup_cost += rows * NARROW_ROW_COST;
	late.fetch_cost = fetch_cost(fetch, wanted) * (rows / Max(wanted, 1));
	late.run_cost += late.fetch_cost;

	/* If nothing can be spilled, rows that don't fit are not sorted here at all. */
	if (!gpusort_may_spill(gpusort_memory_limit()) && fits(&late, fetch->participants) &&
		!fits(estimate, fetch->participants))
		cheaper = true;
	else
		cheaper = gpusort_cost_until(&late, rows, limit_rows) <
			gpusort_cost_until(estimate, rows, limit_rows);
	if (cheaper || gpusort_late_rows == GPUSORT_LATE_ON)
		*estimate = late;
}
