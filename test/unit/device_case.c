/*
 * device_case.c
 *		One sort on a group of devices, checked in every respect.
 *
 * The arrays are cut into parts that lie anywhere, each between red zones of its
 * own.
 */
#include <stdlib.h>
#include <string.h>

#include "device_case.h"
#include "reference.h"
#include "tap.h"

prepared_case *
case_prepare(const sort_case *c)
{
	prepared_case *prepared = calloc(1, sizeof(*prepared));

	prepared->c = *c;
	prepared->ids = malloc((c->nrows + 1) * sizeof(uint64_t));
	prepared->equal = malloc((c->nrows + 64) / 64 * sizeof(uint64_t));
	case_data_fill(&prepared->data, c);
	reference_sort(prepared->ids, prepared->equal, prepared->data.copies, c->nplanes, c->nrows);
	return prepared;
}

void
case_release(prepared_case *prepared)
{
	case_data_free(&prepared->data, &prepared->c);
	free(prepared->ids);
	free(prepared->equal);
	free(prepared);
}

/* An array in parts. */
typedef struct parted
{
	gs_span		span;
	uint64_t	bytes;
	unsigned	count;
	guarded    *guards;
	void	  **parts;
} parted;

static parted
parted_alloc(uint64_t bytes, unsigned shift)
{
	parted		p = {.span.shift = shift == 0 ? 63 : shift, .bytes = bytes};
	uint64_t	part_bytes = UINT64_C(1) << p.span.shift;

	p.count = shift == 0 ? 1 : (unsigned) ((bytes + part_bytes - 1) / part_bytes);
	p.guards = calloc(p.count + 1, sizeof(*p.guards));
	p.parts = calloc(p.count + 1, sizeof(*p.parts));
	for (unsigned i = 0; i < p.count; i++)
	{
		uint64_t	left = bytes - i * part_bytes;

		p.guards[i] = guarded_alloc(left < part_bytes ? left : part_bytes);
		p.parts[i] = guarded_data(&p.guards[i]);
	}
	p.span.parts = p.parts;
	return p;
}

/* Copy between an array in parts and a plain one. */
static void
parted_copy(const parted *p, void *plain, bool to_parts)
{
	for (unsigned i = 0; i < p->count; i++)
	{
		char	   *at = (char *) plain + ((uint64_t) i << p->span.shift);

		if (to_parts)
			memcpy(p->parts[i], at, p->guards[i].bytes);
		else
			memcpy(at, p->parts[i], p->guards[i].bytes);
	}
}

static bool
parted_intact(const parted *p)
{
	for (unsigned i = 0; i < p->count; i++)
		if (!guarded_intact(&p->guards[i]))
			return false;
	return true;
}

/* Are the bytes those of a plain array? */
static bool
parted_equal(const parted *p, const void *plain)
{
	for (unsigned i = 0; i < p->count; i++)
		if (memcmp(p->parts[i], (const char *) plain + ((uint64_t) i << p->span.shift),
				   p->guards[i].bytes) != 0)
			return false;
	return true;
}

static void
parted_free(parted *p)
{
	for (unsigned i = 0; i < p->count; i++)
		guarded_free(&p->guards[i]);
	free(p->guards);
	free(p->parts);
}

/* The arrays of one sort. */
typedef struct arrays
{
	parted		words[CASE_MAX_PLANES];
	parted		nulls[CASE_MAX_PLANES];
	parted		ids;
	parted		equal;
	guarded		park;
	gs_span_plane planes[CASE_MAX_PLANES];
} arrays;

static arrays *
arrays_alloc(const prepared_case *prepared, unsigned shift, uint64_t park_rows)
{
	const sort_case *c = &prepared->c;
	arrays	   *a = calloc(1, sizeof(*a));

	for (unsigned p = 0; p < c->nplanes; p++)
	{
		const gs_plane *plane = &prepared->data.planes[p];

		a->words[p] = parted_alloc(c->nrows * sizeof(uint64_t), shift);
		parted_copy(&a->words[p], (void *) plane->words, true);
		a->planes[p].words = a->words[p].span;
		a->planes[p].null_order = plane->null_order;
		a->planes[p].bytes = plane->numbering != NULL;
		if (plane->nulls == NULL)
			continue;
		a->nulls[p] = parted_alloc((c->nrows + 63) / 64 * sizeof(uint64_t), shift);
		parted_copy(&a->nulls[p], (void *) plane->nulls, true);
		a->planes[p].nulls = a->nulls[p].span;
	}
	a->park = guarded_alloc(park_rows * (sizeof(uint64_t) + c->id_bytes));
	a->ids = parted_alloc(c->nrows * c->id_bytes, shift);
	a->equal = parted_alloc(c->want_equal ? (c->nrows + 63) / 64 * sizeof(uint64_t) : 0, shift);
	return a;
}

