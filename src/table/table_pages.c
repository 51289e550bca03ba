/*
 * table_pages.c
 *		Pages of a new table that are being filled, and turns of processes that fill some; see
 *		table_pages.h.
 */
#include "postgres.h"

#include "access/parallel.h"
#include "miscadmin.h"

#include "pg_compat.h"
#include "table/table_pages.h"
#include "team/worker_wait.h"

/* ---------- new pages ---------- */

void
gpusort_table_new_pages_begin(GpuSortNewPages *pages, Relation table, GpuSortStorage *storage,
							  TransactionId inserter)
{
	memset(pages, 0, sizeof(*pages));
	pages->storage = storage;
	pages->inserter = inserter;
	pages->save_bytes = RelationGetTargetPageFreeSpace(table, HEAP_DEFAULT_FILLFACTOR);
	pages->allocated = 64;
	pages->pages = palloc(pages->allocated * sizeof(GpuSortTablePage));
}

GpuSortTablePage *
gpusort_table_new_page(GpuSortNewPages *pages)
{
	GpuSortTablePage *page;

	CHECK_FOR_INTERRUPTS();
	if (pages->count == pages->allocated)
	{
		pages->allocated *= 2;
		pages->pages = repalloc_huge(pages->pages, pages->allocated * sizeof(GpuSortTablePage));
	}
	page = &pages->pages[pages->count++];
	gpusort_table_page_begin(page, gpusort_storage_get_page(pages->storage), pages->inserter);
	return page;
}

void
gpusort_table_new_pages_drop(GpuSortNewPages *pages)
{
	while (pages->count > 0)
		gpusort_storage_free_page(pages->storage, pages->pages[--pages->count].data);
}

void
gpusort_table_new_pages_claim(GpuSortNewPages *pages)
{
	if (pages->count > 0)
		pages->first = gpusort_storage_claim(pages->storage, pages->count);
}

static void
write_pages(GpuSortNewPages *pages, int count)
{
	for (int i = 0; i < count; i++)
	{
		GpuSortTablePage *page = &pages->pages[i];

		gpusort_table_page_seal(page);
		gpusort_table_page_set_ctids(page->data, pages->first + i);
		gpusort_storage_put_page(pages->storage, pages->first + i, page->data);
	}
}

void
gpusort_table_new_pages_write(GpuSortNewPages *pages)
{
	write_pages(pages, pages->count);
	pages->count = 0;
}

void
gpusort_table_new_pages_write_full(GpuSortNewPages *pages)
{
	int			full = pages->count - 1;

	if (full <= 0)
		return;
	pages->first = gpusort_storage_claim(pages->storage, full);
	write_pages(pages, full);
	pages->pages[0] = pages->pages[full];
	pages->count = 1;
}

/* ---------- turns ---------- */

static uint32 wait_event = 0;

void
gpusort_turns_init(GpuSortTurns *turns)
{
	memset(turns, 0, sizeof(*turns));
	pg_atomic_init_u64(&turns->next, 0);
	SpinLockInit(&turns->mutex);
	ConditionVariableInit(&turns->turned);
}

static void
look_at_turn(GpuSortTurns *turns, uint64 *turn, bool *left)
{
	SpinLockAcquire(&turns->mutex);
	*turn = turns->turn;
	*left = turns->left;
	SpinLockRelease(&turns->mutex);
}

static void
set_turn(GpuSortTurns *turns, uint64 turn, bool left)
{
	SpinLockAcquire(&turns->mutex);
	turns->turn = turn;
	turns->left = left;
	SpinLockRelease(&turns->mutex);
	ConditionVariableBroadcast(&turns->turned);
}

void
gpusort_turns_pass(GpuSortTurns *turns, uint64 slice)
{
	set_turn(turns, slice + 1, false);
}

void
gpusort_turns_leave(GpuSortTurns *turns, uint64 slice)
{
	set_turn(turns, slice, true);
}

bool
gpusort_turns_await(GpuSortTurns *turns, uint64 slice, uint64 *left)
{
	bool		is_left;

	for (;;)
	{
		look_at_turn(turns, left, &is_left);
		if (is_left ? !IsParallelWorker() : *left == slice)
			break;
		gpusort_worker_await(&turns->turned, gpusort_wait_event(&wait_event, "GpuSortIntoTurn"));
	}
	ConditionVariableCancelSleep();
	return !is_left;
}
