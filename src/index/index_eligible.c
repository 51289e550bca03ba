/*
 * index_eligible.c
 *		Decides whether an index is built here, by which key, and with how many workers; see
 *		index_build_private.h.
 */
#include "postgres.h"

#include <limits.h>

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/nbtree.h"
#include "access/transam.h"
#include "catalog/catalog.h"
#include "miscadmin.h"
#include "optimizer/optimizer.h"
#include "optimizer/plancat.h"
#include "storage/bufmgr.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "cost/cost.h"
#include "index/index.h"
#include "index/index_build_private.h"
#include "keys/key_codec.h"
#include "settings.h"
#include "sort/sort.h"

/* ---------- the key ---------- */

bool
gpusort_index_sort_spec(Relation index, GpuSortSpec *spec, const char **reason)
{
	int			nkeys = IndexRelationGetNumberOfKeyAttributes(index);

	*spec = gpusort_make_spec(GPUSORT_KIND_INDEX, nkeys);
	for (int i = 0; i < nkeys; i++)
	{
		int16		option = index->rd_indoption[i];
		Oid			type = index->rd_opcintype[i];

		spec->attnos[i] = i + 1;
		spec->collations[i] = index->rd_indcollation[i];
		spec->sortops[i] = get_opfamily_member(index->rd_opfamily[i], type, type,
											   (option & INDOPTION_DESC) != 0
											   ? BTGreaterStrategyNumber
											   : BTLessStrategyNumber);
		spec->nulls_first[i] = (option & INDOPTION_NULLS_FIRST) != 0;
		if (!OidIsValid(spec->sortops[i]))
		{
			*reason = "operator family has no ordering operator";
			return false;
		}
		if (!gpusort_codec_fits_class(spec->sortops[i], index->rd_opfamily[i], type,
									  index_getprocid(index, i + 1, BTORDER_PROC), reason))
			return false;
	}
	return true;
}

/* ---------- whether ---------- */

/* Width that is assumed for a value of unknown length, as the planner does. */
#define UNKNOWN_WIDTH	32

/* Returns the average width of the index's tuples, without their headers. */
static int
average_width(const GpuSortIndexTarget *target)
{
	TupleDesc	desc = RelationGetDescr(target->index);
	int			width = 0;

	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);
		AttrNumber	heap_attno = target->info->ii_IndexAttrNumbers[i];
		int			att_width = att->attlen;

		if (att_width <= 0 && heap_attno > 0)
			att_width = get_attavgwidth(RelationGetRelid(target->heap), heap_attno);
		width += att_width > 0 ? att_width : UNKNOWN_WIDTH;
	}
	return width;
}

/*
 * Returns whether the table is large enough, and its tuples few enough for the memory that the
 * build would get now.  Sets spec->expected_rows.
 */
static bool
is_worth_it(const GpuSortIndexTarget *target, size_t limit_bytes, GpuSortSpec *spec,
			const char **reason)
{
	GpuSortEstimate estimate;
	Oid		   *types = palloc(spec->nkeys * sizeof(Oid));
	GpuSortCostKeys keys = {spec->nkeys, spec->sortops, types, spec->collations};
	BlockNumber pages;
	double		rows;
	double		all_visible;
	double		header_bytes = MAXALIGN(SizeofMinimalTupleHeader) - sizeof(IndexTupleData);
	double		tuple_bytes;

	for (int i = 0; i < spec->nkeys; i++)
		types[i] = TupleDescAttr(RelationGetDescr(target->index), i)->atttypid;
	estimate_rel_size(target->heap, NULL, &pages, &rows, &all_visible);
	if (!gpusort_estimate(&keys, rows, average_width(target), &estimate, reason))
		return false;
	spec->expected_rows = rows;
	if (gpusort_force)
		return true;
	tuple_bytes = estimate.memory_bytes - rows * header_bytes;
	if (rows < gpusort_min_rows)
		*reason = "fewer rows estimated than gpusort.min_rows";
	else if (target->info->ii_Predicate != NIL || gpusort_enable_spill)
		return true;
	else if (tuple_bytes > limit_bytes + gpusort_sort_pool_limit())
		*reason = "tuples estimated not to fit into maintenance_work_mem and the pool";
	else if (tuple_bytes > limit_bytes + gpusort_sort_pool_available())
		*reason = "tuples estimated not to fit into what is free of the pool";
	else
		return true;
	return false;
}

bool
gpusort_index_is_eligible(const GpuSortIndexTarget *target, size_t limit_bytes, GpuSortSpec *spec,
						  const char **reason)
{
	Relation	heap = target->heap;

	if (!gpusort_enabled || !gpusort_enable_index_build)
		*reason = "switched off";
	else if (RelationGetRelid(heap) < FirstNormalObjectId || IsCatalogRelation(heap) ||
			 IsToastRelation(heap))
		*reason = "index of a system table";
	else if (RelationGetNumberOfBlocks(target->index) != 0)
		*reason = "index has pages";
	else
		return gpusort_index_sort_spec(target->index, spec, reason) &&
			is_worth_it(target, limit_bytes, spec, reason);
	return false;
}

/* ---------- how many workers ---------- */

int
gpusort_index_workers(const GpuSortIndexTarget *target)
{
	int			planned = target->info->ii_ParallelWorkers;
	size_t		kb = maintenance_work_mem + gpusort_sort_pool_available() / 1024;
	char		value[32];
	int			nest;

	if (planned >= max_parallel_maintenance_workers || kb == maintenance_work_mem)
		return planned;
	/* the planner's number depends on more than memory, so ask it again, with more memory */
	nest = NewGUCNestLevel();
	snprintf(value, sizeof(value), "%d", (int) Min(kb, MAX_KILOBYTES));
	(void) set_config_option("maintenance_work_mem", value, PGC_USERSET, PGC_S_SESSION,
							 GUC_ACTION_SAVE, true, 0, false);
	planned = Max(planned, plan_create_index_workers(RelationGetRelid(target->heap),
													 RelationGetRelid(target->index)));
	AtEOXact_GUC(false, nest);
	return planned;
}
