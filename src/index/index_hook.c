/*
 * index_hook.c
 *		Redirects builds of btree indexes to gpusort.
 *
 * Every build in the server goes through index_build(), which calls ambuild of the index's entry in
 * the relation cache.  There is no hook for it.  But just before, index_build() asks the planner
 * for a number of workers, and the dummy planning for that calls the hook for relation information.
 * There we point the entries of the table's btree indexes, the one to be built among them, at a
 * copy of btree's access method that differs in ambuild only.  The index's catalog entries know
 * nothing of this, and an entry that the cache rebuilds loses the redirection.
 *
 * index_build() does not ask the planner if max_parallel_maintenance_workers is 0.  A
 * ProcessUtility hook therefore sets it to 1 during statements that build indexes; the number of
 * workers planned stays 0 all the same, for all access methods.
 *
 * Builds that pass neither hook are done by PostgreSQL: those in single-user mode, and those of
 * empty tables at a transaction's end.
 */
#include "postgres.h"

#include "access/amapi.h"
#include "access/nbtree.h"
#include "catalog/pg_am.h"
#include "commands/defrem.h"
#include "miscadmin.h"
#include "nodes/pathnodes.h"
#include "optimizer/optimizer.h"
#include "utils/fmgroids.h"
#include "utils/rel.h"

#include "index/index.h"
#include "pg_compat/tables.h"
#include "settings.h"

/* btree's access method with our ambuild. */
static IndexAmRoutine our_btree;

/*
 * The user has set max_parallel_maintenance_workers to 0, and we have made it 1 for the current
 * statement.
 */
static bool workers_raised = false;

/*
 * A statement for which we had made it 1 failed when it had another value.  If that was set by a
 * function, the value that the end of the transaction restores is our 1.
 */
static bool workers_stacked = false;

/* Point the index's relation cache entry at our copy of btree's access method. */
static void
redirect_build(Relation index)
{
	if (index->rd_rel->relkind != RELKIND_INDEX || index->rd_rel->relam != BTREE_AM_OID ||
		index->rd_amhandler != F_BTHANDLER || index->rd_indam == NULL ||
		index->rd_indam->ambuild != btbuild)
		return;
	if (our_btree.ambuild == NULL)
	{
		our_btree = *index->rd_indam;
		our_btree.ambuild = gpusort_build_index;
	}
	index->rd_indam = &our_btree;
}

/*
 * Point the relation cache entries of all btree indexes of a table at our copy of btree's access
 * method.
 */
static void
redirect_builds(Oid heap_oid)
{
	Relation	heap = RelationIdGetRelation(heap_oid);
	List	   *indexes;
	ListCell   *lc;

	if (!RelationIsValid(heap))
		return;
	indexes = RelationGetIndexList(heap);
	foreach(lc, indexes)
	{
		Relation	index = RelationIdGetRelation(lfirst_oid(lc));

		if (!RelationIsValid(index))
			continue;
		redirect_build(index);
		RelationClose(index);
	}
	list_free(indexes);
	RelationClose(heap);
}

void
gpusort_take_index_builds(Oid table, RelOptInfo *rel)
{
	if (workers_raised)
		rel->rel_parallel_workers = 0;
	if (gpusort_enabled && gpusort_enable_index_build)
		redirect_builds(table);
}

/* Returns whether the statement can build an index. */
static bool
builds_indexes(Node *statement)
{
	switch (nodeTag(statement))
	{
		case T_IndexStmt:
		case T_ReindexStmt:
		case T_AlterTableStmt:
		case T_CreateStmt:
		case T_CreateSchemaStmt:
		case T_ClusterStmt:
		case T_RefreshMatViewStmt:
		case T_TruncateStmt:
			return true;
		case T_VacuumStmt:
			{
				ListCell   *lc;

				/*
				 * only VACUUM FULL builds indexes; other VACUUMs may use workers themselves, and
				 * keep their number
				 */
				foreach(lc, ((VacuumStmt *) statement)->options)
				{
					DefElem    *option = lfirst(lc);

					if (strcmp(option->defname, "full") == 0)
						return defGetBoolean(option);
				}
				return false;
			}
		default:
			return false;
	}
}

/*
 * The variable is set directly, not as a GUC, since some of these statements commit transactions,
 * and a commit would undo a setting made in the transaction.  A function in an index expression may
 * have its own setting of max_parallel_maintenance_workers; if it fails, the end of the transaction
 * restores our 1 from the stack, which the next statement has to undo.
 */
bool
gpusort_raise_workers(Node *statement)
{
	if (workers_stacked && max_parallel_maintenance_workers == 1)
		max_parallel_maintenance_workers = 0;
	workers_stacked = false;
	if (max_parallel_maintenance_workers > 0 || !gpusort_enabled || !gpusort_enable_index_build ||
		!builds_indexes(statement))
		return false;
	max_parallel_maintenance_workers = 1;
	workers_raised = true;
	return true;
}

void
gpusort_lower_workers(bool done)
{
	workers_raised = false;
	if (max_parallel_maintenance_workers == 1)
		max_parallel_maintenance_workers = 0;
	else
		workers_stacked = !done;
}

int
gpusort_maintenance_workers(void)
{
	return workers_raised && max_parallel_maintenance_workers == 1 ? 0
		: max_parallel_maintenance_workers;
}
