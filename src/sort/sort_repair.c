/*
 * sort_repair.c
 *		Repairing an order in which the verification finds rows in wrong places.
 *
 * See order_private.h.
 *
 * glibc's functions disagree on few strings (2.36: on which of "1-B" and "-1b-" is less), and these
 * are neighbours or nearly so.  So when a row is found to belong before the one that precedes it,
 * the row and all that are equal to it are moved to their place among the rows before them, which
 * are known to be in order.  Only if that comes to more than moving all rows a few times is the
 * whole sort done again by comparison.
 *
 * Where ICU's keys and its comparison disagree, the comparison is not an order (a < b < c < a), so
 * neighbours prove nothing: the sort is done again by PostgreSQL at once, with the same result as
 * without us.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "interrupts.h"
#include "sort/order_private.h"
#include "sort/state_private.h"

static bool
is_equal(const GpuSort *sort, uint64 i)
{
	return (RANGE_U64(sort->order.equal)[i / 64] >> (i % 64) & 1) != 0;
}

static void
set_equal(GpuSort *sort, uint64 i, bool equal)
{
	gpusort_note_equal(RANGE_U64(sort->order.equal), i, equal);
}

static void
reverse(uint32 *ids, uint64 n)
{
	for (uint64 i = 0; i < n / 2; i++)
	{
		uint32		id = ids[i];

		ids[i] = ids[n - 1 - i];
		ids[n - 1 - i] = id;
	}
}

/*
 * Moves the equal rows at positions from .. end - 1 to position `to` before them.  equal: they are
 * equal to the row before position `to`.
 */
static void
move_rows(GpuSort *sort, uint64 from, uint64 end, uint64 to, bool equal)
{
	uint64		n = end - from;

	Assert(sort->device.reorder.rows == NULL);
	reverse(sort->order.ids + to, from - to);
	reverse(sort->order.ids + from, n);
	reverse(sort->order.ids + to, end - to);
	sort->stats.repaired_rows += n;
	if (!sort->tells_equal)
		return;
	for (uint64 i = from - 1; i > to; i--)
		set_equal(sort, i + n, is_equal(sort, i));
	set_equal(sort, to + n, false);
	for (uint64 i = to + 1; i < to + n; i++)
		set_equal(sort, i, true);
	set_equal(sort, to, equal);
}

/* Returns the first position behind the rows that are equal to the row at i, which is loaded. */
static uint64
end_of_equals(GpuSortVerifier *v, uint64 i, uint64 nrows)
{
	uint64		end = i + 1;

	while (end < nrows)
	{
		if (end % GPUSORT_INTERRUPT_ROWS == 0)
			CHECK_FOR_INTERRUPTS();
		gpusort_verifier_load_keys(v, ~i & 1, end);
		if (gpusort_verifier_compare_keys(v, i & 1, ~i & 1) != 0 ||
			!gpusort_neighbours_are_right(v, end, 0))
			break;
		end++;
	}
	return end;
}

/*
 * Returns the position where the row at i belongs among the rows before it, which are in order:
 * behind the last one that is not greater.  The row at i is loaded, and the one before it is
 * greater.  *cmp tells how the row before the position that is returned compares to the row at i.
 */
static uint64
find_place(GpuSortVerifier *v, uint64 i, int *cmp)
{
	uint64		greater = i - 1;	/* the row at this position is greater */
	uint64		other = 0;		/* the rows before this position are not */
	uint64		step = 1;

	*cmp = -1;
	while (greater > other)
	{
		/* rows are nearly where they belong, so go back in ever longer steps, then bisect */
		uint64		probe = other == 0 && step <= greater ? greater - step
			: other + (greater - other) / 2;
		int			result;

		gpusort_verifier_load_keys(v, ~i & 1, probe);
		result = gpusort_verifier_compare_keys(v, ~i & 1, i & 1);
		if (result > 0)
			greater = probe;
		else
		{
			other = probe + 1;
			*cmp = result;
		}
		step *= 2;
	}
	return greater;
}

/*
 * Repairs the order where the row at position i, whose keys are loaded, is less than the row
 * before: moves it, and those that are equal to it, behind the last row that is not greater.
 * Returns the position behind them, or 0 if the order can't be repaired.
 */
static uint64
repair_rows(GpuSort *sort, GpuSortVerifier *v, uint64 i)
{
	MemoryContext old = MemoryContextSwitchTo(v->compare_context);
	uint64		end = end_of_equals(v, i, sort->rows.count);
	int			cmp;
	uint64		to = find_place(v, i, &cmp);

	MemoryContextSwitchTo(old);
	if (end - to > v->moves_left)
		return 0;
	v->moves_left -= end - to;
	move_rows(sort, i, end, to, to > 0 && cmp == 0);
	return to == 0 || gpusort_neighbours_are_right(v, to, cmp) ? end : 0;
}

bool
gpusort_check_and_repair(GpuSort *sort, GpuSortVerifier *v, uint64 from, uint64 to)
{
	int			cmp;

	for (;;)
	{
		uint64		wrong = from < to ? gpusort_verifier_find_wrong(v, from, to, &cmp) : to;

		if (wrong == to)
			return true;
		if (cmp <= 0 || !sort->keys.untrusted || sort->keys.not_repaired)
			return false;
		from = repair_rows(sort, v, wrong);
		if (from == 0)
			return false;
		to = Max(to, Min(from + 1, sort->rows.count));
	}
}
