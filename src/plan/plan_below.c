/*
 * plan_below.c
 *		What is below a path; see plan_paths_private.h.
 */
#include "postgres.h"

#include "pg_compat/paths.h"
#include "plan/plan_paths_private.h"

Path *
gpusort_path_below(const Path *path)
{
	switch (nodeTag(path))
	{
		case T_AggPath:
			return ((const AggPath *) path)->subpath;
		case T_GroupPath:
			return ((const GroupPath *) path)->subpath;
		case T_GroupingSetsPath:
			return ((const GroupingSetsPath *) path)->subpath;
		case T_WindowAggPath:
			return ((const WindowAggPath *) path)->subpath;
		case T_UpperUniquePath:
			return ((const UpperUniquePath *) path)->subpath;
		case T_SortPath:
			return ((const SortPath *) path)->subpath;
		case T_IncrementalSortPath:
			return ((const IncrementalSortPath *) path)->spath.subpath;
		case T_GatherPath:
			return ((const GatherPath *) path)->subpath;
		case T_GatherMergePath:
			return ((const GatherMergePath *) path)->subpath;
		case T_ProjectionPath:
			return ((const ProjectionPath *) path)->subpath;
		case T_SubqueryScanPath:
			return ((const SubqueryScanPath *) path)->subpath;
		case T_MemoizePath:
			return ((const MemoizePath *) path)->subpath;
		case T_CustomPath:
			return ((const CustomPath *) path)->custom_paths != NIL
				? linitial(((const CustomPath *) path)->custom_paths) : NULL;
		default:
			return NULL;
	}
}

List *
gpusort_appended_paths(const Path *path)
{
	if (IsA(path, AppendPath))
		return ((const AppendPath *) path)->subpaths;
	if (IsA(path, MergeAppendPath))
		return ((const MergeAppendPath *) path)->subpaths;
	return NIL;
}

bool
gpusort_all_below(const Path *path, bool (*test) (const Path *))
{
	const Path *below = gpusort_path_below(path);
	const List *appended = gpusort_appended_paths(path);
	ListCell   *lc;

	if (below != NULL)
		return test(below);
	foreach(lc, appended)
	{
		if (!test((const Path *) lfirst(lc)))
			return false;
	}
	return appended != NIL;
}

Path *
gpusort_below_sort(Path *path)
{
	return IsA(path, SortPath) || IsA(path, IncrementalSortPath) ? gpusort_path_below(path) : path;
}
