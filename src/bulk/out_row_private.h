/*
 * out_row_private.h
 *		Rows into bytes.
 */
#ifndef GPUSORT_OUT_ROW_PRIVATE_H
#define GPUSORT_OUT_ROW_PRIVATE_H

#include "postgres.h"

#include "executor/tuptable.h"
#include "lib/stringinfo.h"

/* ---------- how rows are written ---------- */

typedef enum GpuSortOutStyle
{
	GPUSORT_OUT_TEXT,			/* COPY's text format */
	GPUSORT_OUT_CSV,
	GPUSORT_OUT_BINARY,			/* COPY's binary format */
	GPUSORT_OUT_DATA_ROW		/* rows of a query, as in the protocol's DataRow messages */
} GpuSortOutStyle;

/* A column that is written. */
typedef struct GpuSortOutColumn
{
	Oid			type;
	int			attribute;		/* index of the attribute in the rows that are read */
	bool		binary;			/* write it by the type's send function */
	bool		force_quote;
} GpuSortOutColumn;

#define GPUSORT_OUT_NULL_BYTES 128

/* How rows are written.  Has no pointers, so that it can be passed to other processes. */
typedef struct GpuSortOutFormat
{
	GpuSortOutStyle style;
	bool		messages;		/* each row is in a message of its own */
	int			encoding;		/* encoding in which text is written */
	char		delimiter;
	char		quote;
	char		escape;
	int			null_length;
	char		null_print[GPUSORT_OUT_NULL_BYTES];		/* null string in the server's encoding */
	int			ncolumns;
} GpuSortOutFormat;

/* ---------- rows ---------- */

/*
 * The bytes are those that COPY TO, or a SELECT, would send.  Values of a few types are formatted
 * here; all others by their output or send functions, and so are those of the few types where it
 * would take more than a few lines.  What functions allocate is freed after some rows, not after
 * each.
 */

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

/* ---------- fields ---------- */

/*
 * Gets the values of a row that are written, in its slot.
 *
 * For rows without nulls that the slot shows as they are stored, this is cheaper than the server's
 * deforming.
 */

typedef struct GpuSortOutFields GpuSortOutFields;

/*
 * Prepare to get values of rows with these columns, any number of them, in the current memory
 * context.
 */
extern GpuSortOutFields *gpusort_out_begin_fields(int ncolumns, const GpuSortOutColumn *columns);

/*
 * Put the columns' values into the slot's tts_values and tts_isnull.  Its other values must not be
 * relied on afterwards.
 */
extern void gpusort_out_get_fields(GpuSortOutFields *fields, TupleTableSlot *slot);

/* ---------- values ---------- */

/*
 * Writes values of few bytes as the types' output and send functions do.
 *
 * A writer writes the function's result, byte by byte.  Where only the function itself can do that,
 * the writer returns NULL: for infinite times, years without exactly four digits, date styles other
 * than ISO, interval styles other than PostgreSQL's, and numerics of many digits.
 */

/* Number of bytes that a writer may write. */
#define GPUSORT_OUT_VALUE_BYTES 96

/* Write a value, without a terminating zero.  Returns the end of what was written, or NULL. */
typedef char *(*GpuSortOutWriter) (char *at, Datum value);

/*
 * Returns the writer that does the same as the type's function, or NULL if there is none.  Writers
 * for output functions write only letters, digits and "+-.: ".
 */
extern GpuSortOutWriter gpusort_out_writer(Oid function);

/* ---------- numerics of few digits ---------- */

/*
 * GpuSortOutWriters for numeric_out() and numeric_send().  They return NULL if the value needs too
 * many bytes, or is NaN or infinite.
 */
extern char *gpusort_out_write_numeric(char *at, Datum value);
extern char *gpusort_out_send_numeric(char *at, Datum value);

/* ---------- labels of enum values, as enum_out() looks them up ---------- */

typedef struct GpuSortOutLabels GpuSortOutLabels;

/* Make an empty cache of labels in the current memory context. */
extern GpuSortOutLabels *gpusort_out_begin_labels(void);

/* Returns a value's current label, and its length.  The label stays valid until the next call. */
extern const char *gpusort_out_label(GpuSortOutLabels *labels, Oid value, int *length);

/* ---------- the escapes and quotes of COPY's text and CSV formats ---------- */

typedef struct GpuSortOutText GpuSortOutText;

/* Prepare to write values of text or CSV, in the current memory context. */
extern GpuSortOutText *gpusort_out_begin_text(const GpuSortOutFormat *format);

/* Returns whether letters, digits and "+-.: " can be written as they are. */
extern bool gpusort_out_values_are_plain(const GpuSortOutText *text);

/*
 * Returns whether a value, in the server's encoding, would be taken for a null if it were not
 * quoted.
 */
extern bool gpusort_out_looks_null(const GpuSortOutText *text, const char *string, int length);

/*
 * Append a value with escapes or quotes if need be, or in any case with quotes if `quote` is set.
 * The value is in the encoding that is written.
 */
extern void gpusort_out_put_text(const GpuSortOutText *text, StringInfo out, const char *string,
								 int length, bool quote);

/*
 * Copy a value to `at`, where there is room for it.  Returns false if it may need escapes or
 * quotes; some of it may be copied by then.
 */
extern bool gpusort_out_copy_plain(const GpuSortOutText *text, char *at, const char *string,
								   int length);

/* Append the null string. */
extern void gpusort_out_put_null(const GpuSortOutText *text, StringInfo out);

#endif							/* GPUSORT_OUT_ROW_PRIVATE_H */
