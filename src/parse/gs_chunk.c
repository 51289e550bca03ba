/*
 * gs_chunk.c
 *		What a piece of the input does, whatever comes before it.
 */
#include "parse/gs_chunk.h"

/* One byte from one state; "after" is the offset after it. */
static void
take_byte(const gs_dialect *dialect, gs_chunk_from *from, char byte, uint64_t after)
{
	gs_parse_state state = from->end;

	if (state == GS_STATE_PLAIN && byte == gs_record_byte(dialect))
	{
		from->records++;
		from->lines++;
		if (from->first == 0)
			from->first = after;
		from->last = after;
		return;
	}
	if (dialect->csv && state != GS_STATE_PLAIN && byte == gs_line_byte(dialect))
		from->lines++;
	if (state == GS_STATE_ESCAPED)
		from->end = dialect->csv ? GS_STATE_QUOTED : GS_STATE_PLAIN;
	else if (byte == gs_escape_byte(dialect) && (!dialect->csv || dialect->escape != dialect->quote) &&
			 (!dialect->csv || state == GS_STATE_QUOTED))
		from->end = GS_STATE_ESCAPED;
	else if (dialect->csv && byte == dialect->quote)
		from->end = state == GS_STATE_QUOTED ? GS_STATE_PLAIN : GS_STATE_QUOTED;
}

void
gs_chunk_scan(const gs_dialect *dialect, const char *data, size_t bytes, gs_chunk *chunk)
{
	*chunk = gs_chunk_empty();
	chunk->bytes = bytes;
	for (size_t at = 0; at < bytes; at++)
	{
		chunk->ascii = chunk->ascii && (data[at] & 0x80) == 0;
		for (unsigned state = 0; state < GS_STATES; state++)
			take_byte(dialect, &chunk->from[state], data[at], at + 1);
	}
}

gs_chunk
gs_chunk_empty(void)
{
	gs_chunk	chunk = {.ascii = true};

	for (unsigned state = 0; state < GS_STATES; state++)
		chunk.from[state].end = (gs_parse_state) state;
	return chunk;
}

void
gs_chunk_join(gs_chunk *left, const gs_chunk *right)
{
	for (unsigned state = 0; state < GS_STATES; state++)
	{
		gs_chunk_from *from = &left->from[state];
		const gs_chunk_from *then = &right->from[from->end];

		if (then->records > 0)
		{
			if (from->records == 0)
				from->first = left->bytes + then->first;
			from->last = left->bytes + then->last;
		}
		from->records += then->records;
		from->lines += then->lines;
		from->end = then->end;
	}
	left->bytes += right->bytes;
	left->ascii = left->ascii && right->ascii;
}
