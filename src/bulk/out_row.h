/*
 * out_row.h
 *		Formats rows as bytes.
 *
 * The bytes are those that COPY TO, or a SELECT, would send.  Values of a few types are formatted
 * here; all others by their output or send functions, and so are those of the few types where it
 * would take more than a few lines.  What functions allocate is freed after some rows, not after
 * each.
 */
#ifndef GPUSORT_OUT_ROW_H
#define GPUSORT_OUT_ROW_H

#include "executor/tuptable.h"
#include "lib/stringinfo.h"

#include "bulk/out_format.h"

typedef struct GpuSortOutRows GpuSortOutRows;

/* Prepare to format rows.  Everything is allocated in the current memory context. */
extern GpuSortOutRows *gpusort_out_begin_rows(const GpuSortOutFormat *format,
											  const GpuSortOutColumn *columns);

/* Append the row in the slot to `out`. */
extern void gpusort_out_put_row(GpuSortOutRows *rows, TupleTableSlot *slot, StringInfo out);

/* Do the same in two steps: get the values that are written, in the slot, and append them. */
extern void gpusort_out_get_values(GpuSortOutRows *rows, TupleTableSlot *slot);
extern void gpusort_out_put_values(GpuSortOutRows *rows, TupleTableSlot *slot, StringInfo out);

/* Append a line with the names of the columns, in text or CSV. */
extern void gpusort_out_put_header(GpuSortOutRows *rows, TupleDesc desc, StringInfo out);

/*
 * Begin and end a message of the protocol, if the format wants messages.  The message consists of
 * what is appended in between; `begin` is the result of gpusort_out_begin_message().
 */
extern int	gpusort_out_begin_message(const GpuSortOutFormat *format, StringInfo out);
extern void gpusort_out_end_message(const GpuSortOutFormat *format, StringInfo out, int begin);

/* Number of bytes in front of a message's contents: its type and its length. */
#define GPUSORT_OUT_MESSAGE_BYTES 5

#endif							/* GPUSORT_OUT_ROW_H */
