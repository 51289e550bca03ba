/*
 * index_rows.c
 *		Takes in the rows that one process of an index build reads; see index_rows.h.
 *
 * A row that the sort has no room for makes the build fail (index_build.c).  But a scan by the
 * server can't be stopped, so the remaining rows of such a scan are ignored.
 */
#include "postgres.h"

#include "index/index_key.h"
#include "index/index_rows.h"
#include "sort/sort.h"

void
gpusort_index_begin_part(GpuSortIndexRows *rows, Relation index)
{
	GpuSortSpec spec;
	const char *reason;

	if (rows->parts != NULL && gpusort_index_sort_spec(index, &spec, &reason))
		rows->part = gpusort_parts_begin_index_part(rows->parts, index, &spec);
}

void
gpusort_index_finish_part(GpuSortIndexRows *rows)
{
	if (rows->part == NULL)
		return;
	if (!rows->failed)
		gpusort_parts_finish_part(rows->parts, rows->part);
	gpusort_end(rows->part);
	rows->part = NULL;
}

void
gpusort_index_put_values(GpuSortIndexRows *rows, const Datum *values, const bool *isnull,
						 ItemPointer tid, bool alive)
{
	if (rows->failed)
		return;
	if (rows->part != NULL && !rows->part_full)
	{
		if (gpusort_put_index_values(rows->part, values, isnull, tid, alive))
			return;
		rows->part_full = true;
	}
	rows->failed = !gpusort_put_index_values(rows->sort, values, isnull, tid, alive);
}

void
gpusort_index_put_tuples(GpuSortIndexRows *rows, const char *tuples, Size bytes)
{
	for (Size at = 0; at < bytes && !rows->failed;)
	{
		IndexTuple	tuple = (IndexTuple) (tuples + at);

		rows->failed = !gpusort_put_index_tuple(rows->sort, tuple);
		at += IndexTupleSize(tuple);
	}
}
