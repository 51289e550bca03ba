/*
 * out_receiver.h
 *		Taking the rows of a query from the executor.
 *
 * When there is a first row, all others may be there as well, in the sort below.  Then parallel
 * workers write them, and the executor is asked for no more.
 */
#ifndef GPUSORT_OUT_RECEIVER_H
#define GPUSORT_OUT_RECEIVER_H

#include "executor/execdesc.h"

#include "bulk/out_stream.h"

/* A receiver that writes rows to a stream, which need not have been begun yet. */
extern DestReceiver *gpusort_out_make_receiver(GpuSortOutStream *stream);

/* The query whose receiver it is has been started, and is going to be run to its end. */
extern void gpusort_out_begin_receiver(QueryDesc *query, const GpuSortOutColumn *columns);

#endif							/* GPUSORT_OUT_RECEIVER_H */
