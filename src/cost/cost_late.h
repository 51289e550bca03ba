/*
 * cost_late.h
 *		What it costs to sort TIDs instead of rows, and to fetch the rows when they are
 *		returned.
 */
#ifndef GPUSORT_COST_LATE_H
#define GPUSORT_COST_LATE_H

#include "cost/cost.h"

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

#endif							/* GPUSORT_COST_LATE_H */
