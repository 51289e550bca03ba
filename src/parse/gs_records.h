/*
 * gs_records.h
 *		Where the records and fields of a buffer lie.
 *
 * A buffer begins with a record; gs_chunk.h tells where records begin in chunks of the input that
 * are cut anywhere.  Offsets are from the buffer's first byte and below 2^31.
 */
#ifndef GS_RECORDS_H
#define GS_RECORDS_H

#include "parse/gs_dialect.h"

#define GS_RECORDS_MAX_BYTES	((size_t) 0x7fffffff)

/*
 * A field's end is the offset of the delimiter or newline after it, with this bit set if the field
 * has quotes (CSV) or backslashes (text) in it: then it is not its own value, see gs_field.h.
 */
#define GS_FIELD_SPECIAL		0x80000000u
#define GS_FIELD_END(end)		((end) & ~GS_FIELD_SPECIAL)

/*
 * gs_records_find() may write so many entries of an array beyond those that it returns, but none
 * beyond the maximum.
 */
#define GS_RECORDS_SLACK		64

typedef enum gs_records_stop
{
	GS_STOP_END,				/* all records that end in the buffer were found */
	GS_STOP_FULL,				/* the arrays are full: go on at "consumed" */
	GS_STOP_WIDE,				/* no record was found, as the first one has too many fields */
	GS_STOP_ODD					/* the record at "consumed" is for the server: see "odd" */
} gs_records_stop;

/*
 * *Odd* is what has no meaning, or a meaning that depends on more than the dialect.  The server's
 * own code should read such a record: it knows the error message.
 */
typedef enum gs_odd
{
	GS_ODD_NONE,
	GS_ODD_NUL,					/* a byte 0 */
	GS_ODD_NEWLINE,				/* a newline of another kind, or half of one */
	GS_ODD_MARKER,				/* \. : the end of the input, or a mistake */
	GS_ODD_END					/* the input ends between quotes or after a backslash */
} gs_odd;

typedef struct gs_records
{
	/* the caller's memory */
	uint32_t   *field_ends;
	size_t		max_fields;		/* more than GS_RECORDS_SLACK */
	uint32_t   *record_fields;	/* for each record, the number of fields up to its last one */
	size_t		max_records;	/* more than GS_RECORDS_SLACK */

	/* what was found */
	size_t		nfields;
	size_t		nrecords;
	size_t		consumed;		/* offset at which the next record begins */
	gs_records_stop stop;
	gs_odd		odd;
	size_t		odd_at;			/* offset of what is odd; GS_ODD_END: of the buffer's end */
} gs_records;

/*
 * Finds the records that end in a buffer, as many as fit.  "at_end": the input ends with the
 * buffer, so what comes after the last newline is a record, too.
 *
 * Records before an odd one are found, those behind it are not.
 */
extern void gs_records_find(const gs_dialect *dialect, const char *data, size_t bytes,
							bool at_end, gs_records *records);

/* Returns the number of the first field of a record. */
static inline size_t
gs_record_first_field(const gs_records *records, size_t record)
{
	return record == 0 ? 0 : records->record_fields[record - 1];
}

/* Returns where a record begins. */
static inline size_t
gs_record_begin(const gs_records *records, const gs_dialect *dialect, size_t record)
{
	if (record == 0)
		return 0;
	return GS_FIELD_END(records->field_ends[records->record_fields[record - 1] - 1]) +
		gs_newline_bytes(dialect);
}

/* Returns where a record ends: the offset of its newline. */
static inline size_t
gs_record_end(const gs_records *records, size_t record)
{
	return GS_FIELD_END(records->field_ends[records->record_fields[record] - 1]);
}

/*
 * Returns the number of lines that the server has counted when it has read this record, from the
 * buffer's beginning on.  Reads all bytes before, so it is meant for error messages.
 */
extern uint64_t gs_records_lines(const gs_records *records, const gs_dialect *dialect,
								 const char *data, size_t record);

#endif							/* GS_RECORDS_H */
