/*
 * out_leader.h
 *		Writes rows together with parallel workers.
 *
 * The leader and the workers format slices of the rows, and the leader writes all slices to the
 * stream in order.  At any time no more formatted rows are in memory than the workers' queues and
 * one slice of the leader hold: if the file, program or client is slow, the workers wait.
 */
#ifndef GPUSORT_OUT_LEADER_H
#define GPUSORT_OUT_LEADER_H

#include "executor/execdesc.h"

#include "bulk/out_format.h"
#include "bulk/out_stream.h"

/*
 * Write to the stream all rows of a table, or of a query whose first row the executor has just
 * returned.  Returns false, with nothing written, if the rows are not for workers, or no worker
 * could be started.  If a query's rows were written, the caller ends it.
 */
extern bool gpusort_out_write_table(GpuSortOutStream *stream, const GpuSortOutColumn *columns,
									Relation table);
extern bool gpusort_out_write_query(GpuSortOutStream *stream, const GpuSortOutColumn *columns,
									QueryDesc *query);

/* Prepare a query for gpusort_out_write_query(); called before it is run. */
extern void gpusort_out_expect_query(QueryDesc *query);

#endif							/* GPUSORT_OUT_LEADER_H */
