/*
 * merged_test.c
 *		Two sides that are sorted as one (src/engine/gs_merged.h).
 *
 * Random sides of few and of many different keys, of all sizes down to none, are numbered, sorted by
 * comparison, cut into pieces and split again; what comes out is compared with what counting says.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/gs_merged.h"
#include "tap.h"

#define MAX_ROWS	400
#define SEGMENT		16
#define MAX_KEYS	MAX_ROWS

typedef struct Case
{
	unsigned	count[2];
	unsigned	keys[2][MAX_ROWS];
	gs_merged	merged;
	uint32_t	ids[2 * MAX_ROWS];
	uint64_t	equal[2 * MAX_ROWS / 64 + 1];
} Case;

static unsigned seed = 1;
static const Case *sorted;

static unsigned
next_random(unsigned bound)
{
	seed = seed * 1103515245 + 12345;
	return (seed >> 16) % bound;
}

static unsigned
key_of(const Case *c, uint32_t id)
{
	uint32_t	row;
	unsigned	side = gs_sides_find(&c->merged.sides, id, &row);

	return c->keys[side][row];
}

static int
compare_ids(const void *a, const void *b)
{
	uint32_t	x = *(const uint32_t *) a;
	uint32_t	y = *(const uint32_t *) b;
	unsigned	p = key_of(sorted, x);
	unsigned	q = key_of(sorted, y);

	return p != q ? (p > q) - (p < q) : (x > y) - (x < y);
}

static void
make_case(Case *c, unsigned different)
{
	memset(c, 0, sizeof(*c));
	for (unsigned side = 0; side < 2; side++)
	{
		c->count[side] = next_random(MAX_ROWS);
		if (next_random(8) == 0)
			c->count[side] = next_random(4);
		if (next_random(8) == 0)
			c->count[side] -= c->count[side] % SEGMENT;
		for (unsigned i = 0; i < c->count[side]; i++)
			c->keys[side][i] = next_random(different);
	}
	c->merged.sides = gs_sides_number(c->count[0], c->count[1], SEGMENT);
	c->merged.nrows = gs_sides_rows(&c->merged.sides);
	c->merged.ids = c->ids;
	c->merged.equal = c->equal;
	for (unsigned i = 0; i < c->merged.nrows; i++)
		c->ids[i] = i;
	sorted = c;
	qsort(c->ids, c->merged.nrows, sizeof(c->ids[0]), compare_ids);
	for (unsigned i = 1; i < c->merged.nrows; i++)
		if (key_of(c, c->ids[i]) == key_of(c, c->ids[i - 1]))
			c->equal[i / 64] |= UINT64_C(1) << (i % 64);
}

/* Does each number stand for another row, in segments first? */
static bool
numbered_right(const Case *c)
{
	bool		seen[2][MAX_ROWS] = {{false}};

	for (uint32_t id = 0; id < c->merged.nrows; id++)
	{
		uint32_t	row;
		unsigned	side = gs_sides_find(&c->merged.sides, id, &row);

		if (row >= c->count[side] || seen[side][row])
			return false;
		seen[side][row] = true;
		if (id < c->merged.sides.full[0] + c->merged.sides.full[1] &&
			row % SEGMENT != id % SEGMENT)
			return false;
	}
	return c->merged.nrows == c->count[0] + c->count[1];
}

/* What pieces found, by side, row and key. */
typedef struct Found
{
	unsigned	rows[2][MAX_ROWS];
	unsigned	groups[MAX_KEYS];
	bool		wrong;
} Found;

