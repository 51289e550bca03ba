/*
 * into_target.h
 *		A table that sorted rows are put into, and how they become its rows.
 */
#ifndef GPUSORT_INTO_TARGET_H
#define GPUSORT_INTO_TARGET_H

#include "nodes/execnodes.h"
#include "utils/rel.h"

/* What the headers of all rows say.  Plain memory, so that it can be passed to other processes. */
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
	bool		in_use;			/* has rows, or others may insert: pages go through buffers */

	/* for rows that can't be put as they are */
	List	   *columns;		/* computes the table's from the result's; NIL: the same */
	bool		checked;		/* rows are checked by the table's constraints */
	bool		by_leader;		/* workers may not compute these columns, or check rows */
	Index		relid;			/* in the query; 0 in a worker, whose errors nobody sees */
	EState	   *estate;			/* the query's, or a worker's own */
} GpuSortIntoTarget;

#endif							/* GPUSORT_INTO_TARGET_H */
