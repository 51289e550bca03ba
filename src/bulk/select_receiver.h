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
 * A receiver for the query, which is going to be run to its end, in the place of the server's one.
 * formats are those of the columns, as the client has asked for them: NULL: all are text.
 */
extern DestReceiver *gpusort_make_select_receiver(QueryDesc *query, DestReceiver *client,
												  const int16 *formats);

#endif							/* GPUSORT_SELECT_RECEIVER_H */