static void
take_piece(const Case *c, gs_cuts *cuts, uint64_t from, uint64_t to, Found *found)
{
	uint32_t	rows0[2 * MAX_ROWS + 1];
	uint32_t	rows1[2 * MAX_ROWS + 1];
	uint32_t   *const rows[2] = {rows0, rows1};
	gs_equals_end ends[2 * MAX_ROWS];
	uint32_t	ngroups = gs_merged_split(&c->merged, from, to, rows, ends);
	gs_equals_end last = {{0, 0}};
	gs_equals	part = {from, from};

	for (uint32_t g = 0; g < ngroups; g++)
	{
		unsigned	key = MAX_KEYS;

		for (unsigned side = 0; side < 2; side++)
			for (uint32_t i = last.rows[side]; i < ends[g].rows[side]; i++)
			{
				found->rows[side][rows[side][i]]++;
				found->wrong |= key != MAX_KEYS && key != c->keys[side][rows[side][i]];
				found->wrong |= i > last.rows[side] && rows[side][i] <= rows[side][i - 1];
				key = c->keys[side][rows[side][i]];
			}
		part.to = part.from + ends[g].rows[0] - last.rows[0] + ends[g].rows[1] - last.rows[1];
		for (unsigned side = 0; side < 2; side++)
		{
			unsigned	count = ends[g].rows[side] - last.rows[side];
			uint32_t	taken[2 * MAX_ROWS];

			found->wrong |= gs_merged_count(&c->merged, part, side) != count ||
				gs_merged_take(&c->merged, part, side, taken) != count ||
				memcmp(taken, rows[side] + last.rows[side], count * sizeof(taken[0])) != 0;
		}
		part.from = part.to;
		found->wrong |= key == MAX_KEYS;
		found->groups[key % MAX_KEYS]++;
		last = ends[g];
	}
	found->wrong |= last.rows[0] + last.rows[1] != to - from;
	if (!gs_merged_is_equal(&c->merged, from))
		return;
	/* a group is divided only if it is long, and never if it is to be whole */
	{
		gs_equals	group = gs_cuts_equals(cuts, from);

		found->wrong |= cuts->whole || group.to - group.from <= cuts->piece_rows ||
			gs_merged_is_equal(&c->merged, group.from) ||
			(group.to < c->merged.nrows && gs_merged_is_equal(&c->merged, group.to));
	}
}

static bool
pieces_right(const Case *c, uint64_t piece_rows, bool whole)
{
	gs_cuts		cuts = {.merged = &c->merged, .piece_rows = piece_rows, .whole = whole};
	Found		found = {.wrong = false};
	uint64_t	end = 0;

	for (uint64_t piece = 0; piece * piece_rows < c->merged.nrows; piece++)
	{
		uint64_t	from = gs_cuts_begin(&cuts, piece);
		uint64_t	to = gs_cuts_begin(&cuts, piece + 1);

		found.wrong |= from != end || to < from ||
			(!whole && to - from > 2 * piece_rows);
		if (from < to)
			take_piece(c, &cuts, from, to, &found);
		end = to;
	}
	found.wrong |= end != c->merged.nrows;
	for (unsigned side = 0; side < 2; side++)
		for (unsigned i = 0; i < c->count[side]; i++)
			found.wrong |= found.rows[side][i] != 1;
	for (unsigned key = 0; key < MAX_KEYS && whole; key++)
		found.wrong |= found.groups[key] > 1;
	return !found.wrong;
}

int
main(void)
{
	static const unsigned different[] = {1, 2, 5, 40, MAX_KEYS};

	for (unsigned d = 0; d < sizeof(different) / sizeof(different[0]); d++)
	{
		bool		numbers = true;
		bool		pieces[2] = {true, true};

		for (int i = 0; i < 300; i++)
		{
			Case		c;

			make_case(&c, different[d]);
			numbers &= numbered_right(&c);
			for (unsigned whole = 0; whole < 2; whole++)
				pieces[whole] &= pieces_right(&c, 1 + next_random(i % 2 == 0 ? 10 : 200), whole != 0);
		}
		tap_ok(numbers, "%u different keys: numbers", different[d]);
		tap_ok(pieces[0], "%u different keys: pieces", different[d]);
		tap_ok(pieces[1], "%u different keys: pieces of whole groups", different[d]);
	}
	return tap_finish();
}
