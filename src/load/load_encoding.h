/*
 * load_encoding.h
 *		The encoding of a COPY's input, and that of the database.
 *
 * As in PostgreSQL's COPY, what is parsed is text in the database's encoding.  But where records end is also known without
 * converting them, and so is how many bytes of the input they are.
 */
#ifndef GPUSORT_LOAD_ENCODING_H
#define GPUSORT_LOAD_ENCODING_H

#include "load/load_task.h"
#include "parse/gs_records.h"

/* Why an input of this encoding is left to PostgreSQL, or NULL. */
extern const char *gpusort_load_why_not_encoding(int encoding, const gs_dialect *dialect);

typedef struct GpuSortLoadEncoding GpuSortLoadEncoding;

/* In the current context. */
extern GpuSortLoadEncoding *gpusort_encoding_begin(const GpuSortLoadTask *task);

/* Is the input converted? */
extern bool gpusort_encoding_converts(const GpuSortLoadEncoding *encoding);

/*
 * The bytes of an input, in which each one of ASCII is a character, and other characters are bytes of some kind: records
 * lie where they do in the input.  It begins with a character.  Valid until the next call.
 */
extern const char *gpusort_encoding_plain(GpuSortLoadEncoding *encoding, const char *data, Size bytes);

/* Where the last record of an input's bytes ends; 0: none does. */
extern Size gpusort_encoding_records(GpuSortLoadEncoding *encoding, const gs_dialect *dialect, const char *data, Size bytes);

/* Where the one behind so many others begins.  "records" is memory to be used. */
extern Size gpusort_encoding_find(GpuSortLoadEncoding *encoding, const gs_dialect *dialect, const char *data, Size bytes,
								  uint64 count, gs_records *records);

/* Text in the database's encoding. */
typedef struct GpuSortLoadText
{
	const char *data;
	Size		bytes;
	Size		valid;			/* of these; if they were converted, all are */
	bool		is_whole;		/* there was nothing that could not be converted */
} GpuSortLoadText;

/* Bytes of an input as text, which is valid until the next call. */
extern GpuSortLoadText gpusort_encoding_text(GpuSortLoadEncoding *encoding, const char *data, Size bytes);

extern void gpusort_encoding_end(GpuSortLoadEncoding *encoding);

#endif							/* GPUSORT_LOAD_ENCODING_H */
