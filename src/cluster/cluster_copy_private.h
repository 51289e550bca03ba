/*
 * cluster_copy_private.h
 *		The copy of a table in the order of an index: reads, sorts, writes.
 */
#ifndef GPUSORT_CLUSTER_COPY_PRIVATE_H
#define GPUSORT_CLUSTER_COPY_PRIVATE_H

#include "commands/progress.h"
#include "pgstat.h"
#include "port/atomics.h"
#include "storage/block.h"
#include "storage/spin.h"
#include "utils/rel.h"

#include "pg_compat/tables.h"
#include "sort/sort.h"

/* ---------- copy: what is copied, and what became of its rows ---------- */

/*
 * The copy that the server asks for, with the arguments of relation_copy_for_cluster() of a table
 * access method.
 */
typedef struct GpuSortClusterCopy
{
	Relation	old_heap;
	Relation	new_heap;		/* new table, which has no blocks yet */
	Relation	index;			/* index in whose order the table is copied */
	bool		sort;			/* the planner wants rows sorted, not read through the index */
	TransactionId oldest_xmin;	/* versions deleted before this are dead to all */
	TransactionId freeze_xid;
	MultiXactId freeze_multi;
} GpuSortClusterCopy;

/* Numbers of row versions, as VERBOSE shows them. */
typedef struct GpuSortClusterCounts
{
	double		kept;
	double		removed;
	double		recently_dead;	/* versions among those kept */
} GpuSortClusterCounts;

/* What was found when the table was read. */
typedef struct GpuSortClusterFindings
{
	GpuSortClusterCounts counts;
	bool		chains;			/* chains of updates may lead to or from some versions */
	uint64		toasted;		/* number of versions that have to go through the toaster */
	uint64		bytes;			/* bytes that all versions take on pages */
	/* bytes that the shortest version takes on a page; 0 if there are none */
	uint32		shortest;
	uint32		longest;
} GpuSortClusterFindings;

/* ---------- all of it ---------- */

/*
 * Copy the table, and set *counts.  Returns false if nothing has been written and PostgreSQL has to
 * copy it; *counts has no meaning then.
 */
extern bool gpusort_cluster(const GpuSortClusterCopy *copy, GpuSortClusterCounts *counts);

/* ---------- whether the copy is made here ---------- */

/*
 * Returns whether gpusort sorts the table's versions in the order of the index.  If so, fills
 * *spec, whose columns are those of the table, or of rows with keys (cluster_version_private.h); if
 * not, sets *reason to a constant string.
 */
extern bool gpusort_cluster_is_eligible(Relation heap, Relation index, size_t limit_bytes,
										GpuSortSpec *spec, const char **reason);

/*
 * Returns whether gpusort sorts the table's versions, and estimates say that they fit into memory,
 * so that sorting pays however the rows lie now.
 */
extern bool gpusort_cluster_fits_memory(Relation heap, Relation index, size_t limit_bytes);

/*
 * Fill *spec with the sort key alone.  Returns false, and sets *reason, if gpusort does not know
 * the index's order.
 */
extern bool gpusort_cluster_sort_spec(Relation index, GpuSortSpec *spec, const char **reason);

/* Returns the descriptor of the sort's rows, allocated in the current memory context. */
extern TupleDesc gpusort_cluster_sort_desc(Relation heap, Relation index);

/* ---------- progress: what pg_stat_progress_cluster shows ---------- */

/* A copy is reported in the way of the server's own copies. */

static inline void
gpusort_cluster_show_phase(int phase)
{
	pgstat_progress_update_param(PROGRESS_CLUSTER_PHASE, phase);
}

/* Report that reading begins, of so many pages, and then how much has been read. */
static inline void
gpusort_cluster_show_reading(BlockNumber pages)
{
	gpusort_cluster_show_phase(PROGRESS_CLUSTER_PHASE_SEQ_SCAN_HEAP);
	pgstat_progress_update_param(PROGRESS_CLUSTER_TOTAL_HEAP_BLKS, pages);
}

static inline void
gpusort_cluster_show_read(BlockNumber pages, double versions)
{
	const int	params[] = {
		PROGRESS_CLUSTER_HEAP_BLKS_SCANNED,
		PROGRESS_CLUSTER_HEAP_TUPLES_SCANNED
	};
	const int64 values[] = {pages, versions};

	pgstat_progress_update_multi_param(lengthof(params), params, values);
}

/* Report that sorting begins. */
static inline void
gpusort_cluster_show_sorting(void)
{
	gpusort_cluster_show_phase(PROGRESS_CLUSTER_PHASE_SORT_TUPLES);
}

