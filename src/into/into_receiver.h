/*
 * into_receiver.h
 *		Taking the rows of a query that fills a new table.
 */
#ifndef GPUSORT_INTO_RECEIVER_H
#define GPUSORT_INTO_RECEIVER_H

#include "executor/execdesc.h"

/*
 * From ExecutorRun_hook: a receiver for all rows of a query that a GpuSort returns, in the place
 * of the server's one, which is that of CREATE TABLE AS, SELECT INTO, or a materialized view;
 * NULL: none.
 */
extern DestReceiver *gpusort_make_into_receiver(QueryDesc *query);

/* From object_access_hook: a table has been made. */
extern void gpusort_note_made_table(Oid table);

#endif							/* GPUSORT_INTO_RECEIVER_H */
