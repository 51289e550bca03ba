/*
 * load_read.c
 *		Reading the input of a COPY FROM; see load_read.h.
 *
 * If a COPY is ended while it waits for more of its input, the error is about the line behind all
 * that has come, because PostgreSQL has loaded all lines by the time it waits.  Here some of the
 * lines may still wait to be loaded, so they are counted when there is an error.
 */
#include "postgres.h"

#include "commands/copyfrom_internal.h"

#include "load/load_read.h"
#include "load/load_share.h"
#include "parse/gs_dialect.h"

static uint64
count_lines(const GpuSortLoadState *state, const char *data, Size bytes)
{
	char		newline = gs_line_byte(&state->task->dialect);
	uint64		lines = 0;

	for (Size i = 0; i < bytes; i++)
		lines += data[i] == newline;
	return lines;
}

/* An error context callback, which sets the line before the callback of COPY shows it. */
static void
find_line(void *arg)
{
	const GpuSortLoadState *state = arg;
	const GpuSortLoadSource *source = &state->source;
	uint64		lines = state->counts.lines;

	lines += count_lines(state, state->buffer + state->begin, state->bytes - state->begin);
	if (state->share != NULL)
		lines += gpusort_share_lines(state->share, gs_line_byte(&state->task->dialect));
	lines += count_lines(state, source->reading, source->got);
	state->copy->cur_lineno = lines + 1;
}

Size
gpusort_load_read(GpuSortLoadState *state, char *to, Size bytes)
{
	ErrorContextCallback context = {error_context_stack, find_line, state};
	Size		got;

	error_context_stack = &context;
	got = gpusort_source_read(&state->source, to, bytes);
	error_context_stack = context.previous;
	return got;
}
