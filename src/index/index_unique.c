/*
 * index_unique.c
 *		Are the keys of a unique index unique?
 *
 * The sort knows which neighbours are equal, so for an index without duplicates
 * the answer is a look at one bit for each row.  Rows in a run of equals violate
 * the constraint if two of them are alive; versions of rows that are dead to new
 * snapshots, but not to all old ones, get into an index without counting.  A null
 * in a key column exempts a row, unless nulls are not distinct.
 */
#include "postgres.h"

#include "access/genam.h"
#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "utils/rel.h"

#include "index/index_unique.h"
#include "interrupts.h"
#include "sort/dead_rows.h"
#include "sort/sort_fetch.h"

/* Violation by this tuple and a later one, in the server's words. */
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

/* Check the run of equal rows at positions start .. end - 1. */
static void
check_run(const GpuSortIndexTarget *target, GpuSort *sort, uint64 start, uint64 end)
{
	IndexTuple	first = NULL;	/* live one */

	for (uint64 i = start; i < end; i++)
	{
		void	   *row;
		IndexTuple	tuple;

		if (i % GPUSORT_INTERRUPT_ROWS == 0)
			CHECK_FOR_INTERRUPTS();
		gpusort_fetch_block(sort, i, 1, &row);
		tuple = row;
		if (i == start && !target->info->ii_NullsNotDistinct &&
			has_null_key(target->index, tuple))
			return;
		if (gpusort_tuple_is_dead(tuple))
			continue;
		if (first != NULL)
			report_duplicate(target, first);
		first = tuple;
	}
}

void
gpusort_index_check_unique(const GpuSortIndexTarget *target, GpuSort *sort,
						   gs_progress *progress)
{
	const uint64 *equal = gpusort_equal_rows(sort);
	uint64		rows = gpusort_rows(sort);
	uint64		end = 0;

	for (uint64 w = 0; w < (rows + 63) / 64; w++)
	{
		for (uint64 tied = equal[w]; tied != 0; tied &= tied - 1)
		{
			uint64		start = w * 64 + pg_rightmost_one_pos64(tied) - 1;

			if (start + 1 < end)
				continue;		/* inside the run that was last checked */
			for (end = start + 2; end < rows && (equal[end / 64] >> (end % 64) & 1) != 0;)
				end++;
			check_run(target, sort, start, end);
		}
		if ((w + 1) % GPUSORT_INTERRUPT_ROWS == 0)
		{
			CHECK_FOR_INTERRUPTS();
			gs_progress_advance(progress, GPUSORT_INTERRUPT_ROWS * 64);
		}
	}
}
