/*
 * out_leader.h
 *		Writing rows together with parallel workers.
 *
 * These write slices of the rows, and the leader, who does as well, has them written in order.  More
 * rows than the workers' queues have room for are in no memory: if file, program or client are slow,
 * the workers wait.
 */
#ifndef GPUSORT_OUT_LEADER_H
#define GPUSORT_OUT_LEADER_H

#include "executor/execdesc.h"

#include "bulk/out_format.h"
#include "bulk/out_stream.h"

/*
 * Write a table, or the rows of a query, the first one of which the executor has just returned, to
 * the stream.  False, and nothing is written, if that is nothing for workers, or there are none.  A
 * query whose rows were written is to be ended.
 */
extern bool gpusort_out_write_table(GpuSortOutStream *stream, const GpuSortOutColumn *columns,
									Relation table);
extern bool gpusort_out_write_query(GpuSortOutStream *stream, const GpuSortOutColumn *columns,
									QueryDesc *query);

/* Before a query begins that the above will be asked to write. */
extern void gpusort_out_expect_query(QueryDesc *query);

#endif							/* GPUSORT_OUT_LEADER_H */
