/*
 * explain_report.h
 *		What EXPLAIN ANALYZE says about how a sort went.
 */
#ifndef GPUSORT_EXPLAIN_REPORT_H
#define GPUSORT_EXPLAIN_REPORT_H

#include "utils/tuplesort.h"

#include "pg_compat/explain.h"
#include "sort/sort.h"

/* How a sort went.  It has no pointers, so that it can be in shared memory. */
typedef struct GpuSortReport
{
	bool		performed;
	bool		handed_over;	/* the sort was handed over to tuplesort */
	GpuSortStats stats;
	TuplesortInstrumentation core;
	instr_time	collect_time;	/* including the child's time */
} GpuSortReport;

extern void gpusort_make_report(GpuSort *sort, instr_time collect_time, GpuSortReport *report);
extern void gpusort_explain_report(const GpuSortReport *report, ExplainState *es);
/* Explains a node whose input was empty, so that it began no sort. */
extern void gpusort_explain_no_rows(ExplainState *es);

#endif							/* GPUSORT_EXPLAIN_REPORT_H */
