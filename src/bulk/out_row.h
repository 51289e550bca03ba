/*
 * out_row.h
 *		Rows into bytes.
 *
 * The bytes are those that COPY TO, or a SELECT, would send.  A few types are written here; all
 * others, and these where it takes more than a few lines, by their output or send functions.
 * What functions allocate is freed after some rows, not after each.
 */
#ifndef GPUSORT_OUT_ROW_H
#define GPUSORT_OUT_ROW_H

#include "executor/tuptable.h"
#include "lib/stringinfo.h"

#include "bulk/out_format.h"

typedef struct GpuSortOutRows GpuSortOutRows;

/* In the current memory context, which owns all that it allocates. */
extern GpuSortOutRows *gpusort_out_begin_rows(const GpuSortOutFormat *format,
											  const GpuSortOutColumn *columns);

/* Append the row in the slot. */
extern void gpusort_out_put_row(GpuSortOutRows *rows, TupleTableSlot *slot, StringInfo out);

/* The same in two steps: have the values that are written in the slot, append these. */
extern void gpusort_out_get_values(GpuSortOutRows *rows, TupleTableSlot *slot);
extern void gpusort_out_put_values(GpuSortOutRows *rows, TupleTableSlot *slot, StringInfo out);

/* Append a line with the names of the columns; text and CSV. */
extern void gpusort_out_put_header(GpuSortOutRows *rows, TupleDesc desc, StringInfo out);

/* What is appended in between is a message of the protocol; if the format wants that. */
extern int	gpusort_out_begin_message(const GpuSortOutFormat *format, StringInfo out);
extern void gpusort_out_end_message(const GpuSortOutFormat *format, StringInfo out, int begin);

/* Bytes of the protocol in each row's message. */
#define GPUSORT_OUT_MESSAGE_BYTES 5

#endif							/* GPUSORT_OUT_ROW_H */
