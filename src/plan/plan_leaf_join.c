/*
 * plan_leaf_join.c
 *		Joins of two indexes by their leaf pages; see plan_joins_private.h.
 *
 * A join is considered if both sides could be read by index-only scans in the order of a join
 * clause.  The planner has made paths of such scans, so it has found that the indexes have all
 * columns that are wanted.
 */
#include "postgres.h"

#include <math.h>

#include "access/genam.h"
#include "access/nbtree.h"
#include "access/sysattr.h"
#include "catalog/pg_am.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/spccache.h"

#include "keys/key_codec.h"
#include "pg_compat/paths.h"
#include "pg_compat/planner.h"
#include "plan/plan_joins_private.h"
#include "settings.h"
#include "sort/sort.h"
#include "table/table_map.h"

/*
 * The cost of reading a row off a leaf page and finding its partner.  It takes 12 ns, which would
 * be 0.005 (plan_join.c has the scale); what a pair's columns take is added as for any join.
 */
#define LEAF_ROW_COST	0.005

/* A join that is being considered. */
typedef struct LeafJoinIdea
{
	GpuSortMergeJoin merge;
	List	   *clauses;		/* clauses that could be merged by */
	IndexPath  *outer;
	IndexPath  *inner;
} LeafJoinIdea;

/* ---------- which indexes ---------- */

/* Returns the operator that an index's first column is sorted by. */
static Oid
first_operator(const IndexOptInfo *index)
{
	Oid			type = index->opcintype[0];

	return get_opfamily_member(index->sortopfamily[0], type, type,
							   index->reverse_sort[0] ? BTGreaterStrategyNumber
							   : BTLessStrategyNumber);
}

/*
 * Returns whether the normalised key of the index's first column is a single word that tells all
 * about the value.
 */
static bool
is_told_by_word(const IndexOptInfo *index)
{
	Oid			type = index->opcintype[0];
	Oid			family = index->sortopfamily[0];
	Oid			sortop = first_operator(index);
	bool		reverse;
	const char *reason;
	const GpuSortCodec *codec = gpusort_codec_lookup(sortop, type, index->indexcollations[0],
													 &reverse, &reason);

	return codec != NULL && codec->nwords == 1 && codec->bytes == GPUSORT_BYTES_NONE &&
		(codec->inverse != GPUSORT_INVERSE_NONE || codec->distinct != NULL) &&
		gpusort_codec_fits_class(sortop, family, type,
								 get_opfamily_proc(family, type, type, BTORDER_PROC), &reason);
}

/*
 * Returns whether the index stores each column's value unchanged, bit by bit.  It does not if an
 * operator class stores another type, as the class of names, which stores short strings; domains
 * over names have the same class.
 */
static bool
keeps_values(const IndexOptInfo *index)
{
	Relation	relation = index_open(index->indexoid, NoLock);
	TupleDesc	desc = RelationGetDescr(relation);
	bool		keeps = true;
	ListCell   *lc;

	foreach(lc, index->indextlist)
	{
		const TargetEntry *column = lfirst_node(TargetEntry, lc);

		keeps &= TupleDescAttr(desc, column->resno - 1)->atttypid ==
			exprType((Node *) column->expr);
	}
	index_close(relation, NoLock);
	return keeps;
}

/*
 * Returns whether the path is an index-only scan of this relation that we could do, whatever it is
 * restricted to.
 */
static bool
is_ours(const Path *path)
{
	const IndexPath *index_path = (const IndexPath *) path;

	return enable_indexscan && enable_indexonlyscan && IsA(path, IndexPath) &&
		path->pathtype == T_IndexOnlyScan && path->param_info == NULL &&
		index_path->indexorderbys == NIL && index_path->indexinfo->relam == BTREE_AM_OID &&
		!index_path->indexinfo->hypothetical && is_told_by_word(index_path->indexinfo) &&
		keeps_values(index_path->indexinfo);
}

/*
 * Returns the order of an index by all of its columns, or NIL if its first column gives no order,
 * since the query has a constant for it.  To the planner, the index is in the order of its second
 * column then, but not to us.
 */
