/*
 * heap_new_pages.c
 *		Holds pages of a new table that are being filled; see heap_new_pages.h.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "heap/heap_new_pages.h"

void
gpusort_new_pages_begin(GpuSortNewPages *pages, Relation table, GpuSortStorage *storage,
						TransactionId inserter)
{
	memset(pages, 0, sizeof(*pages));
	pages->storage = storage;
	pages->inserter = inserter;
	pages->save_bytes = RelationGetTargetPageFreeSpace(table, HEAP_DEFAULT_FILLFACTOR);
	pages->allocated = 64;
	pages->pages = palloc(pages->allocated * sizeof(GpuSortHeapPage));
}

GpuSortHeapPage *
gpusort_new_page(GpuSortNewPages *pages)
{
	GpuSortHeapPage *page;

	CHECK_FOR_INTERRUPTS();
	if (pages->count == pages->allocated)
	{
		pages->allocated *= 2;
		pages->pages = repalloc_huge(pages->pages, pages->allocated * sizeof(GpuSortHeapPage));
	}
	page = &pages->pages[pages->count++];
	gpusort_heap_page_begin(page, gpusort_storage_get_page(pages->storage), pages->inserter);
	return page;
}

void
gpusort_new_pages_drop(GpuSortNewPages *pages)
{
	while (pages->count > 0)
		gpusort_storage_free_page(pages->storage, pages->pages[--pages->count].data);
}

void
gpusort_new_pages_claim(GpuSortNewPages *pages)
{
	if (pages->count > 0)
		pages->first = gpusort_storage_claim(pages->storage, pages->count);
}

static void
write_pages(GpuSortNewPages *pages, int count)
{
	for (int i = 0; i < count; i++)
	{
		GpuSortHeapPage *page = &pages->pages[i];

		gpusort_heap_page_seal(page);
		gpusort_heap_page_set_ctids(page->data, pages->first + i);
		gpusort_storage_put_page(pages->storage, pages->first + i, page->data);
	}
}

void
gpusort_new_pages_write(GpuSortNewPages *pages)
{
	write_pages(pages, pages->count);
	pages->count = 0;
}

void
gpusort_new_pages_write_full(GpuSortNewPages *pages)
{
	int			full = pages->count - 1;

	if (full <= 0)
		return;
	pages->first = gpusort_storage_claim(pages->storage, full);
	write_pages(pages, full);
	pages->pages[0] = pages->pages[full];
	pages->count = 1;
}
