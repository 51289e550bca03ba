/*
 * cluster_reader.c
 *		Reads the versions that a table's copy will have from the old table's pages into a sort;
 *		see cluster_copy_private.h.
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/htup_details.h"
#include "access/multixact.h"
#include "access/transam.h"
#include "access/xact.h"
#include "executor/tuptable.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"

#include "cluster/cluster_copy_private.h"
#include "cluster/cluster_version_private.h"
#include "cluster/cluster_write_private.h"
#include "pg_compat/executor.h"
#include "sort/sort.h"
#include "team/workers.h"

/* ---------- what processes share ---------- */

/* Number of pages that a process takes at a time; enough for the kernel to read ahead. */
#define PAGES_TAKEN		32

void
gpusort_cluster_share_init(GpuSortClusterShare *share, BlockNumber nblocks)
{
	memset(share, 0, sizeof(*share));
	share->nblocks = nblocks;
	pg_atomic_init_u64(&share->next, 0);
	pg_atomic_init_u64(&share->read, 0);
	pg_atomic_init_u64(&share->kept, 0);
	pg_atomic_init_u32(&share->stopped, 0);
	SpinLockInit(&share->mutex);
}

/*
 * Take the next pages for this process to read, *from .. *end - 1.  Returns false if there are
 * none left, or reading was stopped.
 */
static bool
gpusort_cluster_share_take(GpuSortClusterShare *share, BlockNumber *from, BlockNumber *end)
{
	uint64		taken;

	if (pg_atomic_read_u32(&share->stopped) != 0)
		return false;
	taken = pg_atomic_fetch_add_u64(&share->next, PAGES_TAKEN);
	if (taken >= share->nblocks)
		return false;
	*from = (BlockNumber) taken;
	*end = (BlockNumber) Min(taken + PAGES_TAKEN, share->nblocks);
	return true;
}

/* Note that a page has been read, with so many versions to be kept. */
static void
gpusort_cluster_share_count(GpuSortClusterShare *share, int versions)
{
	pg_atomic_fetch_add_u64(&share->kept, versions);
	pg_atomic_fetch_add_u64(&share->read, 1);
}

void
gpusort_cluster_share_show(GpuSortClusterShare *share)
{
	gpusort_cluster_show_read((BlockNumber) pg_atomic_read_u64(&share->read),
							  (double) pg_atomic_read_u64(&share->kept));
}

/* Keep all processes from taking any more pages. */
static void
gpusort_cluster_share_stop(GpuSortClusterShare *share)
{
	pg_atomic_write_u32(&share->stopped, 1);
}

/* Add what a process has found, when it has read its last page. */
static void
gpusort_cluster_share_add(GpuSortClusterShare *share, const GpuSortClusterFindings *findings)
{
	GpuSortClusterFindings *all = &share->findings;

	SpinLockAcquire(&share->mutex);
	all->counts.kept += findings->counts.kept;
	all->counts.removed += findings->counts.removed;
	all->counts.recently_dead += findings->counts.recently_dead;
	all->chains |= findings->chains;
	all->toasted += findings->toasted;
	all->bytes += findings->bytes;
	if (all->shortest == 0 || (findings->shortest != 0 && findings->shortest < all->shortest))
		all->shortest = findings->shortest;
	all->longest = Max(all->longest, findings->longest);
	SpinLockRelease(&share->mutex);
}

bool
gpusort_cluster_share_is_complete(GpuSortClusterShare *share)
{
	return pg_atomic_read_u32(&share->stopped) == 0 &&
		pg_atomic_read_u64(&share->read) == share->nblocks;
}

/* ---------- reading ---------- */

/*
 * The table is locked against all other sessions, and read page by page.  Under the page's lock we
 * judge which versions are to be kept, as the server's own copy does; then, while the page is
 * pinned, we put these versions into the sort.
 *
 * We put them as they will be written: without the infomask bits that a copy does not keep, frozen
 * where that is possible, with all columns that the table has now, and without values of columns
 * that were dropped.  Versions that a chain of updates may lead to or from, which other
 * transactions could still follow, are put as they are, with their TIDs (cluster_write.c).  Of the
 * old table only hint bits are written; freezing a row that several transactions have locked may
 * create a multixact.
 */

