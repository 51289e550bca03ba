/*
 * copy_statement.h
 *		COPY TO statements: whether they are ours, and what they ask for.
 *
 * What is not plainly allowed, and whatever may end in an error that PostgreSQL has words of its
 * own for, is not ours: its COPY then looks at all of it again, and says so.
 */
#ifndef GPUSORT_COPY_STATEMENT_H
#define GPUSORT_COPY_STATEMENT_H

#include "commands/copy.h"
#include "nodes/parsenodes.h"
#include "parser/parse_node.h"
#include "utils/relcache.h"

#include "bulk/out_format.h"

typedef struct GpuSortCopyStatement
{
	const CopyStmt *stmt;
	ParseState *pstate;
	CopyFormatOptions options;
	Relation	relation;		/* that is copied; NULL: it is a query */
} GpuSortCopyStatement;

/*
 * Look at a statement; if it is ours, fill the other one.  A table is open and locked then.
 */
extern bool gpusort_copy_is_ours(const CopyStmt *stmt, ParseState *pstate,
								 GpuSortCopyStatement *copy);

/* The format that is asked for, and the columns, of rows that are described so. */
extern GpuSortOutColumn *gpusort_copy_columns(const GpuSortCopyStatement *copy, TupleDesc desc,
											  GpuSortOutFormat *format);

#endif							/* GPUSORT_COPY_STATEMENT_H */
