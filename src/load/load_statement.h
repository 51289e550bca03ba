/*
 * load_statement.h
 *		COPY FROM statements: whether they are ours, and what they ask for.
 *
 * As for COPY TO, what is not plainly allowed, and whatever may end in an error that PostgreSQL has words
 * of its own for, is not ours.
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
	List	   *attnums;		/* that are copied */
	List	   *where;			/* conditions, all of which must hold */
	GpuSortLoadComputing computing;
} GpuSortLoadStatement;

/* Look at a statement; if it is ours, fill the other one.  The table is open and locked then. */
extern bool gpusort_load_is_ours(const CopyStmt *stmt, ParseState *pstate, GpuSortLoadStatement *load);

/* Tell, at DEBUG1, why one is left to PostgreSQL. */
extern void gpusort_load_left(const char *why);

/* Its task, once PostgreSQL has begun the COPY; without owner and newline.  In the current context. */
extern GpuSortLoadTask *gpusort_load_task(const GpuSortLoadStatement *load, CopyFromState copy);

#endif							/* GPUSORT_LOAD_STATEMENT_H */