static List *
index_order(PlannerInfo *root, IndexOptInfo *index)
{
	IndexOptInfo first = *index;

	first.nkeycolumns = 1;
	return build_index_pathkeys(root, &first, ForwardScanDirection) == NIL ? NIL :
		build_index_pathkeys(root, index, ForwardScanDirection);
}

/*
 * Makes forward scans of all of these indexes.  The planner may have considered them in another
 * way: backward, or by conditions, which become filters here.
 */
static List *
find_scans(PlannerInfo *root, const RelOptInfo *rel)
{
	List	   *indexes = NIL;
	List	   *paths = NIL;
	ListCell   *lc;

	foreach(lc, rel->pathlist)
	{
		IndexOptInfo *index;
		List	   *pathkeys;

		if (!is_ours(lfirst(lc)))
			continue;
		index = ((IndexPath *) lfirst(lc))->indexinfo;
		if (list_member_ptr(indexes, index))
			continue;
		indexes = lappend(indexes, index);
		pathkeys = index_order(root, index);
		if (pathkeys != NIL)
			paths = lappend(paths,
							create_index_path(root, index, NIL, NIL, NIL, pathkeys,
											  ForwardScanDirection, true, NULL, 1, false));
	}
	return paths;
}

static bool
have_comparable_words(const LeafJoinIdea *join)
{
	const IndexOptInfo *outer = join->outer->indexinfo;
	const IndexOptInfo *inner = join->inner->indexinfo;

	return outer->nulls_first[0] == inner->nulls_first[0] &&
		gpusort_first_words_compare(first_operator(outer), outer->opcintype[0],
									first_operator(inner), inner->opcintype[0],
									outer->indexcollations[0]);
}

/* ---------- costs ---------- */

/*
 * Returns the cost of a leaf page.  Leaf pages that were made one after the other lie so on disk;
 * and if both indexes fit into memory, it does not matter much where they lie.
 */
static Cost
page_cost(const LeafJoinIdea *join)
{
	double		random_cost;
	double		sequential_cost;

	get_tablespace_page_costs(join->outer->indexinfo->reltablespace, &random_cost,
							  &sequential_cost);
	return (double) join->outer->indexinfo->pages + join->inner->indexinfo->pages <=
		effective_cache_size ? sequential_cost : random_cost;
}

/*
 * Returns what a participant that reads `share` of the rows has to do for one side, of which `part`
 * lies where the other side has rows.  What it reads of the table is estimated as for an index-only
 * scan of an index in another order.
 */
static Cost
side_cost(const LeafJoinIdea *join, const IndexPath *side, double part, double share)
{
	const IndexOptInfo *index = side->indexinfo;
	const RelOptInfo *rel = index->rel;
	double		tuples = Max(index->tuples, 1);
	double		not_visible = 1 - rel->allvisfrac;
	double		pages =
		ceil(index_pages_fetched(tuples, rel->pages, index->pages, join->merge.root) * not_visible);
	double		random_cost;
	QualCost	qual;
	Cost		row_cost;

	get_tablespace_page_costs(rel->reltablespace, &random_cost, NULL);
	cost_qual_eval(&qual, rel->baserestrictinfo, join->merge.root);
	row_cost = LEAF_ROW_COST + qual.per_tuple +
		gpusort_lookup_cost(join->merge.root, index, gpusort_table_map_pinning_share(rel->pages),
							1 / share);
	return qual.startup +
		(index->pages * page_cost(join) + pages * random_cost + tuples * row_cost * share) * part;
}

/* Returns the cost of the way down to the first page, as the planner charges it. */
static Cost
way_down_cost(const IndexPath *side)
{
	return (Max(side->indexinfo->tree_height, 0) + 1) * 50.0 * cpu_operator_cost;
}

/*
 * Returns what the rows of the first page cost, which are looked at before any is returned.  EXISTS
 * took 13 microseconds and a nested loop 7, which is what this makes of it; from 10 rows on the
 * loop took longer (test/bench/join_ranges.pl).
 */
