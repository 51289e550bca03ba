/*
 * out_text.h
 *		Writes the escapes and quotes of COPY's text and CSV formats.
 */
#ifndef GPUSORT_OUT_TEXT_H
#define GPUSORT_OUT_TEXT_H

#include "lib/stringinfo.h"

#include "bulk/out_format.h"

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

#endif							/* GPUSORT_OUT_TEXT_H */