/* Report that writing begins, and then how many versions have been written. */
static inline void
gpusort_cluster_show_writing(void)
{
	gpusort_cluster_show_phase(PROGRESS_CLUSTER_PHASE_WRITE_NEW_HEAP);
}

static inline void
gpusort_cluster_show_written(double versions)
{
	pgstat_progress_update_param(PROGRESS_CLUSTER_HEAP_TUPLES_WRITTEN, versions);
}

/* Clear the counts before the server's own copy, which begins from the start. */
static inline void
gpusort_cluster_show_nothing(void)
{
	gpusort_cluster_show_read(0, 0);
	gpusort_cluster_show_written(0);
}

/* ---------- share: what the processes that read have in common ---------- */

/* These are the pages to take, and what was found. */

/* State of reading a table.  In shared memory if there are workers. */
typedef struct GpuSortClusterShare
{
	BlockNumber nblocks;
	pg_atomic_uint64 next;		/* first page that no process has taken */
	pg_atomic_uint64 read;		/* pages that have been read */
	pg_atomic_uint64 kept;		/* versions to be kept in the pages read */
	pg_atomic_uint32 stopped;	/* not 0 if some version could not be put */

	slock_t		mutex;			/* protects `findings` */
	GpuSortClusterFindings findings;
} GpuSortClusterShare;

/* Prepare to share the reading of so many pages. */
extern void gpusort_cluster_share_init(GpuSortClusterShare *share, BlockNumber nblocks);

/* Report to the progress view what all processes have read. */
extern void gpusort_cluster_share_show(GpuSortClusterShare *share);

/*
 * Returns whether all pages have been read and their versions put; to be asked when all processes
 * have ended reading.
 */
extern bool gpusort_cluster_share_is_complete(GpuSortClusterShare *share);

/* ---------- reader: puts the versions that the copy will have into a sort ---------- */

/* They are read from the old table's pages. */

typedef struct GpuSortClusterReader GpuSortClusterReader;

/*
 * Begin to read, with memory of the current context.  `sort` is a sort, or a part of a shared sort
 * (sort_parts.h) if `is_part`.
 */
extern GpuSortClusterReader *gpusort_cluster_reader_begin(const GpuSortClusterCopy *copy,
														  GpuSort *sort, bool is_part);

/*
 * Read pages until none are left that no other process has taken, or until a version could not be
 * put, in which case all processes stop.  With `shows`, this process reports the progress of all to
 * pg_stat_progress_cluster.
 */
extern void gpusort_cluster_reader_read(GpuSortClusterReader *reader, GpuSortClusterShare *share,
										bool shows);

/* Release what does not go away with the memory context. */
extern void gpusort_cluster_reader_end(GpuSortClusterReader *reader);

/* ---------- workers: reading and writing with parallel workers ---------- */

/*
 * Workers are started twice, first to read and then to write.  In between the leader sorts, with
 * the help of those that have read.
 */

/* Returns how many workers are wanted for a copy. */
extern int	gpusort_cluster_wanted_workers(const GpuSortClusterCopy *copy);

/* What came of an attempt to read with workers. */
typedef enum GpuSortClusterHelp
{
	GPUSORT_CLUSTER_NO_WORKERS,	/* nothing has happened, so the leader can read alone */
	GPUSORT_CLUSTER_DONE,
	GPUSORT_CLUSTER_FAILED			/* a version found no room in a part; the sort is unusable */
} GpuSortClusterHelp;

/*
 * Workers that have read and wait to help sort, and the leader's parallel mode.  After an error the
 * server ends both.
 */
typedef struct GpuSortClusterReaders GpuSortClusterReaders;

/*
 * Read the table into the sort, which has just begun, by the leader and at most nworkers workers.
 * If the result is GPUSORT_CLUSTER_DONE, *readers exist until gpusort_cluster_readers_end().
 */
extern GpuSortClusterHelp gpusort_cluster_read_with_workers(const GpuSortClusterCopy *copy,
															GpuSort *sort, TupleDesc desc,
															int nworkers,
															GpuSortClusterReaders **readers,
															GpuSortClusterFindings *findings);

/* Dismiss the readers and wait until they have ended.  Returns how many there were. */
extern int	gpusort_cluster_readers_end(GpuSortClusterReaders *readers);

/*
 * Write the sorted versions with workers.  Returns false if nothing was written, since no workers
 * could be started or there was nothing for them to do.
 */
extern bool gpusort_cluster_write_with_workers(const GpuSortClusterCopy *copy, GpuSort *sort,
											   const GpuSortClusterFindings *findings, int nworkers,
											   int *launched);

#endif							/* GPUSORT_CLUSTER_COPY_PRIVATE_H */
