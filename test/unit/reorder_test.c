/*
 * reorder_test.c
 *		Rows into the order of ids: on devices that are late, that fail, that are
 *		stopped, and with arguments that are nonsense.
 *
 * Every row is compared with where it came from, byte for byte.  With --small
 * only some of the seeds and operations are tried.
 */
#include <stdlib.h>
#include <string.h>

#include "engine/device/gs_device_sort.h"
#include "keys.h"
#include "lazy_device.h"
#include "tap.h"
#include "test_group.h"

#define LENGTH(array)	(sizeof(array) / sizeof((array)[0]))
#define ARENA_BYTES		((size_t) (GS_SLAB_SHIFT < 20 ? 4 << 20 : 8 * GS_SLAB_BYTES))

static bool small_run;

/* How long rows are. */
typedef enum row_shape
{
	ROWS_EQUAL,
	ROWS_SHORT,					/* 8 .. 100 bytes */
	ROWS_SKEWED,				/* most are short, those that belong together are long */
	ROWS_GAPS					/* short, with something else between them */
} row_shape;

typedef enum feed_shape
{
	FEED_NOTHING,
	FEED_SOME,
	FEED_ALL
} feed_shape;

typedef struct reorder_case
{
	const char *name;
	row_shape	shape;
	uint64_t	nrows;
	uint64_t	stride;			/* of ROWS_EQUAL */
	unsigned	unit;
	unsigned	part_shift;
	feed_shape	feed;
	uint64_t	window_bytes;
	unsigned	devices;
	bool		short_length;	/* 13 bits in the end of a row's first word; or
								 * 32 in its beginning */
} reorder_case;

static const reorder_case cases[] = {
	{"one row", ROWS_EQUAL, 1, 40, 8, 12, FEED_NOTHING, 0, 1, false},
	{"one row with a length", ROWS_SHORT, 1, 0, 8, 12, FEED_NOTHING, 0, 1, false},
	{"equal rows", ROWS_EQUAL, 3000, 56, 8, 12, FEED_NOTHING, 10000, 2, false},
	{"equal rows, fed", ROWS_EQUAL, 3000, 24, 8, 13, FEED_ALL, 10000, 1, false},
	{"equal rows, one window", ROWS_EQUAL, 500, 64, 16, 12, FEED_SOME, 0, 3, false},
	{"rows longer than slabs", ROWS_EQUAL, 40, 10000, 8, 12, FEED_SOME, 5000, 1, false},
	{"short rows", ROWS_SHORT, 4000, 0, 8, 12, FEED_NOTHING, 9000, 2, false},
	{"short rows, fed, wide units", ROWS_SHORT, 4000, 0, 32, 14, FEED_ALL, 20000, 1, false},
	{"short rows with short lengths", ROWS_SHORT, 2000, 0, 8, 12, FEED_SOME, 9000, 1, true},
	{"skewed rows with short lengths", ROWS_SKEWED, 1000, 0, 8, 12, FEED_ALL, 9000, 2, true},
	{"skewed rows", ROWS_SKEWED, 2000, 0, 8, 12, FEED_SOME, 9000, 1, false},
	{"rows with gaps", ROWS_GAPS, 3000, 0, 8, 12, FEED_SOME, 30000, 2, false},
};

/* An array in parts, each of them with a length of its own that is checked by malloc. */
typedef struct parted
{
	gs_span		span;
	uint64_t	bytes;
	uint64_t	count;
	char	  **parts;
} parted;

static parted
parted_alloc(uint64_t bytes, unsigned shift)
{
	uint64_t	part_bytes = UINT64_C(1) << shift;
	parted		p = {.bytes = bytes, .count = (bytes + part_bytes - 1) >> shift};

	p.parts = calloc(p.count + 1, sizeof(*p.parts));
	for (uint64_t i = 0; i < p.count; i++)
	{
		uint64_t	left = bytes - i * part_bytes;

		p.parts[i] = malloc(left < part_bytes ? left : part_bytes);
		memset(p.parts[i], 0x77, left < part_bytes ? left : part_bytes);
	}
	p.span = (gs_span) {(void *const *) p.parts, shift};
	return p;
}

