/*
 * load_state.h
 *		A COPY FROM that is being carried out.
 */
#ifndef GPUSORT_LOAD_STATE_H
#define GPUSORT_LOAD_STATE_H

#include "storage/block.h"

#include "load/load_counts.h"
#include "load/load_encoding.h"
#include "load/load_lines.h"
#include "load/load_parts.h"
#include "load/load_source.h"
#include "load/load_statement.h"
#include "load/load_task.h"

typedef struct GpuSortLoadState
{
	const GpuSortLoadStatement *statement;
	CopyFromState copy;			/* as BeginCopyFrom() has returned it */
	GpuSortLoadTask *task;
	GpuSortLoadEncoding *encoding;
	GpuSortLoadSource source;
	struct GpuSortLoadShare *share; /* the chunks, while several processes load them; or NULL */

	char	   *buffer;			/* a chunk's size, at least */
	Size		bytes;			/* in the buffer */
	Size		begin;			/* of these bytes, not to be loaded or loaded already */
	bool		has_begun;		/* the header, if there is one, was read */

	GpuSortLoadParts *parts;	/* if one process loads a partitioned table; or NULL */
	int			nparts;			/* partitions that parts need room for */
	GpuSortLoadLeaves leaves;	/* the partitions that have indexes */

	GpuSortLoadCounts counts;	/* of what was loaded; lines include those before the rows */
	uint64		counted;		/* rows that the statistics know as inserted */
	bool		has_entries;	/* the indexes are in use, and are given entries at the end */
	BlockNumber first_block;	/* our rows are in this block and behind */
	uint64		first_line;		/* lines before the first row */
	GpuSortLoadLines lines;		/* of what was loaded, if there are indexes */
} GpuSortLoadState;

#endif							/* GPUSORT_LOAD_STATE_H */
