/*
 * load_alone.c
 *		Loading by one process; see load_alone.h.
 */
#include "postgres.h"

#include "commands/copyfrom_internal.h"

#include "load/load_alone.h"
#include "load/load_progress.h"
#include "load/load_read.h"
#include "load/load_rows.h"

/*
 * Moves what has not been loaded to the front of the buffer, and reads more behind it.  Returns
 * false if there is no room for more.
 */
static bool
fill_buffer(GpuSortLoadState *state)
{
	Size		left = state->bytes - state->begin;

	if (left == GPUSORT_LOAD_CHUNK_BYTES)
		return false;
	memmove(state->buffer, state->buffer + state->begin, left);
	state->begin = 0;
	state->bytes = left;
	state->bytes += gpusort_load_read(state, state->buffer + left, GPUSORT_LOAD_CHUNK_BYTES - left);
	return true;
}

/* Loads the records in the buffer, and puts their rows into the table. */
static GpuSortLoadStop
load_buffer(GpuSortLoadState *state, GpuSortLoader *loader)
{
	GpuSortLoadInput input = {
		.data = state->buffer + state->begin,
		.bytes = state->bytes - state->begin,
		.at_end = state->source.at_end,
		.may_toast = true
	};
	const GpuSortLoadLines *lines = gpusort_loader_lines(loader);

	gpusort_loader_read(loader, &input);
	state->begin += input.consumed;
	gpusort_load_add_counts(&state->counts, &input.counts);
	gpusort_lines_join(&state->lines, lines->count, lines->bits);
	gpusort_order_join(&state->lines.order, lines->order.leaves, lines->order.kept);
	/* an error in writing these rows is about the last of them */
	state->copy->cur_lineno = state->counts.lines;
	gpusort_loader_place(loader, false, input.decoded_toast);
	/* a page that is kept would need what was toasted for its rows */
	gpusort_loader_write(loader, !input.decoded_toast, input.decoded_toast);
	gpusort_load_show_progress(state, NULL);
	return input.stop;
}

GpuSortLoadEnd
gpusort_load_alone(GpuSortLoadState *state, uint64 limit)
{
	GpuSortLoader *loader =
		gpusort_loader_begin(state->task, state->statement->table, state->parts);
	GpuSortLoadEnd end = GPUSORT_LOADED_TO_REST;

	gpusort_loader_continue(loader);
	while (load_buffer(state, loader) == GPUSORT_LOAD_END)
	{
		if (state->source.at_end)
			end = GPUSORT_LOADED_ALL;
		else if (state->source.bytes >= limit)
			end = GPUSORT_LOADED_ENOUGH;
		if (end != GPUSORT_LOADED_TO_REST || state->source.failed || !fill_buffer(state))
			break;
	}
	if (end == GPUSORT_LOADED_TO_REST)
		gpusort_loader_hand_over(loader, state->copy);
	gpusort_loader_place(loader, false, true);
	gpusort_loader_write(loader, false, true);
	gpusort_loader_end(loader);
	return end;
}