static void
parted_free(parted *p)
{
	for (uint64_t i = 0; i < p->count; i++)
		free(p->parts[i]);
	free(p->parts);
}

/* Copy between [offset, offset + bytes) and a plain array. */
static void
parted_copy(const parted *p, uint64_t offset, void *plain, uint64_t bytes, bool to_parts)
{
	for (uint64_t i = 0; i < bytes; i++)
	{
		char	   *at = gs_span_at(p->span, offset + i);

		if (to_parts)
			*at = ((char *) plain)[i];
		else
			((char *) plain)[i] = *at;
	}
}

/* The arrays of a case; plain ones beside those that are read. */
typedef struct arrays
{
	const reorder_case *c;
	uint32_t   *ids;
	uint32_t   *refs;
	char	   *rows;
	uint64_t	row_bytes;
	parted		ids_parts;
	parted		refs_parts;
	parted		rows_parts;
	parted		to_rows;
	parted		to_refs;
} arrays;

static uint32_t
row_length(const reorder_case *c, uint64_t row, uint64_t *seed)
{
	if (c->shape == ROWS_EQUAL)
		return (uint32_t) c->stride;
	if (c->shape == ROWS_SKEWED && row < c->nrows / 20)
		return (uint32_t) (200 + random_word(seed) % 5000);
	return (uint32_t) (8 + random_word(seed) % 93);
}

static uint64_t
round_up(uint64_t bytes, uint64_t unit)
{
	return (bytes + unit - 1) / unit * unit;
}

static gs_row_length
length_field(const reorder_case *c)
{
	return c->short_length ? (gs_row_length) {48, 0x1fff} : (gs_row_length) {0, UINT32_MAX};
}

static void
put_length(const reorder_case *c, char *row, uint64_t bytes)
{
	gs_row_length field = length_field(c);
	uint64_t	word;

	memcpy(&word, row, sizeof(word));
	word = (word & ~(field.mask << field.shift)) | bytes << field.shift;
	memcpy(row, &word, sizeof(word));
}

static uint64_t
get_length(const reorder_case *c, const char *row)
{
	uint64_t	word;

	if (c->stride > 0)
		return c->stride;
	memcpy(&word, row, sizeof(word));
	return gs_row_bytes(length_field(c), word);
}

static void
fill_bytes(char *bytes, uint64_t count, uint64_t *seed)
{
	for (uint64_t at = 0; at < count; at += sizeof(uint64_t))
	{
		uint64_t	word = random_word(seed);

		memcpy(bytes + at, &word, count - at < sizeof(word) ? count - at : sizeof(word));
	}
}

static void
make_rows(arrays *a, uint64_t *seed)
{
	const reorder_case *c = a->c;
	uint64_t	room = c->nrows * (c->shape == ROWS_EQUAL ? c->stride : 6000);
	uint64_t	end = 0;

	a->rows = malloc(room + 8);
	for (uint64_t i = 0; i < c->nrows; i++)
	{
		uint32_t	length = row_length(c, i, seed);
		uint64_t	begin = round_up(end, c->unit);

		if (c->shape == ROWS_GAPS && i % 100 == 0)
			begin += 5 * c->unit;
		fill_bytes(a->rows + end, begin + length - end, seed);
		if (c->shape != ROWS_EQUAL)
			put_length(c, a->rows + begin, length);
		a->refs[i] = (uint32_t) (begin / c->unit);
		end = begin + length;
	}
	a->row_bytes = end;
}

