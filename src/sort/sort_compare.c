/*
 * sort_compare.c
 *		Sorting the rows in memory by PostgreSQL's comparison; see sort_compare.h.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "sort/sort_await.h"
#include "sort/sort_compare.h"
#include "sort/sort_ranges.h"
#include "sort/sort_service.h"

typedef struct Comparison
{
	GpuSort    *sort;
	GpuSortRowComparer comparer;
} Comparison;

static int
compare_ids(const void *a, const void *b, void *arg)
{
	Comparison *c = arg;
	uint32		x = *(const uint32 *) a;
	uint32		y = *(const uint32 *) b;
	int			cmp;

	CHECK_FOR_INTERRUPTS();
	gpusort_row_comparer_load(&c->comparer, 0, gpusort_row_at(&c->sort->rows.places, x));
	gpusort_row_comparer_load(&c->comparer, 1, gpusort_row_at(&c->sort->rows.places, y));
	cmp = gpusort_row_comparer_compare(&c->comparer);
	return cmp != 0 ? cmp : (x > y) - (x < y);
}

/* Which rows of an index sort are equal to the one before? */
static void
note_equal_rows(Comparison *c)
{
	const GpuSort *sort = c->sort;
	uint64	   *equal = RANGE_U64(sort->order.equal);

	memset(equal, 0, (sort->rows.count + 63) / 64 * sizeof(uint64));
	for (uint64 i = 1; i < sort->rows.count; i++)
	{
		CHECK_FOR_INTERRUPTS();
		gpusort_row_comparer_load(&c->comparer, 0,
								  gpusort_row_at(&sort->rows.places, sort->order.ids[i - 1]));
		gpusort_row_comparer_load(&c->comparer, 1,
								  gpusort_row_at(&sort->rows.places, sort->order.ids[i]));
		if (gpusort_row_comparer_compare_keys(&c->comparer) == 0)
			equal[i / 64] |= UINT64CONST(1) << (i % 64);
	}
}

void
gpusort_sort_by_comparison(GpuSort *sort)
{
	MemoryContext context = AllocSetContextCreate(sort->context, "gpusort comparison",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	GpuSortRowKeys keys = gpusort_row_keys(&sort->spec);
	Comparison	c = {.sort = sort};

	gpusort_await_all(sort);
	gpusort_service_end(sort);
	gpusort_release_reordered(sort);
	gpusort_row_comparer_begin(&c.comparer, sort->desc, &keys, sort->index_rows);
	qsort_arg(sort->order.ids, sort->rows.count, sizeof(uint32), compare_ids, &c);
	sort->order.knows_equal = sort->index_rows;
	if (sort->order.knows_equal)
		note_equal_rows(&c);
	gpusort_row_comparer_clear(&c.comparer);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
}
