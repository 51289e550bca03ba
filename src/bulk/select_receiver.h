/*
 * select_receiver.h
 *		Sends the rows of a query to the client.
 *
 * The messages are those of the server's receiver, but many of them are made before they are sent,
 * by parallel workers where possible.
 */
#ifndef GPUSORT_SELECT_RECEIVER_H
#define GPUSORT_SELECT_RECEIVER_H

#include "executor/execdesc.h"

/*
 * Returns a receiver to take the place of the server's for all rows of a query that a GpuSort
 * returns, or NULL if no portal returns them to the client.  Called from ExecutorRun_hook.
 */
extern DestReceiver *gpusort_make_select_receiver(QueryDesc *query);

#endif							/* GPUSORT_SELECT_RECEIVER_H */