static Cost
first_page_cost(const IndexPath *side)
{
	const IndexOptInfo *index = side->indexinfo;

	return index->tuples / Max(index->pages, 1) * LEAF_ROW_COST;
}

/*
 * Returns which part of what is read of an index may have to be read before the first row: the
 * entries that conditions on its first column leave out, which may all lie in front.
 */
static double
part_in_front(const LeafJoinIdea *join, const IndexPath *side)
{
	const IndexOptInfo *index = side->indexinfo;
	double		left = 1;
	ListCell   *lc;

	foreach(lc, index->rel->baserestrictinfo)
	{
		Bitmapset  *columns = NULL;

		pull_varattnos((Node *) lfirst_node(RestrictInfo, lc)->clause, index->rel->relid, &columns);
		if (index->indexkeys[0] == 0 ||
			bms_is_member(index->indexkeys[0] - FirstLowInvalidHeapAttributeNumber, columns))
			left *= clause_selectivity(join->merge.root, lfirst(lc), 0, JOIN_INNER, NULL);
	}
	return 1 - left;
}

/* Returns how many pairs the first column alone finds; the other clauses are evaluated for each. */
static double
estimate_pairs(const LeafJoinIdea *join)
{
	const GpuSortMergeJoin *merge = &join->merge;

	return Max(merge->joinrel->rows,
			   merge->outer->rows * merge->inner->rows *
			   clause_selectivity(merge->root, linitial(merge->mergeclauses), 0, JOIN_INNER,
								  merge->extra->sjinfo));
}

/*
 * Returns the part of a side that lies where the other side has rows, by the first columns, as a
 * merge join finds it.
 */
static double
merged_part(double first, double last, const Path *path)
{
	return Max(0, Min(1, (last - first) / Max(path->rows, 1)));
}

static void
estimate_join(const LeafJoinIdea *join, double share, Path *path)
{
	const GpuSortMergeJoin *merge = &join->merge;
	JoinCostWorkspace merged;
	QualCost	qual = {0};
	double		pairs = estimate_pairs(join);
	Cost		outer;
	Cost		inner;
	Cost		way_down = way_down_cost(join->outer) + way_down_cost(join->inner);
	Cost		in_front;

	gpusort_initial_mergejoin_cost(merge, &merged);
	outer = side_cost(join, join->outer,
					  merged_part(merged.outer_skip_rows, merged.outer_rows, merge->outer), share);
	inner = side_cost(join, join->inner,
					  merged_part(merged.inner_skip_rows, merged.inner_rows, merge->inner), share);
	in_front = Max(first_page_cost(join->outer), outer * part_in_front(join, join->outer)) +
		Max(first_page_cost(join->inner), inner * part_in_front(join, join->inner));
	if (list_length(merge->extra->restrictlist) > 1)
		cost_qual_eval(&qual, merge->extra->restrictlist, merge->root);
	path->rows = clamp_row_est(merge->joinrel->rows * share);
	path->startup_cost = qual.startup + way_down + Min(in_front, outer + inner);
	path->total_cost = qual.startup + way_down + outer + inner +
		pairs * share * (cpu_tuple_cost + qual.per_tuple);
	path->pathkeys = merge->pathkeys;
}

/* ---------- paths ---------- */

static void
add_whole_path(const LeafJoinIdea *join)
{
	Path		path = {0};

	estimate_join(join, 1, &path);
	gpusort_add_unfinished_join(&join->merge, &path);
}

/* Returns as many workers as the planner would have read one of the indexes. */
static int
workers_for(const LeafJoinIdea *join)
{
	const IndexPath *const sides[2] = {join->outer, join->inner};
	int			workers = 0;

	for (int i = 0; i < 2; i++)
		workers = Max(workers,
					  compute_parallel_worker(sides[i]->indexinfo->rel, -1,
											  sides[i]->indexinfo->pages,
											  max_parallel_workers_per_gather));
	return workers;
}

