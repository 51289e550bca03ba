/*
 * heap_chains.c
 *		Writes sorted versions into a new table, if chains of updates lead from some of them to
 *		others; see heap_chains.h.
 *
 * The server's own rewrite_heap_tuple() writes them, since it knows how to make t_ctid lead to
 * where a version's successor has gone.  There are such versions only while some transaction is
 * older than an update.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/rewriteheap.h"
#include "utils/memutils.h"

#include "heap/heap_chains.h"
#include "heap/heap_version.h"

struct GpuSortHeapChains
{
	RewriteState state;
	Oid			table;
	MemoryContext context;		/* reset for each version */
};

GpuSortHeapChains *
gpusort_heap_chains_begin(const GpuSortHeapCopy *copy)
{
	GpuSortHeapChains *chains = palloc0(sizeof(GpuSortHeapChains));

	chains->state = begin_heap_rewrite(copy->old_heap, copy->new_heap, copy->oldest_xmin,
									   copy->freeze_xid, copy->freeze_multi);
	chains->table = RelationGetRelid(copy->old_heap);
	chains->context = AllocSetContextCreate(CurrentMemoryContext, "gpusort heap chains",
											ALLOCSET_DEFAULT_SIZES);
	return chains;
}

/*
 * Get the TIDs of a version.  If none were kept, the version is in no chain, so any TID will do, as
 * long as t_ctid is the same.
 */
static void
find_tids(MinimalTuple version, GpuSortVersionTids *tids)
{
	if (gpusort_version_has_tids(version))
		gpusort_version_tids(version, tids);
	else
	{
		ItemPointerSet(&tids->self, 0, FirstOffsetNumber);
		tids->ctid = tids->self;
	}
}

void
gpusort_heap_chains_put(GpuSortHeapChains *chains, MinimalTuple version)
{
	MemoryContext old = MemoryContextSwitchTo(chains->context);
	uint32		length = gpusort_version_length(version);
	HeapTupleData before = {.t_len = length,.t_tableOid = chains->table};
	GpuSortVersionTids tids;

	find_tids(version, &tids);
	before.t_data = palloc(length);
	gpusort_version_unpack(version, length, (char *) before.t_data);
	before.t_self = tids.self;
	before.t_data->t_ctid = tids.ctid;
	rewrite_heap_tuple(chains->state, &before, heap_copytuple(&before));
	MemoryContextSwitchTo(old);
	MemoryContextReset(chains->context);
}

void
gpusort_heap_chains_finish(GpuSortHeapChains *chains)
{
	end_heap_rewrite(chains->state);
}
