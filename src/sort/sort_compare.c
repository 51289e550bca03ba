/*
 * sort_compare.c
 *		Sorting the rows in memory by PostgreSQL's comparison; see order_private.h.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "sort/memory_private.h"
#include "sort/order_private.h"
#include "sort/service_private.h"
#include "sort/state_private.h"

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

/* Marks in the equal bitmap which rows of a sorted stretch are equal to the row before them. */
static void
note_equal_rows(Comparison *c, const uint32 *ids, uint64 n)
{
	const GpuSortRowPlaces *places = &c->sort->rows.places;
	uint64	   *equal = RANGE_U64(c->sort->order.equal);
	uint64		first = ids - c->sort->order.ids;

	for (uint64 i = 1; i < n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		gpusort_row_comparer_load(&c->comparer, 0, gpusort_row_at(places, ids[i - 1]));
		gpusort_row_comparer_load(&c->comparer, 1, gpusort_row_at(places, ids[i]));
		gpusort_mark_equal(equal, first + i, first + i + 1,
						   gpusort_row_comparer_compare_keys(&c->comparer) == 0);
	}
}

static void
sort_by_comparison(GpuSort *sort, uint32 *ids, uint32 n, bool notes_equal)
{
	MemoryContext context = AllocSetContextCreate(sort->context, "gpusort comparison",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	GpuSortRowKeys keys = gpusort_row_keys(&sort->spec);
	Comparison	c = {.sort = sort};

	gpusort_row_comparer_begin(&c.comparer, sort->desc, &keys, sort->index_rows);
	qsort_arg(ids, n, sizeof(uint32), compare_ids, &c);
	if (notes_equal)
		note_equal_rows(&c, ids, n);
	gpusort_row_comparer_clear(&c.comparer);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
}

void
gpusort_sort_run_by_comparison(GpuSort *sort, uint32 *ids, uint32 n)
{
	sort_by_comparison(sort, ids, n, sort->tells_equal);
}

void
gpusort_sort_by_comparison(GpuSort *sort)
{
	gpusort_await_all(sort);
	gpusort_sort_service_end(sort);
	gpusort_release_reordered(sort);
	sort->order.knows_equal = sort->index_rows;
	if (sort->order.knows_equal)
		memset(RANGE_U64(sort->order.equal), 0, (sort->rows.count + 63) / 64 * sizeof(uint64));
	sort_by_comparison(sort, sort->order.ids, (uint32) sort->rows.count, sort->order.knows_equal);
}
