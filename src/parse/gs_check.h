/*
 * gs_check.h
 *		Whether a record and its fields lie where somebody says.
 */
#ifndef GS_CHECK_H
#define GS_CHECK_H

#include "parse/gs_records.h"

/* What bytes are, to find out quickly. */
typedef struct gs_check
{
	gs_dialect	dialect;
	char		special;		/* the byte that makes fields special */
	bool		ends_plain[256];	/* bytes that a field without special ones does not have */
} gs_check;

extern void gs_check_begin(gs_check *check, const gs_dialect *dialect);

/*
 * A record begins at "begin".  Would gs_records_find() have found it to end within these bytes,
 * with a newline, to have these fields, and nothing to be odd?  Proves it, whatever the ends are: no
 * byte of the record is left out.  May say no of one whose first field begins with a backslash.
 */
extern bool gs_check_record(const gs_check *check, const char *data, size_t bytes, size_t begin,
							const uint32_t *field_ends, size_t nfields);

#endif							/* GS_CHECK_H */
