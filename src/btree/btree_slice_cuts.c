/*
 * btree_slice_cuts.c
 *		Where a sorted order is cut into slices; see btree_slice_cuts.h.
 */
#include "postgres.h"

#include "port/pg_bitutils.h"

#include "btree/btree_slice_cuts.h"

/* Bytes that a leaf page has for tuples and the high key, with their line pointers. */
#define PAGE_BYTES \
	(BLCKSZ - SizeOfPageHeaderData - MAXALIGN(sizeof(BTPageOpaqueData)))

/* Bytes that the smallest possible tuple takes, with its line pointer. */
#define MIN_TUPLE_BYTES	(MAXALIGN(sizeof(IndexTupleData) + 1) + sizeof(ItemIdData))

/*
 * The most pages of a slice that ends where a page ends, and so costs no space.  With fewer pages,
 * participants would ask for slices too often.
 */
#define EXACT_SLICE_PAGES	256

/* How many tuples are looked at to tell how long tuples are. */
#define SAMPLE			1024

/* Returns how many rows at positions from .. to - 1 are equal to the row before. */
static uint64
count_equal(const GpuSortView *view, uint64 from, uint64 to)
{
	uint64		count = 0;

	for (; from < to && from % 64 != 0; from++)
		count += gpusort_view_is_equal(view, from);
	for (; from + 64 <= to; from += 64)
		count += pg_popcount64(view->equal[from / 64]);
	for (; from < to; from++)
		count += gpusort_view_is_equal(view, from);
	return count;
}

/*
 * Returns how many bytes of pages the rows at positions from .. to - 1 take.  A row that becomes
 * part of a posting list takes a TID, any other row tuple_bytes.
 */
static uint64
rows_bytes(const GpuSortStream *stream, uint64 from, uint64 to, size_t tuple_bytes)
{
	uint64		equal = stream->deduplicate ? count_equal(&stream->view, from, to) : 0;

	return (to - from - equal) * tuple_bytes + equal * sizeof(ItemPointerData);
}

/* Returns the average length of tuples, as far as a sample tells. */
static size_t
average_bytes(const GpuSortView *view)
{
	uint64		count = Min(view->nrows, SAMPLE);
	uint64		bytes = 0;

	for (uint64 i = 0; i < count; i++)
		bytes += IndexTupleSize((IndexTuple) gpusort_view_row(view, i * (view->nrows / count)));
	return bytes / count;
}

void
gpusort_slice_cuts_make(GpuSortSliceCuts *cuts, const GpuSortStream *stream, int slice_pages)
{
	const GpuSortView *view = &stream->view;
	uint64		nrows = view->nrows;
	uint64		bytes = rows_bytes(stream, 0, nrows, average_bytes(view) + sizeof(ItemIdData));
	uint64		pages = bytes / (PAGE_BYTES - stream->leaf.min_space) + 1;
	uint64		unit = 1;

	cuts->nrows = nrows;
	cuts->page_rows = 0;
	cuts->slice_rows = Max(nrows / pages, 1) * slice_pages;
	if (view->tuple_bytes > 0 && view->tuple_bytes <= GPUSORT_PAGE_MAX_TUPLE &&
		!(stream->deduplicate && count_equal(view, 0, nrows) > 0))
	{
		unit = cuts->page_rows = gpusort_leaf_tuples_per_page(&stream->leaf, view->tuple_bytes);
		cuts->slice_rows = (uint64) Min(slice_pages, EXACT_SLICE_PAGES) * cuts->page_rows;
	}
	cuts->slice_rows = Max(cuts->slice_rows, GPUSORT_SLICE_MIN_ROWS);
	cuts->slice_rows = (cuts->slice_rows + unit - 1) / unit * unit;
	cuts->nslices = Max(nrows / cuts->slice_rows, 1);
}

/* Returns the first position of the run of equal rows that has the row at `position`. */
static uint64
run_start(const GpuSortView *view, uint64 position)
{
	while (position > 0 && gpusort_view_is_equal(view, position))
		if (position % 64 == 63 && view->equal[position / 64] == PG_UINT64_MAX)
			position -= 64;
		else
			position--;
	return position;
}

uint64
gpusort_slice_cuts_start(const GpuSortSliceCuts *cuts, const GpuSortStream *stream, uint32 slice)
{
	uint64		position = slice * cuts->slice_rows;
	uint64		start;
	IndexTuple	first;

	if (slice == cuts->nslices)
		return cuts->nrows;
	if (!stream->deduplicate || !gpusort_view_is_equal(&stream->view, position))
		return position;
	start = run_start(&stream->view, position);
	first = gpusort_view_row(&stream->view, start);
	return position - (position - start) % gpusort_dedup_max_tids(first);
}

uint32
gpusort_slice_min_pages(const GpuSortStream *stream, uint64 from, uint64 to)
{
	uint64		bytes = rows_bytes(stream, from, to, MIN_TUPLE_BYTES);

	return (bytes + PAGE_BYTES - 1) / PAGE_BYTES;
}

uint32
gpusort_slice_cuts_min_pages(const GpuSortSliceCuts *cuts, const GpuSortStream *stream,
							 uint32 slice)
{
	uint64		from = gpusort_slice_cuts_start(cuts, stream, slice);
	uint64		to = gpusort_slice_cuts_start(cuts, stream, slice + 1);

	if (cuts->page_rows > 0)
	{
		/* the index's last page may have one tuple more, which turns no page */
		uint64		rows = to == cuts->nrows ? to - from - 1 : to - from;

		return (rows + cuts->page_rows - 1) / cuts->page_rows;
	}
	return gpusort_slice_min_pages(stream, from, to);
}