static void
add_partial_path_of(const LeafJoinIdea *join)
{
	const RelOptInfo *joinrel = join->merge.joinrel;
	Path		path = {0};
	int			workers;
	double		leader;

	if (!joinrel->consider_parallel || !bms_is_empty(joinrel->lateral_relids) ||
		!join->merge.outer->parallel_safe || !join->merge.inner->parallel_safe)
		return;
	workers = workers_for(join);
	if (workers <= 0)
		return;
	leader = parallel_leader_participation ? Max(1.0 - 0.3 * workers, 0) : 0;
	estimate_join(join, 1 / (workers + leader), &path);
	path.parallel_aware = true;
	path.parallel_workers = workers;
	gpusort_add_unfinished_join(&join->merge, &path);
}

/*
 * Returns the clause whose sides are sorted by the first columns of these paths, or NULL if there
 * is none.
 */
static RestrictInfo *
find_clause(const LeafJoinIdea *join)
{
	PathKey    *outer_key = linitial_node(PathKey, join->merge.outer->pathkeys);
	PathKey    *inner_key = linitial_node(PathKey, join->merge.inner->pathkeys);
	ListCell   *lc;

	foreach(lc, find_mergeclauses_for_outer_pathkeys(join->merge.root, list_make1(outer_key),
													 join->clauses))
	{
		RestrictInfo *clause = lfirst_node(RestrictInfo, lc);
		List	   *keys = make_inner_pathkeys_for_merge(join->merge.root, list_make1(clause),
														 list_make1(outer_key));

		if (linitial(keys) == inner_key)
			return clause;
	}
	return NULL;
}

static void
add_paths_of(LeafJoinIdea *join, Path *outer, Path *inner)
{
	GpuSortMergeJoin *merge = &join->merge;
	RestrictInfo *clause;

	merge->outer = outer;
	merge->inner = inner;
	join->outer = (IndexPath *) outer;
	join->inner = (IndexPath *) inner;
	clause = find_clause(join);
	if (clause == NULL || !have_comparable_words(join))
		return;
	merge->mergeclauses = list_make1(clause);
	merge->pathkeys = build_join_pathkeys(merge->root, merge->joinrel, merge->jointype,
										  list_make1(linitial(outer->pathkeys)));
	add_whole_path(join);
	add_partial_path_of(join);
}

/*
 * Returns whether a relation has enough rows for an index join.  No sort of PostgreSQL's is saved,
 * which would cost many times as much, but a tenth of a microsecond for each row.  So ten times as
 * many rows are required as for a sort.
 */
static bool
has_many_entries(const RelOptInfo *rel)
{
	return rel->tuples >= 10.0 * gpusort_min_rows;
}

/*
 * Returns whether a relation has volatile conditions.  Conditions are evaluated a page at a time,
 * so for more rows than PostgreSQL evaluates them for if it stops early.
 */
static bool
has_volatile_conditions(const RelOptInfo *rel)
{
	return contain_volatile_functions((Node *) rel->baserestrictinfo);
}

void
gpusort_add_leaf_join_paths(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *outerrel,
							RelOptInfo *innerrel, JoinType jointype, JoinPathExtraData *extra)
{
	LeafJoinIdea join = {
		.merge = {.root = root, .joinrel = joinrel, .jointype = jointype, .extra = extra}
	};
	List	   *inners;
	ListCell   *lc;
	ListCell   *lc2;

	if (!gpusort_enabled || !gpusort_enable_order_by || !gpusort_enable_join ||
		jointype != JOIN_INNER || extra->restrictlist == NIL || root->hasPseudoConstantQuals ||
		root->row_identity_vars != NIL || root->rowMarks != NIL || !has_many_entries(outerrel) ||
		!has_many_entries(innerrel) || has_volatile_conditions(outerrel) ||
		has_volatile_conditions(innerrel) || gpusort_plan_is_advised(root))
		return;
	join.clauses = gpusort_find_join_clauses(&join.merge, outerrel, innerrel);
	inners = join.clauses != NIL ? find_scans(root, innerrel) : NIL;
	foreach(lc, inners != NIL ? find_scans(root, outerrel) : NIL)
	{
		foreach(lc2, inners)
			add_paths_of(&join, lfirst(lc), lfirst(lc2));
	}
}
