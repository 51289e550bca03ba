/*
 * cuts_test.c
 *		Cutting two sorted sides into pieces (src/join/join_cuts.h).
 *
 * What a piece promises is checked for every cut of random sides of few and of many different keys,
 * of all sizes down to none, against what looking at all rows says.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "join/join_cuts.h"
#include "tap.h"

#define MAX_ROWS 60
#define OUTER GPUSORT_JOIN_OUTER
#define INNER GPUSORT_JOIN_INNER

typedef struct Sides
{
	int			keys[2][MAX_ROWS];
	uint64_t	first[2];		/* rows in front of it are not to be looked at */
	uint64_t	count[2];
	int			comparisons;
	bool		strayed;		/* outside of the rows */
} Sides;

static unsigned seed = 1;

static unsigned
next_random(unsigned bound)
{
	seed = seed * 1103515245 + 12345;
	return (seed >> 16) % bound;
}

static int
compare(void *arg, GpuSortJoinEnd a, uint64_t i, GpuSortJoinEnd b, uint64_t j)
{
	Sides	   *sides = arg;

	sides->comparisons++;
	sides->strayed |= i < sides->first[a] || i >= sides->count[a] ||
		j < sides->first[b] || j >= sides->count[b];
	if (sides->strayed)
		return 0;
	return (sides->keys[a][i] > sides->keys[b][j]) - (sides->keys[a][i] < sides->keys[b][j]);
}

static int
compare_ints(const void *a, const void *b)
{
	return *(const int *) a - *(const int *) b;
}

static void
make_sides(Sides *sides, unsigned different)
{
	memset(sides, 0, sizeof(*sides));
	for (int s = 0; s < 2; s++)
	{
		sides->count[s] = next_random(4) == 0 ? next_random(3) : next_random(MAX_ROWS);
		sides->first[s] = next_random(5) == 0 ? next_random((unsigned) sides->count[s] + 1) : 0;
		for (uint64_t i = 0; i < sides->count[s]; i++)
			sides->keys[s][i] = (int) next_random(different);
		qsort(sides->keys[s], sides->count[s], sizeof(int), compare_ints);
	}
}

static bool
has_key(const Sides *sides, GpuSortJoinEnd s, int key)
{
	for (uint64_t i = sides->first[s]; i < sides->count[s]; i++)
		if (sides->keys[s][i] == key)
			return true;
	return false;
}

/* Is the cut such that the pieces on both sides of it can be joined? */
static const char *
fault_of_cut(const Sides *sides, const GpuSortJoinCut *cut, bool whole)
{
	uint64_t	outer = cut->at[OUTER];
	uint64_t	inner = cut->at[INNER];
	const int  *o = sides->keys[OUTER];
	const int  *i = sides->keys[INNER];
	bool		splits_outer = outer > sides->first[OUTER] && outer < sides->count[OUTER] &&
		o[outer - 1] == o[outer];
	bool		splits_inner = inner > sides->first[INNER] && inner < sides->count[INNER] &&
		i[inner - 1] == i[inner];

	if (splits_outer && whole)
		return "equal outer rows are cut apart";
	if (splits_inner && has_key(sides, OUTER, i[inner]))
		return "inner rows with a match are cut apart";
	if (outer < sides->count[OUTER] && inner > sides->first[INNER] && i[inner - 1] >= o[outer])
		return "inner rows that match what is behind the cut lie in front of it";
	if (outer > sides->first[OUTER] && inner < sides->count[INNER] && !splits_outer &&
		o[outer - 1] >= i[inner])
		return "inner rows that match what is in front of the cut lie behind it";
	if (splits_outer && inner < sides->count[INNER] && i[inner] < o[outer])
		return "a cut among outer rows is not in front of their inner rows";
	return NULL;
}

/* All cuts, which have to be in order, and about where they were wanted unless keys forbid. */
static const char *
fault_of_sides(Sides *sides, bool whole)
{
	GpuSortJoinOrder order = {.compare = compare, .arg = sides};
	GpuSortJoinCut before;
	uint64_t	rows = 0;

	for (int s = 0; s < 2; s++)
	{
		order.from[s] = before.at[s] = sides->first[s];
		order.to[s] = sides->count[s];
		rows += order.to[s] - order.from[s];
	}
	for (uint64_t at = 0; at <= rows; at++)
	{
		GpuSortJoinCut cut = gpusort_join_cut(&order, at, whole);
		const char *fault = fault_of_cut(sides, &cut, whole);

		if (fault != NULL)
			return fault;
		if (cut.at[OUTER] < before.at[OUTER] || cut.at[INNER] < before.at[INNER])
			return "cuts are not in order";
		if (at == 0 && (cut.at[OUTER] != order.from[OUTER] || cut.at[INNER] != order.from[INNER]))
			return "the first cut is not at the beginning";
		if (at == rows && (cut.at[OUTER] != order.to[OUTER] || cut.at[INNER] != order.to[INNER]) &&
			!whole)
			return "the last cut is not at the end";
		before = cut;
	}
	return sides->strayed ? "rows were compared that there are not" : NULL;
}

static void
test_random_sides(unsigned different, bool whole)
{
	const char *fault = NULL;
	int			n;

	for (n = 0; n < 3000 && fault == NULL; n++)
	{
		Sides		sides;

		make_sides(&sides, different);
		fault = fault_of_sides(&sides, whole);
	}
	tap_ok(fault == NULL, "%u keys%s%s%s", different, whole ? ", groups whole" : "",
		   fault != NULL ? ": " : "", fault != NULL ? fault : "");
}

/* Finding where equal rows end takes logarithmically many steps. */
static void
test_end_of_equals(void)
{
	static Sides sides;
	GpuSortJoinOrder order = {.compare = compare, .arg = &sides, .to = {1, MAX_ROWS}};

	sides.count[OUTER] = 1;
	sides.count[INNER] = MAX_ROWS;
	for (int equal = 1; equal <= MAX_ROWS; equal++)
	{
		for (int i = 0; i < MAX_ROWS; i++)
			sides.keys[INNER][i] = i >= equal;
		sides.comparisons = 0;
		if (gpusort_join_end_of_equals(&order, INNER, 0, OUTER, 0) != (uint64_t) equal ||
			sides.comparisons > 12)
		{
			tap_ok(false, "the end of %d equal rows, by %d comparisons", equal, sides.comparisons);
			return;
		}
	}
	tap_ok(true, "the end of equal rows");
}

int
main(void)
{
	const unsigned different[] = {1, 2, 5, 30, 1000};

	for (unsigned i = 0; i < sizeof(different) / sizeof(different[0]); i++)
		for (int whole = 0; whole < 2; whole++)
			test_random_sides(different[i], whole);
	test_end_of_equals();
	return tap_finish();
}
