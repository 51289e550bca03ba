/*
 * load_statement.h
 *		COPY FROM statements: whether they are ours, and what they ask for.
 *
 * A statement is ours if gpusort carries it out; all others are left to PostgreSQL's COPY.  As for
 * COPY TO, a statement is not ours unless it is plainly allowed, nor if it may end in an error that
 * PostgreSQL has its own words for.
 */
#ifndef GPUSORT_LOAD_STATEMENT_H
#define GPUSORT_LOAD_STATEMENT_H

#include "commands/copy.h"
#include "nodes/parsenodes.h"
#include "parser/parse_node.h"
#include "utils/relcache.h"

#include "load/load_computed.h"
#include "load/load_task.h"

typedef struct GpuSortLoadStatement
{
	const CopyStmt *stmt;
	ParseState *pstate;
	CopyFormatOptions options;
	Relation	table;
	List	   *attnums;		/* of the columns that are copied */
	List	   *where;			/* conditions, all of which must hold; or NIL */
	GpuSortLoadComputing computing;
} GpuSortLoadStatement;

/*
 * Looks at a statement, and returns whether it is ours; if so, fills *load, and the table is open
 * and locked.
 */
extern bool gpusort_load_is_ours(const CopyStmt *stmt, ParseState *pstate,
								 GpuSortLoadStatement *load);

/* Reports, at DEBUG1, why a statement is left to PostgreSQL. */
extern void gpusort_load_left(const char *why);

/*
 * Returns the task of a statement, when PostgreSQL has begun the COPY, allocated in the current
 * context.  The task's owner and newline are not set yet.
 */
extern GpuSortLoadTask *gpusort_load_task(const GpuSortLoadStatement *load, CopyFromState copy);

#endif							/* GPUSORT_LOAD_STATEMENT_H */
