/*
 * plan_setop.c
 *		UNION, INTERSECT and EXCEPT above a GpuSort, competing by cost.
 *
 *		Unique, SetOp				Gather
 *		  -> GpuSort				  -> Unique, SetOp
 *		    -> Append				    -> GpuSort Shared, sliced
 *		      -> each input			      -> Parallel Append
 *
 * The planner tells only of the relation of a set operation's result.  So the kind of the operation
 * and its inputs are read from the planner's own paths: a hash table or a Unique above an Append is
 * a UNION, and the other operations have a SetOp.  Before 18, a SetOp has one input, whose rows are
 * marked with where they come from.  From 18 on it merges two inputs:
 *
 *		SetOp						Gather
 *		  -> GpuSort				  -> SetOp
 *		    -> left input			    -> GpuSort Shared, sliced
 *		  -> GpuSort				      -> left input
 *		    -> right input			    -> GpuSort Shared, all rows
 *									      -> right input
 *
 * Only groups of the left input have rows in the result, and slices cut no group.  So a participant
 * that reads a slice of the left input and all rows of the right one returns what becomes of the
 * slice.
 *
 * For a UNION the planner takes all rows to be different, so that it overestimates the size of its
 * hash tables.  We ask the inputs' statistics instead.
 */
#include "postgres.h"

#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/planner.h"
#include "optimizer/tlist.h"
#include "port/pg_bitutils.h"
#include "utils/selfuncs.h"

#include "cost/cost.h"
#include "pg_compat/paths.h"
#include "plan/plan_estimate_private.h"
#include "plan/plan_paths_private.h"

/* A set operation, as it was read from the planner's paths. */
typedef struct PlannedSetOp
{
	PlannerInfo *root;
	RelOptInfo *rel;
	const SetOpPath *setop;		/* one of the planner's paths; NULL if it is a UNION */
	List	   *inputs;			/* relations of the inputs */
	/* SortGroupClauses of the columns; NIL if pathkeys are known instead */
	List	   *clauses;
	List	   *pathkeys;		/* what a Unique's input is sorted by */
	double		rows;			/* number of rows of the result */
	double		groups;			/* number of groups of equal rows */
	double		known_groups;	/* at least so many groups, by statistics; 0 if they don't tell */
	/* relation of the rows of all inputs, if a path of ours is above these */
	RelOptInfo *appended;
} PlannedSetOp;

/* ---------- which operation ---------- */

/*
 * Returns the relation that a path is of, or NULL.  The parent of a UNION's path may be a relation
 * without a cheapest path; the path is another set operation's cheapest one then.
 */
static RelOptInfo *
relation_of(const PlannerInfo *root, const Path *path)
{
	ListCell   *lc;

	if (path->parent->cheapest_total_path != NULL)
		return path->parent;
	foreach(lc, root->upper_rels[UPPERREL_SETOP])
	{
		RelOptInfo *rel = (RelOptInfo *) lfirst(lc);

		if (rel->cheapest_total_path == path)
			return rel;
	}
	return NULL;
}

/* Returns the relations of several paths, or NIL if one of them is not known. */
static List *
relations_of(const PlannerInfo *root, const List *paths)
{
	List	   *rels = NIL;
	ListCell   *lc;

	foreach(lc, paths)
	{
		RelOptInfo *rel = relation_of(root, (const Path *) lfirst(lc));

		if (rel == NULL)
			return NIL;
		rels = lappend(rels, rel);
	}
	return rels;
}

/* Returns the relations that an Append reads, perhaps in workers; NIL if the path is no Append. */
static List *
appended_rels(const PlannerInfo *root, const Path *path)
{
	if (IsA(path, GatherPath))
		path = gpusort_path_below(path);
	return relations_of(root, gpusort_appended_paths(path));
}

