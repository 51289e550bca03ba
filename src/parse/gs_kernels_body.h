/*
 * gs_kernels_body.h
 *		The loops over all bytes, in terms of a few instructions.
 *
 * A file for each set of instructions includes this one, after it has defined
 *
 *	bytes64					64 bytes in registers
 *	load64(data)			loads them from memory
 *	equal64(bytes, byte)	a bit for each byte: is it equal to `byte`?
 *	high64(bytes)			a bit for each byte: is its highest bit set?
 *	KERNELS					the name of the table that this file defines
 *
 * Everything is inlined into a function for each syntax, so that questions about the syntax are
 * answered when that function is compiled.
 */
#include <string.h>

#include "parse/gs_block.h"
#include "parse/gs_kernels.h"

/* The bytes that mean something in a dialect. */
typedef struct meaning
{
	gs_syntax	syntax;
	gs_newline	newline;
	char		delimiter;
	char		quote;
	char		escape;
	char		record;			/* gs_record_byte() */
	char		line;			/* gs_line_byte() */
	char		other;			/* the newline byte that never ends a record; not used for CRLF */
	bool		marker;			/* \.  ends CSV */
} meaning;

GS_BLOCK_FUNCTION meaning
meaning_of(const gs_dialect *dialect, gs_syntax syntax)
{
	return (meaning) {
		.syntax = syntax,
		.newline = dialect->newline,
		.delimiter = dialect->delimiter,
		.quote = dialect->quote,
		.escape = gs_escape_byte(dialect),
		.record = gs_record_byte(dialect),
		.line = gs_line_byte(dialect),
		.other = dialect->newline == GS_NEWLINE_CR ? '\n' : '\r',
		.marker = dialect->csv && dialect->csv_end_marker
	};
}

/* Returns which bytes change states. */
GS_BLOCK_FUNCTION gs_block
block_of(const meaning *m, bytes64 bytes, uint64_t valid)
{
	gs_block	block = {0, 0};

	if (m->syntax != GS_SYNTAX_TEXT)
		block.quote = equal64(bytes, m->quote) & valid;
	if (m->syntax != GS_SYNTAX_CSV)
		block.escape = equal64(bytes, m->escape) & valid;
	return block;
}

/* Loads a block at the end of the data; zeros follow the data. */
GS_BLOCK_FUNCTION bytes64
load_some(const char *data, size_t bytes)
{
	char		copy[GS_BLOCK_BYTES] = {0};

	memcpy(copy, data, bytes);
	return load64(copy);
}

/* ---------- counting ---------- */

typedef struct count_state
{
	gs_parse_state state;
	uint64_t	high;
	uint32_t	records;
	uint32_t	lines;
	uint32_t	record_bytes;
	uint32_t	line_bytes;
} count_state;

GS_BLOCK_FUNCTION void
count_block(const meaning *m, bytes64 bytes, unsigned n, count_state *count)
{
	uint64_t	valid = gs_low_bits(n);
	gs_block	block = block_of(m, bytes, valid);
	uint64_t	plain = gs_block_plain(m->syntax, &block, n, &count->state);
	uint64_t	record = equal64(bytes, m->record) & valid;

	count->high |= high64(bytes) & valid;
	count->records += gs_count_bits(record & plain);
	count->record_bytes += gs_count_bits(record);
	if (m->syntax != GS_SYNTAX_TEXT && m->newline == GS_NEWLINE_CRLF)
	{
		uint64_t	line = equal64(bytes, m->line) & valid;

		count->lines += gs_count_bits(line & ~plain);
		count->line_bytes += gs_count_bits(line);
	}
}

GS_BLOCK_FUNCTION void
count_piece(const gs_dialect *dialect, gs_syntax syntax, const char *data, size_t bytes,
			gs_parse_state state, gs_piece *piece)
{
	const meaning m = meaning_of(dialect, syntax);
	count_state count = {.state = state};
	size_t		at = 0;

	for (; at + GS_BLOCK_BYTES <= bytes; at += GS_BLOCK_BYTES)
		count_block(&m, load64(data + at), GS_BLOCK_BYTES, &count);
	if (at < bytes)
		count_block(&m, load_some(data + at, bytes - at), (unsigned) (bytes - at), &count);

	*piece = (gs_piece) {
		count.state, count.records, count.lines, count.record_bytes, count.line_bytes,
		count.high == 0
	};
	if (syntax != GS_SYNTAX_TEXT && m.newline != GS_NEWLINE_CRLF)
	{
		piece->lines = piece->record_bytes - piece->records;
		piece->line_bytes = piece->record_bytes;
	}
}

