/*
 * explain_key.h
 *		What EXPLAIN says about the columns that a node sorts by.
 */
#ifndef GPUSORT_EXPLAIN_KEY_H
#define GPUSORT_EXPLAIN_KEY_H

#include "nodes/execnodes.h"

#include "pg_compat/explain.h"
#include "sort/sort.h"

/*
 * Sort columns as EXPLAIN prints them, a List of char *: the first ones of a node that sorts its
 * outer child's rows.
 */
extern List *gpusort_describe_sort(const Plan *sort, const GpuSortSpec *spec, int ncolumns,
								   List *context, bool use_prefix);

/* The first columns of the sort key, as EXPLAIN prints those of a Sort node. */
extern void gpusort_explain_columns(CustomScanState *css, const GpuSortSpec *spec, int ncolumns,
									const char *label, List *ancestors, ExplainState *es);

/* Columns of the outer child that a node groups by, as EXPLAIN prints those of an Agg. */
extern void gpusort_explain_groups(CustomScanState *css, const List *attnos, List *ancestors,
								   ExplainState *es);

/* How the keys are encoded: names of their codecs. */
extern void gpusort_explain_encoding(CustomScanState *css, const GpuSortSpec *spec,
									 ExplainState *es);

#endif							/* GPUSORT_EXPLAIN_KEY_H */
