/*
 * load_leaves.h
 *		The leaves of a partitioned table that have indexes, which are filled when the rows are there.
 *
 * The leader knows them before the first row is read, and numbers them.  Others have no indexes: a row that comes to one that has
 * is PostgreSQL's.
 */
#ifndef GPUSORT_LOAD_LEAVES_H
#define GPUSORT_LOAD_LEAVES_H

#include "nodes/pg_list.h"
#include "storage/block.h"
#include "utils/relcache.h"

/* A number, from 1 on; that of all that are not among them. */
typedef uint16 GpuSortLeafNumber;

#define GPUSORT_NO_LEAF		((GpuSortLeafNumber) 0)

typedef struct GpuSortLoadLeaf
{
	Oid			table;
	bool		is_used;		/* others may have rows there; else it was empty, and is locked */
	bool		is_built;		/* so its rows are in its indexes */
	bool		is_sorted;		/* they are in those that get entries in the order of keys */
	BlockNumber first_block;	/* from which on there are rows of ours, if there are */
} GpuSortLoadLeaf;

typedef struct GpuSortLoadLeaves
{
	int			count;
	int			nindexes;		/* of all of them, or as many as there are locks */
	GpuSortLoadLeaf *leaves;	/* number 1 is the first one */
} GpuSortLoadLeaves;

/*
 * Partitions of a table with indexes, as they are in the catalog; some of them may be empty.  Those that are, with indexes that can be built
 * afterwards, are locked, as load_indexes.h does it.  Returns why these partitions are not ours, or NULL.
 */
extern const char *gpusort_leaves_begin(GpuSortLoadLeaves *leaves, List *indexed, List *maybe_empty);

/* How many locks the server has room for, in all sessions together. */
extern int64 gpusort_lock_places(void);

#endif							/* GPUSORT_LOAD_LEAVES_H */
