/*
 * table_own_rows.c
 *		Reads the rows that a command has put into a table; see table.h.
 *
 * Rows of a transaction that has not ended are not changed by any other, so a copy of their page
 * will do.  We hold no pin while the caller looks at the rows, since the caller may have to wait
 * for another process, and that one may be waiting for a page that nobody has pinned.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "table/table.h"

BlockNumber
gpusort_table_own_rows_first_block(Relation heap)
{
	BlockNumber blocks = RelationGetNumberOfBlocks(heap);
	BlockNumber target = RelationGetTargetBlock(heap);

	if (blocks == 0)
		return 0;
	return target < blocks ? target : blocks - 1;
}

void
gpusort_table_own_rows_begin(GpuSortOwnRows *rows, Relation heap, const GpuSortTableOwner *owner,
							 BlockNumber from)
{
	rows->heap = heap;
	rows->owner = *owner;
	rows->next = from;
	rows->end = RelationGetNumberOfBlocks(heap);
	rows->strategy = NULL;
	if (!RelationUsesLocalBuffers(heap) && rows->end - from > NBuffers / 4)
		rows->strategy = GetAccessStrategy(BAS_BULKREAD);
	rows->count = rows->at = 0;
}

/*
 * Returns whether a row was put by this owner.  If a row has the owner's transaction ID but is
 * frozen where the owner's rows are not, the ID is of an earlier epoch.
 */
static bool
row_is_own(const GpuSortTableOwner *owner, HeapTupleHeader row)
{
	return HeapTupleHeaderGetRawXmin(row) == owner->xid &&
		HeapTupleHeaderGetRawCommandId(row) == owner->cid &&
		HeapTupleHeaderXminFrozen(row) == owner->frozen && (row->t_infomask & HEAP_COMBOCID) == 0;
}

static void
copy_page(GpuSortOwnRows *rows)
{
	Buffer		buffer = ReadBufferExtended(rows->heap, MAIN_FORKNUM, rows->next++, RBM_NORMAL,
											rows->strategy);

	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	memcpy(rows->page.data, BufferGetPage(buffer), BLCKSZ);
	UnlockReleaseBuffer(buffer);
}

static void
read_page(GpuSortOwnRows *rows)
{
	Page		page = rows->page.data;
	OffsetNumber last;

	CHECK_FOR_INTERRUPTS();
	copy_page(rows);
	rows->count = rows->at = 0;
	last = PageIsNew(page) ? 0 : PageGetMaxOffsetNumber(page);
	for (OffsetNumber offset = FirstOffsetNumber; offset <= last; offset++)
	{
		ItemId		item = PageGetItemId(page, offset);

		if (ItemIdIsNormal(item) &&
			row_is_own(&rows->owner, (HeapTupleHeader) PageGetItem(page, item)))
			rows->offsets[rows->count++] = offset;
	}
}

bool
gpusort_table_own_rows_next(GpuSortOwnRows *rows, HeapTuple tuple)
{
	Page		page = rows->page.data;
	ItemId		item;
	OffsetNumber offset;

	while (rows->at == rows->count)
	{
		if (rows->next >= rows->end)
			return false;
		read_page(rows);
	}
	offset = rows->offsets[rows->at++];
	item = PageGetItemId(page, offset);
	tuple->t_data = (HeapTupleHeader) PageGetItem(page, item);
	tuple->t_len = ItemIdGetLength(item);
	tuple->t_tableOid = RelationGetRelid(rows->heap);
	ItemPointerSet(&tuple->t_self, rows->next - 1, offset);
	return true;
}

void
gpusort_table_own_rows_end(GpuSortOwnRows *rows)
{
	if (rows->strategy != NULL)
		FreeAccessStrategy(rows->strategy);
}
