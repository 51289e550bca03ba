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
 * Returns the first ncolumns sort columns of a node that sorts its outer child's rows, as EXPLAIN
 * prints them: a List of char *.
 */
extern List *gpusort_describe_sort(const Plan *sort, const GpuSortSpec *spec, int ncolumns,
								   List *context, bool use_prefix);

/* Explains the first columns of the sort key, under this label, as EXPLAIN does for a Sort node. */
extern void gpusort_explain_columns(CustomScanState *css, const GpuSortSpec *spec, int ncolumns,
									const char *label, List *ancestors, ExplainState *es);

/* Explains the columns of the outer child that a node groups by, as EXPLAIN does for an Agg. */
extern void gpusort_explain_groups(CustomScanState *css, const List *attnos, List *ancestors,
								   ExplainState *es);

/* Explains how the keys are encoded, by the names of their codecs. */
extern void gpusort_explain_encoding(CustomScanState *css, const GpuSortSpec *spec,
									 ExplainState *es);

#endif							/* GPUSORT_EXPLAIN_KEY_H */
