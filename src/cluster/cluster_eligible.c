/*
 * cluster_eligible.c
 *		Decides whether the copy of a table in the order of an index is made here; see
 *		cluster_copy_private.h.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/tableam.h"
#include "catalog/catalog.h"
#include "catalog/pg_am.h"
#include "catalog/pg_class.h"
#include "optimizer/plancat.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "cluster/cluster_copy_private.h"
#include "cluster/cluster_version_private.h"
#include "cost/cost.h"
#include "index/index.h"
#include "settings.h"
#include "sort/sort.h"

/* The sort's columns are those of the table, or of rows with keys (cluster_version_private.h). */
bool
gpusort_cluster_sort_spec(Relation index, GpuSortSpec *spec, const char **reason)
{
	if (index->rd_rel->relam != BTREE_AM_OID)
		*reason = "index is no btree";
	else if (gpusort_index_sort_spec(index, spec, reason))
	{
		bool		keyed = gpusort_cluster_has_keys(index);

		spec->kind = GPUSORT_KIND_CLUSTER;
		for (int i = 0; i < spec->nkeys; i++)
			spec->attnos[i] =
				keyed ? GPUSORT_CLUSTER_KEY_ATTNO(i) : index->rd_index->indkey.values[i];
		return true;
	}
	return false;
}

TupleDesc
gpusort_cluster_sort_desc(Relation heap, Relation index)
{
	/* a copy of the descriptor spares slots the counting of references */
	return gpusort_cluster_has_keys(index) ? gpusort_cluster_keys_desc(heap, index)
		: CreateTupleDescCopy(RelationGetDescr(heap));
}

/*
 * Estimate what sorting the table takes, without the memory for what a version has beyond its
 * columns.  Returns false and sets *reason if gpusort can't sort it.
 */
static bool
estimate_sort(Relation heap, Relation index, GpuSortSpec *spec, GpuSortEstimate *estimate,
			  const char **reason)
{
	bool		keyed = gpusort_cluster_has_keys(index);
	TupleDesc	desc = keyed ? gpusort_cluster_keys_desc(heap, index) : RelationGetDescr(heap);
	int			width = get_relation_data_width(RelationGetRelid(heap), NULL);
	Oid		   *types = palloc(spec->nkeys * sizeof(Oid));
	GpuSortCostKeys keys = {spec->nkeys, spec->sortops, types, spec->collations};
	BlockNumber pages;
	double		all_visible;

	for (int i = 0; i < spec->nkeys; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, spec->attnos[i] - 1);

		types[i] = att->atttypid;
		if (keyed)
			width += get_typavgwidth(att->atttypid, att->atttypmod);
	}
	estimate_rel_size(heap, NULL, &pages, &spec->expected_rows, &all_visible);
	return gpusort_estimate(&keys, spec->expected_rows, width, estimate, reason);
}

static bool
is_eligible(Relation heap, Relation index, GpuSortSpec *spec, GpuSortEstimate *estimate,
			const char **reason)
{
	if (!gpusort_enabled || !gpusort_enable_cluster)
		*reason = "switched off";
	else if (RelationGetRelid(heap) < FirstNormalObjectId || IsCatalogRelation(heap) ||
			 IsToastRelation(heap) || RelationIsAccessibleInLogicalDecoding(heap))
		*reason = "system table";
	else if (!gpusort_cluster_sort_spec(index, spec, reason) ||
			 !estimate_sort(heap, index, spec, estimate, reason))
		return false;
	else if (!gpusort_force && spec->expected_rows < gpusort_min_rows)
		*reason = "fewer rows estimated than gpusort.min_rows";
	else
		return true;
	return false;
}

/*
 * Returns whether the table's versions are estimated to fit into limit_bytes of private memory and
 * what is free of the pool.
 */
static bool
fits_memory(const GpuSortSpec *spec, const GpuSortEstimate *estimate, size_t limit_bytes)
{
	return estimate->memory_bytes + spec->expected_rows * GPUSORT_VERSION_XIDS_BYTES <=
		limit_bytes + gpusort_sort_pool_available();
}

bool
gpusort_cluster_is_eligible(Relation heap, Relation index, size_t limit_bytes, GpuSortSpec *spec,
							const char **reason)
{
	GpuSortEstimate estimate;

	if (!is_eligible(heap, index, spec, &estimate, reason))
		return false;
	if (gpusort_force || gpusort_may_spill(limit_bytes) ||
		fits_memory(spec, &estimate, limit_bytes))
		return true;
	*reason = "rows estimated not to fit into maintenance_work_mem and the pool";
	return false;
}

bool
gpusort_cluster_fits_memory(Relation heap, Relation index, size_t limit_bytes)
{
	GpuSortSpec spec;
	GpuSortEstimate estimate;
	const char *reason;

	return is_eligible(heap, index, &spec, &estimate, &reason) &&
		(gpusort_force || fits_memory(&spec, &estimate, limit_bytes));
}
