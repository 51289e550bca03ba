/*
 * daemon_descriptor.c
 *		Reading job descriptors: numbers from another process are turned into addresses.
 *
 * The daemon serves all sessions, so nothing that one of them writes may hurt it: every number is
 * read once, checked, and used as it was read.  An extent must exist and belong to the job's
 * backend, or to the job itself once the backend has left the extent to it.  A stretch of the
 * descriptor's list of extents must lie within the list, and be long enough for the rows.
 *
 * What is not checked is whether planes and results overlap: a backend that has them overlap gets
 * nonsense, and no other backend does.
 */
#include <stdlib.h>
#include <string.h>

#include "daemon/daemon_jobs.h"

#define WORDS_BYTES(rows)	((rows) * sizeof(uint64_t))
#define BITMAP_BYTES(rows)	(((rows) + 63) / 64 * sizeof(uint64_t))

bool
gsd_job_owns_extent(const gsd_pool *pool, unsigned job, uint32_t extent)
{
	uint32_t	owner;

	if (extent >= pool->header->nextents)
		return false;
	owner = pool->header->owners[extent];
	return gsd_owner_is_backend(owner, pool->header->jobs[job].pid) ||
		owner == (GSD_OWNER_JOB | job);
}

gsd_descriptor *
gsd_job_descriptor(const gsd_pool *pool, unsigned job)
{
	uint32_t	extent = pool->header->jobs[job].descriptor;

	return gsd_job_owns_extent(pool, job, extent) ? gsd_extent(pool, extent) : NULL;
}

/* Returns extent number i of a stretch of the list of an open job, or NULL if there is none. */
static const void *
listed_extent(const gsd_pool *pool, unsigned job, const gsd_descriptor *descriptor,
			  const gsd_extents *extents, uint64_t i)
{
	uint32_t	extent;

	if (i >= extents->count || extents->first + i >= GSD_LIST_MAX)
		return NULL;
	extent = descriptor->list[extents->first + i];
	return gsd_job_owns_extent(pool, job, extent) ? gsd_extent(pool, extent) : NULL;
}

const uint64_t *
gsd_segment_words(const gsd_pool *pool, unsigned job, unsigned plane, uint64_t segment)
{
	const gsd_descriptor *descriptor = gsd_job_descriptor(pool, job);

	if (descriptor == NULL)
		return NULL;
	return listed_extent(pool, job, descriptor, &descriptor->planes[plane].words, segment);
}

const void *
gsd_row_extent(const gsd_pool *pool, unsigned job, uint64_t i)
{
	const gsd_descriptor *descriptor = gsd_job_descriptor(pool, job);

	if (descriptor == NULL)
		return NULL;
	return listed_extent(pool, job, descriptor, &descriptor->rows.rows, i);
}

/* What is needed to look up a descriptor's stretches of extents while it is read. */
typedef struct reader
{
	const gsd_pool *pool;
	unsigned	job;
	const gsd_descriptor *descriptor;
	uint32_t	list_size;		/* the list's size, read once and checked */
	void	  **parts;			/* where the addresses of extents go, by place in the list */
} reader;

/*
 * Makes a span of a stretch of the list that is to hold so many bytes.  Returns NULL, or what is
 * wrong.
 */
static const char *
read_span(const reader *reader, gsd_extents extents, uint64_t bytes, gs_span *span)
{
	if ((uint64_t) extents.first + extents.count > reader->list_size)
		return "a list of extents is out of range";
	if ((uint64_t) extents.count << GSD_EXTENT_SHIFT < bytes)
		return "a list of extents is too short";
	for (uint32_t i = extents.first; i < extents.first + extents.count; i++)
	{
		uint32_t	extent = reader->descriptor->list[i];

		if (!gsd_job_owns_extent(reader->pool, reader->job, extent))
			return "an extent does not belong to the job";
		reader->parts[i] = gsd_extent(reader->pool, extent);
	}
	span->parts = reader->parts + extents.first;
	span->shift = GSD_EXTENT_SHIFT;
	return NULL;
}

/* Does the same for a stretch that may be empty; then span->parts is NULL. */
static const char *
read_optional_span(const reader *reader, gsd_extents extents, uint64_t bytes, gs_span *span)
{
	if (extents.count > 0)
		return read_span(reader, extents, bytes, span);
	span->parts = NULL;
	span->shift = GSD_EXTENT_SHIFT;
	return NULL;
}

