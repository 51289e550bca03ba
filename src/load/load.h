/*
 * load.h
 *		COPY FROM: whether it is carried out here, and doing so.
 */
#ifndef GPUSORT_LOAD_H
#define GPUSORT_LOAD_H

#include "commands/copy.h"
#include "nodes/parsenodes.h"
#include "parser/parse_node.h"
#include "utils/relcache.h"

/* ---------- statements ---------- */

/*
 * COPY FROM statements: whether they are ours, and what they ask for.
 *
 * A statement is ours if gpusort carries it out; all others are left to PostgreSQL's COPY.  As for
 * COPY TO, a statement is not ours unless it is plainly allowed, nor if it may end in an error that
 * PostgreSQL has its own words for.
 */

/* What a load has to compute. */
typedef struct GpuSortLoadComputing
{
	bool		anything;
	bool		sequences;		/* a default calls nextval(), in the order of the rows */
} GpuSortLoadComputing;

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

/* ---------- carrying one out ---------- */

/* Carries out a statement that is ours, and closes its table; returns how many rows were copied. */
extern uint64 gpusort_copy_from(GpuSortLoadStatement *load);

#endif							/* GPUSORT_LOAD_H */
