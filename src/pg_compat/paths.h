/*
 * paths.h
 *		Differences of PostgreSQL's versions: paths and their costs.
 */
#ifndef GPUSORT_PG_COMPAT_PATHS_H
#define GPUSORT_PG_COMPAT_PATHS_H

#include "postgres.h"

#include "miscadmin.h"
#include "nodes/pathnodes.h"
#include "optimizer/cost.h"
#include "optimizer/pathnode.h"

/*
 * 18: paths count disabled nodes instead of carrying a disable_cost.
 *
 * Marks the path of a sort as disabled if enable_sort is off, as PostgreSQL's own sorts are; nodes
 * that are disabled in its input count, too.
 */
static inline void
gpusort_set_path_disabled(Path *path, const Path *input)
{
#if PG_VERSION_NUM >= 180000
	path->disabled_nodes = input->disabled_nodes + (enable_sort ? 0 : 1);
#else
	if (!enable_sort)
	{
		path->startup_cost += disable_cost;
		path->total_cost += disable_cost;
	}
#endif
}

/* Counts the input's disabled nodes for a path that is no sort; before 18 costs include them. */
static inline void
gpusort_copy_path_disabled(Path *path, const Path *input)
{
#if PG_VERSION_NUM >= 180000
	path->disabled_nodes = input->disabled_nodes;
#endif
}

/* Counts the disabled nodes of both inputs for a path of a join; before 18 costs include them. */
static inline void
gpusort_join_path_disabled(Path *path, const Path *outer, const Path *inner)
{
#if PG_VERSION_NUM >= 180000
	path->disabled_nodes = outer->disabled_nodes + inner->disabled_nodes;
#endif
}

static inline bool
gpusort_path_costs_less(const Path *path, const Path *other)
{
#if PG_VERSION_NUM >= 180000
	if (path->disabled_nodes != other->disabled_nodes)
		return path->disabled_nodes < other->disabled_nodes;
#endif
	return path->total_cost < other->total_cost;
}

/*
 * 18: the sort of a merge join's outer side may be incremental; the join is told how
 * many of the sort columns are in order already.
 *
 * A merge join whose outer path is sorted by outersortkeys, unless these are NIL, and whose
 * inner path comes in order.
 */
typedef struct GpuSortMergeJoin
{
	PlannerInfo *root;
	RelOptInfo *joinrel;
	JoinType	jointype;
	JoinPathExtraData *extra;
	Path	   *outer;
	Path	   *inner;
	List	   *mergeclauses;
	List	   *outersortkeys;
	List	   *pathkeys;		/* order of the result */
} GpuSortMergeJoin;

static inline void
gpusort_initial_mergejoin_cost(const GpuSortMergeJoin *join, JoinCostWorkspace *workspace)
{
	initial_cost_mergejoin(join->root, workspace, join->jointype, join->mergeclauses,
						   join->outer, join->inner, join->outersortkeys, NIL,
#if PG_VERSION_NUM >= 180000
						   0,
#endif
						   join->extra);
}

static inline MergePath *
gpusort_create_mergejoin_path(const GpuSortMergeJoin *join, JoinCostWorkspace *workspace)
{
	return create_mergejoin_path(join->root, join->joinrel, join->jointype, workspace,
								 join->extra, join->outer, join->inner,
								 join->extra->restrictlist, join->pathkeys, NULL,
								 join->mergeclauses, join->outersortkeys, NIL
#if PG_VERSION_NUM >= 180000
								 ,0
#endif
		);
}

/*
 * 16: antijoins may have their sides exchanged; 18: semijoins may, too, but only as hash joins.
 *
 * gpusort_returns_inner_rows() returns whether a join of this type returns inner rows without a
 * partner, and gpusort_is_mergeable() whether a merge join can be of this type.
 */
static inline bool
gpusort_returns_inner_rows(JoinType jointype)
{
#if PG_VERSION_NUM >= 160000
	if (jointype == JOIN_RIGHT_ANTI)
		return true;
#endif
	return jointype == JOIN_RIGHT || jointype == JOIN_FULL;
}

static inline bool
gpusort_is_right_anti(JoinType jointype)
{
#if PG_VERSION_NUM >= 160000
	return jointype == JOIN_RIGHT_ANTI;
#else
	return false;
#endif
}

static inline bool
gpusort_is_mergeable(JoinType jointype)
{
	return jointype == JOIN_INNER || jointype == JOIN_LEFT || jointype == JOIN_SEMI ||
		jointype == JOIN_ANTI || gpusort_returns_inner_rows(jointype);
}

/* Returns whether `path` has fewer disabled nodes than `other`; before 18 only costs tell. */
static inline bool
gpusort_is_less_disabled(const Path *path, const Path *other)
{
#if PG_VERSION_NUM >= 180000
	return path->disabled_nodes < other->disabled_nodes;
#else
	return false;
#endif
}

/* Returns whether a path has a disabled node; before 18 only its cost tells. */
static inline bool
gpusort_is_disabled(const Path *path)
{
#if PG_VERSION_NUM >= 180000
	return path->disabled_nodes > 0;
#else
	return false;
#endif
}

/*
 * 19: semijoins don't use UniquePath any more, so the path of a Unique node has got that name.
 */
#if PG_VERSION_NUM >= 190000
#define T_UpperUniquePath	T_UniquePath
#define UpperUniquePath		UniquePath
#endif