static arrays *
arrays_alloc(const reorder_case *c)
{
	arrays	   *a = calloc(1, sizeof(*a));
	uint64_t	seed = c->nrows + c->unit;

	a->c = c;
	a->ids = malloc(c->nrows * sizeof(uint32_t));
	a->refs = malloc(c->nrows * sizeof(uint32_t));
	make_rows(a, &seed);
	for (uint64_t i = 0; i < c->nrows; i++)
		a->ids[i] = (uint32_t) i;
	/* long rows stay together at the beginning */
	for (uint64_t i = c->nrows - 1; i > 0 && c->shape != ROWS_SKEWED; i--)
	{
		uint64_t	j = random_word(&seed) % (i + 1);
		uint32_t	id = a->ids[i];

		a->ids[i] = a->ids[j];
		a->ids[j] = id;
	}
	a->ids_parts = parted_alloc(c->nrows * sizeof(uint32_t), c->part_shift);
	a->refs_parts = parted_alloc(c->nrows * sizeof(uint32_t), c->part_shift);
	a->rows_parts = parted_alloc(round_up(a->row_bytes, 8), c->part_shift);
	a->to_rows = parted_alloc(round_up(a->row_bytes, c->unit), c->part_shift);
	a->to_refs = parted_alloc(c->nrows * sizeof(uint32_t), c->part_shift);
	parted_copy(&a->ids_parts, 0, a->ids, c->nrows * sizeof(uint32_t), true);
	parted_copy(&a->refs_parts, 0, a->refs, c->nrows * sizeof(uint32_t), true);
	parted_copy(&a->rows_parts, 0, a->rows, a->row_bytes, true);
	return a;
}

static void
arrays_free(arrays *a)
{
	parted_free(&a->ids_parts);
	parted_free(&a->refs_parts);
	parted_free(&a->rows_parts);
	parted_free(&a->to_rows);
	parted_free(&a->to_refs);
	free(a->ids);
	free(a->refs);
	free(a->rows);
	free(a);
}

static gs_reorder_args
args_of(const arrays *a, const volatile int *cancel)
{
	const reorder_case *c = a->c;

	return (gs_reorder_args) {
		.nrows = c->nrows,
		.ids = a->ids_parts.span,
		.rows = a->rows_parts.span,
		.row_bytes = a->row_bytes,
		.stride = c->stride,
		.refs = a->refs_parts.span,
		.unit = c->unit,
		.length = length_field(c),
		.to_rows = a->to_rows.span,
		.to_bytes = a->to_rows.bytes,
		.to_refs = a->to_refs.span,
		.cancel = cancel,
	};
}

/* Is the row at a position there?  *end: where the one before it ends. */
static bool
row_is_right(const arrays *a, uint64_t position, uint64_t *end)
{
	const reorder_case *c = a->c;
	uint32_t	id = a->ids[position];
	const char *from = a->rows + (uint64_t) a->refs[id] * c->unit;
	uint64_t	begin = round_up(*end, c->unit);
	uint64_t	length = get_length(c, from);
	uint32_t	ref;
	char	   *row;
	bool		right;

	if (c->stride == 0)
	{
		parted_copy(&a->to_refs, position * sizeof(ref), &ref, sizeof(ref), false);
		if ((uint64_t) ref * c->unit != begin)
			return false;
	}
	row = malloc(length);
	parted_copy(&a->to_rows, begin, row, length, false);
	right = memcmp(row, from, length) == 0;
	free(row);
	*end = begin + length;
	return right;
}

static bool
rows_are_right(const arrays *a, uint64_t ready)
{
	uint64_t	end = 0;

	for (uint64_t i = 0; i < ready; i++)
		if (!row_is_right(a, i, &end))
			return false;
	return true;
}

static void
feed(gs_reorder *reorder, const arrays *a)
{
	uint64_t	count = a->row_bytes >> a->c->part_shift;

	if (a->c->feed == FEED_SOME)
		count /= 2;
	for (uint64_t i = 0; i < count && a->c->feed != FEED_NOTHING; i++)
		if (!gs_reorder_feed(reorder, a->rows_parts.parts[i], UINT64_C(1) << a->c->part_shift))
			break;
}

static size_t
free_bytes(const gs_group *group)
{
	size_t		bytes = 0;

	for (unsigned d = 0; d < group->ndevices; d++)
		bytes += group->devices[d]->ops->largest_free(group->devices[d]);
	return bytes;
}

/*
 * From the beginning to the end, or to where it fails.  *ready: rows that are in
 * place; *fault: what is wrong, or NULL.
 */
