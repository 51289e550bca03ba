/*
 * into_receiver.h
 *		Taking the rows of a query that fills a new table.
 */
#ifndef GPUSORT_INTO_RECEIVER_H
#define GPUSORT_INTO_RECEIVER_H

#include "executor/execdesc.h"

/*
 * A receiver for the query in the place of the server's one, which is that of CREATE TABLE AS,
 * SELECT INTO, or a materialized view.
 */
extern DestReceiver *gpusort_make_into_receiver(QueryDesc *query, DestReceiver *server);

/* From _PG_init(). */
extern void gpusort_install_into_hooks(void);

#endif							/* GPUSORT_INTO_RECEIVER_H */