static inline Path *
gpusort_make_unique_path(PlannerInfo *root, RelOptInfo *rel, Path *input, int ncolumns,
						 double rows)
{
#if PG_VERSION_NUM >= 190000
	return (Path *) create_unique_path(root, rel, input, ncolumns, rows);
#else
	return (Path *) create_upper_unique_path(root, rel, input, ncolumns, rows);
#endif
}

/*
 * 19: the path that makes the rows of a semijoin's inner side unique is that of an Agg or Unique
 * node.  Its relation is another RelOptInfo than the side's own, with the same relids.  Before,
 * such paths have a node type of their own, UniquePath.
 *
 * If a path makes rows unique by a hash table, returns its input and sets *columns, which must be
 * NIL, to the columns that it compares.  Else returns NULL.
 */
static inline const Path *
gpusort_hashed_unique_input(const Path *path, List **columns)
{
#if PG_VERSION_NUM >= 190000
	const AggPath *agg = (const AggPath *) path;

	if (!IsA(path, AggPath) || agg->aggstrategy != AGG_HASHED || agg->aggsplit != AGGSPLIT_SIMPLE)
		return NULL;
	for (int i = 0; i < list_length(path->pathtarget->exprs); i++)
	{
		if (get_pathtarget_sortgroupref(path->pathtarget, i) > 0)
			*columns = lappend(*columns, list_nth(path->pathtarget->exprs, i));
	}
	return agg->subpath;
#else
	const UniquePath *unique = (const UniquePath *) path;

	if (!IsA(path, UniquePath) || unique->umethod != UNIQUE_PATH_HASH)
		return NULL;
	*columns = unique->uniq_exprs;
	return unique->subpath;
#endif
}

/* Returns the side's own relation, given the relation of its path, which may make rows unique. */
static inline RelOptInfo *
gpusort_relation_not_unique(PlannerInfo *root, RelOptInfo *rel)
{
#if PG_VERSION_NUM >= 190000
	int			relid;

	if (bms_get_singleton_member(rel->relids, &relid))
		return find_base_rel(root, relid);
	return find_join_rel(root, rel->relids);
#else
	return rel;
#endif
}

/*
 * 18: a SetOp merges the two inputs of INTERSECT or EXCEPT; before, it had one input, in which both
 * inputs' rows were appended, with a flag that tells them apart.
 *
 * gpusort_setop_inputs() returns a List of the inputs' Paths, and gpusort_setop_clauses() the
 * SortGroupClauses of the columns.
 */
static inline bool
gpusort_setop_is_appended(void)
{
#if PG_VERSION_NUM >= 180000
	return false;
#else
	return true;
#endif
}

static inline List *
gpusort_setop_inputs(const SetOpPath *setop)
{
#if PG_VERSION_NUM >= 180000
	return list_make2(setop->leftpath, setop->rightpath);
#else
	return list_make1(setop->subpath);
#endif
}

static inline List *
gpusort_setop_clauses(const SetOpPath *setop)
{
#if PG_VERSION_NUM >= 180000
	return setop->groupList;
#else
	return setop->distinctList;
#endif
}

/*
 * Returns a path like `setop` for sorted inputs.  `fraction` is the share of the groups and rows
 * that it sees: less than 1 in a participant of a parallel query.
 */
static inline Path *
gpusort_make_setop_path(PlannerInfo *root, RelOptInfo *rel, const SetOpPath *setop, List *inputs,
						double fraction)
{
	double		groups = Max(setop->numGroups * fraction, 1);
	double		rows = Max(setop->path.rows * fraction, 1);
	SetOpPath  *path;

#if PG_VERSION_NUM >= 180000
	path = create_setop_path(root, rel, linitial(inputs), lsecond(inputs), setop->cmd, SETOP_SORTED,
							 setop->groupList, groups, rows);
	path->path.parallel_workers = ((const Path *) linitial(inputs))->parallel_workers;
#else
	path = create_setop_path(root, rel, linitial(inputs), setop->cmd, SETOP_SORTED,
							 setop->distinctList, setop->flagColIdx, -1, groups, rows);
#endif
	return &path->path;
}

/*
 * 19: the paths of an Append are passed in a struct.
 *
 * Returns an Append of paths.  If `workers` is not 0, the paths are partial paths for so many
 * workers.
 */
static inline Path *
gpusort_create_append_path(PlannerInfo *root, RelOptInfo *rel, List *paths, int workers)
{
	List	   *whole = workers == 0 ? paths : NIL;
	List	   *partial = workers == 0 ? NIL : paths;
	bool		aware = workers > 0 && enable_parallel_append;

#if PG_VERSION_NUM >= 190000
	AppendPathInput input = {.subpaths = whole, .partial_subpaths = partial};

	return (Path *) create_append_path(root, rel, input, NIL, NULL, workers, aware, -1);
#else
	return (Path *) create_append_path(root, rel, whole, partial, NIL, NULL, workers, aware, -1);
#endif
}

/*
 * 18: cost_sort() gets the input's number of disabled nodes.
 *
 * Returns the cost of PostgreSQL's own sort, without its input's.
 */
static inline Cost
gpusort_core_sort_cost(PlannerInfo *root, List *pathkeys, double rows, int width)
{
	Path		path = {.type = T_Path};

#if PG_VERSION_NUM >= 180000
	cost_sort(&path, root, pathkeys, 0, 0, rows, width, 0, work_mem, -1);
#else
	cost_sort(&path, root, pathkeys, 0, rows, width, 0, work_mem, -1);
#endif
	return path.total_cost;
}

#endif							/* GPUSORT_PG_COMPAT_PATHS_H */