static void
arrays_free(arrays *a, const sort_case *c)
{
	for (unsigned p = 0; p < c->nplanes; p++)
	{
		parted_free(&a->words[p]);
		parted_free(&a->nulls[p]);
	}
	parted_free(&a->ids);
	parted_free(&a->equal);
	guarded_free(&a->park);
	free(a);
}

/* NULL if nothing but the result was written. */
static const char *
damage(const arrays *a, const prepared_case *prepared)
{
	for (unsigned p = 0; p < prepared->c.nplanes; p++)
	{
		const gs_plane *plane = &prepared->data.planes[p];

		if (!parted_equal(&a->words[p], plane->words) ||
			(plane->nulls != NULL && !parted_equal(&a->nulls[p], plane->nulls)))
			return "planes changed";
		if (!parted_intact(&a->words[p]) || !parted_intact(&a->nulls[p]))
			return "red zones of planes";
	}
	return parted_intact(&a->ids) && parted_intact(&a->equal) && guarded_intact(&a->park) ? NULL
		: "red zones";
}

static const char *
wrong_result(const arrays *a, const prepared_case *prepared)
{
	const sort_case *c = &prepared->c;
	void	   *ids = malloc(a->ids.bytes + 1);
	uint64_t	difference;

	parted_copy(&a->ids, ids, false);
	difference = case_first_difference(ids, prepared->ids, c);
	free(ids);
	if (difference < c->nrows)
		return "order";
	return c->want_equal && !parted_equal(&a->equal, prepared->equal) ? "equal bitmap" : NULL;
}

/* Announce segments of a plane as the setup says. */
static void
feed_plane(gs_device_job *job, const device_setup *setup, const arrays *a, unsigned plane,
		   uint64_t nrows)
{
	uint64_t	nsegments = nrows >> GS_SEGMENT_SHIFT;
	uint64_t	wrong = setup->feed == FEED_AGAIN ? nsegments : 0;

	for (uint64_t s = 0; s < wrong; s++)
		gs_device_feed(job, plane, s, gs_span_at(a->planes[plane].words, 0));
	if (wrong > 0)
		gs_device_unfeed(job, plane);
	for (uint64_t i = 0; i < nsegments && setup->feed != FEED_NOTHING; i++)
	{
		uint64_t	s = setup->feed == FEED_ALL ? i : nsegments - 1 - i;

		if (setup->feed != FEED_ALL && (s / 3 + plane) % 2 == 0)
			continue;
		gs_device_feed(job, plane, s, gs_span_at(a->planes[plane].words,
												 s * GS_SEGMENT_ROWS * sizeof(uint64_t)));
	}
}

/* From run to the last row, or not. */
static gs_status
run_job(gs_device_job *job, const gs_device_args *args, const device_setup *setup,
		gs_device_result *result, const char **fault)
{
	const char *message = "";
	uint64_t	ready = 0;
	gs_status	status = gs_device_run(job, args, result, &message);

	while (status == GS_OK && ready < args->nrows && !setup->quit)
	{
		uint64_t	known = ready;

		status = gs_device_wait(job, &ready, &message);
		if (status == GS_OK && (ready <= known || ready > args->nrows))
		{
			*fault = "ready rows";
			return status;
		}
	}
	if (status != GS_OK && message[0] == '\0')
		*fault = "no message";
	return status;
}

static size_t
free_bytes(gs_group *group)
{
	size_t		bytes = 0;

	for (unsigned d = 0; d < group->ndevices; d++)
		bytes += group->devices[d]->ops->largest_free(group->devices[d]);
	return bytes;
}

