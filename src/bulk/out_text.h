/*
 * out_text.h
 *		Escapes and quotes of COPY's text and CSV formats.
 */
#ifndef GPUSORT_OUT_TEXT_H
#define GPUSORT_OUT_TEXT_H

#include "lib/stringinfo.h"

#include "bulk/out_format.h"

typedef struct GpuSortOutText GpuSortOutText;

extern GpuSortOutText *gpusort_out_begin_text(const GpuSortOutFormat *format);

/* Can letters, digits and "+-.: " be written as they are? */
extern bool gpusort_out_values_are_plain(const GpuSortOutText *text);

/* Would a value be taken for a null, if not quoted?  In the server's encoding. */
extern bool gpusort_out_looks_null(const GpuSortOutText *text, const char *string, int length);

/* Append a value, which is in the encoding that is written. */
extern void gpusort_out_put_text(const GpuSortOutText *text, StringInfo out, const char *string,
								 int length, bool quote);

/*
 * Copy a value, for which there is room; false if it may need escapes or quotes, when some of it is
 * copied.
 */
extern bool gpusort_out_copy_plain(const GpuSortOutText *text, char *at, const char *string,
								   int length);

extern void gpusort_out_put_null(const GpuSortOutText *text, StringInfo out);

#endif							/* GPUSORT_OUT_TEXT_H */
