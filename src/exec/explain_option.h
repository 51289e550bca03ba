/*
 * explain_option.h
 *		EXPLAIN (GPUSORT): why each sort of a plan is whose it is.
 */
#ifndef GPUSORT_EXPLAIN_OPTION_H
#define GPUSORT_EXPLAIN_OPTION_H

#include "pg_compat/explain.h"

/* From _PG_init(); for servers on which extensions have options. */
extern void gpusort_install_explain_option(void);

/* From explain_per_node_hook: explain the sorts that a node stands for. */
extern void gpusort_explain_sorts_of(const PlanState *node, ExplainState *es);

#endif							/* GPUSORT_EXPLAIN_OPTION_H */
