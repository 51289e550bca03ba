/*
 * index_shared_private.h
 *		An index build by several processes.
 */
#ifndef GPUSORT_INDEX_SHARED_PRIVATE_H
#define GPUSORT_INDEX_SHARED_PRIVATE_H

#include "storage/spin.h"

#include "index/index_read_private.h"
#include "index/index_write_private.h"
#include "sort/sort.h"

/* ---------- reports: of workers that have read their share of the table ---------- */

/* They are made to the leader. */

/* The sum of the reports, in shared memory. */
typedef struct GpuSortSharedReports
{
	slock_t		mutex;			/* protects the fields below */
	int			count;			/* number of workers that have reported */
	double		live;			/* live rows that they have read */
	uint64		sent_bytes;		/* bytes of rows that they have sent to the leader */
	bool		broken_hot_chain;
	bool		failed;
} GpuSortSharedReports;

extern void gpusort_reports_init(GpuSortSharedReports *reports);

/* Add the report of a worker that has read so many live rows. */
extern void gpusort_reports_add(GpuSortSharedReports *reports, const GpuSortIndexReader *reader,
								double live);

/*
 * Take over in the leader what `workers` workers have reported, and add their live rows to *live.
 * Returns false if one of them has not reported, or if the leader has not received all bytes that
 * they have sent.
 */
extern bool gpusort_reports_take(GpuSortSharedReports *reports, GpuSortIndexReader *reader,
								 int workers, double *live);

/* ---------- shared memory ---------- */

/* What is to be built, and how.  Does not change once the workers are launched. */
typedef struct GpuSortSharedTask
{
	Oid			heap;
	Oid			index;
	bool		concurrent;
	bool		unique;
	/* the table is read page by page, not by the server's parallel scan */
	bool		by_pages;
	bool		has_parts;
	uint32		parts;			/* number of the shared sort, if has_parts */
} GpuSortSharedTask;

typedef struct GpuSortSharedBuild
{
	GpuSortSharedTask task;

	/* for reading the table */
	GpuSortSharedBlocks blocks;
	GpuSortSharedReports reports;

	/* for writing the index, if workers can write */
	GpuSortSharedStage stage;
	GpuSortSharedSlices slices;
} GpuSortSharedBuild;

/* Members of the shared memory. */
enum
{
	GPUSORT_INDEX_MEMBER_BUILD,
	GPUSORT_INDEX_MEMBER_SCAN,
	GPUSORT_INDEX_MEMBER_ROW_QUEUES,
	GPUSORT_INDEX_MEMBER_NOTE_QUEUES,
	GPUSORT_INDEX_MEMBER_VIEW,
	GPUSORT_INDEX_MEMBER_TEAM,
	GPUSORT_INDEX_MEMBERS
};

/* Addresses of the members in this process. */
typedef struct GpuSortSharedMemory
{
	GpuSortSharedBuild *build;
	ParallelTableScanDesc scan; /* NULL if the table is read page by page */
	char	   *row_queues;
	char	   *note_queues;	/* NULL if there is no pool, and so workers can't write */
	GpuSortSharedView *view;	/* NULL if note_queues is */
	GpuSortTeam *team;			/* workers that have read their share, and help to sort */
} GpuSortSharedMemory;

/* Find the members, in the leader or a worker. */
extern void gpusort_index_shared_find(GpuSortSharedMemory *memory, shm_toc *toc);

/* ---------- leader ---------- */

/*
 * The leader and the workers read the table into parts of a shared sort (sort_parts.h), which the
 * leader joins when all of them are done.  Workers that have read their share stay, to help sort,
 * verify and write the index. index_worker.c is the workers' side.
 */

typedef struct GpuSortIndexLeader GpuSortIndexLeader;

/*
 * Launch so many workers to read the table together with `reader`, whose target, by_pages and
 * rows.sort are set.  Returns NULL, with nothing done, if no worker could be started.  Otherwise
 * the workers stay, and this process stays in parallel mode, until gpusort_leader_end().
 */
extern GpuSortIndexLeader *gpusort_leader_begin(GpuSortIndexReader *reader, int workers);

/*
 * Wait until all workers have read their share, and take their rows over. `live` is the number of
 * live rows in the leader's own share.  Returns the number of live rows in all shares.
 */
extern double gpusort_leader_finish_reading(GpuSortIndexLeader *leader,
											GpuSortIndexReader *reader, double live);

/* Returns the number of workers that were launched. */
extern int	gpusort_leader_workers(const GpuSortIndexLeader *leader);

/*
 * Returns what gpusort_slices_write() and gpusort_portions_write() need; NULL if the workers can't
 * write.
 */
extern const GpuSortIndexSlices *gpusort_leader_slices(const GpuSortIndexLeader *leader);

/* Let the workers end, wait for them, and leave parallel mode. */
extern void gpusort_leader_end(GpuSortIndexLeader *leader);

#endif							/* GPUSORT_INDEX_SHARED_PRIVATE_H */