static gs_status
run_case(arrays *a, gs_group *group, const volatile int *cancel, uint64_t *ready,
		 const char **fault)
{
	gs_reorder_args args = args_of(a, cancel);
	size_t		bytes = free_bytes(group);
	gs_reorder *reorder;
	const char *message = "";
	gs_status	status;

	*ready = 0;
	*fault = NULL;
	group->options.window_bytes = a->c->window_bytes;
	reorder = gs_reorder_begin(group);
	feed(reorder, a);
	status = gs_reorder_run(reorder, &args, &message);
	while (status == GS_OK && *ready < args.nrows)
	{
		uint64_t	before = *ready;

		status = gs_reorder_wait(reorder, ready, &message);
		if (status == GS_OK && (*ready <= before || *ready > args.nrows))
			*fault = "rows that are ready";
		/* what is said to be in place is */
		if (*fault == NULL && before == 0 && !rows_are_right(a, *ready))
			*fault = "the first rows";
		if (*fault != NULL)
			break;
	}
	if (status != GS_OK && message[0] == '\0')
		*fault = "no message";
	gs_reorder_end(reorder);
	if (*fault == NULL && free_bytes(group) != bytes)
		*fault = "device memory not given back";
	return status;
}

/* The same, of which everything must come out right. */
static const char *
fault_of_case(arrays *a, gs_group *group)
{
	uint64_t	ready;
	const char *fault;
	gs_status	status = run_case(a, group, NULL, &ready, &fault);

	if (fault == NULL && status != GS_OK)
		fault = gs_status_text(status);
	if (fault == NULL && !rows_are_right(a, a->c->nrows))
		fault = "rows";
	return fault;
}

static void
test_case(const reorder_case *c)
{
	arrays	   *a = arrays_alloc(c);
	gs_group   *group = test_group_open(c->devices, ARENA_BYTES);
	const char *fault = fault_of_case(a, group);

	if (fault != NULL)
		tap_note("%s", fault);
	tap_ok(fault == NULL, "%s", c->name);
	test_group_close(group);
	arrays_free(a);
}

static void
test_late(const reorder_case *c)
{
	bool		passed = true;

	for (uint64_t seed = 1; seed <= (small_run ? 5 : 40) && passed; seed++)
	{
		arrays	   *a = arrays_alloc(c);
		lazy_group *lazy = lazy_group_open(c->devices, ARENA_BYTES, seed);
		const char *fault = fault_of_case(a, lazy_group_of(lazy));

		if (fault == NULL)
			fault = lazy_group_fault(lazy);
		if (fault != NULL)
			tap_note("seed %d: %s", (int) seed, fault);
		passed = fault == NULL;
		lazy_group_close(lazy);
		arrays_free(a);
	}
	tap_ok(passed, "%s: late devices", c->name);
}

/* Every operation fails in turn; rows that were said to be in place are right. */
static void
test_failures(const reorder_case *c)
{
	uint64_t	nth = 0;
	uint64_t	failed = 0;
	gs_status	status = GS_DEVICE_ERROR;
	const char *fault = NULL;

	while (fault == NULL && nth < 100000)
	{
		gs_group   *group = test_group_open_failing(1, ARENA_BYTES, 0, nth += small_run ? 7 : 1);
		arrays	   *a;
		uint64_t	ready;

		if (group == NULL)
			return;				/* devices of this kind don't fail on request */
		a = arrays_alloc(c);
		status = run_case(a, group, NULL, &ready, &fault);
		failed += status != GS_OK;
		if (fault == NULL && status != GS_OK && status != GS_DEVICE_ERROR)
			fault = gs_status_text(status);
		if (fault == NULL && !rows_are_right(a, ready))
			fault = "rows";
		test_group_close(group);
		arrays_free(a);
		/* what can't be uploaded ahead is uploaded later */
		if (status == GS_OK && (c->feed == FEED_NOTHING || nth > 400))
			break;
	}
	if (fault != NULL)
		tap_note("operation %llu: %s", (unsigned long long) nth, fault);
	tap_ok(fault == NULL && failed > 0, "%s: failing devices", c->name);
}

