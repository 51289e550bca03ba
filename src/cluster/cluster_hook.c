/*
 * cluster_hook.c
 *		Redirects the copy of a table in the order of an index to gpusort.
 *
 * CLUSTER, and REPACK of PostgreSQL 19, have the table's access method copy the table
 * (relation_copy_for_cluster()), for which there is no hook.  But just before, the server asks the
 * planner whether to read the table through the index or to sort it, and the dummy planning for
 * that calls the hook for relation information, as it does before index builds
 * (index/index_hook.c).  There we point the table's entry in the relation cache at a copy of heap's
 * access method that differs in this function only.
 *
 * Other code compares that pointer with heap's own access method, so it must not stay: our function
 * puts it back first of all, or the end of the statement does, if the statement ends otherwise.  In
 * between, the statement holds the entry open.  If the cache rebuilds the entry meanwhile,
 * PostgreSQL copies the table.
 *
 * Where the table would be sorted in memory, the same hook hides the index from the planner, which
 * then answers that the table is to be sorted.  So VERBOSE and the progress view tell what is
 * really done.
 *
 * With enable_indexscan off, the planner answers without planning anything, and so PostgreSQL
 * copies the table.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/heapam.h"
#include "access/tableam.h"
#include "catalog/index.h"
#include "catalog/pg_am.h"
#include "miscadmin.h"
#include "nodes/pathnodes.h"
#include "utils/rel.h"

#include "cluster/cluster.h"
#include "cluster/cluster_copy_private.h"
#include "pg_compat/tables.h"
#include "settings.h"

/* heap's access method with our relation_copy_for_cluster(). */
static TableAmRoutine our_heap;

/* The innermost statement that is running copies tables. */
static bool clustering = false;

/* The table whose entry points to our_heap. */
static Relation redirected = NULL;

void
gpusort_cluster_end_redirection(void)
{
	if (redirected != NULL && redirected->rd_tableam == &our_heap)
		redirected->rd_tableam = GetHeapamTableAmRoutine();
	redirected = NULL;
}

/*
 * Our relation_copy_for_cluster(): copy the table here or, where gpusort does not, by heap's own
 * function.
 */
static void
copy_for_cluster(GPUSORT_COPY_FOR_CLUSTER_PARAMETERS)
{
	GpuSortClusterCopy copy = {
		.old_heap = old_heap, .new_heap = new_heap, .index = index, .sort = use_sort,
		.oldest_xmin = oldest_xmin, .freeze_xid = *freeze_xid, .freeze_multi = *freeze_multi
	};
	GpuSortClusterCounts counts;

	gpusort_cluster_end_redirection();
	if (index == NULL || GPUSORT_COPY_IS_CONCURRENT ||
		new_heap->rd_tableam != GetHeapamTableAmRoutine() ||
		RelationGetNumberOfBlocks(new_heap) != 0 || !gpusort_cluster(&copy, &counts))
	{
		GetHeapamTableAmRoutine()->relation_copy_for_cluster(GPUSORT_COPY_FOR_CLUSTER_ARGUMENTS);
		return;
	}
	*num_tuples += counts.kept;
	*tups_vacuumed += counts.removed;
	*tups_recently_dead += counts.recently_dead;
}

/*
 * Point the relation cache entry of a table, which is held open, at our copy of heap's access
 * method.
 */
static void
redirect_copy(Relation heap)
{
	gpusort_cluster_end_redirection();
	if (heap->rd_tableam != GetHeapamTableAmRoutine())
		return;
	if (our_heap.relation_copy_for_cluster == NULL)
	{
		our_heap = *GetHeapamTableAmRoutine();
		our_heap.relation_copy_for_cluster = copy_for_cluster;
	}
	heap->rd_tableam = &our_heap;
	redirected = heap;
}

/* Hide from the planner the indexes in whose order the table would be sorted in memory. */
static void
hide_indexes(Relation heap, RelOptInfo *rel)
{
	List	   *others = NIL;
	ListCell   *lc;

	foreach(lc, rel->indexlist)
	{
		IndexOptInfo *info = lfirst_node(IndexOptInfo, lc);
		Relation	index = RelationIdGetRelation(info->indexoid);

		if (!RelationIsValid(index) ||
			!gpusort_cluster_fits_memory(heap, index, (size_t) maintenance_work_mem * 1024))
			others = lappend(others, info);
		if (RelationIsValid(index))
			RelationClose(index);
	}
	rel->indexlist = others;
}

/*
 * Returns whether the statement may be about to copy this table: the statement has it open, besides
 * us, and is not building its indexes.
 */
static bool
may_be_copied(Relation heap)
{
	/* the new table's TOAST table gets an index, for which the planner is asked, too */
	return heap->rd_refcnt > 1 && heap->rd_rel->relkind != RELKIND_TOASTVALUE &&
		!ReindexIsProcessingHeap(RelationGetRelid(heap));
}

void
gpusort_cluster_take_copy(Oid table, RelOptInfo *rel)
{
	Relation	heap;

	if (!clustering || !gpusort_enabled || !gpusort_enable_cluster)
		return;
	heap = RelationIdGetRelation(table);
	if (!RelationIsValid(heap))
		return;
	if (may_be_copied(heap))
	{
		redirect_copy(heap);
		hide_indexes(heap, rel);
	}
	RelationClose(heap);
}

bool
gpusort_cluster_set_copies(bool copies)
{
	bool		outer = clustering;

	clustering = copies;
	return outer;
}
