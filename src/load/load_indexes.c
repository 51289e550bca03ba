/*
 * load_indexes.c
 *		The indexes of a table that was empty; see load_indexes.h.
 *
 * They are rebuilt into new files, as by REINDEX, so that an abort leaves the empty ones.  That is done in a
 * subtransaction.  Where it fails because of a row, the rows are inserted into the empty indexes, one
 * after the other, as PostgreSQL's COPY does: this fails at the row where COPY fails, with its error.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/transam.h"
#include "access/xact.h"
#include "catalog/index.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "storage/lmgr.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/resowner.h"

#include "load/load_indexes.h"
#include "load/load_reinsert.h"
#include "load/load_safe.h"
#include "pg_compat/tables.h"
#include "settings.h"

/* ---------- whether ---------- */

/*
 * One of the server's own kinds, which computes nothing that is not safe, is checked at once, and in use, but by no open
 * query of this session.
 */
static bool
index_is_ours(Oid oid)
{
	Relation	index = index_open(oid, AccessShareLock);
	Form_pg_index form = index->rd_index;
	bool		is_ours = index->rd_refcnt == 1 && index->rd_rel->relam < FirstNormalObjectId && form->indisvalid && form->indisready &&
		form->indislive && form->indimmediate && !form->indisexclusion &&
		gpusort_load_expression_is_safe((Node *) RelationGetIndexExpressions(index)) &&
		gpusort_load_expression_is_safe((Node *) RelationGetIndexPredicate(index));

	index_close(index, AccessShareLock);
	return is_ours;
}

/* May others have to wait for us? */
static bool
setting_allows(Relation table)
{
	switch (gpusort_copy_indexes)
	{
		case GPUSORT_COPY_INDEXES_NEW:
			return RelationUsesLocalBuffers(table) || gpusort_relation_is_new(table);
		case GPUSORT_COPY_INDEXES_EMPTY:
			return true;
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

/*
 * Whoever has looked at the table in a transaction that has not ended, or writes to it, has locks that conflict with
 * these.  From now on others wait.
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
	/* ... and until now */
	if (list_length(locked) == list_length(indexes) && gpusort_load_indexes_are_ours(table))
		return true;
	foreach(lc, locked)
		UnlockRelationOid(lfirst_oid(lc), AccessExclusiveLock);
	UnlockRelation(table, ShareRowExclusiveLock);
	return false;
}

/* ---------- building ---------- */

static void
build_all(Relation table)
{
	List	   *indexes = RelationGetIndexList(table);
	ListCell   *lc;

	foreach(lc, indexes)
	{
		CHECK_FOR_INTERRUPTS();
		gpusort_reindex(lfirst_oid(lc), table->rd_rel->relpersistence);
	}
}

/* May an error be one that COPY meets at some row?  If not, the rows' turn ends with all of them in the indexes. */
static bool
error_may_be_about_row(void)
{
	switch (ERRCODE_TO_CATEGORY(geterrcode()))
	{
		case ERRCODE_INTEGRITY_CONSTRAINT_VIOLATION:
		case ERRCODE_PROGRAM_LIMIT_EXCEEDED:
		case ERRCODE_DATA_EXCEPTION:
		case ERRCODE_FEATURE_NOT_SUPPORTED:
			return true;
		default:
			return false;
	}
}

/* Build them in a subtransaction; false: a row is in the way. */
static bool
try_build(Relation table)
{
	MemoryContext context = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;
	volatile bool built = false;

	BeginInternalSubTransaction(NULL);
	MemoryContextSwitchTo(context);
	PG_TRY();
	{
		build_all(table);
		ReleaseCurrentSubTransaction();
		built = true;
	}
	PG_CATCH();
	{
		bool		is_about_row = error_may_be_about_row();
		ErrorData  *error;

		MemoryContextSwitchTo(context);
		error = CopyErrorData();
		FlushErrorState();
		RollbackAndReleaseCurrentSubTransaction();
		MemoryContextSwitchTo(context);
		CurrentResourceOwner = owner;
		if (!is_about_row)
			ReThrowError(error);
		FreeErrorData(error);
	}
	PG_END_TRY();
	MemoryContextSwitchTo(context);
	CurrentResourceOwner = owner;
	return built;
}

void
gpusort_load_build_indexes(const GpuSortLoadState *state)
{
	Relation	table = state->statement->table;

	if (RelationGetIndexList(table) == NIL || state->counts.rows == 0)
		return;
	CommandCounterIncrement();
	if (!try_build(table))
		gpusort_load_reinsert(state);
}
