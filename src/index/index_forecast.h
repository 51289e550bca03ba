/*
 * index_forecast.h
 *		Forecasts whether the rows of a table will fit into memory, from those read so far.
 *
 * An index build is begun if the statistics say that the rows fit.  If the statistics are wrong, or
 * other sorts have taken what was free of the pool meanwhile, it is better to give the build up
 * after a part of the table than at its end, since PostgreSQL's build has to read the table from
 * the start.
 */
#ifndef GPUSORT_INDEX_FORECAST_H
#define GPUSORT_INDEX_FORECAST_H

#include "index/index_reader.h"

/*
 * Returns whether the rows of the pages that have not been read are unlikely to fit.  The leader
 * calls this now and then while it reads; the answer is false until it has read enough pages to be
 * sure.
 */
extern bool gpusort_forecast_no_room(const GpuSortIndexReader *reader);

#endif							/* GPUSORT_INDEX_FORECAST_H */
