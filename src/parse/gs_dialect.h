/*
 * gs_dialect.h
 *		Delimited text as COPY reads it: which bytes mean what.
 */
#ifndef GS_DIALECT_H
#define GS_DIALECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum gs_newline
{
	GS_NEWLINE_LF,
	GS_NEWLINE_CR,
	GS_NEWLINE_CRLF
} gs_newline;

typedef struct gs_dialect
{
	bool		csv;			/* else COPY's text format, whose escape is the backslash */
	char		delimiter;
	char		quote;			/* CSV only */
	char		escape;			/* CSV only; may be the quote */
	gs_newline	newline;		/* how records end, of all of them */
	bool		csv_end_marker; /* may \. end CSV, too?  On servers before 18 it does */
} gs_dialect;

/*
 * Where a byte stands: what is known of all the bytes before it.  Records begin in
 * GS_STATE_PLAIN, and nothing else than that ends a field or a record.
 */
typedef enum gs_parse_state
{
	GS_STATE_PLAIN,
	GS_STATE_QUOTED,			/* CSV: between quotes */
	GS_STATE_ESCAPED,			/* after a backslash; CSV: between quotes and after an escape */
	GS_STATES
} gs_parse_state;

/* Does the dialect have the state?  Others are never reached, and what is said of them means nothing. */
static inline bool
gs_dialect_has_state(const gs_dialect *dialect, gs_parse_state state)
{
	if (state == GS_STATE_QUOTED)
		return dialect->csv;
	return state == GS_STATE_PLAIN || !dialect->csv || dialect->escape != dialect->quote;
}

/*
 * Can this dialect be parsed here?  The server allows a few that give a byte two meanings,
 * such as a delimiter that is a hexadecimal digit.
 */
extern bool gs_dialect_supported(const gs_dialect *dialect);

/* The state after a byte that stands in another one. */
extern gs_parse_state gs_state_after(const gs_dialect *dialect, gs_parse_state state, char byte);

/* What gs_first_record_find() found. */
typedef enum gs_first_result
{
	GS_FIRST_FOUND,
	GS_FIRST_MORE,				/* it takes more bytes */
	GS_FIRST_ODD				/* the server should look at it */
} gs_first_result;

typedef struct gs_first_record
{
	gs_newline	newline;		/* GS_NEWLINE_LF if the input ends before one */
	uint64_t	bytes;			/* with its newline */
	uint64_t	lines;			/* what the server counts for it */
} gs_first_record;

/*
 * The first record of an input, which decides how the others must end.  The dialect's newline
 * is not looked at.  The server counts the lines of this one record in its own way: as it
 * does not know the newline yet, it takes carriage returns between quotes for lines.
 * "at_end": the input has no more bytes.
 */
extern gs_first_result gs_first_record_find(const gs_dialect *dialect, const char *data,
											size_t bytes, bool at_end, gs_first_record *first);

/* Bytes of a newline. */
static inline unsigned
gs_newline_bytes(const gs_dialect *dialect)
{
	return dialect->newline == GS_NEWLINE_CRLF ? 2 : 1;
}

/* The byte that ends a record, the last one of its newline. */
static inline char
gs_record_byte(const gs_dialect *dialect)
{
	return dialect->newline == GS_NEWLINE_CR ? '\r' : '\n';
}

/* The byte that is a line to the server where it lies between quotes. */
static inline char
gs_line_byte(const gs_dialect *dialect)
{
	return dialect->newline == GS_NEWLINE_LF ? '\n' : '\r';
}

/* The byte after which another one is data. */
static inline char
gs_escape_byte(const gs_dialect *dialect)
{
	return dialect->csv ? dialect->escape : '\\';
}

#endif							/* GS_DIALECT_H */
