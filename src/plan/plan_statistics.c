/*
 * plan_statistics.c
 *		What statistics and indexes tell about the input of a sort.
 *
 * PostgreSQL's sort notices with one comparison a row that its input is in order already.  For most
 * keys ours is faster even then, but not if a key costs much more than a comparison, as libc's sort
 * keys do.  A table that was loaded in the order of the sort column has a correlation of 1 in its
 * statistics.  The planner has no use for that in a sort.  We look it up for tables that are read
 * directly, also because our sort of such rows costs less.  Nor does the planner remember the order
 * of an index that it reads for its columns only.
 *
 * Of an expression without statistics the planner expects as many values as its columns have, which
 * may be a thousand times as many as there are.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/stratnum.h"
#include "catalog/pg_statistic.h"
#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "nodes/pathnodes.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"
#include "utils/syscache.h"

#include "plan/plan_estimate_private.h"
#include "settings.h"

/*
 * From this correlation on a column counts as sorted.  Rows that are displaced by a page or so, as
 * those of a table filled by INSERT, leave the correlation above it.  A jitter of one per cent of
 * the table, which costs PostgreSQL's sort as much as any order, makes it 0.9999.
 */
#define SORTED_CORRELATION	0.99999

double
gpusort_correlation(Oid relation, AttrNumber attno, Oid sortop, Oid collation)
{
	HeapTuple	tuple = SearchSysCache3(STATRELATTINH, ObjectIdGetDatum(relation),
										Int16GetDatum(attno), BoolGetDatum(false));
	AttStatsSlot slot;
	double		correlation = 0;

	if (!HeapTupleIsValid(tuple))
		return 0;
	if (get_attstatsslot(&slot, tuple, STATISTIC_KIND_CORRELATION, InvalidOid,
						 ATTSTATSSLOT_NUMBERS))
	{
		if (slot.staop == sortop && slot.stacoll == collation && slot.nnumbers == 1)
			correlation = slot.numbers[0];
		free_attstatsslot(&slot);
	}
	ReleaseSysCache(tuple);
	return correlation;
}

static bool
is_sorted_by(const RangeTblEntry *rte, const Node *key, Oid sortop, Oid collation)
{
	const Var  *var = (const Var *) key;

	return rte->rtekind == RTE_RELATION && IsA(var, Var) && var->varattno > 0 &&
		gpusort_correlation(rte->relid, var->varattno, sortop, collation) >= SORTED_CORRELATION;
}

/*
 * Returns whether an index is in the order of a key.  The planner forgets the order of an index if
 * it has no use for it.
 */
static bool
is_index_sorted_by(const IndexPath *path, const Node *key, Oid sortop, Oid collation)
{
	const IndexOptInfo *index = path->indexinfo;
	Oid			type = index->opcintype[0];
	bool		ascends;

	if (index->sortopfamily == NULL || index->indexcollations[0] != collation ||
		!equal(linitial_node(TargetEntry, index->indextlist)->expr, key))
		return false;
	ascends = index->reverse_sort[0] == ScanDirectionIsBackward(path->indexscandir);
	return get_opfamily_member(index->sortopfamily[0], type, type,
							   ascends ? BTLessStrategyNumber : BTGreaterStrategyNumber) == sortop;
}

bool
gpusort_path_is_in_order(PlannerInfo *root, const Path *path, const GpuSortPathKeys *keys)
{
	const Node *key = linitial(keys->exprs);
	Oid			sortop = keys->by.sortops[0];
	Oid			collation = keys->by.collations[0];

	if (IsA(path, ProjectionPath))
		path = ((const ProjectionPath *) path)->subpath;
	if (path->parallel_workers > 0)
		return false;
	if (IsA(path, IndexPath))
		return is_index_sorted_by((const IndexPath *) path, key, sortop, collation);
	return path->pathtype == T_SeqScan &&
		is_sorted_by(planner_rt_fetch(path->parent->relid, root), key, sortop, collation);
}

bool
gpusort_plan_input_is_in_order(const Sort *sort, const List *rtable)
{
	const Plan *child = sort->plan.lefttree;
	const TargetEntry *tle;
	const Var  *var;

	/* Further sort columns only decide among rows that are equal in the first one. */
	if (!IsA(child, SeqScan) || sort->numCols != 1)
		return false;
	tle = list_nth_node(TargetEntry, child->targetlist, sort->sortColIdx[0] - 1);
	var = (const Var *) tle->expr;
	return IsA(var, Var) &&
		is_sorted_by(rt_fetch(var->varno, rtable), (const Node *) var, sort->sortOperators[0],
					 sort->collations[0]);
}

/* ---------- strings that begin alike ---------- */

/*
 * A beginning that all strings have is left out of their keys if it has so many bytes
 * (sort/key_planes.c); and the bytes of a word.
 */
#define LEAST_COMMON_BYTES	3
#define WORD_BYTES			((int) sizeof(uint64))

