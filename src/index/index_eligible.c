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
#include "catalog/namespace.h"
#include "catalog/pg_am.h"
#include "commands/defrem.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
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

/* A key column of an index, as far as it says how rows are sorted. */
typedef struct KeyColumn
{
	Oid			opfamily;
	Oid			type;			/* that the operator class compares */
	Oid			collation;
	Oid			order_proc;		/* the operator class's comparison */
	int16		option;			/* INDOPTION_* */
} KeyColumn;

/* Sets column i of a sort key; returns false with *reason if gpusort can't sort by it. */
static bool
set_key_column(GpuSortSpec *spec, int i, const KeyColumn *column, const char **reason)
{
	bool		descending = (column->option & INDOPTION_DESC) != 0;

	spec->attnos[i] = i + 1;
	spec->collations[i] = column->collation;
	spec->sortops[i] = get_opfamily_member(column->opfamily, column->type, column->type,
										   descending ? BTGreaterStrategyNumber
										   : BTLessStrategyNumber);
	spec->nulls_first[i] = (column->option & INDOPTION_NULLS_FIRST) != 0;
	if (!OidIsValid(spec->sortops[i]))
	{
		*reason = "operator family has no ordering operator";
		return false;
	}
	return gpusort_codec_fits_class(spec->sortops[i], column->opfamily, column->type,
									column->order_proc, reason);
}

bool
gpusort_index_sort_spec(Relation index, GpuSortSpec *spec, const char **reason)
{
	int			nkeys = IndexRelationGetNumberOfKeyAttributes(index);

	*spec = gpusort_make_spec(GPUSORT_KIND_INDEX, nkeys);
	for (int i = 0; i < nkeys; i++)
	{
		KeyColumn	column = {
			.opfamily = index->rd_opfamily[i], .type = index->rd_opcintype[i],
			.collation = index->rd_indcollation[i],
			.order_proc = index_getprocid(index, i + 1, BTORDER_PROC),
			.option = index->rd_indoption[i]
		};

		if (!set_key_column(spec, i, &column, reason))
			return false;
	}
	return true;
}

/* ---------- whether ---------- */

/* Width that is assumed for a value of unknown length, as the planner does. */
#define UNKNOWN_WIDTH	32

/* What the decision about an index needs to know besides its sort key. */
typedef struct Tuples
{
	const Oid  *types;			/* of the key columns */
	int			width;			/* average width of the tuples, without their headers */
	bool		is_partial;		/* the index has a predicate */
} Tuples;

/*
 * Returns the average width of a column of the index's tuples, of a type of this length.
 * heap_attno is 0 if the column is an expression.
 */
static int
average_width(Relation heap, AttrNumber heap_attno, int length)
{
	if (length <= 0 && heap_attno > 0)
		length = get_attavgwidth(RelationGetRelid(heap), heap_attno);
	return length > 0 ? length : UNKNOWN_WIDTH;
}

/*
 * Returns whether the table is large enough, and its tuples few enough for the memory that the
 * build would get now.  Sets spec->expected_rows.
 */
static bool
is_worth_it(Relation heap, const Tuples *tuples, size_t limit_bytes, GpuSortSpec *spec,
			const char **reason)
{
	GpuSortEstimate estimate;
	GpuSortCostKeys keys = {spec->nkeys, spec->sortops, tuples->types, spec->collations};
	BlockNumber pages;
	double		rows;
	double		all_visible;
	double		header_bytes = MAXALIGN(SizeofMinimalTupleHeader) - sizeof(IndexTupleData);
	double		tuple_bytes;

	estimate_rel_size(heap, NULL, &pages, &rows, &all_visible);
	spec->expected_rows = rows;
	if (!gpusort_estimate(&keys, rows, tuples->width, &estimate, reason))
		return false;
	if (gpusort_force)
		return true;
	tuple_bytes = estimate.memory_bytes - rows * header_bytes;
	if (rows < gpusort_min_rows)
		*reason = "fewer rows estimated than gpusort.min_rows";
	else if (tuples->is_partial || gpusort_may_spill(limit_bytes))
		return true;
	else if (tuple_bytes > limit_bytes + gpusort_sort_pool_limit())
		*reason = "tuples estimated not to fit into maintenance_work_mem and the pool";
	else if (tuple_bytes > limit_bytes + gpusort_sort_pool_available())
		*reason = "tuples estimated not to fit into what is free of the pool";
	else
		return true;
	return false;
}