struct GpuSortClusterReader
{
	GpuSortClusterCopy copy;
	GpuSort    *sort;
	BufferAccessStrategy strategy;
	bool		is_part;
	GpuSortClusterFindings findings;

	/* state for making versions */
	TupleDesc	desc;
	bool		has_dropped;	/* the table has dropped columns */
	Datum	   *values;
	bool	   *isnull;
	TupleTableSlot *slot;
	char	   *packed;			/* version that is being put */
	GpuSortClusterKeys *keys;		/* NULL if versions are sorted as they are */
};

static bool
has_dropped_columns(TupleDesc desc)
{
	for (int i = 0; i < desc->natts; i++)
		if (TupleDescAttr(desc, i)->attisdropped)
			return true;
	return false;
}

GpuSortClusterReader *
gpusort_cluster_reader_begin(const GpuSortClusterCopy *copy, GpuSort *sort, bool is_part)
{
	GpuSortClusterReader *reader = palloc0(sizeof(GpuSortClusterReader));

	reader->copy = *copy;
	reader->sort = sort;
	reader->is_part = is_part;
	if (!RelationUsesLocalBuffers(copy->old_heap) &&
		RelationGetNumberOfBlocks(copy->old_heap) > NBuffers / 4)
		reader->strategy = GetAccessStrategy(BAS_BULKREAD);
	/*
	 * a copy of the descriptor, which is released with the context, spares slots the counting of
	 * references
	 */
	reader->desc = CreateTupleDescCopy(RelationGetDescr(copy->new_heap));
	reader->has_dropped = has_dropped_columns(reader->desc);
	reader->values = palloc(reader->desc->natts * sizeof(Datum));
	reader->isnull = palloc(reader->desc->natts * sizeof(bool));
	reader->slot = MakeSingleTupleTableSlot(reader->desc, &TTSOpsHeapTuple);
	reader->packed = palloc(BLCKSZ + GPUSORT_VERSION_MAX_BYTES);
	if (gpusort_cluster_has_keys(copy->index))
		reader->keys = gpusort_cluster_keys_begin(copy->old_heap, copy->index);
	return reader;
}

/*
 * Returns whether a version is to be kept, by the rules of the server's copy.  The page is locked.
 */
static bool
judge_version(GpuSortClusterReader *reader, HeapTuple tuple, Buffer buffer)
{
	const uint16 committed = HEAP_XMIN_COMMITTED | HEAP_XMAX_INVALID;
	HeapTupleHeader header = tuple->t_data;
	const char *table = RelationGetRelationName(reader->copy.old_heap);

	if ((header->t_infomask & committed) == committed)
		return true;
	switch (HeapTupleSatisfiesVacuum(tuple, reader->copy.oldest_xmin, buffer))
	{
		case HEAPTUPLE_DEAD:
			reader->findings.counts.removed++;
			return false;
		case HEAPTUPLE_LIVE:
			return true;
		case HEAPTUPLE_RECENTLY_DEAD:
			reader->findings.counts.recently_dead++;
			return true;
		case HEAPTUPLE_INSERT_IN_PROGRESS:
			if (!TransactionIdIsCurrentTransactionId(HeapTupleHeaderGetXmin(header)))
				elog(WARNING, "concurrent insert in progress within table \"%s\"", table);
			return true;
		case HEAPTUPLE_DELETE_IN_PROGRESS:
			if (!TransactionIdIsCurrentTransactionId(HeapTupleHeaderGetUpdateXid(header)))
				elog(WARNING, "concurrent delete in progress within table \"%s\"", table);
			reader->findings.counts.recently_dead++;
			return true;
		default:
			elog(ERROR, "unexpected HeapTupleSatisfiesVacuum result");
			return false;		/* keep compiler quiet */
	}
}

/* List the versions of a page that are to be kept, in `offsets`.  Returns their number. */
static int
judge_page(GpuSortClusterReader *reader, Buffer buffer, OffsetNumber *offsets)
{
	Page		page = BufferGetPage(buffer);
	OffsetNumber last;
	HeapTupleData tuple;
	int			count = 0;

	tuple.t_tableOid = RelationGetRelid(reader->copy.old_heap);
	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	last = PageGetMaxOffsetNumber(page);
	for (OffsetNumber offset = FirstOffsetNumber; offset <= last; offset++)
	{
		ItemId		item = PageGetItemId(page, offset);

		if (!ItemIdIsNormal(item))
			continue;
		tuple.t_data = (HeapTupleHeader) PageGetItem(page, item);
		tuple.t_len = ItemIdGetLength(item);
		ItemPointerSet(&tuple.t_self, BufferGetBlockNumber(buffer), offset);
		if (judge_version(reader, &tuple, buffer))
			offsets[count++] = offset;
	}
	LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
	return count;
}

