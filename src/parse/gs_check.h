/*
 * gs_check.h
 *		Checking whether a record and its fields lie where a device says that they do.
 */
#ifndef GS_CHECK_H
#define GS_CHECK_H

#include "parse/gs_records.h"

/* A dialect, and a table to look up quickly what a byte means in it. */
typedef struct gs_check
{
	gs_dialect	dialect;
	/* the byte that makes a field special: the quote, or the backslash */
	char		special;
	bool		ends_plain[256];	/* bytes that a field without GS_FIELD_SPECIAL does not have */
} gs_check;

extern void gs_check_begin(gs_check *check, const gs_dialect *dialect);

/*
 * Returns whether gs_records_find() would have found the record that begins at "begin" to end
 * within these bytes, with a newline, to have these fields, and to have nothing odd in it.  The
 * ends may be anything: every byte of the record is looked at.  May return false for a record whose
 * first field begins with a backslash.
 */
extern bool gs_check_record(const gs_check *check, const char *data, size_t bytes, size_t begin,
							const uint32_t *field_ends, size_t nfields);

#endif							/* GS_CHECK_H */
