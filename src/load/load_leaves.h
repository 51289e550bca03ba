/*
 * load_leaves.h
 *		The leaves of a partitioned table that have indexes, filled when the rows are there.
 *
 * The leader finds these leaves before the first row is read, and gives them numbers.  All other
 * leaves had no indexes at that time: if one of them has an index when a row gets there, that row
 * is left to PostgreSQL.
 */
#ifndef GPUSORT_LOAD_LEAVES_H
#define GPUSORT_LOAD_LEAVES_H

#include "nodes/pg_list.h"
#include "storage/block.h"
#include "utils/relcache.h"

/*
 * The number of a leaf, from 1 on, or GPUSORT_NO_LEAF for each partition that is not one of these
 * leaves.
 */
typedef uint16 GpuSortLeafNumber;

#define GPUSORT_NO_LEAF		((GpuSortLeafNumber) 0)

typedef struct GpuSortLoadLeaf
{
	Oid			table;
	bool		is_used;		/* others may have rows there; else it is empty, and locked */
	bool		is_built;		/* the rows are in all indexes */
	bool		is_sorted;		/* the rows are in the indexes that get entries in key order */
	BlockNumber first_block;	/* our rows are in this block and behind, if there are any */
} GpuSortLoadLeaf;

typedef struct GpuSortLoadLeaves
{
	int			count;
	int			nindexes;		/* of all leaves; not counted any further than there are locks */
	GpuSortLoadLeaf *leaves;	/* the one with number 1 comes first */
} GpuSortLoadLeaves;

/*
 * Fills *leaves with the partitions that have indexes, and returns why these partitions are not
 * ours, or NULL.  "indexed" and "maybe_empty" are what gpusort_load_why_not_partitions() has found
 * in the catalogs.  Partitions that are indeed empty, and have indexes that can be built
 * afterwards, are locked by gpusort_load_lock_indexes().
 */
extern const char *gpusort_leaves_begin(GpuSortLoadLeaves *leaves, List *indexed,
										List *maybe_empty);

/* Returns how many locks the server has room for, in all sessions together. */
extern int64 gpusort_lock_places(void);

#endif							/* GPUSORT_LOAD_LEAVES_H */