/*
 * Returns whether another version's t_ctid may lead to this one, or this one's to another, for
 * transactions that may still follow it.  The rules are those of rewrite_heap_tuple().
 */
static bool
is_in_chain(const GpuSortClusterReader *reader, HeapTuple tuple)
{
	HeapTupleHeader header = tuple->t_data;

	if ((header->t_infomask & HEAP_XMAX_INVALID) == 0 &&
		!HeapTupleHeaderIndicatesMovedPartitions(header) &&
		!ItemPointerEquals(&tuple->t_self, &header->t_ctid) &&
		!HeapTupleHeaderIsOnlyLocked(header))
		return true;
	return (header->t_infomask & HEAP_UPDATED) != 0 &&
		!TransactionIdPrecedes(HeapTupleHeaderGetXmin(header), reader->copy.oldest_xmin);
}

/* Returns whether the tuple must be formed anew, to have the columns that the table has now. */
static inline bool
must_reform(const GpuSortClusterReader *reader, HeapTupleHeader header)
{
	return reader->has_dropped || HeapTupleHeaderGetNatts(header) != reader->desc->natts ||
		(header->t_infomask & HEAP_HASOID_OLD) != 0;
}

/*
 * Form a tuple with the columns that the table has now.  What the tuple's header says of
 * transactions is kept.
 */
static HeapTuple
reform(GpuSortClusterReader *reader, HeapTuple tuple)
{
	HeapTuple	formed;

	heap_deform_tuple(tuple, RelationGetDescr(reader->copy.old_heap), reader->values,
					  reader->isnull);
	for (int i = 0; i < reader->desc->natts; i++)
		if (TupleDescAttr(reader->desc, i)->attisdropped)
			reader->isnull[i] = true;
	formed = heap_form_tuple(reader->desc, reader->values, reader->isnull);
	formed->t_data->t_choice = tuple->t_data->t_choice;
	formed->t_data->t_infomask &= ~HEAP_XACT_MASK;
	formed->t_data->t_infomask |= tuple->t_data->t_infomask & HEAP_XACT_MASK;
	return formed;
}

/* Copy a tuple to reader->packed, formed anew if need be, and make `copy` refer to it. */
static void
copy_version(GpuSortClusterReader *reader, HeapTuple tuple, HeapTuple copy)
{
	HeapTuple	formed = NULL;

	if (must_reform(reader, tuple->t_data))
	{
		formed = reform(reader, tuple);
		/*
		 * default values of columns that were added later may have made the tuple longer than a
		 * page
		 */
		if (formed->t_len > BLCKSZ)
			reader->packed = repalloc(reader->packed, formed->t_len + GPUSORT_VERSION_MAX_BYTES);
		tuple = formed;
	}
	copy->t_len = tuple->t_len;
	copy->t_data = (HeapTupleHeader) reader->packed;
	memcpy(copy->t_data, tuple->t_data, tuple->t_len);
	if (formed != NULL)
		heap_freetuple(formed);
}

/* Put a version that has been packed into the sort.  Returns false if the sort can't take it. */
static bool
put_packed(GpuSortClusterReader *reader, HeapTuple packed)
{
	TupleTableSlot *slot = reader->slot;
	bool		put;

	if (reader->keys != NULL)
		slot = gpusort_cluster_keys_row(reader->keys, packed);
	else if (gpusort_put_heap_tuple(reader->sort, packed))
		return true;
	else
		ExecStoreHeapTuple(packed, slot, false);
	put = reader->is_part ? gpusort_put_part_slot(reader->sort, slot)
		: gpusort_put_optional_slot(reader->sort, slot);
	ExecClearTuple(slot);
	return put;
}

