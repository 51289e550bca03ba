/*
 * gs_parse.h
 *		Parsing what COPY reads: records, fields, and chunks of the input.
 */
#ifndef GS_PARSE_H
#define GS_PARSE_H

#include "parse/gs_dialect.h"

/* ---------- records: where the records and fields of a buffer lie ---------- */

/*
 * A buffer begins with a record; gs_chunk_scan() tells where records begin in chunks of the input
 * that are cut anywhere.  Offsets are from the buffer's first byte and below 2^31.
 */

#define GS_RECORDS_MAX_BYTES	((size_t) 0x7fffffff)

/*
 * A field's end is the offset of the delimiter or newline after it, with this bit set if the field
 * has quotes (CSV) or backslashes (text) in it: then it is not its own value, see gs_field_value().
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
	GS_ODD_END,					/* the input ends between quotes or after a backslash */
	GS_ODD_RECORD				/* binary: a count, a length, what is behind the trailer, the end */
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

/*
 * Returns how many lines, as the server counts them, end in these bytes of an input.  Of the binary
 * format, "data" must begin with a record.  Meant for error messages, too.
 */
extern uint64_t gs_lines_count(const gs_dialect *dialect, const char *data, size_t bytes);

/* ---------- binary: records of the binary format ---------- */

/*
 * gs_records_find() finds these, too.  A field's end is the offset behind its bytes, with
 * GS_FIELD_SPECIAL if it is a null.  Between fields there are GS_BINARY_LENGTH_BYTES, and
 * GS_BINARY_COUNT_BYTES more before the first one.  The trailer is consumed when it is known to be
 * the end of the input.
 */

#define GS_BINARY_COUNT_BYTES	2
#define GS_BINARY_LENGTH_BYTES	4

/* Does for the binary format what gs_records_find() does. */
extern void gs_binary_find(const gs_dialect *dialect, const char *data, size_t bytes, bool at_end,
						   gs_records *records);

/*
 * Returns where to cut a buffer of an input that goes on: behind the last record that ends in it.
 * If there is something odd, all of the buffer is better looked at as it is.
 */
extern size_t gs_binary_cut(const gs_dialect *dialect, const char *data, size_t bytes);

/* Returns how many records there are at the beginning of a buffer. */
extern uint64_t gs_binary_records(const gs_dialect *dialect, const char *data, size_t bytes);

/* ---------- field: its value, without quotes and escapes ---------- */

/*
 * Writes the value of a field that has GS_FIELD_SPECIAL (other fields are their own values), as
 * bytes without a terminator; returns how many they are.  "value" has room for as many bytes as the
 * field has, and may be the field itself.  "escaped_bytes" becomes true if escapes made bytes that
 * are not ASCII, or 0: the server verifies its encoding then.
 *
 * In text format a field that is the null marker must be recognised before: the marker is compared
 * with the field as it stands.
 */
extern size_t gs_field_value(const gs_dialect *dialect, const char *field, size_t bytes,
							 char *value, bool *escaped_bytes);

/* ---------- chunk: what one does, whatever comes before it ---------- */

/* What a chunk does if its first byte stands in one of the states. */
typedef struct gs_chunk_from
{
	gs_parse_state end;			/* the state after its last byte */
	uint64_t	records;		/* records that end in it */
	uint64_t	lines;			/* lines that end in it: records, and newlines between quotes */
	uint64_t	first;			/* where the first record ends: the offset after its newline */
	uint64_t	last;			/* where the last one ends; both are 0 if none ends */
} gs_chunk_from;

typedef struct gs_chunk
{
	uint64_t	bytes;
	bool		ascii;			/* no byte has its highest bit set */
	gs_chunk_from from[GS_STATES];
} gs_chunk;

/*
 * Reads a chunk from all states at once.  It may begin and end at any byte.  Only counts bytes:
 * what is odd in the chunk (gs_odd) is found when its records are.
 */
extern void gs_chunk_scan(const gs_dialect *dialect, const char *data, size_t bytes,
						  gs_chunk *chunk);

/* Returns the chunk of no bytes. */
extern gs_chunk gs_chunk_empty(void);

/*
 * Appends "right" to "left", as if both had been scanned as one chunk.  That is associative, so
 * chunks may be joined in any grouping.
 */
extern void gs_chunk_join(gs_chunk *left, const gs_chunk *right);

/* ---------- check: whether a record and its fields lie where a device says ---------- */

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

#endif							/* GS_PARSE_H */