static void
read_setop(PlannedSetOp *operation, const SetOpPath *setop)
{
	const PlannerInfo *root = operation->root;
	List	   *paths = gpusort_setop_inputs(setop);

	operation->setop = setop;
	operation->clauses = gpusort_setop_clauses(setop);
	operation->groups = setop->numGroups;
	operation->inputs = list_length(paths) == 1 ?
		appended_rels(root, gpusort_below_sort(linitial(paths))) : relations_of(root, paths);
}

/* Looks at one of the planner's paths; returns false if it does not tell what the operation is. */
static bool
read_path(PlannedSetOp *operation, const Path *path)
{
	if (IsA(path, ProjectionPath))
		path = ((const ProjectionPath *) path)->subpath;
	operation->rows = path->rows;
	if (IsA(path, SetOpPath))
		read_setop(operation, (const SetOpPath *) path);
	else if (IsA(path, AggPath) && ((const AggPath *) path)->aggstrategy == AGG_HASHED)
	{
		operation->clauses = ((const AggPath *) path)->groupClause;
		operation->inputs = appended_rels(operation->root, ((const AggPath *) path)->subpath);
	}
	else if (IsA(path, UpperUniquePath))
	{
		Path	   *input = ((const UpperUniquePath *) path)->subpath;

		operation->pathkeys = input->pathkeys;
		operation->inputs = appended_rels(operation->root, gpusort_below_sort(input));
	}
	return list_length(operation->inputs) > 1;
}

static bool
read_operation(PlannedSetOp *operation)
{
	ListCell   *lc;

	foreach(lc, operation->rel->pathlist)
	{
		if (read_path(operation, (const Path *) lfirst(lc)))
			return operation->pathkeys != NIL || grouping_is_sortable(operation->clauses);
	}
	return false;
}

/*
 * Estimates the number of different rows of an input, and how many there are at least by
 * statistics.  The rows of grouped queries are taken to be different, as the planner takes them for
 * INTERSECT.
 */
static void
count_groups(const RelOptInfo *input, double *groups, double *known)
{
	PlannerInfo *subroot = input->subroot;
	double		rows = clamp_row_est(input->cheapest_total_path->rows);
	const Query *query = subroot != NULL ? subroot->parse : NULL;
	List	   *exprs;

	*groups = *known = rows;
	if (query == NULL || query->groupClause != NIL || query->groupingSets != NIL ||
		query->distinctClause != NIL || query->hasAggs || subroot->hasHavingQual)
		return;
	exprs = get_tlist_exprs(query->targetList, false);
	*groups = estimate_num_groups(subroot, exprs, rows, NULL, NULL);
	*known = gpusort_known_groups(subroot, exprs, rows);
}

static void
estimate_groups(PlannedSetOp *operation)
{
	double		all_groups = 0;
	double		all_known = 0;
	bool		guessed = false;
	ListCell   *lc;

	foreach(lc, operation->inputs)
	{
		double		groups;
		double		known;

		count_groups((const RelOptInfo *) lfirst(lc), &groups, &known);
		all_groups += groups;
		all_known += known;
		guessed |= known == 0;
	}
	if (operation->setop == NULL)
		operation->groups = all_groups;
	operation->known_groups = guessed ? 0 : Min(operation->groups, all_known);
}

/*
 * Returns what rows of a path are sorted by: all columns, which are numbered by their references.
 */
static List *
wanted_order(const PlannedSetOp *operation, const PathTarget *target)
{
	PathTarget *copy = copy_pathtarget((PathTarget *) target);

	if (operation->clauses == NIL)
		return operation->pathkeys;
	return make_pathkeys_for_sortclauses(operation->root, operation->clauses,
										 make_tlist_from_pathtarget(copy));
}

/* ---------- inputs ---------- */

/* Returns as many workers as the planner has for the same Append. */
static int
count_workers(const List *partial)
{
	int			workers = 0;
	ListCell   *lc;

	foreach(lc, partial)
		workers = Max(workers, ((const Path *) lfirst(lc))->parallel_workers);
	if (enable_parallel_append)
		workers = Min(Max(workers, pg_leftmost_one_pos32(list_length(partial)) + 1),
					  max_parallel_workers_per_gather);
	return workers;
}

