/*
 * index_unique.c
 *		Checks that the keys of a unique index are unique.
 *
 * The sort knows which neighbours are equal, so for an index without duplicates the check is a look
 * at one bit for each row.  Rows in a group of equals (a run, below) violate the constraint if two
 * of them are alive; versions of rows that are dead to new snapshots, but not to all old ones, get
 * into an index without counting.  A null in a key column exempts a row, unless nulls are not
 * distinct.
 */
#include "postgres.h"

#include "access/genam.h"
#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "utils/rel.h"

#include "index/index_build_private.h"
#include "interrupts.h"
#include "sort/sort.h"

/* Report that this tuple and a later one violate the constraint, with the server's message. */
static void
report_duplicate(const GpuSortIndexTarget *target, IndexTuple tuple)
{
	Datum		values[INDEX_MAX_KEYS];
	bool		isnull[INDEX_MAX_KEYS];
	char	   *key;

	index_deform_tuple(tuple, RelationGetDescr(target->index), values, isnull);
	key = BuildIndexValueDescription(target->index, values, isnull);
	ereport(ERROR,
			(errcode(ERRCODE_UNIQUE_VIOLATION),
			 errmsg("could not create unique index \"%s\"",
					RelationGetRelationName(target->index)),
			 key != NULL ? errdetail("Key %s is duplicated.", key)
			 : errdetail("Duplicate keys exist."),
			 errtableconstraint(target->heap, RelationGetRelationName(target->index))));
}

/* Returns whether the tuple has a null in a key column. */
static bool
has_null_key(Relation index, IndexTuple tuple)
{
	if (!IndexTupleHasNulls(tuple))
		return false;
	for (int i = 1; i <= IndexRelationGetNumberOfKeyAttributes(index); i++)
	{
		bool		isnull;

		index_getattr(tuple, i, RelationGetDescr(index), &isnull);
		if (isnull)
			return true;
	}
	return false;
}

void
gpusort_index_unique_begin(GpuSortUniqueCheck *check, const GpuSortIndexTarget *target)
{
	*check = (GpuSortUniqueCheck) {.target = target, .live = palloc(INDEX_SIZE_MASK + 1)};
}

/* Returns the first position from `from` on that begins another run. */
static uint64
end_of_run(const GpuSortView *view, uint64 from)
{
	while (from < view->nrows && gpusort_view_is_equal(view, from))
		from++;
	return from;
}

/*
 * Check the rows from .. to - 1 of a run. `live` is a live row of the run before `from`, or NULL if
 * there was none.  Returns the run's live row, or NULL.
 */
static IndexTuple
check_rows(const GpuSortIndexTarget *target, const GpuSortView *view, uint64 from, uint64 to,
		   IndexTuple live)
{
	for (uint64 i = from; i < to; i++)
	{
		IndexTuple	tuple = gpusort_view_row(view, i);

		if (i % GPUSORT_INTERRUPT_ROWS == 0)
			CHECK_FOR_INTERRUPTS();
		if (gpusort_tuple_is_dead(tuple))
			continue;
		if (live != NULL)
			report_duplicate(target, live);
		live = tuple;
	}
	return live;
}

/* Returns whether rows equal to this one don't violate the constraint. */
static bool
is_exempt(const GpuSortIndexTarget *target, IndexTuple tuple)
{
	return !target->info->ii_NullsNotDistinct && has_null_key(target->index, tuple);
}

/*
 * Check the rows at the beginning of a view, up to position `to`, that continue the last run of the
 * view before.
 */
static void
check_last_run(GpuSortUniqueCheck *check, const GpuSortView *view, uint64 to)
{
	IndexTuple	live = check->has_live ? check->live : NULL;

	if (check->exempt)
		return;
	live = check_rows(check->target, view, 0, to, live);
	if (live != NULL && !check->has_live)
		memcpy(check->live, live, IndexTupleSize(live));
	check->has_live = live != NULL;
}

/*
 * Check the run that begins at `start` and goes to the end of the view, and remember what the check
 * of its continuation has to know.
 */
static void
keep_last_run(GpuSortUniqueCheck *check, const GpuSortView *view, uint64 start)
{
	IndexTuple	live = NULL;

	check->exempt = is_exempt(check->target, gpusort_view_row(view, start));
	if (!check->exempt)
		live = check_rows(check->target, view, start, view->nrows, NULL);
	if (live != NULL)
		memcpy(check->live, live, IndexTupleSize(live));
	check->has_live = live != NULL;
}

/*
 * Raise an error if two live rows violate the index's uniqueness, among the rows of this view of
 * the performed sort and of the views checked before it. `progress` is planned in rows; NULL if it
 * is not shown.
 */
static void
gpusort_index_unique_check(GpuSortUniqueCheck *check, const GpuSortView *view,
						   gs_progress *progress)
{
	uint64		begin = end_of_run(view, 0);
	uint64		end = begin;
	uint64		last;

	if (begin > 0)
		check_last_run(check, view, begin);
	for (uint64 w = begin / 64; w < (view->nrows + 63) / 64; w++)
	{
		for (uint64 tied = view->equal[w]; tied != 0; tied &= tied - 1)
		{
			uint64		at = w * 64 + pg_rightmost_one_pos64(tied);

			if (at < end)
				continue;		/* inside the run that was checked last */
			end = end_of_run(view, at + 1);
			if (!is_exempt(check->target, gpusort_view_row(view, at - 1)))
				check_rows(check->target, view, at - 1, end, NULL);
		}
		if ((w + 1) % GPUSORT_INTERRUPT_ROWS == 0)
		{
			CHECK_FOR_INTERRUPTS();
			gs_progress_advance(progress, GPUSORT_INTERRUPT_ROWS * 64);
		}
	}
	if (begin == view->nrows)
		return;
	for (last = view->nrows - 1; last > begin && gpusort_view_is_equal(view, last);)
		last--;
	keep_last_run(check, view, last);
}

void
gpusort_index_unique_judge(GpuSortUniqueCheck *check, GpuSort *sort, const GpuSortView *view,
						   gs_progress *progress)
{
	if (check->target->info->ii_Unique)
		gpusort_index_unique_check(check, view, progress);
	gpusort_unmark_dead(sort);
}