gs_status
device_case_run(const prepared_case *prepared, gs_group *group, const device_setup *setup,
				const volatile int *cancel, gs_device_result *result, const char **fault)
{
	const sort_case *c = &prepared->c;
	arrays	   *a = arrays_alloc(prepared, setup->span_shift, setup->park_rows);
	size_t		bytes = free_bytes(group);
	gs_device_args args = {
		.nrows = c->nrows,
		.nplanes = c->nplanes,
		.planes = a->planes,
		.id_bytes = c->id_bytes,
		.ids = a->ids.span,
		.equal = c->want_equal ? a->equal.span : (gs_span) {NULL, 63},
		.park = setup->park_rows > 0 ? guarded_data(&a->park) : NULL,
		.park_bytes = setup->park_rows * (sizeof(uint64_t) + c->id_bytes),
		.cancel = cancel,
	};
	gs_device_job *job;
	gs_status	status;

	*fault = NULL;
	status = gs_device_begin(group, c->nplanes,
							 setup->expected_rows != 0 ? setup->expected_rows : c->nrows, &job);
	for (unsigned p = 0; p < c->nplanes && status == GS_OK; p++)
		feed_plane(job, setup, a, p, c->nrows);
	if (status == GS_OK)
		status = run_job(job, &args, setup, result, fault);
	gs_device_end(job);

	if (*fault == NULL && free_bytes(group) != bytes)
		*fault = "device memory not given back";
	if (*fault == NULL)
		*fault = damage(a, prepared);
	if (*fault == NULL && status == GS_OK && !setup->quit)
		*fault = wrong_result(a, prepared);
	arrays_free(a, c);
	return status;
}

static void
describe_setup(const gs_group *group, const device_setup *setup)
{
	const gs_device_options *options = &group->options;

	tap_note("  on %u devices, exchange %d, device_rows %llu, bucket_rows %llu, memory %llu",
			 group->ndevices, options->exchange, (unsigned long long) options->device_rows,
			 (unsigned long long) options->bucket_rows,
			 (unsigned long long) options->memory_bytes);
	tap_note("  span shift %u, feed %d, expected rows %llu, guess_rows %llu, parked rows %llu",
			 setup->span_shift, setup->feed, (unsigned long long) setup->expected_rows,
			 (unsigned long long) options->guess_rows, (unsigned long long) setup->park_rows);
}

bool
device_case_passes(const prepared_case *prepared, gs_group *group, const device_setup *setup,
				   gs_device_result *result)
{
	gs_device_result own_result;
	const char *fault;
	gs_status	status = device_case_run(prepared, group, setup, NULL,
										 result != NULL ? result : &own_result, &fault);

	if (status != GS_OK && fault == NULL)
		fault = gs_status_text(status);
	if (fault == NULL)
		return true;
	case_describe(&prepared->c, fault);
	describe_setup(group, setup);
	return false;
}

sort_case
device_case_random(uint64_t *state)
{
	sort_case	c = {.seed = random_word(state)};

	c.nrows = random_word(state) % (30000 >> random_word(state) % 8) + 1;
	c.nplanes = 1 + random_word(state) % 4;
	c.id_bytes = random_word(state) & 1 ? 4 : 8;
	c.want_equal = random_word(state) & 1;
	for (unsigned p = 0; p < c.nplanes; p++)
	{
		c.planes[p].keys = (key_shape) (random_word(state) % KEY_SHAPES);
		c.planes[p].nulls = random_word(state) & 1 ? NULLS_ABSENT
			: (null_shape) (random_word(state) % NULL_SHAPES);
		c.planes[p].order = (gs_null_order) (random_word(state) % 3);
		c.planes[p].bytes = random_word(state) % 3 == 0;
	}
	return c;
}

device_setup
device_setup_random(uint64_t *state, uint64_t nrows)
{
	device_setup setup = {.feed = (feed_shape) (random_word(state) % FEED_SHAPES)};

	if (random_word(state) & 1)
		setup.span_shift = CASE_SHORT_PARTS + random_word(state) % 3;
	if (random_word(state) % 4 == 0)
		setup.expected_rows = 1 + random_word(state) % (3 * nrows);
	setup.quit = random_word(state) % 16 == 0;
	if (random_word(state) & 1)
		setup.park_rows = random_word(state) % (3 * nrows / 2);
	return setup;
}
