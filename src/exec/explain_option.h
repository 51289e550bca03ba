/*
 * explain_option.h
 *		EXPLAIN (GPUSORT): why each sort of a plan is done by gpusort or by PostgreSQL.
 */
#ifndef GPUSORT_EXPLAIN_OPTION_H
#define GPUSORT_EXPLAIN_OPTION_H

#include "pg_compat/explain.h"

/*
 * Called from _PG_init(): registers the option, on servers where extensions may add options to
 * EXPLAIN.
 */
extern void gpusort_install_explain_option(void);

/* Called from explain_per_node_hook: explains the sorts that this node does, or could do. */
extern void gpusort_explain_sorts_of(const PlanState *node, ExplainState *es);

#endif							/* GPUSORT_EXPLAIN_OPTION_H */
