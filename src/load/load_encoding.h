/*
 * load_encoding.h
 *		The encoding of a COPY's input, and that of the database.
 *
 * As in PostgreSQL's COPY, what is parsed is text in the database's encoding.  But where records
 * end in the input is known without converting it, too, so that the input can be cut between
 * records, and the rest of it be given back to PostgreSQL.
 */
#ifndef GPUSORT_LOAD_ENCODING_H
#define GPUSORT_LOAD_ENCODING_H

#include "load/load_task.h"
#include "parse/gs_records.h"

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
extern const char *gpusort_encoding_plain(GpuSortLoadEncoding *encoding, const char *data,
										  Size bytes);

/* Returns where the last record that ends in these bytes of an input ends, or 0 if none does. */
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

extern void gpusort_encoding_end(GpuSortLoadEncoding *encoding);

#endif							/* GPUSORT_LOAD_ENCODING_H */
