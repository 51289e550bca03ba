/*
 * index_exchange.h
 *		Hands rows of an index build from its workers to the leader.
 *
 * Only rows that find no memory in the pool go this way.  A worker puts them into a sort without
 * key columns, which is just a row store, and sends and empties it whenever it holds a batch.  The
 * leader takes the rows into its own sort, which encodes their keys.
 */
#ifndef GPUSORT_INDEX_EXCHANGE_H
#define GPUSORT_INDEX_EXCHANGE_H

#include "access/parallel.h"

#include "index/index_rows.h"

/* In a worker, its end of its queue; in the leader, its ends of all queues. */
typedef struct GpuSortRowExchange GpuSortRowExchange;

/*
 * The leader estimates and initialises the shared memory for so many workers before it launches
 * them.
 */
extern Size gpusort_exchange_bytes(int workers);
extern void gpusort_exchange_init(char *space, int workers);

/* Attach the leader to the queues, once the workers are launched. */
extern GpuSortRowExchange *gpusort_exchange_attach(char *space, const ParallelContext *context);

/* Attach a worker to its queue. */
extern GpuSortRowExchange *gpusort_exchange_join(char *space, dsm_segment *segment);

/*
 * Every process that reads rows calls this now and then: a worker sends its rows if they make a
 * batch, the leader takes in what workers have sent.
 */
extern void gpusort_exchange_rows(GpuSortRowExchange *exchange, GpuSortIndexRows *rows);

/* Send what a worker has left, after it has read all its rows. */
extern void gpusort_exchange_send_rest(GpuSortRowExchange *exchange, GpuSortIndexRows *rows);

/*
 * Take into the leader's sort what workers have sent so far, without waiting.  Returns whether
 * there was anything.
 */
extern bool gpusort_exchange_receive(GpuSortRowExchange *exchange, GpuSortIndexRows *rows);

/* Returns how many bytes of rows this worker has sent, or this leader has received. */
extern uint64 gpusort_exchange_moved_bytes(const GpuSortRowExchange *exchange);

/* Returns whether some worker may still send rows to this leader. */
extern bool gpusort_exchange_is_open(const GpuSortRowExchange *exchange);

/*
 * Detach from the queues.  A worker does so after its last row and after its report
 * (index_reports.h), so that the leader, when it finds the queue detached, can read the report.  If
 * the leader does so early, workers find that their rows can't be taken in.
 */
extern void gpusort_exchange_close(GpuSortRowExchange *exchange);

#endif							/* GPUSORT_INDEX_EXCHANGE_H */
