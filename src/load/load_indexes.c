/*
 * load_indexes.c
 *		Whether the indexes of a table can be filled when its rows are there; see load_indexes.h.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/transam.h"
#include "storage/bufmgr.h"
#include "storage/lmgr.h"
#include "utils/rel.h"

#include "load/load_indexes.h"
#include "load/load_safe.h"
#include "pg_compat/tables.h"
#include "settings.h"

/* ---------- whether indexes are ours ---------- */

/*
 * Returns whether an index can be built afterwards.  It must be of one of the server's own access
 * methods, compute nothing that is not safe, be valid and checked at once, and no open query of
 * this session may use it.
 */
static bool
index_is_ours(Oid oid)
{
	Relation	index = index_open(oid, AccessShareLock);
	Form_pg_index form = index->rd_index;
	bool		is_ours = index->rd_refcnt == 1 && index->rd_rel->relam < FirstNormalObjectId &&
		form->indisvalid && form->indisready &&
		form->indislive && form->indimmediate && !form->indisexclusion &&
		gpusort_load_expression_is_safe((Node *) RelationGetIndexExpressions(index)) &&
		gpusort_load_expression_is_safe((Node *) RelationGetIndexPredicate(index));

	index_close(index, AccessShareLock);
	return is_ours;
}

/*
 * Returns whether gpusort.copy_indexes allows that other sessions have to wait.  A new file for
 * each index also means a new row in pg_class: a temporary table that is filled and emptied once
 * per transaction would leave as many dead rows there.
 */
static bool
setting_allows(Relation table)
{
	switch (gpusort_copy_indexes)
	{
		case GPUSORT_COPY_INDEXES_ONLY_NEW:
		case GPUSORT_COPY_INDEXES_NEW:
			return gpusort_relation_is_new(table);
		case GPUSORT_COPY_INDEXES_EMPTY:
			return !RelationUsesLocalBuffers(table) || gpusort_relation_is_new(table);
		default:
			return false;
	}
}

bool
gpusort_load_indexes_are_ours(Relation table)
{
	List	   *indexes = RelationGetIndexList(table);
	ListCell   *lc;

	if (indexes == NIL)
		return true;
	if (!setting_allows(table) || RelationGetNumberOfBlocks(table) > 0)
		return false;
	foreach(lc, indexes)
	{
		if (!index_is_ours(lfirst_oid(lc)))
			return false;
	}
	return true;
}

/* ---------- locks ---------- */

static void
unlock(Relation table, List *indexes)
{
	ListCell   *lc;

	foreach(lc, indexes)
		UnlockRelationOid(lfirst_oid(lc), AccessExclusiveLock);
	UnlockRelation(table, ShareRowExclusiveLock);
}

/*
 * Any transaction that has looked at the table and has not ended, or that writes to it, has locks
 * that conflict with these.  From now on other sessions wait.
 */
bool
gpusort_load_lock_indexes(Relation table)
{
	List	   *indexes = RelationGetIndexList(table);
	List	   *locked = NIL;
	ListCell   *lc;

	if (indexes == NIL)
		return true;
	if (!ConditionalLockRelation(table, ShareRowExclusiveLock))
		return false;
	foreach(lc, indexes)
	{
		if (!ConditionalLockRelationOid(lfirst_oid(lc), AccessExclusiveLock))
			break;
		locked = lappend_oid(locked, lfirst_oid(lc));
	}
	/* the table may have got rows before it was locked */
	if (list_length(locked) == list_length(indexes) && gpusort_load_indexes_are_ours(table))
		return true;
	unlock(table, locked);
	return false;
}
