/*
 * out_receiver.h
 *		Takes the rows of a query from the executor.
 *
 * When the executor returns the first row, the sort below may have all others as well.  Parallel
 * workers then write the rows, and the executor is asked for no more.
 */
#ifndef GPUSORT_OUT_RECEIVER_H
#define GPUSORT_OUT_RECEIVER_H

#include "executor/execdesc.h"

#include "bulk/out_stream.h"

/*
 * Returns a receiver that writes rows to a stream.  The stream must have begun when the first row
 * comes.
 */
extern DestReceiver *gpusort_out_make_receiver(GpuSortOutStream *stream);

/*
 * Tell a query's receiver about the query, which has been started and is going to be run to its
 * end.
 */
extern void gpusort_out_begin_receiver(QueryDesc *query, const GpuSortOutColumn *columns);

#endif							/* GPUSORT_OUT_RECEIVER_H */
