/*
 * daemon_text.c
 *		Finding the records and fields of one job about delimited text, on a device.
 *
 * What the device finds is not proven here: a session that makes rows of the chunks looks at every
 * byte of them anyway (parse/gs_parse.h).
 */
#include <string.h>

#include "daemon/daemon_jobs.h"
#include "engine/device/gs_device_sort.h"

/* A descriptor's text, in the form that the engine takes. */
typedef struct text_arguments
{
	gs_find_fields_args args;
	gs_text_chunk chunks[GSD_MAX_CHUNKS];
} text_arguments;

static const char *
read_dialect(const gsd_text *from, gs_dialect *to)
{
	uint8_t		newline = from->newline;

	if (newline > GS_NEWLINE_CRLF)
		return "unknown kind of newlines";
	*to = (gs_dialect) {
		.csv = from->csv != 0,
		.delimiter = (char) from->delimiter,
		.quote = (char) from->quote,
		.escape = (char) from->escape,
		.newline = (gs_newline) newline,
		.csv_end_marker = from->csv_end_marker != 0
	};
	return gs_dialect_supported(to) ? NULL : "a dialect that is not supported";
}

static const char *
read_chunk(const gsd_pool *pool, unsigned n, const gsd_chunk *from, gs_text_chunk *to)
{
	uint32_t	extent = from->extent;
	void	   *memory;

	to->bytes = from->bytes;
	if (to->bytes == 0 || to->bytes > GSD_CHUNK_BYTES)
		return "a chunk has no bytes, or too many";
	if (!gsd_job_owns_extent(pool, n, extent))
		return "an extent does not belong to the job";
	memory = gsd_extent(pool, extent);
	to->data = memory;
	to->field_ends = gsd_chunk_field_ends(memory);
	to->record_fields = gsd_chunk_record_fields(memory);
	return NULL;
}

/*
 * Translates a descriptor's text.  Every number is read once, checked, and used as it was read.
 * Returns NULL, or what is wrong.
 */
static const char *
read_text(const gsd_pool *pool, unsigned n, const gsd_descriptor *descriptor,
		  text_arguments *arguments)
{
	const gsd_text *text = &descriptor->text;
	gs_find_fields_args *args = &arguments->args;
	uint32_t	nchunks = text->nchunks;
	const char *mistake = read_dialect(text, &args->dialect);

	if (mistake == NULL && (nchunks == 0 || nchunks > GSD_MAX_CHUNKS))
		mistake = "wrong number of chunks";
	for (uint32_t i = 0; mistake == NULL && i < nchunks; i++)
		mistake = read_chunk(pool, n, &text->chunks[i], &arguments->chunks[i]);
	args->max_bytes = GSD_CHUNK_BYTES;
	args->max_fields = GSD_CHUNK_FIELDS;
	args->max_records = GSD_CHUNK_RECORDS;
	args->nchunks = nchunks;
	args->chunks = arguments->chunks;
	args->cancel = (const volatile int *) &pool->header->jobs[n].cancel;
	return mistake;
}

gs_status
gsd_text_find(gsd_sorter *sorter, unsigned n, const char **message)
{
	const gsd_pool *pool = sorter->common->pool;
	gsd_descriptor *descriptor = gsd_job_descriptor(pool, n);
	gs_device  *device = sorter->group.devices[0];
	text_arguments arguments = {0};
	gs_status	status;

	*message = "the descriptor does not belong to the job";
	if (descriptor != NULL)
		*message = read_text(pool, n, descriptor, &arguments);
	if (*message != NULL)
		return GS_INVALID;
	status = gsd_sorter_run_begins(sorter, message);
	if (status == GS_OK)
		status = gs_find_fields(device, &arguments.args);
	if (status != GS_OK)
	{
		if (*message == NULL && device->error[0] != '\0')
			*message = device->error;
		return status;
	}
	for (unsigned i = 0; i < arguments.args.nchunks; i++)
		descriptor->text.chunks[i].found = arguments.chunks[i].found;
	pool->header->jobs[n].ready_rows = arguments.args.nchunks;
	return GS_OK;
}
