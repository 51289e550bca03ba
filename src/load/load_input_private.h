/*
 * load_input_private.h
 *		The input of a COPY FROM.
 */
#ifndef GPUSORT_LOAD_INPUT_PRIVATE_H
#define GPUSORT_LOAD_INPUT_PRIVATE_H

#include "access/tupdesc.h"
#include "commands/copy.h"

#include "load/load_rows_private.h"
#include "load/load_values_private.h"
#include "parse/gs_parse.h"

/* ---------- source ---------- */

/*
 * Where the bytes of a COPY FROM come from: a file, a program, or the client.
 *
 * PostgreSQL has opened the source.  It can be given back to PostgreSQL at any time, which goes
 * on where reading has ended here.
 */

typedef struct GpuSortLoadSource
{
	CopyFromState copy;
	bool		at_end;			/* no bytes are left */
	bool		failed;			/* the next read fails, which is left to PostgreSQL's code */
	int			stray;			/* the message by which the client fails it, or EOF; 0: none */
	const char *failure;		/* what the client says in that message, or NULL */
	uint64		bytes;			/* how many were read */
	const char *reading;		/* while the source is being read: where the bytes go */
	Size		got;			/* bytes that are there already */
} GpuSortLoadSource;

/*
 * Begins with a source.  PostgreSQL may have read ahead when it looked at the header: moves these
 * bytes to "buffer", which has room for a chunk, and returns how many they are.
 */
extern Size gpusort_source_begin(GpuSortLoadSource *source, CopyFromState copy, char *buffer);

/* Returns how many bytes are still to be read, or 0 if that is not known. */
extern uint64 gpusort_source_expected(const GpuSortLoadSource *source);

/*
 * Lets PostgreSQL's COPY read these bytes first, which were read but not loaded, and then what is
 * left of the source; returns how many rows it has put into the table.
 */
extern uint64 gpusort_source_give_back(GpuSortLoadSource *source, const char *data, Size bytes);

/* ---------- the encoding of an input, and that of the database ---------- */

/*
 * As in PostgreSQL's COPY, what is parsed is text in the database's encoding.  But where records
 * end in the input is known without converting it, too, so that the input can be cut between
 * records, and the rest of it be given back to PostgreSQL.
 */

/* Returns why an input of this encoding is left to PostgreSQL, or NULL. */
extern const char *gpusort_load_why_not_encoding(int encoding, const gs_dialect *dialect);

typedef struct GpuSortLoadEncoding GpuSortLoadEncoding;

/* Returns the encoding of a task's input, allocated in the current context. */
extern GpuSortLoadEncoding *gpusort_encoding_begin(const GpuSortLoadTask *task);

/* Returns whether the input is converted, and not only verified. */
extern bool gpusort_encoding_converts(const GpuSortLoadEncoding *encoding);

/*
 * Returns the bytes of an input with each character that is not ASCII replaced by as many bytes
 * that are not ASCII either, if the encoding would have ASCII bytes in such characters.  So records
 * can be found by their bytes, and lie where they do in the input.  "data" must begin with a
 * character.  The result is valid until the next call.
 */
extern const char *gpusort_encoding_mask_nonascii(GpuSortLoadEncoding *encoding, const char *data,
												  Size bytes);

/*
 * Returns where the last record that ends in these bytes of an input ends, or 0 if none does.  Of
 * the binary format, returns all bytes if there is something odd.
 */
extern Size gpusort_encoding_records(GpuSortLoadEncoding *encoding, const gs_dialect *dialect,
									 const char *data, Size bytes);

/*
 * Returns where the record behind the first "count" ones begins.  "records" is memory to be used
 * for finding it.
 */
extern Size gpusort_encoding_find(GpuSortLoadEncoding *encoding, const gs_dialect *dialect,
								  const char *data, Size bytes, uint64 count, gs_records *records);

/* Text in the database's encoding. */
typedef struct GpuSortLoadText
{
	const char *data;
	Size		bytes;
	Size		valid;			/* of these bytes are valid; if they were converted, all are */
	bool		is_whole;		/* all of the input could be converted */
} GpuSortLoadText;

/* Returns bytes of an input as text, which is valid until the next call. */
extern GpuSortLoadText gpusort_encoding_text(GpuSortLoadEncoding *encoding, const char *data,
											 Size bytes);

/*
 * Lets receive functions convert text from the encoding of the client, or ends that.  Workers have
 * the database's encoding as that of their client, which is the leader, and their messages must be
 * in this one.
 */
extern void gpusort_encoding_receive(const GpuSortLoadTask *task, bool begin);

extern void gpusort_encoding_end(GpuSortLoadEncoding *encoding);

/* ---------- the beginning of an input: how its records end, and its header ---------- */

/* A header may have this many records; longer ones are left to PostgreSQL. */
#define GPUSORT_LOAD_HEADER_RECORDS	100

/* What comes before the rows. */
typedef struct GpuSortLoadHeader
{
	int			records;
	TupleDesc	columns;		/* whose names the first record must have, or NULL */
} GpuSortLoadHeader;

/*
 * Looks at the beginning of an input.  Sets the newline of the task, and, in *input, "consumed" and
 * the counted lines to what lies before the rows and is not to be loaded.  Returns false if
 * PostgreSQL has to look at the beginning.
 */
extern bool gpusort_load_start(GpuSortLoadTask *task, GpuSortLoadEncoding *encoding,
							   const GpuSortLoadHeader *header, GpuSortLoadInput *input);

#endif							/* GPUSORT_LOAD_INPUT_PRIVATE_H */
