/*
 * index_reports.h
 *		Reports of an index build's workers to the leader, when they have read their share of the
 *		table.
 */
#ifndef GPUSORT_INDEX_REPORTS_H
#define GPUSORT_INDEX_REPORTS_H

#include "storage/spin.h"

#include "index/index_reader.h"

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

#endif							/* GPUSORT_INDEX_REPORTS_H */