static void
count(const gs_dialect *dialect, const char *data, size_t bytes, gs_parse_state state,
	  gs_piece *piece)
{
	switch (gs_dialect_syntax(dialect))
	{
		case GS_SYNTAX_TEXT:
			count_piece(dialect, GS_SYNTAX_TEXT, data, bytes, state, piece);
			break;
		case GS_SYNTAX_CSV:
			count_piece(dialect, GS_SYNTAX_CSV, data, bytes, state, piece);
			break;
		default:
			count_piece(dialect, GS_SYNTAX_CSV_ESCAPE, data, bytes, state, piece);
	}
}

static uint64_t
count_equal(const char *data, size_t bytes, char byte)
{
	uint64_t	equal = 0;
	size_t		at = 0;

	for (; at + GS_BLOCK_BYTES <= bytes; at += GS_BLOCK_BYTES)
		equal += gs_count_bits(equal64(load64(data + at), byte));
	if (at < bytes)
		equal += gs_count_bits(equal64(load_some(data + at, bytes - at), byte) &
							   gs_low_bits((unsigned) (bytes - at)));
	return equal;
}

/* ---------- finding ---------- */

/* What one block leaves to the next, and what has been found. */
typedef struct find_state
{
	const char *data;
	size_t		bytes;
	gs_parse_state state;
	bool		special;		/* the field that goes on has had a special byte */
	bool		after_cr;		/* CRLF: the last byte was a plain carriage return */
	size_t		fields;			/* fields, with those of the record that has not ended */
	size_t		records;
	size_t		consumed;
	gs_odd		odd;
	size_t		odd_at;
} find_state;

/*
 * Returns the bit of the first byte of a block that is odd, of the candidates, or 64 if none is.
 * Candidates are zeros, carriage returns or line feeds that end no records, and backslashes for
 * CSV's marker.
 */
static unsigned
odd_byte(find_state *find, uint64_t candidates, uint64_t plain, uint64_t records, size_t base)
{
	for (; candidates != 0; candidates &= candidates - 1)
	{
		unsigned	bit = gs_lowest_bit(candidates);
		size_t		at = base + bit;
		bool		begins = bit > 0 ? (records >> (bit - 1)) & 1 : at == find->consumed;

		find->odd = GS_ODD_NONE;
		if (find->data[at] == '\0')
			find->odd = GS_ODD_NUL;
		else if (find->data[at] == '\\')
			find->odd = begins && at + 1 < find->bytes && find->data[at + 1] == '.'
				? GS_ODD_MARKER : GS_ODD_NONE;
		else if ((plain >> bit) & 1)
			find->odd = GS_ODD_NEWLINE;
		if (find->odd != GS_ODD_NONE)
		{
			find->odd_at = at;
			return bit;
		}
	}
	return 64;
}

/*
 * In text format, returns the bit of the first backslash before bit "end" that begins a marker, or
 * "end".
 */
static unsigned
text_marker(find_state *find, uint64_t escaping, size_t base, unsigned end)
{
	for (; escaping != 0; escaping &= escaping - 1)
	{
		unsigned	bit = gs_lowest_bit(escaping);
		size_t		at = base + bit;

		if (bit >= end || at + 1 >= find->bytes)
			break;
		if (find->data[at + 1] == '.')
		{
			find->odd = GS_ODD_MARKER;
			find->odd_at = at;
			return bit;
		}
	}
	return end;
}

/*
 * With CRLF, returns the bit of the first carriage return or line feed before bit "end" that is
 * without the other one, or "end".  A carriage return at the end of a block is looked at with the
 * next block.
 */