static int
common_bytes(Datum a, Datum b)
{
	const struct varlena *x = (const struct varlena *) DatumGetPointer(a);
	const struct varlena *y = (const struct varlena *) DatumGetPointer(b);
	int			most = Min(VARSIZE_ANY_EXHDR(x), VARSIZE_ANY_EXHDR(y));
	int			n = 0;

	while (n < most && VARDATA_ANY(x)[n] == VARDATA_ANY(y)[n])
		n++;
	return n;
}

/*
 * Returns which share of the neighbours in a histogram, between which all rows lie, agree in the
 * first word that is sorted by.
 */
static double
share_of_alike(const AttStatsSlot *histogram)
{
	int			common = common_bytes(histogram->values[0],
									  histogram->values[histogram->nvalues - 1]);
	int			alike = 0;

	if (common < LEAST_COMMON_BYTES)
		common = 0;
	for (int i = 1; i < histogram->nvalues; i++)
		alike += common_bytes(histogram->values[i - 1], histogram->values[i]) >=
			common + WORD_BYTES;
	return (double) alike / (histogram->nvalues - 1);
}

static double
tied_share_of(PlannerInfo *root, Node *expr)
{
	VariableStatData data;
	AttStatsSlot slot;
	char		category;
	bool		preferred;
	double		share = 0;

	examine_variable(root, expr, 0, &data);
	if (HeapTupleIsValid(data.statsTuple) &&
		get_attstatsslot(&slot, data.statsTuple, STATISTIC_KIND_HISTOGRAM, InvalidOid,
						 ATTSTATSSLOT_VALUES))
	{
		get_type_category_preferred(slot.valuetype, &category, &preferred);
		if (category == TYPCATEGORY_STRING && get_typlen(slot.valuetype) == -1 && slot.nvalues > 1)
			share = share_of_alike(&slot);
		free_attstatsslot(&slot);
	}
	ReleaseVariableStats(data);
	return share;
}

/*
 * Returns the column of a scanned relation that an expression is, or NULL if it is something else.
 */
static const Var *
scanned_column(const PlannerInfo *root, Node *expr)
{
	const Var  *var;

	while (IsA(expr, RelabelType))
		expr = (Node *) ((RelabelType *) expr)->arg;
	var = (const Var *) expr;
	/* Columns of set operations are of no relation. */
	return IsA(var, Var) && var->varno > 0 && var->varno < root->simple_rel_array_size &&
		root->simple_rel_array[var->varno] != NULL ? var : NULL;
}

/* What has been found out about the ties of a column. */
typedef struct KnownTies
{
	bool		looked;
	double		share;
} KnownTies;

double
gpusort_tied_share(PlannerInfo *root, const GpuSortPathKeys *keys)
{
	Node	   *expr = linitial(keys->exprs);
	KnownTies  *known;

	if (keys->rows < gpusort_min_rows || get_typlen(keys->by.types[0]) != -1 ||
		scanned_column(root, expr) == NULL)
		return 0;
	known = gpusort_known(root, expr, sizeof(KnownTies));
	if (!known->looked)
	{
		known->share = tied_share_of(root, expr);
		known->looked = true;
	}
	return known->share;
}

/* ---------- groups ---------- */

/*
 * Returns whether the planner knows more about the values of an expression than how many its
 * columns have.  A boolean has two.
 */
static bool
has_statistics(PlannerInfo *root, Node *expr)
{
	VariableStatData data;
	bool		known;

	while (IsA(expr, RelabelType) || IsA(expr, PlaceHolderVar))
		expr = IsA(expr, RelabelType) ? (Node *) ((RelabelType *) expr)->arg :
			(Node *) ((PlaceHolderVar *) expr)->phexpr;
	if (IsA(expr, Var) || exprType(expr) == BOOLOID || !contain_var_clause(expr))
		return true;
	examine_variable(root, expr, 0, &data);
	known = HeapTupleIsValid(data.statsTuple) || data.isunique;
	ReleaseVariableStats(data);
	return known;
}

double
gpusort_known_groups(PlannerInfo *root, const List *exprs, double rows)
{
	List	   *known = NIL;
	ListCell   *lc;

	foreach(lc, exprs)
	{
		if (has_statistics(root, lfirst(lc)))
			known = lappend(known, lfirst(lc));
	}
	return known != NIL ? estimate_num_groups(root, known, rows, NULL, NULL) : 0;
}

/* Returns the member of a class of which there are statistics, or NULL. */
static Node *
known_member(PlannerInfo *root, const EquivalenceClass *ec)
{
	ListCell   *lc;

	foreach(lc, ec->ec_members)
	{
		Node	   *expr = (Node *) lfirst_node(EquivalenceMember, lc)->em_expr;

		if (has_statistics(root, expr))
			return expr;
	}
	return NULL;
}

double
gpusort_known_groups_by(PlannerInfo *root, const List *pathkeys, double rows, double groups)
{
	List	   *known = NIL;
	ListCell   *lc;

	foreach(lc, pathkeys)
	{
		Node	   *expr = known_member(root, lfirst_node(PathKey, lc)->pk_eclass);

		if (expr != NULL)
			known = lappend(known, expr);
	}
	if (list_length(known) == list_length(pathkeys))
		return groups;
	return Min(groups, gpusort_known_groups(root, known, rows));
}
