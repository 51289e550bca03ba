/*
 * select_receiver.h
 *		Sending the rows of a query to the client.
 *
 * The messages are those of the server's receiver, but many are made before they are sent, and
 * parallel workers make them where they can.
 */
#ifndef GPUSORT_SELECT_RECEIVER_H
#define GPUSORT_SELECT_RECEIVER_H

#include "executor/execdesc.h"

/*
 * From ExecutorRun_hook: a receiver for all rows of a query that a GpuSort returns, in the place
 * of the server's one, if a portal returns them to the client; else NULL.
 */
extern DestReceiver *gpusort_make_select_receiver(QueryDesc *query);

#endif							/* GPUSORT_SELECT_RECEIVER_H */