static unsigned
half_pair(find_state *find, uint64_t cr, uint64_t lf, uint64_t records, size_t base, unsigned n,
		  unsigned end)
{
	uint64_t	half = (cr & ~(lf >> 1) & gs_low_bits(n - 1)) |
		(records & ~(cr << 1 | find->after_cr));

	if (find->after_cr && (lf & 1) == 0)
	{
		find->odd = GS_ODD_NEWLINE;
		find->odd_at = base - 1;
		return 0;
	}
	half &= gs_low_bits(end);
	if (half == 0)
		return end;
	find->odd = GS_ODD_NEWLINE;
	find->odd_at = base + gs_lowest_bit(half);
	return gs_lowest_bit(half);
}

/* Writes where the fields of a block end, and up to 7 entries too many. */
GS_BLOCK_FUNCTION void
write_fields(uint64_t ends, uint64_t special, size_t base, uint32_t *to)
{
	unsigned	count = gs_count_bits(ends);

#define WRITE(i) \
	do { \
		unsigned	bit_ = ends != 0 ? gs_lowest_bit(ends) : 0; \
		to[i] = ((uint32_t) base + bit_) | (uint32_t) (special >> bit_) << 31; \
		ends &= ends - 1; \
	} while (0)

	for (unsigned i = 0; i < count; i += 8)
	{
		WRITE(i);
		WRITE(i + 1);
		WRITE(i + 2);
		WRITE(i + 3);
		WRITE(i + 4);
		WRITE(i + 5);
		WRITE(i + 6);
		WRITE(i + 7);
	}
#undef WRITE
}

/* Writes the records that end in a block, whose fields have been written. */
GS_BLOCK_FUNCTION void
write_records(const meaning *m, find_state *find, uint64_t record, uint64_t fields, size_t base,
			  gs_records *into)
{
	if (record == 0)
		return;
	find->consumed = base + 64 - (unsigned) __builtin_clzll(record);
	for (; record != 0; record &= record - 1)
	{
		size_t		upto = find->fields + gs_count_bits(fields & (record ^ (record - 1)));

		if (m->newline == GS_NEWLINE_CRLF)
			into->field_ends[upto - 1]--;
		into->record_fields[find->records++] = (uint32_t) upto;
	}
}

/* Returns the bytes of a block that may be odd; odd_byte() looks at what is around them. */
GS_BLOCK_FUNCTION uint64_t
odd_candidates(const meaning *m, bytes64 bytes)
{
	uint64_t	candidates = equal64(bytes, '\0');

	if (m->newline != GS_NEWLINE_CRLF)
		candidates |= equal64(bytes, m->other);
	if (m->syntax != GS_SYNTAX_TEXT && m->marker)
		candidates |= equal64(bytes, '\\');
	return candidates;
}

/*
 * Finds the fields and records of one block.  Returns false if there is something odd in it; those
 * before that have been found then.
 */
GS_BLOCK_FUNCTION bool
find_in_block(const meaning *m, bytes64 bytes, size_t base, unsigned n, find_state *find,
			  gs_records *into)
{
	uint64_t	valid = gs_low_bits(n);
	gs_block	block = block_of(m, bytes, valid);
	bool		begins_escaped = find->state == GS_STATE_ESCAPED;
	uint64_t	plain = gs_block_plain(m->syntax, &block, n, &find->state);
	uint64_t	lf_or_cr = equal64(bytes, m->record) & valid;
	uint64_t	records = lf_or_cr & plain;
	uint64_t	fields = (equal64(bytes, m->delimiter) & valid & plain) | records;
	uint64_t	special = m->syntax == GS_SYNTAX_TEXT ? block.escape : block.quote;
	uint64_t	candidates = odd_candidates(m, bytes) & valid;
	unsigned	end = 64;

	if (candidates != 0)
		end = odd_byte(find, candidates, plain, records, base);
	if (m->syntax == GS_SYNTAX_TEXT && block.escape != 0)
	{
		uint64_t	escaping;

		(void) gs_escaped_bytes(block.escape, begins_escaped, &escaping);
		end = text_marker(find, escaping, base, end);
	}
	if (m->newline == GS_NEWLINE_CRLF)
	{
		uint64_t	cr = equal64(bytes, '\r') & valid & plain;

		if ((cr | records) != 0 || find->after_cr)
			end = half_pair(find, cr, lf_or_cr, records, base, n, end);
		find->after_cr = (cr >> (n - 1)) & 1;
	}
	if (__builtin_expect(end < 64, 0))
	{
		records &= gs_low_bits(end);
		fields &= gs_low_bits(end);
	}

	if ((special | find->special) != 0)
	{
		/*
		 * A carry begins at each special byte, runs through the bytes that end no field, and comes
		 * to rest at the one that ends the field.
		 */
		unsigned long long sum;
		bool		carry = __builtin_uaddll_overflow(~fields, special, &sum);

		carry |= __builtin_uaddll_overflow(sum, find->special, &sum);
		write_fields(fields, sum & fields, base, into->field_ends + find->fields);
		find->special = carry;
	}
	else
		write_fields(fields, 0, base, into->field_ends + find->fields);
	write_records(m, find, records, fields, base, into);
	find->fields += gs_count_bits(fields);
	return end == 64;
}

