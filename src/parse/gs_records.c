/*
 * gs_records.c
 *		Where the records and fields of a buffer lie.
 */
#include "parse/gs_records.h"

typedef struct cursor
{
	const gs_dialect *dialect;
	const char *data;
	size_t		bytes;
	bool		at_end;
	gs_parse_state state;
	uint32_t	special;		/* GS_FIELD_SPECIAL if this field has been so far */
	size_t		fields;			/* ... with those of the record that has not ended */
} cursor;

/* Is the byte odd?  Looks at the one after it, if that is there. */
static gs_odd
find_odd(const cursor *at, const gs_records *records, size_t offset)
{
	const gs_dialect *dialect = at->dialect;
	const char *data = at->data;
	char		byte = data[offset];
	bool		last = offset + 1 == at->bytes;

	if (byte == '\0')
		return GS_ODD_NUL;
	if (byte == '\\' && !last && data[offset + 1] == '.' &&
		(dialect->csv ? dialect->csv_end_marker && offset == records->consumed :
		 at->state == GS_STATE_PLAIN))
		return GS_ODD_MARKER;
	if (at->state != GS_STATE_PLAIN || (byte != '\r' && byte != '\n'))
		return GS_ODD_NONE;
	switch (dialect->newline)
	{
		case GS_NEWLINE_LF:
			return byte == '\r' ? GS_ODD_NEWLINE : GS_ODD_NONE;
		case GS_NEWLINE_CR:
			return byte == '\n' ? GS_ODD_NEWLINE : GS_ODD_NONE;
		default:
			break;
	}
	/* the line feed of a pair is not looked at: it is taken with its carriage return */
	if (byte == '\n' || (last ? at->at_end : data[offset + 1] != '\n'))
		return GS_ODD_NEWLINE;
	return GS_ODD_NONE;
}

static void
end_field(cursor *at, gs_records *records, size_t offset)
{
	records->field_ends[at->fields++] = (uint32_t) offset | at->special;
	at->special = 0;
}

static void
end_record(cursor *at, gs_records *records, size_t next)
{
	records->record_fields[records->nrecords++] = (uint32_t) at->fields;
	records->nfields = at->fields;
	records->consumed = next;
}

static void
change_state(cursor *at, char byte)
{
	const gs_dialect *dialect = at->dialect;
	bool		escapes = dialect->csv ? at->state == GS_STATE_QUOTED && dialect->escape != dialect->quote : true;

	if (at->state == GS_STATE_ESCAPED)
		at->state = dialect->csv ? GS_STATE_QUOTED : GS_STATE_PLAIN;
	else if (escapes && byte == gs_escape_byte(dialect))
	{
		at->state = GS_STATE_ESCAPED;
		at->special = GS_FIELD_SPECIAL;
	}
	else if (dialect->csv && byte == dialect->quote)
	{
		at->state = at->state == GS_STATE_QUOTED ? GS_STATE_PLAIN : GS_STATE_QUOTED;
		at->special = GS_FIELD_SPECIAL;
	}
}

static void
finish(cursor *at, gs_records *records)
{
	records->stop = GS_STOP_END;
	if (!at->at_end || records->consumed == at->bytes)
		return;
	if (at->state != GS_STATE_PLAIN)
	{
		records->stop = GS_STOP_ODD;
		records->odd = GS_ODD_END;
		records->odd_at = at->bytes;
		return;
	}
	end_field(at, records, at->bytes);
	end_record(at, records, at->bytes);
}

void
gs_records_find(const gs_dialect *dialect, const char *data, size_t bytes, bool at_end,
				gs_records *records)
{
	cursor		at = {dialect, data, bytes, at_end, GS_STATE_PLAIN, 0, 0};
	unsigned	newline_bytes = gs_newline_bytes(dialect);
	char		newline = dialect->newline == GS_NEWLINE_LF ? '\n' : '\r';

	records->nfields = records->nrecords = records->consumed = records->odd_at = 0;
	records->odd = GS_ODD_NONE;
	for (size_t offset = 0; offset < bytes; offset++)
	{
		if (at.fields + GS_RECORDS_SLACK >= records->max_fields ||
			records->nrecords + GS_RECORDS_SLACK >= records->max_records)
		{
			records->stop = records->nrecords > 0 ? GS_STOP_FULL : GS_STOP_WIDE;
			return;
		}
		records->odd = find_odd(&at, records, offset);
		if (records->odd != GS_ODD_NONE)
		{
			records->stop = GS_STOP_ODD;
			records->odd_at = offset;
			return;
		}
		if (at.state == GS_STATE_PLAIN && data[offset] == newline)
		{
			if (offset + newline_bytes > bytes)
				break;
			end_field(&at, records, offset);
			end_record(&at, records, offset + newline_bytes);
			offset += newline_bytes - 1;
		}
		else if (at.state == GS_STATE_PLAIN && data[offset] == dialect->delimiter)
			end_field(&at, records, offset);
		else
			change_state(&at, data[offset]);
	}
	finish(&at, records);
}

uint64_t
gs_records_lines(const gs_records *records, const gs_dialect *dialect, const char *data, size_t record)
{
	size_t		end = gs_record_end(records, record);
	uint64_t	lines = 1;

	if (!dialect->csv)
		return record + 1;
	for (size_t offset = 0; offset < end; offset++)
		lines += data[offset] == gs_line_byte(dialect);
	return lines;
}
