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
	CopyFromState copy;			/* as PostgreSQL has begun it */
	GpuSortLoadTask *task;
	GpuSortLoadEncoding *encoding;
	GpuSortLoadSource source;
	struct GpuSortLoadShare *share; /* of several processes, the chunks that they load; or NULL */

	char	   *buffer;			/* of a chunk's size */
	Size		bytes;			/* in it */
	Size		begin;			/* of those, not to be loaded or loaded already */
	bool		has_begun;		/* a header was read */

	GpuSortLoadParts *parts;	/* of one process, of a table that is partitioned */
	int			nparts;			/* for so many of these */
	GpuSortLoadLeaves leaves;	/* those of them that have indexes */

	GpuSortLoadCounts counts;	/* of what was loaded; lines are those before, too */
	uint64		counted;		/* rows, in the statistics */
	bool		has_entries;	/* to be put into indexes that are in use */
	BlockNumber first_block;	/* ... for rows from this one on */
	uint64		first_line;		/* those before them */
	GpuSortLoadLines lines;		/* of what was loaded, if the table has indexes */
} GpuSortLoadState;

#endif							/* GPUSORT_LOAD_STATE_H */