/* Returns whether there is room for what one more block may have, and a last record behind it. */
GS_BLOCK_FUNCTION bool
has_room(const find_state *find, const gs_records *into)
{
	return find->fields + GS_RECORDS_SLACK < into->max_fields &&
		find->records + GS_RECORDS_SLACK < into->max_records;
}

GS_BLOCK_FUNCTION void
find_records(const gs_dialect *dialect, gs_syntax syntax, const char *data, size_t bytes,
			 bool at_end, gs_records *into, gs_parse_state *open)
{
	const meaning m = meaning_of(dialect, syntax);
	find_state	find = {.data = data, .bytes = bytes, .state = GS_STATE_PLAIN};
	size_t		at = 0;
	bool		good = true;

	for (; at + GS_BLOCK_BYTES <= bytes && good && has_room(&find, into); at += GS_BLOCK_BYTES)
		good = find_in_block(&m, load64(data + at), at, GS_BLOCK_BYTES, &find, into);
	if (at < bytes && bytes - at < GS_BLOCK_BYTES && good && has_room(&find, into))
	{
		good = find_in_block(&m, load_some(data + at, bytes - at), at, (unsigned) (bytes - at),
							 &find, into);
		at = bytes;
	}
	if (good && at >= bytes && find.after_cr && at_end)
	{
		find.odd = GS_ODD_NEWLINE;
		find.odd_at = bytes - 1;
		good = false;
	}

	into->nrecords = find.records;
	into->nfields = find.records > 0 ? into->record_fields[find.records - 1] : 0;
	into->consumed = find.consumed;
	into->odd = good ? GS_ODD_NONE : find.odd;
	into->odd_at = good ? 0 : find.odd_at;
	if (!good)
		into->stop = GS_STOP_ODD;
	else if (at < bytes)
		into->stop = find.records > 0 ? GS_STOP_FULL : GS_STOP_WIDE;
	else
		into->stop = GS_STOP_END;
	*open = find.state;

	/* the last record, if it has no newline; gs_records_find() counts it */
	if (into->stop == GS_STOP_END && at_end && find.consumed < bytes &&
		find.state == GS_STATE_PLAIN)
	{
		into->field_ends[find.fields] = (uint32_t) bytes | (find.special ? GS_FIELD_SPECIAL : 0);
		into->record_fields[find.records] = (uint32_t) find.fields + 1;
	}
}

static void
find(const gs_dialect *dialect, const char *data, size_t bytes, bool at_end, gs_records *records,
	 gs_parse_state *open)
{
	switch (gs_dialect_syntax(dialect))
	{
		case GS_SYNTAX_TEXT:
			find_records(dialect, GS_SYNTAX_TEXT, data, bytes, at_end, records, open);
			break;
		case GS_SYNTAX_CSV:
			find_records(dialect, GS_SYNTAX_CSV, data, bytes, at_end, records, open);
			break;
		default:
			find_records(dialect, GS_SYNTAX_CSV_ESCAPE, data, bytes, at_end, records, open);
	}
}

const gs_kernels KERNELS = {count, find, count_equal};
