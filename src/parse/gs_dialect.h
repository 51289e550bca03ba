/*
 * gs_dialect.h
 *		What COPY reads: which bytes mean what, and what a device finds in delimited text.
 */
#ifndef GS_DIALECT_H
#define GS_DIALECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---------- dialect: which bytes mean what ---------- */

typedef enum gs_newline
{
	GS_NEWLINE_LF,
	GS_NEWLINE_CR,
	GS_NEWLINE_CRLF
} gs_newline;

typedef struct gs_dialect
{
	bool		csv;			/* CSV; else COPY's text format, whose escape is the backslash */
	char		delimiter;
	char		quote;			/* CSV only */
	char		escape;			/* CSV only; may be the quote */
	gs_newline	newline;		/* how all records end */
	bool		csv_end_marker; /* \.  may end CSV, too, as it does on servers before 18 */
	bool		binary;			/* COPY's binary format; then only nfields matters */
	uint16_t	nfields;		/* binary: how many fields each record has, at least one */
} gs_dialect;

/*
 * The state that a byte stands in: what is known from all the bytes before it.  Records begin in
 * GS_STATE_PLAIN, and only a byte that stands in this state ends a field or a record.
 */
typedef enum gs_parse_state
{
	GS_STATE_PLAIN,
	GS_STATE_QUOTED,			/* CSV: between quotes */
	/* text: after a backslash; CSV: between quotes and after an escape */
	GS_STATE_ESCAPED,
	GS_STATES
} gs_parse_state;

/*
 * Returns whether the dialect has the state.  Other states are never reached, and what is found for
 * them means nothing.
 */
static inline bool
gs_dialect_has_state(const gs_dialect *dialect, gs_parse_state state)
{
	if (state == GS_STATE_QUOTED)
		return dialect->csv;
	return state == GS_STATE_PLAIN || !dialect->csv || dialect->escape != dialect->quote;
}

/*
 * Returns whether this dialect can be parsed here.  The server allows a few dialects that give a
 * byte two meanings, such as one with a delimiter that is a hexadecimal digit.
 */
extern bool gs_dialect_supported(const gs_dialect *dialect);

/* Returns the state after a byte that stands in `state`. */
extern gs_parse_state gs_state_after(const gs_dialect *dialect, gs_parse_state state, char byte);

/* What gs_first_record_find() found. */
typedef enum gs_first_result
{
	GS_FIRST_FOUND,
	GS_FIRST_MORE,				/* more bytes are needed */
	GS_FIRST_ODD				/* the server should look at the record: it has something odd */
} gs_first_result;

typedef struct gs_first_record
{
	gs_newline	newline;		/* GS_NEWLINE_LF if the input ends before one */
	uint64_t	bytes;			/* bytes of the record with its newline */
	uint64_t	lines;			/* lines that the server counts for it */
} gs_first_record;

/*
 * Finds the first record of an input, which decides how the others must end.  The dialect's newline
 * is not looked at.  The server counts the lines of this one record in its own way: as it does not
 * know the newline yet, it takes carriage returns between quotes for lines.  "at_end": the input
 * has no more bytes.
 */
extern gs_first_result gs_first_record_find(const gs_dialect *dialect, const char *data,
											size_t bytes, bool at_end, gs_first_record *first);

/* Returns how many bytes there are behind the last field of a record. */
static inline unsigned
gs_newline_bytes(const gs_dialect *dialect)
{
	return dialect->newline == GS_NEWLINE_CRLF ? 2 : dialect->binary ? 0 : 1;
}

/* Returns the byte that ends a record: the last one of its newline. */
static inline char
gs_record_byte(const gs_dialect *dialect)
{
	return dialect->newline == GS_NEWLINE_CR ? '\r' : '\n';
}

/* Returns the byte that the server counts as a line where it lies between quotes. */
static inline char
gs_line_byte(const gs_dialect *dialect)
{
	return dialect->newline == GS_NEWLINE_LF ? '\n' : '\r';
}

/* Returns the byte that makes the byte after it data. */
static inline char
gs_escape_byte(const gs_dialect *dialect)
{
	return dialect->csv ? dialect->escape : '\\';
}

/* ---------- found: what a device has found in text ---------- */

/*
 * The arrays that go with it are those of gs_parse.h: where fields end, and how many fields there
 * are up to the end of each record.
 */

/* All offsets count from the first byte. */
typedef struct gs_found
{
	/* fields that end in the text; if they are more than fit, the arrays are not complete */
	uint32_t	nfields;
	uint32_t	nrecords;
	/* offset after the last record that ends in the text; 0 if none does */
	uint32_t	consumed;
	uint32_t	odd_at;			/* offset of the first byte that is odd (gs_odd), or UINT32_MAX */
	uint32_t	state;			/* gs_parse_state after its last byte */
} gs_found;

#endif							/* GS_DIALECT_H */