/* Cancelled at one call of the device after the other. */
static void
test_cancel(const reorder_case *c)
{
	lazy_group *lazy = lazy_group_open(c->devices, ARENA_BYTES, 7);
	uint64_t	cancelled = 0;
	const char *fault = NULL;
	bool		through = false;

	for (uint64_t nth = 1; fault == NULL && !through; nth += small_run ? 11 : 1)
	{
		arrays	   *a = arrays_alloc(c);
		volatile int cancel = 0;
		uint64_t	ready;
		gs_status	status;

		lazy_group_set_at(lazy, &cancel, nth);
		status = run_case(a, lazy_group_of(lazy), &cancel, &ready, &fault);
		if (fault == NULL)
			fault = lazy_group_fault(lazy);
		if (fault == NULL && status != GS_OK && status != GS_CANCELLED)
			fault = gs_status_text(status);
		if (fault == NULL && !rows_are_right(a, ready))
			fault = "rows";
		cancelled += status == GS_CANCELLED;
		through = !cancel;
		arrays_free(a);
	}
	if (fault != NULL)
		tap_note("cancelled: %s", fault);
	tap_ok(fault == NULL && cancelled > 0, "%s: cancelled", c->name);
	lazy_group_close(lazy);
}

/* With every size of memory rows come out right, or are refused. */
static void
test_memory(const reorder_case *c)
{
	arrays	   *a = arrays_alloc(c);
	bool		passed = true;
	unsigned	refused = 0;
	unsigned	done = 0;

	for (uint64_t bytes = 4096; bytes <= ARENA_BYTES && passed; bytes += bytes / 3)
	{
		gs_group   *group = test_group_open(c->devices, ARENA_BYTES);
		uint64_t	ready;
		const char *fault;
		gs_status	status;

		group->options.memory_bytes = bytes;
		status = run_case(a, group, NULL, &ready, &fault);
		passed = fault == NULL && (status == GS_OK || status == GS_NO_SPACE) &&
			rows_are_right(a, ready);
		refused += status == GS_NO_SPACE;
		done += status == GS_OK;
		test_group_close(group);
	}
	tap_ok(passed && refused > 0 && done > 0, "%s: with little memory", c->name);
	arrays_free(a);
}

/* Numbers that lead nowhere: any answer will do, if nothing else is touched. */
static void
test_nonsense(const reorder_case *c)
{
	for (int what = 0; what < 4; what++)
	{
		static const char *const names[] = {"ids", "references", "lengths", "everything"};
		arrays	   *a = arrays_alloc(c);
		gs_group   *group = test_group_open(c->devices, ARENA_BYTES);
		uint64_t	seed = what;
		uint64_t	ready;
		const char *fault;
		gs_status	status;

		for (uint64_t i = 0; i < c->nrows; i += 3)
		{
			uint64_t	nonsense = random_word(&seed);

			if (what == 0 || what == 3)
				parted_copy(&a->ids_parts, i * 4, &nonsense, 4, true);
			if (what == 1 || what == 3)
				parted_copy(&a->refs_parts, i * 4, &nonsense, 4, true);
			if (what >= 2)
				parted_copy(&a->rows_parts, (uint64_t) a->refs[i] * c->unit, &nonsense, 8, true);
		}
		/* the first rows are those of before only by chance */
		status = run_case(a, group, NULL, &ready, &fault);
		tap_ok((status == GS_OK || status == GS_INVALID || status == GS_NO_SPACE) &&
			   (fault == NULL || strcmp(fault, "the first rows") == 0),
			   "%s: wrong %s are survived", c->name, names[what]);
		test_group_close(group);
		arrays_free(a);
	}
}

int
main(int argc, char **argv)
{
	small_run = argc > 1 && strcmp(argv[1], "--small") == 0;
	for (size_t i = 0; i < LENGTH(cases); i++)
	{
		test_case(&cases[i]);
		test_late(&cases[i]);
		test_failures(&cases[i]);
		if (cases[i].nrows > 1)
		{
			test_cancel(&cases[i]);
			test_memory(&cases[i]);
		}
		test_nonsense(&cases[i]);
	}
	return tap_finish();
}
