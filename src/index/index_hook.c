/*
 * index_hook.c
 *		How btree builds get to us.
 *
 * Every build in the server goes through index_build(), which calls ambuild of
 * the index's entry in the relation cache.  There is no hook for it, but just
 * before index_build() asks the planner for a number of workers, and the planner's
 * dummy planning for that gets to the hook for relation information.  There the
 * entries of the table's btree indexes, the one to be built among them, are pointed
 * at a copy of btree's access method that differs in ambuild only.  An index's
 * catalog entries know nothing of it, and an entry that the cache rebuilds
 * has lost it again.
 *
 * The planner is not asked if max_parallel_maintenance_workers is 0.  A
 * ProcessUtility hook makes it 1 during statements that build indexes; the number
 * of workers planned for stays 0 all the same, for all access methods.
 *
 * Builds that come along neither way are done by PostgreSQL: in single-user
 * mode, and those of empty tables in a transaction's end.
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

#include "index/index_build.h"
#include "index/index_hook.h"
#include "pg_compat/tables.h"
#include "settings.h"

/* btree's access method with our ambuild. */
static IndexAmRoutine our_btree;

/* max_parallel_maintenance_workers is 0, but for us. */
static bool workers_raised = false;

/* ... and a statement failed where something else had been set: what that stacked is our 1. */
static bool workers_stacked = false;

/* Have builds of the index come to us. */
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

/* Can the statement build an index? */
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

				/* others may have workers, whose number is none of our business */
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
 * The variable is set directly, since some of these statements commit
 * transactions, which would undo a setting made for one of them.  A function in an index
 * expression may have a setting of its own; if it fails, our value is what the end of the
 * transaction brings back, so that the next statement has to look.
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
	return workers_raised && max_parallel_maintenance_workers == 1 ? 0 : max_parallel_maintenance_workers;
}
