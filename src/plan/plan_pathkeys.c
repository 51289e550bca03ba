/*
 * plan_pathkeys.c
 *		What the rows of a path are to be sorted by.
 */
#include "postgres.h"

#include "catalog/pg_proc.h"
#include "nodes/nodeFuncs.h"
#include "utils/lsyscache.h"

#include "pg_compat/planner.h"
#include "plan/plan_estimate_private.h"

/*
 * Returns the member of a class that a relation will be sorted by.  If it has none, returns a
 * member whose type may be another one of the family, which is good enough for an estimate.
 */
static const EquivalenceMember *
find_member(const EquivalenceClass *ec, const RelOptInfo *rel)
{
	ListCell   *lc;

	foreach(lc, ec->ec_members)
	{
		const EquivalenceMember *em = lfirst_node(EquivalenceMember, lc);

		if (!bms_is_empty(em->em_relids) && bms_is_subset(em->em_relids, rel->relids))
			return em;
	}
	return linitial_node(EquivalenceMember, ec->ec_members);
}

bool
gpusort_clause_is_order(const RestrictInfo *clause)
{
	const OpExpr *op = (const OpExpr *) clause->clause;

	/*
	 * What is left of a self-join that was eliminated is a test for null, which has no two sides.
	 */
	if (!is_opclause(op) || list_length(op->args) != 2)
		return true;
	return exprType(linitial(op->args)) == exprType(lsecond(op->args)) ||
		op_volatile(op->opno) == PROVOLATILE_IMMUTABLE;
}

/* Returns whether the members of a class, which clauses have made equal, are in one order. */
static bool
class_is_order(const EquivalenceClass *ec)
{
	ListCell   *lc;

	foreach(lc, ec->ec_sources)
	{
		if (!gpusort_clause_is_order(lfirst_node(RestrictInfo, lc)))
			return false;
	}
	return true;
}

bool
gpusort_read_pathkeys(const Path *input, List *pathkeys, GpuSortPathKeys *keys,
					  const char **reason)
{
	int			count = list_length(pathkeys);
	Oid		   *sortops = palloc(count * sizeof(Oid));
	Oid		   *types = palloc(count * sizeof(Oid));
	Oid		   *collations = palloc(count * sizeof(Oid));
	ListCell   *lc;

	keys->by = (GpuSortCostKeys) {count, sortops, types, collations};
	keys->pathkeys = pathkeys;
	keys->exprs = NIL;
	keys->joined = false;
	keys->estimated = false;
	foreach(lc, pathkeys)
	{
		PathKey    *pathkey = lfirst_node(PathKey, lc);
		const EquivalenceMember *em = find_member(pathkey->pk_eclass, input->parent);
		int			i = foreach_current_index(lc);

		sortops[i] = gpusort_pathkey_operator(pathkey, em->em_datatype);
		types[i] = exprType((Node *) em->em_expr);
		collations[i] = pathkey->pk_eclass->ec_collation;
		keys->exprs = lappend(keys->exprs, em->em_expr);
		if (!OidIsValid(sortops[i]))
		{
			*reason = "operator family has no ordering operator for the type";
			return false;
		}
		if (!class_is_order(pathkey->pk_eclass))
		{
			*reason = "columns of several types are in no common order";
			return false;
		}
	}
	return true;
}

bool
gpusort_has_class(const List *pathkeys, const EquivalenceClass *ec)
{
	ListCell   *lc;

	foreach(lc, pathkeys)
	{
		if (lfirst_node(PathKey, lc)->pk_eclass == ec)
			return true;
	}
	return false;
}
