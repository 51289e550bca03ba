/*
 * parse_reference.h
 *		Delimited text read a line at a time and then a field at a time, for tests of src/parse.
 */
#ifndef PARSE_REFERENCE_H
#define PARSE_REFERENCE_H

#include "parse/gs_parse.h"

typedef struct ref_field
{
	size_t		begin;
	size_t		end;
	bool		special;
	size_t		value_bytes;
	char	   *value;			/* within the answer's memory */
} ref_field;

typedef struct ref_record
{
	size_t		begin;
	size_t		end;			/* of its bytes, without the newline */
	size_t		next;
	bool		terminated;		/* by a newline, not by the input's end */
	uint64_t	lines;			/* counted up to its end */
	size_t		nfields;		/* up to its last one */
} ref_record;

typedef struct ref_answer
{
	ref_record *records;
	ref_field  *fields;
	char	   *values;
	size_t		nrecords;
	size_t		nfields;
	gs_odd		odd;			/* in the record after the last one */
	size_t		odd_at;
} ref_answer;

extern ref_answer *ref_read(const gs_dialect *dialect, const char *data, size_t bytes);
extern void ref_free(ref_answer *answer);

#endif							/* PARSE_REFERENCE_H */
