/*
 * into_target.h
 *		A table that sorted rows are put into, and how they become its rows.
 */
#ifndef GPUSORT_INTO_TARGET_H
#define GPUSORT_INTO_TARGET_H

#include "nodes/execnodes.h"
#include "utils/rel.h"

/* What all rows' headers say.  Plain memory, so that it can be passed to other processes. */
typedef struct GpuSortIntoHeader
{
	TransactionId xmin;
	CommandId	cmin;
	bool		frozen;			/* visible to all who see the table */
} GpuSortIntoHeader;

typedef struct GpuSortIntoTarget
{
	Relation	table;
	GpuSortIntoHeader header;
	bool		in_use;			/* has rows, or others may insert: pages go to its end, through buffers */

	/* rows that have to be looked at */
	List	   *columns;		/* the table's, computed from the result's; NIL: they are the same */
	bool		checked;		/* by the table's constraints */
	bool		by_leader;		/* workers can't do either */
	Index		relid;			/* the table in the query; 0 in a worker, whose errors nobody sees */
	EState	   *estate;			/* of the query, or a worker's own */
} GpuSortIntoTarget;

#endif							/* GPUSORT_INTO_TARGET_H */