/* Note what those who write the new table have to know of a version. */
static inline void
note_version(GpuSortClusterFindings *findings, HeapTuple tuple, bool in_chain)
{
	uint32		length = MAXALIGN(tuple->t_len);

	findings->chains |= in_chain;
	findings->toasted += gpusort_table_needs_toaster(tuple->t_data->t_infomask, tuple->t_len);
	/* the toaster makes a longer tuple about as short as that */
	findings->bytes += Min(length, TOAST_TUPLE_THRESHOLD);
	findings->longest = Max(findings->longest, length);
	if (unlikely(findings->shortest == 0) || length < findings->shortest)
		findings->shortest = length;
}

/* Pack a version and put it into the sort.  Returns false if the sort can't take it. */
static bool
put_version(GpuSortClusterReader *reader, HeapTuple tuple)
{
	Form_pg_class form = reader->copy.old_heap->rd_rel;
	bool		in_chain = is_in_chain(reader, tuple);
	GpuSortVersionTids tids = {tuple->t_self, tuple->t_data->t_ctid};
	HeapTupleData copy = {.t_tableOid = tuple->t_tableOid};

	if (reader->keys != NULL)
		gpusort_cluster_keys_compute(reader->keys, tuple);
	copy_version(reader, tuple, &copy);
	copy.t_data->t_infomask2 &= ~HEAP2_XACT_MASK;
	if (!in_chain)
		(void) heap_freeze_tuple(copy.t_data, form->relfrozenxid, form->relminmxid,
								 reader->copy.freeze_xid, reader->copy.freeze_multi);
	note_version(&reader->findings, &copy, in_chain);
	gpusort_version_pack(&copy, in_chain ? &tids : NULL);
	return put_packed(reader, &copy);
}

/* Put the listed versions of a pinned page.  Returns false if the sort can't take one of them. */
static bool
put_versions(GpuSortClusterReader *reader, Buffer buffer, const OffsetNumber *offsets, int count)
{
	Page		page = BufferGetPage(buffer);
	HeapTupleData tuple;

	tuple.t_tableOid = RelationGetRelid(reader->copy.old_heap);
	for (int i = 0; i < count; i++)
	{
		ItemId		item = PageGetItemId(page, offsets[i]);

		tuple.t_data = (HeapTupleHeader) PageGetItem(page, item);
		tuple.t_len = ItemIdGetLength(item);
		ItemPointerSet(&tuple.t_self, BufferGetBlockNumber(buffer), offsets[i]);
		if (!put_version(reader, &tuple))
			return false;
	}
	return true;
}

/*
 * Read a page.  Returns how many of its versions are to be kept; *put is false if one of them could
 * not be put.
 */
static int
read_page(GpuSortClusterReader *reader, BlockNumber block, bool *put)
{
	Buffer		buffer = ReadBufferExtended(reader->copy.old_heap, MAIN_FORKNUM, block, RBM_NORMAL,
											reader->strategy);
	OffsetNumber offsets[MaxHeapTuplesPerPage];
	int			count = judge_page(reader, buffer, offsets);

	*put = put_versions(reader, buffer, offsets, count);
	ReleaseBuffer(buffer);
	reader->findings.counts.kept += count;
	gpusort_count_heap_tuples(reader->copy.old_heap, count);
	return count;
}

void
gpusort_cluster_reader_read(GpuSortClusterReader *reader, GpuSortClusterShare *share, bool shows)
{
	BlockNumber block;
	BlockNumber end;
	bool		put = true;

	while (put && gpusort_cluster_share_take(share, &block, &end))
	{
		gpusort_worker_fault("reading a table");
		for (; block < end && put; block++)
		{
			int			count;

			CHECK_FOR_INTERRUPTS();
			count = read_page(reader, block, &put);
			gpusort_cluster_share_count(share, count);
			if (shows)
				gpusort_cluster_share_show(share);
		}
	}
	if (!put)
		gpusort_cluster_share_stop(share);
	gpusort_cluster_share_add(share, &reader->findings);
}

void
gpusort_cluster_reader_end(GpuSortClusterReader *reader)
{
	if (reader->keys != NULL)
		gpusort_cluster_keys_end(reader->keys);
	ExecDropSingleTupleTableSlot(reader->slot);
	if (reader->strategy != NULL)
		FreeAccessStrategy(reader->strategy);
}
