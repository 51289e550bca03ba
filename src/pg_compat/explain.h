/*
 * explain.h
 *		Differences of PostgreSQL's versions: EXPLAIN.
 */
#ifndef GPUSORT_PG_COMPAT_EXPLAIN_H
#define GPUSORT_PG_COMPAT_EXPLAIN_H

#include "postgres.h"

/*
 * 18: explain.h was split up.
 */
#include "commands/explain.h"
#if PG_VERSION_NUM >= 180000
#include "commands/explain_format.h"
#include "commands/explain_state.h"
#endif

/*
 * 18: the range table's entry for grouped expressions is not counted when
 * EXPLAIN decides whether to show columns with their table's name.
 *
 * Returns whether to show them so.
 */
static inline bool
gpusort_explain_prefix(const ExplainState *es)
{
#if PG_VERSION_NUM >= 180000
	return es->rtable_size > 1 || es->verbose;
#else
	return list_length(es->rtable) > 1 || es->verbose;
#endif
}

/*
 * 18: extensions can add options to EXPLAIN.  19: auto_explain can use such options, too, so an
 * option has a function that checks its value.
 */
#if PG_VERSION_NUM >= 180000
#define GPUSORT_HAS_EXPLAIN_OPTIONS

static inline void
gpusort_register_explain_option(const char *name, ExplainOptionHandler handler)
{
#if PG_VERSION_NUM >= 190000
	RegisterExtensionExplainOption(name, handler, GUCCheckBooleanExplainOption);
#else
	RegisterExtensionExplainOption(name, handler);
#endif
}
#endif

/* Indents a line of text format, as ExplainIndentText() does. */
static inline void
gpusort_explain_indent(ExplainState *es)
{
	appendStringInfoSpaces(es->str, es->indent * 2);
}

#endif							/* GPUSORT_PG_COMPAT_EXPLAIN_H */
