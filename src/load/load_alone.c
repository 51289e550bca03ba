/*
 * load_alone.c
 *		Loading by one process; see load_alone.h.
 */
#include "postgres.h"

#include "commands/copyfrom_internal.h"
#include "commands/progress.h"
#include "utils/backend_progress.h"

#include "load/load_alone.h"
#include "load/load_rows.h"

static void
show_progress(const GpuSortLoadState *state)
{
	pgstat_progress_update_param(PROGRESS_COPY_BYTES_PROCESSED, state->source.bytes);
	pgstat_progress_update_param(PROGRESS_COPY_TUPLES_PROCESSED, state->rows);
}

/* Move what is left to the front, and read more behind it; false: there is no room. */
static bool
fill_buffer(GpuSortLoadState *state)
{
	Size		left = state->bytes - state->begin;

	if (left == GPUSORT_LOAD_CHUNK_BYTES)
		return false;
	memmove(state->buffer, state->buffer + state->begin, left);
	state->begin = 0;
	state->bytes = left + gpusort_source_read(&state->source, state->buffer + left, GPUSORT_LOAD_CHUNK_BYTES - left);
	return true;
}

/* Load what is in the buffer. */
static GpuSortLoadStop
load_buffer(GpuSortLoadState *state, GpuSortLoader *loader)
{
	GpuSortLoadInput input = {
		.data = state->buffer + state->begin,
		.bytes = state->bytes - state->begin,
		.at_end = state->source.at_end
	};

	gpusort_loader_read(loader, &input);
	state->begin += input.consumed;
	state->rows += input.rows;
	state->lines += input.lines;
	gpusort_append_claim(gpusort_loader_pages(loader));
	gpusort_append_write(gpusort_loader_pages(loader), true, false);
	show_progress(state);
	return input.stop;
}

bool
gpusort_load_alone(GpuSortLoadState *state)
{
	GpuSortLoader *loader = gpusort_loader_begin(state->task, state->statement->table);
	bool		is_done = false;

	while (!is_done && load_buffer(state, loader) == GPUSORT_LOAD_END)
	{
		is_done = state->source.at_end;
		if (!is_done && (state->source.failed || !fill_buffer(state)))
			break;
	}
	gpusort_append_claim(gpusort_loader_pages(loader));
	gpusort_append_write(gpusort_loader_pages(loader), false, true);
	gpusort_loader_end(loader);
	return is_done;
}
