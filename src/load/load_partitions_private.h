/*
 * load_partitions_private.h
 *		Partitions that rows go to.
 */
#ifndef GPUSORT_LOAD_PARTITIONS_PRIVATE_H
#define GPUSORT_LOAD_PARTITIONS_PRIVATE_H

#include "access/attmap.h"
#include "nodes/bitmapset.h"
#include "nodes/pg_list.h"
#include "storage/block.h"
#include "utils/relcache.h"

#include "load/load_values_private.h"
#include "table/table.h"

/* ---------- leaves ---------- */

/*
 * The tables whose indexes are filled when the rows are there.
 *
 * The leaves of a partitioned table that have indexes are found by the leader before the first row
 * is read, and get numbers.  All other leaves had no indexes at that time: if one of them has an
 * index when a row gets there, that row is left to PostgreSQL.  A table that is not partitioned is
 * its only leaf.
 */

/*
 * The number of a leaf, from 1 on, or GPUSORT_NO_LEAF for each partition that is not one of these
 * leaves.
 */
typedef uint16 GpuSortLeafNumber;

#define GPUSORT_NO_LEAF		((GpuSortLeafNumber) 0)
#define GPUSORT_ONLY_LEAF	((GpuSortLeafNumber) 1)

typedef struct GpuSortLoadLeaf
{
	Oid			table;
	bool		is_used;		/* others may have rows there; else it is empty, and locked */
	BlockNumber first_block;	/* our rows are in this block and behind, if there are any */
	bool		is_filled;		/* the rows are in all indexes */
	Bitmapset  *filled;			/* the numbers of indexes that have all rows, if it is not */
} GpuSortLoadLeaf;

typedef struct GpuSortLoadLeaves
{
	int			count;
	int			nindexes;		/* of partitions; not counted any further than there are locks */
	GpuSortLoadLeaf *leaves;	/* the one with number 1 comes first */
} GpuSortLoadLeaves;

/*
 * Fills *leaves with the partitions that have indexes, and returns why these partitions are not
 * ours, or NULL.  "indexed" and "maybe_empty" are what gpusort_load_why_not_partitions() has found
 * in the catalogs.  Partitions that are indeed empty, and have indexes that can be built
 * afterwards, are locked, so that no other session can write to them or use their indexes.
 */
extern const char *gpusort_load_leaves_begin(GpuSortLoadLeaves *leaves, List *indexed,
											 List *maybe_empty);

/*
 * The same for a table that is not partitioned, and has indexes.  Returns false if these can't be
 * filled when the rows are there.
 */
extern bool gpusort_load_leaves_alone(GpuSortLoadLeaves *leaves, Relation table);

/*
 * Returns whether the indexes of a table in use can be given entries when all rows are there, and
 * whether gpusort.copy_indexes allows it.
 */
extern bool gpusort_load_entries_are_ours(Relation table);

/*
 * Returns whether the indexes of the table that was named, if it has any, can be filled when the
 * rows are there, in one way or another.
 */
extern bool gpusort_load_indexes_are_ours(Relation table);

/* Returns how many locks the server has room for, in all sessions together. */
extern int64 gpusort_lock_places(void);

/* ---------- parts ---------- */

/*
 * The partitions that rows have been routed to, as all participants of a COPY FROM know them.
 *
 * A participant locks a partition when the first one of its rows goes there, as the server does.  A
 * worker's locks end with the worker; so the leader takes them over before the workers may end.
 */

typedef struct GpuSortLoadParts GpuSortLoadParts;

typedef struct GpuSortLoadPart
{
	Oid			partition;		/* InvalidOid: this place is free */
	GpuSortTableEnd end;
	GpuSortLeafNumber leaf;		/* its number, if it has indexes */
	bool		is_used;		/* other sessions may have rows there, if it has indexes */
	bool		is_open;		/* some participant has opened, and locked, it */
} GpuSortLoadPart;

/*
 * The parts lie in shared memory, or, if there is only one participant, in that one's own.  They
 * have room for "count" partitions, of which "leaves" are those that have indexes.
 */
extern Size gpusort_load_parts_bytes(int count);
extern void gpusort_load_parts_init(GpuSortLoadParts *parts, int count,
									const GpuSortLoadLeaves *leaves);

/*
 * Notes that a partition, which the caller has locked, is open, and returns its part.  Returns NULL
 * if there are more partitions by now than there is room for.
 */
extern GpuSortLoadPart *gpusort_load_parts_open(GpuSortLoadParts *parts, Oid partition);

/*
 * Called by a worker that has nothing left to do: waits until the leader has taken over its locks.
 */
extern void gpusort_load_parts_await_leader(GpuSortLoadParts *parts);

/*
 * Called by the leader: takes over the workers' locks on partitions of "root", the table that was
 * named, and lets the workers end.
 */
extern void gpusort_load_parts_take_over(GpuSortLoadParts *parts, Oid root);

/*
 * Called by the leader at the end: tells the server of the rows that partitions have got, and notes
 * in "leaves" in which block they begin.
 */
extern void gpusort_load_parts_end(GpuSortLoadParts *parts, GpuSortLoadLeaves *leaves);

/* ---------- the partitions that a participant puts rows into ---------- */

/* A partition that rows are routed to, and the current row as the partition stores it. */
typedef struct GpuSortLoadPartition
{
	GpuSortLoadTarget target;
	GpuSortLoadComputer *computer;	/* for generated columns and constraints, or NULL */
	const AttrMap *map;			/* from the root's columns, or NULL: they are the same */
	GpuSortLoadValue *values;	/* the current row, if there is a map */
	GpuSortLeafNumber leaf;		/* its number, if it has indexes */
	struct GpuSortLoadPartition *next;
} GpuSortLoadPartition;

typedef struct GpuSortLoadPartitions GpuSortLoadPartitions;

/*
 * Begins to route rows to the partitions of "root", which go to this sink; allocates in the current
 * context.
 */
extern GpuSortLoadPartitions *gpusort_load_partitions_begin(const GpuSortLoadTask *task,
															Relation root, GpuSortLoadParts *parts,
															GpuSortTableSink *sink);

/*
 * Returns the partition that a row belongs to, or NULL if rows can't be put into it here.  Raises
 * an error if the table has no partition for the row.
 */
extern GpuSortLoadPartition *gpusort_load_partitions_find(GpuSortLoadPartitions *partitions,
														  const GpuSortLoadValue *values);

/* Returns a row of the root as the partition stores it; valid until the next row. */
extern GpuSortLoadValue *gpusort_partition_values(GpuSortLoadPartition *partition,
												  GpuSortLoadValue *values);

extern void gpusort_load_partitions_end(GpuSortLoadPartitions *partitions);

#endif							/* GPUSORT_LOAD_PARTITIONS_PRIVATE_H */
