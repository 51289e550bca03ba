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

#include "bulk/out_format.h"
#include "bulk/out_stream.h"
#include "exec/exec_sort.h"

/*
 * Write a table, or the rows that a node would return, to the stream, which has written nothing but
 * a header.  False, and nothing is written, if that is nothing for workers, or there are none.
 */
extern bool gpusort_out_write_table(GpuSortOutStream *stream, const GpuSortOutColumn *columns,
									Relation table);
extern bool gpusort_out_write_returned(GpuSortOutStream *stream, const GpuSortOutColumn *columns,
									   const GpuSortReturned *returned);

#endif							/* GPUSORT_OUT_LEADER_H */
