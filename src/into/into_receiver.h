/*
 * into_receiver.h
 *		Taking the rows of a query that fills a new table.
 */
#ifndef GPUSORT_INTO_RECEIVER_H
#define GPUSORT_INTO_RECEIVER_H

#include "executor/execdesc.h"

/*
 * Called by ExecutorRun_hook: returns a receiver for all rows of a query that a GpuSort returns, to
 * be used in place of the server's receiver, which is that of CREATE TABLE AS, SELECT INTO, or a
 * materialized view.  Returns NULL if the server's receiver is to be used.
 */
extern DestReceiver *gpusort_make_into_receiver(QueryDesc *query);

/* Called by object_access_hook: notes that a table has been made. */
extern void gpusort_note_made_table(Oid table);

#endif							/* GPUSORT_INTO_RECEIVER_H */