static const char *
read_plane(const reader *reader, unsigned i, gsd_arguments *arguments)
{
	gsd_plane	from = reader->descriptor->planes[i];
	gs_span_plane *to = &arguments->planes[i];
	uint64_t	nrows = arguments->args.nrows;
	const char *mistake;

	if (from.null_order > GS_NULLS_LAST)
		return "unknown order of nulls";
	to->null_order = (gs_null_order) from.null_order;
	to->bytes = from.bytes != 0;
	mistake = read_span(reader, from.words, WORDS_BYTES(nrows), &to->words);
	if (mistake != NULL)
		return mistake;
	return read_optional_span(reader, from.nulls, BITMAP_BYTES(nrows), &to->nulls);
}

/* Reads which rows are to be reordered after the sort, if any. */
static const char *
read_rows(const reader *reader, gsd_arguments *arguments)
{
	gsd_rows	from = reader->descriptor->rows;
	gs_reorder_args *to = &arguments->rows;
	uint64_t	nrows = arguments->args.nrows;
	uint64_t	refs_bytes = from.stride == 0 ? nrows * sizeof(uint32_t) : 0;
	const char *mistake;

	if (from.rows.count == 0)
		return NULL;
	if (arguments->args.id_bytes != sizeof(uint32_t) || from.unit > GSD_EXTENT_BYTES ||
		from.length_shift >= 64 || from.row_bytes > UINT64_C(1) << 48)
		return "rows that can't be reordered";
	*to = (gs_reorder_args) {
		.nrows = nrows,
		.ids = arguments->args.ids,
		.row_bytes = from.row_bytes,
		.stride = from.stride,
		.unit = (unsigned) from.unit,
		.length = {(unsigned) from.length_shift, from.length_mask},
		.to_bytes = (uint64_t) from.to_rows.count << GSD_EXTENT_SHIFT,
		.cancel = arguments->args.cancel,
	};
	arguments->reorder = true;
	mistake = read_span(reader, from.rows, from.row_bytes, &to->rows);
	if (mistake == NULL)
		mistake = read_span(reader, from.refs, refs_bytes, &to->refs);
	if (mistake == NULL)
		mistake = read_span(reader, from.to_rows, 0, &to->to_rows);
	if (mistake == NULL)
		mistake = read_span(reader, from.to_refs, refs_bytes, &to->to_refs);
	return mistake;
}

/* Reads the numbers that have no memory behind them.  Returns NULL, or what is wrong. */
static const char *
read_numbers(const gsd_descriptor *descriptor, gs_device_args *args)
{
	args->nrows = descriptor->nrows;
	args->nplanes = descriptor->nplanes;
	args->id_bytes = descriptor->id_bytes;
	if (args->nplanes == 0 || args->nplanes > GS_MAX_PLANES)
		return "wrong number of planes";
	if (args->id_bytes != sizeof(uint32_t) && args->id_bytes != sizeof(uint64_t))
		return "wrong width of row ids";
	if (args->nrows == 0 ||
		args->nrows > (args->id_bytes == sizeof(uint32_t) ? UINT32_MAX : UINT64_C(1) << 48))
		return "wrong number of rows";
	return NULL;
}

const char *
gsd_read_arguments(const gsd_pool *pool, unsigned job, gsd_arguments *arguments)
{
	const gsd_descriptor *descriptor = gsd_job_descriptor(pool, job);
	gs_device_args *args = &arguments->args;
	reader		reader = {.pool = pool, .job = job, .descriptor = descriptor};
	const char *mistake;

	memset(arguments, 0, sizeof(*arguments));
	if (descriptor == NULL)
		return "the descriptor does not belong to the job";
	reader.list_size = descriptor->list_size;
	if (reader.list_size > GSD_LIST_MAX)
		return "the list of extents is too long";
	mistake = read_numbers(descriptor, args);
	if (mistake != NULL)
		return mistake;

	arguments->traced = descriptor->traced != 0;
	args->planes = arguments->planes;
	args->cancel = (const volatile int *) &pool->header->jobs[job].cancel;
	arguments->parts = reader.parts = calloc(reader.list_size, sizeof(void *));
	if (arguments->parts == NULL)
		return "out of memory";
	mistake = read_span(&reader, descriptor->ids, args->nrows * args->id_bytes, &args->ids);
	if (mistake == NULL)
		mistake = read_optional_span(&reader, descriptor->equal, BITMAP_BYTES(args->nrows),
									 &args->equal);
	for (unsigned i = 0; mistake == NULL && i < args->nplanes; i++)
		mistake = read_plane(&reader, i, arguments);
	if (mistake == NULL)
		mistake = read_rows(&reader, arguments);
	return mistake;
}

void
gsd_free_arguments(gsd_arguments *arguments)
{
	free(arguments->parts);
	arguments->parts = NULL;
}
