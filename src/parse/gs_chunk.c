/*
 * gs_chunk.c
 *		Reads a chunk of the input without knowing what comes before it: from each state that it may
 *		begin in.
 *
 * A chunk is read in *pieces* of some kB, which stay in the nearest cache.
 */
#include "parse/gs_parse.h"

#include "parse/gs_block.h"
#include "parse/gs_kernels.h"

static size_t
at_most(size_t bytes, size_t most)
{
	return bytes < most ? bytes : most;
}

/*
 * Returns the offset after the end of the first record that ends among some bytes, or of the last
 * one; 0 if none ends.
 */
static size_t
record_end(const gs_dialect *dialect, const char *data, size_t bytes, gs_parse_state state,
		   bool last)
{
	size_t		found = 0;

	for (size_t at = 0; at < bytes && (last || found == 0); at++)
	{
		if (state == GS_STATE_PLAIN && data[at] == gs_record_byte(dialect))
			found = at + 1;
		state = gs_state_after(dialect, state, data[at]);
	}
	return found;
}

/*
 * Does the same for a piece in which a record ends.  Only the block with that end is looked at byte
 * by byte.
 */
static size_t
find_record_end(const gs_dialect *dialect, const char *data, size_t bytes, gs_parse_state state,
				bool last)
{
	const gs_kernels *kernels = gs_kernels_choose();
	gs_parse_state block_state = state;
	size_t		block = 0;
	gs_piece	piece;

	for (size_t at = 0; at < bytes; at += GS_BLOCK_BYTES, state = piece.end)
	{
		kernels->count(dialect, data + at, at_most(bytes - at, GS_BLOCK_BYTES), state, &piece);
		if (piece.records == 0)
			continue;
		block = at;
		block_state = state;
		if (!last)
			break;
	}
	return block + record_end(dialect, data + block, at_most(bytes - block, GS_BLOCK_BYTES),
							  block_state, last);
}

/*
 * Finds what a piece does from each of the states in `states`, a bit each.  If quotes only toggle,
 * bytes that are plain from one state are quoted from the other one.
 */
static void
count_from_states(const gs_dialect *dialect, const char *data, size_t bytes, unsigned states,
				  gs_piece *pieces)
{
	const gs_kernels *kernels = gs_kernels_choose();
	gs_piece   *plain = &pieces[GS_STATE_PLAIN];
	gs_piece   *quoted = &pieces[GS_STATE_QUOTED];

	if (gs_dialect_syntax(dialect) == GS_SYNTAX_CSV)
	{
		kernels->count(dialect, data, bytes, GS_STATE_PLAIN, plain);
		*quoted = *plain;
		quoted->end = plain->end == GS_STATE_PLAIN ? GS_STATE_QUOTED : GS_STATE_PLAIN;
		quoted->records = plain->record_bytes - plain->records;
		quoted->lines = plain->line_bytes - plain->lines;
		return;
	}
	for (unsigned state = 0; state < GS_STATES; state++)
		if ((states >> state) & 1)
			kernels->count(dialect, data, bytes, (gs_parse_state) state, &pieces[state]);
}

/* The last piece in which a record ends, for one of the states that a chunk may begin in. */
typedef struct last_piece
{
	size_t		at;
	size_t		bytes;
	gs_parse_state state;
} last_piece;

/* Adds the next piece of a chunk. */
static void
add_piece(const gs_dialect *dialect, const char *data, size_t at, size_t bytes, gs_chunk *chunk,
		  last_piece *lasts)
{
	gs_piece	pieces[GS_STATES];
	unsigned	states = 0;

	for (unsigned begin = 0; begin < GS_STATES; begin++)
		if (gs_dialect_has_state(dialect, (gs_parse_state) begin))
			states |= 1u << chunk->from[begin].end;
	count_from_states(dialect, data + at, bytes, states, pieces);
	for (unsigned begin = 0; begin < GS_STATES; begin++)
	{
		gs_chunk_from *from = &chunk->from[begin];
		const gs_piece *piece = &pieces[from->end];

		if (!gs_dialect_has_state(dialect, (gs_parse_state) begin))
			continue;
		if (piece->records > 0)
		{
			if (from->records == 0)
				from->first = at + find_record_end(dialect, data + at, bytes, from->end, false);
			lasts[begin] = (last_piece) {at, bytes, from->end};
		}
		from->records += piece->records;
		from->lines += piece->records + piece->lines;
		from->end = piece->end;
		chunk->ascii = chunk->ascii && piece->ascii;
	}
}

/*
 * Scans a chunk piece by piece.  A piece that is counted from several states is read from the cache
 * again.  Pieces end in few states: after a first small one, those of text nearly always end in a
 * single one.
 */
void
gs_chunk_scan(const gs_dialect *dialect, const char *data, size_t bytes, gs_chunk *chunk)
{
	last_piece	lasts[GS_STATES];

	*chunk = gs_chunk_empty();
	chunk->bytes = bytes;
	for (size_t at = 0, length; at < bytes; at += length)
	{
		length = at_most(bytes - at, at == 0 ? GS_BLOCK_BYTES : GS_PIECE_BYTES);
		add_piece(dialect, data, at, length, chunk, lasts);
	}
	for (unsigned begin = 0; begin < GS_STATES; begin++)
		if (chunk->from[begin].records > 0)
			chunk->from[begin].last = lasts[begin].at +
				find_record_end(dialect, data + lasts[begin].at, lasts[begin].bytes,
								lasts[begin].state, true);
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
