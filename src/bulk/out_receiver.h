/*
 * out_receiver.h
 *		Taking the rows of a query from the executor.
 */
#ifndef GPUSORT_OUT_RECEIVER_H
#define GPUSORT_OUT_RECEIVER_H

#include "tcop/dest.h"

#include "bulk/out_stream.h"

/* A receiver that puts rows into a stream, in the current memory context. */
extern DestReceiver *gpusort_out_make_receiver(GpuSortOutStream *stream);

#endif							/* GPUSORT_OUT_RECEIVER_H */
