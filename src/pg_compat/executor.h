/*
 * executor.h
 *		Differences of PostgreSQL's versions: running queries, nodes, slots and tuples.
 */
#ifndef GPUSORT_PG_COMPAT_EXECUTOR_H
#define GPUSORT_PG_COMPAT_EXECUTOR_H

#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/objectaccess.h"
#include "catalog/pg_proc.h"
#include "executor/executor.h"
#include "executor/instrument.h"
#include "miscadmin.h"
#include "nodes/plannodes.h"
#include "pgstat.h"
#include "storage/bufmgr.h"
#include "storage/bufpage.h"
#include "tcop/tcopprot.h"
#include "utils/acl.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

/*
 * 19: flags are passed when a slot is made.
 */
static inline TupleTableSlot *
gpusort_make_slot(TupleDesc desc, const TupleTableSlotOps *ops)
{
#if PG_VERSION_NUM >= 190000
	return MakeTupleTableSlot(desc, ops, 0);
#else
	return MakeTupleTableSlot(desc, ops);
#endif
}

/*
 * 18: callers may ask for room in front of a minimal tuple.
 *
 * GPUSORT_COPY_MINIMAL_TUPLE_PARAMETERS are the parameters of TupleTableSlotOps.copy_minimal_tuple.
 * gpusort_form_minimal_tuple(), for use in such a function, forms a tuple of a slot's values, with
 * the room that was asked for; gpusort_form_minimal_row() forms one without.
 */
#if PG_VERSION_NUM >= 180000
#define GPUSORT_COPY_MINIMAL_TUPLE_PARAMETERS	TupleTableSlot *slot, Size extra
#define gpusort_form_minimal_row(slot) \
	heap_form_minimal_tuple((slot)->tts_tupleDescriptor, (slot)->tts_values, (slot)->tts_isnull, 0)
#define gpusort_form_minimal_tuple(slot) \
	heap_form_minimal_tuple((slot)->tts_tupleDescriptor, (slot)->tts_values, (slot)->tts_isnull, \
							extra)
#else
#define GPUSORT_COPY_MINIMAL_TUPLE_PARAMETERS	TupleTableSlot *slot
#define gpusort_form_minimal_row(slot)	gpusort_form_minimal_tuple(slot)
#define gpusort_form_minimal_tuple(slot) \
	heap_form_minimal_tuple((slot)->tts_tupleDescriptor, (slot)->tts_values, (slot)->tts_isnull)
#endif

/*
 * 18: a tuple descriptor also has CompactAttributes, copies of part of a column's properties.
 *
 * Has values of a column stay as they are when rows are formed, without short headers.
 */
static inline void
gpusort_set_plain(TupleDesc desc, AttrNumber attno)
{
	TupleDescAttr(desc, attno - 1)->attstorage = TYPSTORAGE_PLAIN;
#if PG_VERSION_NUM >= 180000
	populate_compact_attribute(desc, attno - 1);
#endif
}

/*
 * 19: a tuple descriptor that was made by hand must be finalized before it is used.
 */
static inline void
gpusort_finish_tuple_desc(TupleDesc desc)
{
#if PG_VERSION_NUM >= 190000
	TupleDescFinalize(desc);
#endif
}

/*
 * 19: instrumentation of nodes has a type of its own.
 */
#if PG_VERSION_NUM >= 190000
typedef NodeInstrumentation GpuSortNodeInstrumentation;
#else
typedef Instrumentation GpuSortNodeInstrumentation;
#endif

/*
 * 16: a custom scan can choose its scan slot's kind; 15 always makes a virtual slot, which
 * gpusort_init_slots() replaces.
 */
static inline void
gpusort_set_slot_ops(CustomScanState *css, const TupleTableSlotOps *ops)
{
#if PG_VERSION_NUM >= 160000
	css->slotOps = ops;
#endif
}

static inline void
gpusort_init_slots(CustomScanState *css, TupleDesc desc, const TupleTableSlotOps *ops)
{
#if PG_VERSION_NUM < 160000
	ExecInitScanTupleSlot(css->ss.ps.state, &css->ss, desc, ops);
#endif
}

/*
 * 17: old_snapshot_threshold is gone.  Before, rows that a snapshot sees could be removed
 * after that time, and readers of pages had to check for it.
 */
static inline void
gpusort_test_for_old_snapshot(Snapshot snapshot, Relation relation, Page page)
{
#if PG_VERSION_NUM < 170000
	TestForOldSnapshot(snapshot, relation, page);
#endif
}

/*
 * 18: ExecutorRun() has lost the parameter execute_once.
 *
 * The parameters of an ExecutorRun_hook, and the arguments that it passes on.
 */
#if PG_VERSION_NUM >= 180000
#define GPUSORT_EXECUTOR_RUN_PARAMETERS \
	QueryDesc *query, ScanDirection direction, uint64 count
#define GPUSORT_EXECUTOR_RUN_ARGUMENTS	query, direction, count
#else
#define GPUSORT_EXECUTOR_RUN_PARAMETERS \
	QueryDesc *query, ScanDirection direction, uint64 count, bool execute_once
#define GPUSORT_EXECUTOR_RUN_ARGUMENTS	query, direction, count, execute_once
#endif

/*
 * 20: statistics of tables and of indexes are kept apart.
 *
 * Counts what pgstat_count_heap_getnext() counts, for several tuples at once.
 */
static inline void
gpusort_count_heap_tuples(Relation relation, int tuples)
{
#if PG_VERSION_NUM >= 200000
	if (pgstat_should_count_relation(relation))
		relation->pgstat_info->tab.counts.tuples_returned += tuples;
#else
	pgstat_count_index_tuples(relation, tuples);
#endif
}

/*
 * 16: one function checks permissions on objects of all kinds.
 *
 * gpusort_check_execute() raises an error if a role may not call a function or aggregate;
 * gpusort_check_aggregate() if the current user may not call an aggregate, as ExecInitAgg() does.
 */
static inline void
gpusort_check_execute(Oid function, Oid role, ObjectType type)
{
#if PG_VERSION_NUM >= 160000
	AclResult	result = object_aclcheck(ProcedureRelationId, function, role, ACL_EXECUTE);
#else
	AclResult	result = pg_proc_aclcheck(function, role, ACL_EXECUTE);
#endif

	if (result != ACLCHECK_OK)
		aclcheck_error(result, type, get_func_name(function));
}

static inline void
gpusort_check_aggregate(Oid aggregate)
{
	gpusort_check_execute(aggregate, GetUserId(), OBJECT_AGGREGATE);
	InvokeFunctionExecuteHook(aggregate);
}

/*
 * 19: the planner gets the state of an EXPLAIN, which may be NULL.
 */
static inline PlannedStmt *
gpusort_plan_query(Query *query, const char *text)
{
#if PG_VERSION_NUM >= 190000
	return pg_plan_query(query, text, CURSOR_OPT_PARALLEL_OK, NULL, NULL);
#else
	return pg_plan_query(query, text, CURSOR_OPT_PARALLEL_OK, NULL);
#endif
}

/*
 * 18: ExecutorRun() has lost the parameter execute_once.
 */
static inline void
gpusort_run_to_the_end(QueryDesc *query)
{
#if PG_VERSION_NUM >= 180000
	ExecutorRun(query, ForwardScanDirection, 0);
#else
	ExecutorRun(query, ForwardScanDirection, 0, true);
#endif
}

#endif							/* GPUSORT_PG_COMPAT_EXECUTOR_H */
