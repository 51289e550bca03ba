/*
 * gs_simulated_text.c
 *		Finding records and fields of delimited text byte by byte, for the simulated device.
 */
#include "engine/simulated/gs_simulated_private.h"

/* What is known before a byte is read. */
typedef struct text_state
{
	gs_parse_state parse;
	uint32_t	special;		/* GS_FIELD_SPECIAL, if the field has had a special byte */
	bool		at_record;		/* a record begins there */
	bool		after_cr;		/* the byte before is a plain carriage return */
} text_state;

#define FIELD_SPECIAL	0x80000000u

/*
 * Returns whether there is something odd (gs_dialect.h) at a byte, which the server has to look at.
 */
static bool
is_odd(const gs_text *text, const text_state *state, uint32_t at)
{
	const gs_dialect *dialect = &text->dialect;
	const char *byte = text->data + at;
	bool		plain = state->parse == GS_STATE_PLAIN;

	if (*byte == '\0')
		return true;
	if (*byte == '\\' && at + 1 < text->bytes && byte[1] == '.' &&
		(dialect->csv ? dialect->csv_end_marker && state->at_record : plain))
		return true;
	if (!plain || (*byte != '\n' && *byte != '\r'))
		return false;
	if (dialect->newline != GS_NEWLINE_CRLF)
		return *byte != gs_record_byte(dialect);
	if (*byte == '\r')
		return at + 1 == text->bytes || byte[1] != '\n';
	return !state->after_cr;
}

static void
put_end(const gs_text *text, text_state *state, uint32_t at, bool record)
{
	gs_found   *found = text->found;

	if (found->nfields < text->max_fields)
		text->field_ends[found->nfields] =
			(at - (record && text->dialect.newline == GS_NEWLINE_CRLF)) | state->special;
	found->nfields++;
	state->special = 0;
	if (!record)
		return;
	if (found->nrecords < text->max_records)
		text->record_fields[found->nrecords] = found->nfields;
	found->nrecords++;
	found->consumed = at + 1;
}

void
gs_simulated_find_fields(const gs_text *text)
{
	const gs_dialect *dialect = &text->dialect;
	char		special = dialect->csv ? dialect->quote : '\\';
	text_state	state = {GS_STATE_PLAIN, 0, true, false};

	*text->found = (gs_found) {.odd_at = UINT32_MAX};
	for (uint32_t at = 0; at < text->bytes; at++)
	{
		char		byte = text->data[at];
		bool		plain = state.parse == GS_STATE_PLAIN;
		bool		record = plain && byte == gs_record_byte(dialect);

		if (text->found->odd_at == UINT32_MAX && is_odd(text, &state, at))
			text->found->odd_at = at;
		if (byte == special)
			state.special = FIELD_SPECIAL;
		if (record || (plain && byte == dialect->delimiter))
			put_end(text, &state, at, record);
		state.at_record = record;
		state.after_cr = plain && byte == '\r';
		state.parse = gs_state_after(dialect, state.parse, byte);
	}
	text->found->state = state.parse;
}
