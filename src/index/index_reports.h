/*
 * index_reports.h
 *		What workers of an index build tell the leader when they have read their share
 *		of the table.
 */
#ifndef GPUSORT_INDEX_REPORTS_H
#define GPUSORT_INDEX_REPORTS_H

#include "storage/spin.h"

#include "index/index_reader.h"

/* In shared memory. */
typedef struct GpuSortSharedReports
{
	slock_t		mutex;			/* protects: */
	int			count;			/* workers that have reported */
	double		live;			/* rows that they have read */
	uint64		sent_bytes;		/* of rows, to the leader */
	bool		broken_hot_chain;
	bool		failed;
} GpuSortSharedReports;

extern void gpusort_reports_init(GpuSortSharedReports *reports);

/* By a worker that has read so many live rows. */
extern void gpusort_reports_add(GpuSortSharedReports *reports, const GpuSortIndexReader *reader,
								double live);

/*
 * By the leader: take over what so many workers have reported.  False if one of them has not,
 * or if what they have sent is not what has come.
 */
extern bool gpusort_reports_take(GpuSortSharedReports *reports, GpuSortIndexReader *reader,
								 int workers, double *live);

#endif							/* GPUSORT_INDEX_REPORTS_H */