/*
 * Makes a relation for the rows of all inputs, so that these can be sorted as those of any
 * relation.  It is of a kind that set operations have none of.
 */
static void
append_inputs(PlannedSetOp *operation)
{
	PlannerInfo *root = operation->root;
	RelOptInfo *rel = fetch_upper_rel(root, UPPERREL_PARTIAL_DISTINCT, operation->rel->relids);
	List	   *whole = NIL;
	List	   *partial = NIL;
	ListCell   *lc;

	rel->reltarget = operation->rel->reltarget;
	rel->consider_parallel = true;
	foreach(lc, operation->inputs)
	{
		const RelOptInfo *input = (const RelOptInfo *) lfirst(lc);

		whole = lappend(whole, input->cheapest_total_path);
		rel->consider_parallel &= input->consider_parallel;
		if (input->partial_pathlist != NIL)
			partial = lappend(partial, linitial(input->partial_pathlist));
	}
	add_path(rel, gpusort_create_append_path(root, rel, whole, 0));
	if (rel->consider_parallel && list_length(partial) == list_length(whole))
		add_partial_path(rel, gpusort_create_append_path(root, rel, partial,
														 count_workers(partial)));
	set_cheapest(rel);
	operation->appended = rel;
}

/*
 * Returns the cheapest path that has an input's rows in order; *ours is set if that is a sort of
 * ours.
 */
static Path *
sort_input(const PlannedSetOp *operation, RelOptInfo *input, bool *ours)
{
	Path	   *cheapest = input->cheapest_total_path;
	List	   *pathkeys = wanted_order(operation, cheapest->pathtarget);
	Path	   *sorted;
	ListCell   *lc;

	if (pathkeys_contained_in(pathkeys, cheapest->pathkeys))
		return cheapest;
	sorted = (Path *) create_sort_path(operation->root, operation->rel, cheapest, pathkeys, -1);
	foreach(lc, gpusort_make_sorted_paths(operation->root, input, operation->rel, pathkeys,
										  GPUSORT_NO_LIMIT))
	{
		Path	   *path = (Path *) lfirst(lc);

		if (path->total_cost < sorted->total_cost)
		{
			sorted = path;
			*ours = true;
		}
	}
	return sorted;
}

/* ---------- paths ---------- */

/*
 * Makes a Unique or SetOp above sorted inputs, of which it gets a fraction.  If the result is the
 * input of another set operation, the planner may have added a mark or changed types already, which
 * a projection does here.
 */
static Path *
make_path(const PlannedSetOp *operation, List *inputs, double fraction)
{
	PlannerInfo *root = operation->root;
	RelOptInfo *rel = operation->rel;
	PathTarget *target = ((const Path *) linitial(rel->pathlist))->pathtarget;
	Path	   *path;

	if (operation->setop != NULL)
	{
		path = gpusort_make_setop_path(root, rel, operation->setop, inputs, fraction);
		/* The pathkeys are of the path's own columns, not of those of the left input. */
		path->pathkeys = wanted_order(operation, path->pathtarget);
	}
	else
		path = gpusort_make_unique_sorted_path(root, rel, linitial(inputs),
											   list_length(((const Path *)
															linitial(inputs))->pathkeys),
											   clamp_row_est(operation->rows * fraction));
	if (!equal(target->exprs, path->pathtarget->exprs))
		path = apply_projection_to_path(root, rel, path, target);
	return path;
}

/* What make_above() needs to know besides the slices. */
typedef struct SlicedSetOp
{
	const PlannedSetOp *operation;
	/* path of the right input, which all participants read; NULL if there is one input only */
	Path	   *whole;
} SlicedSetOp;

static Path *
make_above(const GpuSortSlices *slices, const void *original)
{
	const SlicedSetOp *sliced = original;
	List	   *inputs = list_make1(slices->sort);

	if (sliced->whole != NULL)
		inputs = lappend(inputs, sliced->whole);
	return make_path(sliced->operation, inputs, slices->fraction);
}

