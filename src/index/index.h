/*
 * index.h
 *		What other folders use of index builds.
 */
#ifndef GPUSORT_INDEX_H
#define GPUSORT_INDEX_H

#include "access/genam.h"
#include "access/parallel.h"
#include "nodes/execnodes.h"
#include "nodes/parsenodes.h"
#include "nodes/pathnodes.h"
#include "utils/rel.h"
#include "utils/relcache.h"

#include "sort/sort.h"

/* ---------- hook: redirects builds of btree indexes to gpusort ---------- */

/*
 * Redirect the builds of the table's btree indexes.  Called from the hook for relation information,
 * when the planner is asked how many workers an index build gets.
 */
extern void gpusort_take_index_builds(Oid table, RelOptInfo *rel);

/*
 * Called from ProcessUtility_hook before a statement.  If it may build indexes and
 * max_parallel_maintenance_workers is 0, sets that to 1, so that index_build() asks the planner.
 * If this returns true, the hook must call gpusort_lower_workers() at the statement's end, `done`
 * telling whether it succeeded.
 */
extern bool gpusort_raise_workers(Node *statement);
extern void gpusort_lower_workers(bool done);

/*
 * Returns max_parallel_maintenance_workers as the user has set it, which is not its value while
 * gpusort_raise_workers() is in force.
 */
extern int	gpusort_maintenance_workers(void);

/* ---------- build: scans the table, sorts, checks uniqueness, writes ---------- */

/* What became of the index builds that this session was asked for. */
typedef struct GpuSortIndexCounters
{
	int64		built;
	int64		given_up;		/* builds begun here and then left to PostgreSQL */
	int64		left;			/* builds left to PostgreSQL from the start */
	int64		workers;		/* workers that took part in the builds begun here */
	int64		slices;			/* slices of the indexes that several processes have written */
} GpuSortIndexCounters;

extern GpuSortIndexCounters gpusort_index_counters;

/*
 * The ambuild function of btree indexes: builds the index here or, where gpusort does not take the
 * build, calls btbuild().
 */
extern IndexBuildResult *gpusort_build_index(Relation heap, Relation index,
											 IndexInfo *info);

/* ---------- key: the sort key of an index ---------- */

/*
 * Fill *spec with the index's key columns.  Returns false, with *reason set to a constant string,
 * if gpusort can't sort by one of its operator classes.  A caller that begins a sort of its own,
 * rather than a part of a shared one, sets spec->expected_rows itself.
 */
extern bool gpusort_index_sort_spec(Relation index, GpuSortSpec *spec, const char **reason);

/* ---------- eligible: what would become of an index that is not built ---------- */

/*
 * Returns why an index that a statement asks for, a btree whose expressions have been analyzed,
 * would be left to PostgreSQL, or NULL if gpusort would build it.  *rows becomes the number of rows
 * expected, of the table.  Raises the errors that the statement would for columns without an
 * operator class.
 */
extern const char *gpusort_index_reason_to_leave(Relation heap, const IndexStmt *statement,
												 double *rows);

#endif							/* GPUSORT_INDEX_H */