/* Returns why no index of the table is built here, or NULL. */
static const char *
reason_of_table(Relation heap)
{
	if (!gpusort_enabled)
		return "gpusort.enabled is off";
	if (!gpusort_enable_index_build)
		return "gpusort.enable_index_build is off";
	if (RelationGetRelid(heap) < FirstNormalObjectId || IsCatalogRelation(heap) ||
		IsToastRelation(heap))
		return "index of a system table";
	return NULL;
}

bool
gpusort_index_is_eligible(const GpuSortIndexTarget *target, size_t limit_bytes, GpuSortSpec *spec,
						  const char **reason)
{
	TupleDesc	desc = RelationGetDescr(target->index);
	Oid		   *types = palloc(desc->natts * sizeof(Oid));
	Tuples		tuples = {.types = types, .is_partial = target->info->ii_Predicate != NIL};

	*reason = reason_of_table(target->heap);
	if (*reason == NULL && RelationGetNumberOfBlocks(target->index) != 0)
		*reason = "index has pages";
	if (*reason != NULL)
		return false;
	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);

		types[i] = att->atttypid;
		tuples.width += average_width(target->heap, target->info->ii_IndexAttrNumbers[i],
									  att->attlen);
	}
	return gpusort_index_sort_spec(target->index, spec, reason) &&
		is_worth_it(target->heap, &tuples, limit_bytes, spec, reason);
}

/* ---------- an index that is asked about ---------- */

/* Returns what CREATE INDEX would make of a key column of this type. */
static KeyColumn
resolve_column(const IndexElem *element, Oid type, Oid collation)
{
	Oid			opclass = ResolveOpClass(element->opclass, type, "btree", BTREE_AM_OID);
	KeyColumn	column = {
		.opfamily = get_opclass_family(opclass), .type = get_opclass_input_type(opclass),
		.collation = element->collation != NIL ? get_collation_oid(element->collation, false)
		: collation
	};

	column.order_proc = get_opfamily_proc(column.opfamily, column.type, column.type, BTORDER_PROC);
	if (element->ordering == SORTBY_DESC)
		column.option |= INDOPTION_DESC;
	if (element->nulls_ordering == SORTBY_NULLS_FIRST ||
		(element->nulls_ordering == SORTBY_NULLS_DEFAULT && element->ordering == SORTBY_DESC))
		column.option |= INDOPTION_NULLS_FIRST;
	return column;
}

/* Finds type, collation and number, 0 for an expression, of a column of an index of the table. */
static void
find_column(Relation heap, const IndexElem *element, bool is_included, Oid *type, Oid *collation,
			AttrNumber *heap_attno)
{
	int32		typmod;

	*heap_attno = InvalidAttrNumber;
	if (element->name == NULL)
	{
		/* of included columns the server transforms none, because it wants no expressions there */
		if (is_included)
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("expressions are not supported in included columns")));
		*type = exprType(element->expr);
		*collation = exprCollation(element->expr);
		return;
	}
	*heap_attno = get_attnum(RelationGetRelid(heap), element->name);
	if (*heap_attno == InvalidAttrNumber)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN),
				 errmsg("column \"%s\" does not exist", element->name)));
	get_atttypetypmodcoll(RelationGetRelid(heap), *heap_attno, type, &typmod, collation);
}

const char *
gpusort_index_reason_to_leave(Relation heap, const IndexStmt *statement, double *rows)
{
	int			nkeys = list_length(statement->indexParams);
	GpuSortSpec spec = gpusort_make_spec(GPUSORT_KIND_INDEX, nkeys);
	Oid		   *types = palloc(nkeys * sizeof(Oid));
	Tuples		tuples = {.types = types, .is_partial = statement->whereClause != NULL};
	const char *reason = reason_of_table(heap);
	const char *key_reason = NULL;
	ListCell   *lc;
	int			i = 0;

	foreach(lc, list_concat_copy(statement->indexParams, statement->indexIncludingParams))
	{
		const IndexElem *element = lfirst_node(IndexElem, lc);
		Oid			type;
		Oid			collation;
		AttrNumber	heap_attno;

		find_column(heap, element, i >= nkeys, &type, &collation, &heap_attno);
		tuples.width += average_width(heap, heap_attno, get_typlen(type));
		if (i < nkeys)
		{
			KeyColumn	column = resolve_column(element, type, collation);

			types[i] = type;
			if (key_reason == NULL)
				(void) set_key_column(&spec, i, &column, &key_reason);
		}
		i++;
	}
	if (reason == NULL)
		reason = key_reason;
	if (reason == NULL)
		(void) is_worth_it(heap, &tuples, (size_t) maintenance_work_mem * 1024, &spec, &reason);
	*rows = spec.expected_rows;
	return reason;
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
