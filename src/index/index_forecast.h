/*
 * index_forecast.h
 *		Whether the rows of a table will find room, judged by those that were read.
 *
 * An index build is begun if the statistics say that it fits.  If they are wrong, or others
 * have taken what was free of the pool, it is better given up after a part of the table than at
 * the end of it, as PostgreSQL's build has to read the table from the start.
 */
#ifndef GPUSORT_INDEX_FORECAST_H
#define GPUSORT_INDEX_FORECAST_H

#include "index/index_reader.h"

/*
 * By the leader, now and then while it reads: are the rows of the pages that are left unlikely
 * to find room?  It may take some time to become sure.
 */
extern bool gpusort_forecast_no_room(const GpuSortIndexReader *reader);

#endif							/* GPUSORT_INDEX_FORECAST_H */