/* Makes the leader's own paths, a List of Path. */
static List *
make_paths(const PlannedSetOp *operation)
{
	SlicedSetOp whole = {.operation = operation};
	GpuSortSlices slices = {
		.root = operation->root, .rel = operation->rel, .make = make_above, .original = &whole
	};
	List	   *inputs = NIL;
	bool		ours = false;
	ListCell   *lc;

	if (operation->appended != NULL)
		return gpusort_make_whole_paths(&slices, operation->appended,
										wanted_order(operation, operation->appended->reltarget));
	foreach(lc, operation->inputs)
		inputs = lappend(inputs, sort_input(operation, (RelOptInfo *) lfirst(lc), &ours));
	return ours ? list_make1(make_path(operation, inputs, 1)) : NIL;
}

/*
 * Makes a path that returns all rows of an input to each participant, sorted by them together;
 * returns NULL if that is not worth it.
 */
static Path *
make_whole_input(const PlannedSetOp *operation, const RelOptInfo *input)
{
	GpuSortSharedSort sort = {
		.all_rows = clamp_row_est(input->cheapest_total_path->rows)
	};

	if (!input->consider_parallel || input->partial_pathlist == NIL)
		return NULL;
	sort.partial = (Path *) linitial(input->partial_pathlist);
	sort.pathkeys = wanted_order(operation, sort.partial->pathtarget);
	return gpusort_plan_shared_worth_it(operation->root, &sort) ?
		gpusort_make_shared_path(operation->root, operation->rel, &sort) : NULL;
}

static List *
make_sliced_paths(const PlannedSetOp *operation, Cost *cost)
{
	RelOptInfo *rel = operation->rel;
	RelOptInfo *input = operation->appended;
	SlicedSetOp sliced = {.operation = operation};
	GpuSortSlices slices = {
		.root = operation->root, .rel = rel, .make = make_above, .original = &sliced,
		.groups = operation->groups
	};
	bool		considered = rel->consider_parallel;
	List	   *pathkeys;
	List	   *paths;

	*cost = GPUSORT_NO_SLICES;
	if (!gpusort_plans_shared())
		return NIL;
	if (input == NULL)
	{
		input = (RelOptInfo *) linitial(operation->inputs);
		sliced.whole = make_whole_input(operation, lsecond(operation->inputs));
		if (sliced.whole == NULL)
			return NIL;
	}
	if (input->partial_pathlist == NIL)
		return NIL;
	pathkeys = wanted_order(operation, input->cheapest_total_path->pathtarget);

	/*
	 * The planner leaves this false for INTERSECT and EXCEPT, although nothing speaks against
	 * workers.
	 */
	rel->consider_parallel = true;
	paths = gpusort_offer_sliced(&slices, input, pathkeys, list_length(pathkeys), cost);
	if (paths == NIL)
		rel->consider_parallel = considered;
	return paths;
}

void
gpusort_add_setop_paths(PlannerInfo *root, RelOptInfo *setop_rel)
{
	PlannedSetOp operation = {.root = root, .rel = setop_rel};
	GpuSortGroupedRows grouped = {.root = root, .rel = setop_rel, .groups_known = true};
	List	   *paths;
	List	   *sliced;
	Cost		cost;

	if (setop_rel->reloptkind != RELOPT_UPPER_REL || !read_operation(&operation))
		return;
	estimate_groups(&operation);
	if (operation.setop == NULL || gpusort_setop_is_appended())
		append_inputs(&operation);
	paths = make_paths(&operation);
	sliced = make_sliced_paths(&operation, &cost);
	grouped.input_rel = operation.appended != NULL ? operation.appended
		: linitial(operation.inputs);
	grouped.pathkeys = wanted_order(&operation, grouped.input_rel->cheapest_total_path->pathtarget);
	grouped.groups = operation.known_groups;
	gpusort_offer_paths(&grouped, paths, sliced, cost);
}
