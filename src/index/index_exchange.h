/*
 * index_exchange.h
 *		Rows of an index build that workers hand to the leader.
 *
 * These are the rows that there is no pool memory for.  A worker puts them into a sort
 * without key columns, a row store that is sent and emptied whenever it holds a
 * batch.  The leader takes them into its own sort, which encodes their keys.
 */
#ifndef GPUSORT_INDEX_EXCHANGE_H
#define GPUSORT_INDEX_EXCHANGE_H

#include "access/parallel.h"

#include "index/index_rows.h"

/* A worker's end of its queue, or the leader's ends of all. */
typedef struct GpuSortRowExchange GpuSortRowExchange;

/* Shared memory for so many workers; by the leader, before it launches them. */
extern Size gpusort_exchange_bytes(int workers);
extern void gpusort_exchange_init(char *space, int workers);

/* By the leader, when the workers are launched. */
extern GpuSortRowExchange *gpusort_exchange_attach(char *space, const ParallelContext *context);

/* By a worker. */
extern GpuSortRowExchange *gpusort_exchange_join(char *space, dsm_segment *segment);

/*
 * To be called now and then by every process that reads rows: a worker sends those that
 * make a batch, the leader takes in what workers have sent.
 */
extern void gpusort_exchange_rows(GpuSortRowExchange *exchange, GpuSortIndexRows *rows);

/* By a worker that has read all its rows: send those that have not been sent. */
extern void gpusort_exchange_send_rest(GpuSortRowExchange *exchange, GpuSortIndexRows *rows);

/* By the leader: take in what is there.  Returns whether anything was. */
extern bool gpusort_exchange_receive(GpuSortRowExchange *exchange, GpuSortIndexRows *rows);

/* Bytes of rows that a worker has sent, or that the leader has received. */
extern uint64 gpusort_exchange_moved_bytes(const GpuSortRowExchange *exchange);

/* By the leader: may some worker still send? */
extern bool gpusort_exchange_is_open(const GpuSortRowExchange *exchange);

/*
 * By a worker: no more rows will come, and what it reports (index_reports.h) is there to be
 * read.  By the leader: it takes in no more; the rows of workers that still send cannot
 * be taken in.
 */
extern void gpusort_exchange_close(GpuSortRowExchange *exchange);

#endif							/* GPUSORT_INDEX_EXCHANGE_H */
