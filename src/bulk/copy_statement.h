/*
 * copy_statement.h
 *		Decides which COPY TO statements are executed here, and finds what they ask for.
 *
 * We take over only what is plainly allowed.  Anything else, and whatever may end in an error for
 * which PostgreSQL has its own words, is left to PostgreSQL's COPY, which looks at the statement
 * from the start and reports the error.
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
	Relation	relation;		/* table that is copied; NULL if it is a query */
} GpuSortCopyStatement;

/*
 * Returns whether the statement is executed here, and fills *copy if so.  A table is then open and
 * locked.
 */
extern bool gpusort_copy_is_ours(const CopyStmt *stmt, ParseState *pstate,
								 GpuSortCopyStatement *copy);

/*
 * Returns the columns that the statement copies of rows with this descriptor, and fills in the
 * format that it asks for.
 */
extern GpuSortOutColumn *gpusort_copy_columns(const GpuSortCopyStatement *copy, TupleDesc desc,
											  GpuSortOutFormat *format);

#endif							/* GPUSORT_COPY_STATEMENT_H */
