/*
 * pg_compat.h
 *		Differences between the supported PostgreSQL versions.
 *
 * This is the only file that looks at PG_VERSION_NUM.  Each item names the
 * version that brought the difference and why it exists.
 */
#ifndef GPUSORT_PG_COMPAT_H
#define GPUSORT_PG_COMPAT_H

#include "postgres.h"

/*
 * 20: pg_attribute_always_inline has another name, which later minor releases know before, too.
 */
#ifndef pg_always_inline
#define pg_always_inline pg_attribute_always_inline
#endif

/* ---------- key codecs ---------- */

/*
 * 16: the VARxxx macros have left postgres.h.
 */
#if PG_VERSION_NUM >= 160000
#include "varatt.h"
#endif

#include "access/stratnum.h"
#include "utils/lsyscache.h"
#include "utils/pg_locale.h"

/*
 * 18: get_ordering_op_properties() reports a CompareType instead of a btree
 * strategy number, for index methods of other strategies than btree's.
 *
 * True if opno is the "<" or (*reverse) ">" of some btree-like family.
 */
static inline bool
gpusort_ordering_op(Oid opno, Oid *opfamily, Oid *opcintype, bool *reverse)
{
#if PG_VERSION_NUM >= 180000
	CompareType cmptype;

	if (!get_ordering_op_properties(opno, opfamily, opcintype, &cmptype))
		return false;
	*reverse = (cmptype == COMPARE_GT);
#else
	int16		strategy;

	if (!get_ordering_op_properties(opno, opfamily, opcintype, &strategy))
		return false;
	*reverse = (strategy == BTGreaterStrategyNumber);
#endif
	return true;
}

/*
 * 18: the OID of the collation "POSIX", which stays what it was, has lost its name.
 */
#if PG_VERSION_NUM >= 180000
#define POSIX_COLLATION_OID 951
#endif

/*
 * 18: lc_collate_is_c() is gone; the locale, which now always exists, says it.
 */
static inline bool
gpusort_collation_is_c(Oid collation)
{
#if PG_VERSION_NUM >= 180000
	return pg_newlocale_from_collation(collation)->collate_is_c;
#else
	return lc_collate_is_c(collation);
#endif
}

/*
 * 19: the library's own locale has moved up within the server's.
 */
static inline locale_t
gpusort_libc_locale(pg_locale_t locale)
{
#if PG_VERSION_NUM >= 190000
	return locale->lt;
#else
	return locale->info.lt;
#endif
}

#ifdef USE_ICU

/* 19: its header is no longer included by pg_locale.h. */
#include <unicode/ucol.h>

static inline UCollator *
gpusort_icu_collator(pg_locale_t locale)
{
#if PG_VERSION_NUM >= 190000
	return locale->icu.ucol;
#else
	return locale->info.icu.ucol;
#endif
}

/*
 * 16: pg_strnxfrm() makes ICU sort keys for any server encoding, and
 * icu_to_uchar() is on its way out; 15 has only the latter.
 *
 * Returns the key's length without its terminating zero byte.  If that is not
 * below size, the contents of key are undefined.
 */
static inline Size
gpusort_icu_sort_key(char *key, Size size, const char *string, int32 len, pg_locale_t locale)
{
#if PG_VERSION_NUM >= 160000
	return pg_strnxfrm(key, size, string, len, locale);
#else
	UChar	   *string_utf16;
	int32_t		len_utf16 = icu_to_uchar(&string_utf16, string, len);
	int32_t		needed = ucol_getSortKey(gpusort_icu_collator(locale), string_utf16, len_utf16,
										 (uint8_t *) key, Min(size, PG_INT32_MAX));

	pfree(string_utf16);
	return needed - 1;
#endif
}
#endif							/* USE_ICU */

/* ---------- planner ---------- */

#include "nodes/pathnodes.h"

/*
 * 18: a PathKey holds a CompareType instead of a strategy number.
 *
 * The family's operator that sorts values of `type` as the pathkey says.
 */
static inline Oid
gpusort_pathkey_operator(const PathKey *pathkey, Oid type)
{
#if PG_VERSION_NUM >= 180000
	return get_opfamily_member_for_cmptype(pathkey->pk_opfamily, type, type,
										   pathkey->pk_cmptype);
#else
	return get_opfamily_member(pathkey->pk_opfamily, type, type, pathkey->pk_strategy);
#endif
}

/*
 * 18: paths count disabled nodes instead of carrying a disable_cost.
 *
 * A sort obeys enable_sort, as PostgreSQL's own does.
 */
#include "optimizer/cost.h"

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

/* The same for a path that is no sort of its own, but costs what its input does. */
static inline void
gpusort_copy_path_disabled(Path *path, const Path *input)
{
#if PG_VERSION_NUM >= 180000
	path->disabled_nodes = input->disabled_nodes;
#endif
}

/* ... for one that costs what two inputs do. */
static inline void
gpusort_join_path_disabled(Path *path, const Path *outer, const Path *inner)
{
#if PG_VERSION_NUM >= 180000
	path->disabled_nodes = outer->disabled_nodes + inner->disabled_nodes;
#endif
}

/*
 * 18: the sort of a merge join's outer side may be an incremental one, if it is told
 * how many of the columns are in order already.
 *
 * A merge join whose outer path is sorted by outersortkeys, unless NIL, and whose inner
 * path comes in order.
 */
#include "optimizer/pathnode.h"

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
	List	   *pathkeys;		/* of the result */
} GpuSortMergeJoin;

static inline MergePath *
gpusort_create_mergejoin_path(const GpuSortMergeJoin *join)
{
	JoinCostWorkspace workspace;

#if PG_VERSION_NUM >= 180000
	initial_cost_mergejoin(join->root, &workspace, join->jointype, join->mergeclauses,
						   join->outer, join->inner, join->outersortkeys, NIL, 0, join->extra);
	return create_mergejoin_path(join->root, join->joinrel, join->jointype, &workspace,
								 join->extra, join->outer, join->inner,
								 join->extra->restrictlist, join->pathkeys, NULL,
								 join->mergeclauses, join->outersortkeys, NIL, 0);
#else
	initial_cost_mergejoin(join->root, &workspace, join->jointype, join->mergeclauses,
						   join->outer, join->inner, join->outersortkeys, NIL, join->extra);
	return create_mergejoin_path(join->root, join->joinrel, join->jointype, &workspace,
								 join->extra, join->outer, join->inner,
								 join->extra->restrictlist, join->pathkeys, NULL,
								 join->mergeclauses, join->outersortkeys, NIL);
#endif
}

/*
 * 16: antijoins may have their sides exchanged; 18: semijoins, too, but only hash joins can do that.
 *
 * Can a merge join be of this type, and will it return inner rows without a partner?
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

/*
 * 19: since semijoins are made otherwise, the path of a Unique node has the plain name.
 */
#if PG_VERSION_NUM >= 190000
#define T_UpperUniquePath	T_UniquePath
#define UpperUniquePath		UniquePath
#endif

static inline Path *
gpusort_make_unique_path(PlannerInfo *root, RelOptInfo *rel, Path *input, int ncolumns, double rows)
{
#if PG_VERSION_NUM >= 190000
	return (Path *) create_unique_path(root, rel, input, ncolumns, rows);
#else
	return (Path *) create_upper_unique_path(root, rel, input, ncolumns, rows);
#endif
}

/*
 * 18: INTERSECT and EXCEPT merge two inputs, where before their rows were appended, each with a mark.
 *
 * Of a SetOp's path: its inputs, a List of Path; its columns' clauses.
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
 * A path that does the same with sorted inputs, of whose groups it has a fraction.
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
 * 19: the paths of an Append are passed together.
 *
 * An Append of paths, partial ones for so many workers unless 0.
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
 * 17: the condition that lets a WindowAgg stop early has moved from the clause to the
 * path.
 */
static inline List *
gpusort_run_condition(const WindowAggPath *window)
{
#if PG_VERSION_NUM >= 170000
	return window->runCondition;
#else
	return window->winclause->runCondition;
#endif
}

/*
 * 16: an aggregate's input may come in the order that it wants.
 */
static inline bool
gpusort_is_presorted(const Aggref *aggref)
{
#if PG_VERSION_NUM >= 160000
	return aggref->aggpresorted;
#else
	return false;
#endif
}

static inline void
gpusort_set_presorted(Aggref *aggref, bool presorted)
{
#if PG_VERSION_NUM >= 160000
	aggref->aggpresorted = presorted;
#endif
}

/* How many of root->group_pathkeys are GROUP BY's own. */
static inline int
gpusort_count_group_pathkeys(const PlannerInfo *root)
{
#if PG_VERSION_NUM >= 160000
	return root->num_groupby_pathkeys;
#else
	return list_length(root->group_pathkeys);
#endif
}

#include "miscadmin.h"

/*
 * 18: the number of disabled nodes below is passed on.
 *
 * What a sort of PostgreSQL's costs without its input.
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

/*
 * 16: GROUP BY's columns without those that need not be compared are kept apart from the query's.
 */
static inline List *
gpusort_group_clause(const PlannerInfo *root)
{
#if PG_VERSION_NUM >= 160000
	return root->processed_groupClause;
#else
	return root->parse->groupClause;
#endif
}

/*
 * 19: the planner is told about the EXPLAIN that it works for.
 *
 * The parameters of a planner_hook, and what it passes on.
 */
#if PG_VERSION_NUM >= 190000
#define GPUSORT_PLANNER_PARAMETERS \
	Query *parse, const char *query_string, int cursor_options, ParamListInfo bound_params, \
	struct ExplainState *es
#define GPUSORT_PLANNER_ARGUMENTS	parse, query_string, cursor_options, bound_params, es
#else
#define GPUSORT_PLANNER_PARAMETERS \
	Query *parse, const char *query_string, int cursor_options, ParamListInfo bound_params
#define GPUSORT_PLANNER_ARGUMENTS	parse, query_string, cursor_options, bound_params
#endif

#include "nodes/plannodes.h"

/*
 * 18: what prunes partitions when a node begins is a list of the statement's; 19: nodes tell of those
 * that were consolidated into them.
 *
 * An Append in the place of a MergeAppend, without children, which are to be as many.
 */
static inline Append *
gpusort_make_append(const MergeAppend *merge)
{
	Append	   *append = makeNode(Append);

	append->plan = merge->plan;
	NodeSetTag(append, T_Append);
	append->apprelids = merge->apprelids;
	append->first_partial_plan = list_length(merge->mergeplans);
#if PG_VERSION_NUM >= 180000
	append->part_prune_index = merge->part_prune_index;
#else
	append->part_prune_info = merge->part_prune_info;
#endif
#if PG_VERSION_NUM >= 190000
	append->child_append_relid_sets = merge->child_append_relid_sets;
#endif
	return append;
}

/* ---------- executor ---------- */

#include "executor/executor.h"

/*
 * 19: slots have flags from the beginning.
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
 * 18: room may be asked for in front of minimal tuples.
 *
 * The parameters of a kind of slot's copy_minimal_tuple, and the tuple of a slot's values.
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
 * 19: a descriptor made by hand is not to be used before this.
 */
static inline void
gpusort_finish_tuple_desc(TupleDesc desc)
{
#if PG_VERSION_NUM >= 190000
	TupleDescFinalize(desc);
#endif
}

/*
 * 19: that of nodes is told apart from others.
 */
#include "executor/instrument.h"

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
 * 17: old_snapshot_threshold is gone, after whose time rows that a snapshot sees could
 * be removed.
 */
#include "access/htup_details.h"
#include "storage/bufmgr.h"
#include "storage/bufpage.h"
#include "utils/snapmgr.h"

static inline void
gpusort_test_for_old_snapshot(Snapshot snapshot, Relation relation, Page page)
{
#if PG_VERSION_NUM < 170000
	TestForOldSnapshot(snapshot, relation, page);
#endif
}

/*
 * 18: ExecutorRun() has lost a parameter, which told the first call from others.
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
 * 20: tables and indexes have statistics of their own.
 *
 * What pgstat_count_heap_getnext() counts, of several tuples.
 */
#include "pgstat.h"
#include "utils/rel.h"

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

#if PG_VERSION_NUM >= 190000
#include "optimizer/extendplan.h"
#endif
#include "nodes/pathnodes.h"

/*
 * 19: pg_plan_advice, which reads finished plans while it has a state for them, fails if it finds
 * a custom scan where it looks for a join's inputs.
 */
static inline bool
gpusort_plan_is_advised(PlannerInfo *root)
{
#if PG_VERSION_NUM >= 190000
	return GetPlannerGlobalExtensionState(root->glob, GetPlannerExtensionId("pg_plan_advice")) != NULL;
#else
	return false;
#endif
}

/*
 * 17: extensions have names for what they wait for.
 *
 * The wait event of this name; *event, 0 at first, remembers it.
 */
#include "utils/wait_event.h"

static inline uint32
gpusort_wait_event(uint32 *event, const char *name)
{
#if PG_VERSION_NUM >= 170000
	if (*event == 0)
		*event = WaitEventExtensionNew(name);
	return *event;
#else
	return PG_WAIT_EXTENSION;
#endif
}

/* ---------- EXPLAIN ---------- */

/*
 * 18: explain.h was split up.
 */
#include "commands/explain.h"
#if PG_VERSION_NUM >= 180000
#include "commands/explain_format.h"
#include "commands/explain_state.h"
#endif

/*
 * 18: the entry of grouped expressions in the range table is not counted when
 * EXPLAIN decides whether columns need their table's name.
 */
static inline bool
gpusort_explain_prefix(const ExplainState *es)
{
#if PG_VERSION_NUM >= 180000
	return es->rtable_size > 1 || es->verbose;
#else
	return list_length(es->rtable) > 1 || es->verbose;
#endif
}

/*
 * 18: extensions have options of EXPLAIN.  19: auto_explain can have them, too, and asks whether a
 * value is one.
 */
#if PG_VERSION_NUM >= 180000
#define GPUSORT_HAS_EXPLAIN_OPTIONS

static inline void
gpusort_register_explain_option(const char *name, ExplainOptionHandler handler)
{
#if PG_VERSION_NUM >= 190000
	RegisterExtensionExplainOption(name, handler, GUCCheckBooleanExplainOption);
#else
	RegisterExtensionExplainOption(name, handler);
#endif
}
#endif

/*
 * 16: what a user needs to read tables is kept apart from the range table.
 *
 * Fails if the current user may not execute the plan.
 */
#include "executor/executor.h"
#include "nodes/plannodes.h"

static inline void
gpusort_check_permissions(const PlannedStmt *stmt)
{
#if PG_VERSION_NUM >= 160000
	(void) ExecCheckPermissions(stmt->rtable, stmt->permInfos, true);
#else
	(void) ExecCheckRTPerms(stmt->rtable, true);
#endif
}

/* Indentation of a line of text format: what ExplainIndentText() does. */
static inline void
gpusort_explain_indent(ExplainState *es)
{
	appendStringInfoSpaces(es->str, es->indent * 2);
}

/* ---------- index builds ---------- */

#include "access/tableam.h"
#include "optimizer/pathnode.h"
#include "optimizer/plancat.h"

/*
 * 19: a scan can be told what it is for.
 */
static inline TableScanDesc
gpusort_beginscan_parallel(Relation heap, ParallelTableScanDesc scan)
{
#if PG_VERSION_NUM >= 190000
	return table_beginscan_parallel(heap, scan, SO_NONE);
#else
	return table_beginscan_parallel(heap, scan);
#endif
}

/*
 * 19: the hook for relation information has been replaced by one that sees every entry of
 * a range table, tables or not, when its RelOptInfo has been made.
 *
 * GPUSORT_RELATION_HOOK names the server's variable and GpuSortRelationHook its type;
 * GPUSORT_RELATION_HOOK_PARAMETERS has root and rel among a hook's parameters, and
 * GPUSORT_RELATION_HOOK_TABLE is the OID of the table, InvalidOid if it is none.
 */
#if PG_VERSION_NUM >= 190000
typedef build_simple_rel_hook_type GpuSortRelationHook;
#define GPUSORT_RELATION_HOOK				build_simple_rel_hook
#define GPUSORT_RELATION_HOOK_PARAMETERS	PlannerInfo *root, RelOptInfo *rel, RangeTblEntry *rte
#define GPUSORT_RELATION_HOOK_ARGUMENTS		root, rel, rte
#define GPUSORT_RELATION_HOOK_TABLE			(rte->rtekind == RTE_RELATION ? rte->relid : InvalidOid)
#else
typedef get_relation_info_hook_type GpuSortRelationHook;
#define GPUSORT_RELATION_HOOK				get_relation_info_hook
#define GPUSORT_RELATION_HOOK_PARAMETERS \
	PlannerInfo *root, Oid relation_oid, bool inhparent, RelOptInfo *rel
#define GPUSORT_RELATION_HOOK_ARGUMENTS		root, relation_oid, inhparent, rel
#define GPUSORT_RELATION_HOOK_TABLE			relation_oid
#endif

/*
 * 19: CLUSTER is a kind of REPACK.
 */
#if PG_VERSION_NUM >= 190000
#define T_ClusterStmt	T_RepackStmt
#define ClusterStmt		RepackStmt
#endif

/* ---------- copies of tables ---------- */

#include "access/tableam.h"
#include "commands/progress.h"

/*
 * 19: a table may be copied as a snapshot sees it, while others write to it (REPACK CONCURRENTLY);
 * and what shows the progress of CLUSTER has the names of REPACK.
 *
 * The parameters of a table access method's relation_copy_for_cluster(), and what it passes on.
 */
#if PG_VERSION_NUM >= 190000
#define GPUSORT_COPY_FOR_CLUSTER_PARAMETERS \
	Relation old_heap, Relation new_heap, Relation index, bool use_sort, \
	TransactionId oldest_xmin, Snapshot snapshot, TransactionId *freeze_xid, \
	MultiXactId *freeze_multi, double *num_tuples, double *tups_vacuumed, \
	double *tups_recently_dead
#define GPUSORT_COPY_FOR_CLUSTER_ARGUMENTS \
	old_heap, new_heap, index, use_sort, oldest_xmin, snapshot, freeze_xid, freeze_multi, \
	num_tuples, tups_vacuumed, tups_recently_dead
#define GPUSORT_COPY_IS_CONCURRENT	(snapshot != NULL)
#define PROGRESS_CLUSTER_PHASE		PROGRESS_REPACK_PHASE
#define PROGRESS_CLUSTER_PHASE_SEQ_SCAN_HEAP	PROGRESS_REPACK_PHASE_SEQ_SCAN_HEAP
#define PROGRESS_CLUSTER_PHASE_SORT_TUPLES		PROGRESS_REPACK_PHASE_SORT_TUPLES
#define PROGRESS_CLUSTER_PHASE_WRITE_NEW_HEAP	PROGRESS_REPACK_PHASE_WRITE_NEW_HEAP
#define PROGRESS_CLUSTER_TOTAL_HEAP_BLKS		PROGRESS_REPACK_TOTAL_HEAP_BLKS
#define PROGRESS_CLUSTER_HEAP_BLKS_SCANNED		PROGRESS_REPACK_HEAP_BLKS_SCANNED
#define PROGRESS_CLUSTER_HEAP_TUPLES_SCANNED	PROGRESS_REPACK_HEAP_TUPLES_SCANNED
#define PROGRESS_CLUSTER_HEAP_TUPLES_WRITTEN	PROGRESS_REPACK_HEAP_TUPLES_INSERTED
#else
#define GPUSORT_COPY_FOR_CLUSTER_PARAMETERS \
	Relation old_heap, Relation new_heap, Relation index, bool use_sort, \
	TransactionId oldest_xmin, TransactionId *freeze_xid, MultiXactId *freeze_multi, \
	double *num_tuples, double *tups_vacuumed, double *tups_recently_dead
#define GPUSORT_COPY_FOR_CLUSTER_ARGUMENTS \
	old_heap, new_heap, index, use_sort, oldest_xmin, freeze_xid, freeze_multi, \
	num_tuples, tups_vacuumed, tups_recently_dead
#define GPUSORT_COPY_IS_CONCURRENT	false
#endif

/* ---------- index pages ---------- */

#include "access/xlog.h"
#include "common/relpath.h"
#include "storage/bufpage.h"
#include "storage/smgr.h"
#include "storage/sync.h"
#include "utils/memutils.h"
#include "utils/rel.h"

/*
 * 16: direct I/O wants aligned buffers.
 */
static inline char *
gpusort_alloc_page(MemoryContext context)
{
#if PG_VERSION_NUM >= 160000
	return MemoryContextAllocAligned(context, BLCKSZ, PG_IO_ALIGN_SIZE, 0);
#else
	return MemoryContextAlloc(context, BLCKSZ);
#endif
}

/*
 * 16: relation file nodes are called locators.
 */
#if PG_VERSION_NUM >= 160000
#define gpusort_relation_locator(relation)	(&(relation)->rd_locator)
#else
#define gpusort_relation_locator(relation)	(&(relation)->rd_node)
#endif

/* Was a relation created, or given a new file, by this transaction?  It is locked against all others then. */
static inline bool
gpusort_relation_is_new(Relation relation)
{
#if PG_VERSION_NUM >= 160000
	SubTransactionId new_file = relation->rd_firstRelfilelocatorSubid;
#else
	SubTransactionId new_file = relation->rd_firstRelfilenodeSubid;
#endif

	return relation->rd_createSubid != InvalidSubTransactionId || new_file != InvalidSubTransactionId;
}

/*
 * 19: PageSetChecksumInplace() has lost half of its name.
 */
static inline void
gpusort_set_page_checksum(char *page, BlockNumber block)
{
#if PG_VERSION_NUM >= 190000
	PageSetChecksum((Page) page, block);
#else
	PageSetChecksumInplace((Page) page, block);
#endif
}

/*
 * 17: smgrwritev() writes neighbouring blocks, which exist, with one call.
 */
static inline void
gpusort_write_blocks(SMgrRelation smgr, BlockNumber block, char **pages, int count)
{
#if PG_VERSION_NUM >= 170000
	smgrwritev(smgr, MAIN_FORKNUM, block, (const void **) pages, count, true);
#else
	for (int i = 0; i < count; i++)
		smgrwrite(smgr, MAIN_FORKNUM, block + i, pages[i], true);
#endif
}

/*
 * 17: smgrregistersync() has the next checkpoint sync a relation; before, the
 * request has to be made for each of its files, as md.c does.
 *
 * For the main fork, of nblocks blocks; not for temporary relations.
 */
static inline void
gpusort_register_sync(SMgrRelation smgr, BlockNumber nblocks)
{
#if PG_VERSION_NUM >= 170000
	smgrregistersync(smgr, MAIN_FORKNUM);
#else
	for (BlockNumber segment = 0; segment * (uint64) RELSEG_SIZE < nblocks; segment++)
	{
		FileTag		tag;

		memset(&tag, 0, sizeof(tag));
		tag.handler = SYNC_HANDLER_MD;
		tag.forknum = MAIN_FORKNUM;
#if PG_VERSION_NUM >= 160000
		tag.rlocator = smgr->smgr_rlocator.locator;
#else
		tag.rnode = smgr->smgr_rnode.node;
#endif
		tag.segno = segment;
		RegisterSyncRequest(&tag, SYNC_REQUEST, true);
	}
#endif
}

/* ---------- statistics ---------- */

#include "storage/proc.h"

/*
 * 17: processes that use shared memory have a number of their own.
 */
static inline int
gpusort_proc_number(void)
{
#if PG_VERSION_NUM >= 170000
	return MyProcNumber;
#else
	return MyProc->pgprocno;
#endif
}

/*
 * 18: extensions have kinds of statistics of their own.  19: whoever fetches one may be told to
 * free it, which goes with the context anyway.
 */
#if PG_VERSION_NUM >= 180000
#define GPUSORT_HAS_STATISTICS_KINDS

#include "utils/pgstat_internal.h"

static inline const void *
gpusort_fetch_statistics(PgStat_Kind kind, Oid database, uint64 object)
{
#if PG_VERSION_NUM >= 190000
	return pgstat_fetch_entry(kind, database, object, NULL);
#else
	return pgstat_fetch_entry(kind, database, object);
#endif
}
#endif

/* ---------- COPY ---------- */

/*
 * 19: one field has the format, of which there are more now.
 */
#include "commands/copy.h"

static inline bool
gpusort_copy_format_is_binary(const CopyFormatOptions *options)
{
#if PG_VERSION_NUM >= 190000
	return options->format == COPY_FORMAT_BINARY;
#else
	return options->binary;
#endif
}

static inline bool
gpusort_copy_format_is_csv(const CopyFormatOptions *options)
{
#if PG_VERSION_NUM >= 190000
	return options->format == COPY_FORMAT_CSV;
#else
	return options->csv_mode;
#endif
}

/* Text, CSV or binary? */
static inline bool
gpusort_copy_format_is_known(const CopyFormatOptions *options)
{
#if PG_VERSION_NUM >= 190000
	return options->format == COPY_FORMAT_TEXT || options->format == COPY_FORMAT_CSV ||
		options->format == COPY_FORMAT_BINARY;
#else
	return true;
#endif
}

/*
 * The table that a receiver of REFRESH MATERIALIZED VIEW fills.  Its struct is the server's own; this is
 * the first field behind the public ones in all versions.
 */
static inline Oid
gpusort_transient_table(const DestReceiver *receiver)
{
	Assert(receiver->mydest == DestTransientRel);
	return *(const Oid *) (receiver + 1);
}

/*
 * 19: EXPLAIN can have the planner tell it something.
 */
#include "tcop/tcopprot.h"

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
 * 18: ExecutorRun() has lost a parameter.
 */
#include "executor/executor.h"

static inline void
gpusort_run_to_the_end(QueryDesc *query)
{
#if PG_VERSION_NUM >= 180000
	ExecutorRun(query, ForwardScanDirection, 0);
#else
	ExecutorRun(query, ForwardScanDirection, 0, true);
#endif
}

/*
 * 19: scans have flags.
 */
#include "access/tableam.h"

static inline TableScanDesc
gpusort_table_beginscan(Relation table, Snapshot snapshot)
{
#if PG_VERSION_NUM >= 190000
	return table_beginscan(table, snapshot, 0, NULL, SO_NONE);
#else
	return table_beginscan(table, snapshot, 0, NULL);
#endif
}

/*
 * 16: a marker can stand for a column's default.
 */
static inline bool
gpusort_copy_has_default_marker(const CopyFormatOptions *options)
{
#if PG_VERSION_NUM >= 160000
	return options->default_print != NULL;
#else
	return false;
#endif
}

/*
 * 18: CSV has no end marker but the end.
 */
static inline bool
gpusort_copy_csv_has_end_marker(void)
{
	return PG_VERSION_NUM < 180000;
}

/*
 * 16: permissions have a list of their own.
 */
#include "access/sysattr.h"
#include "parser/parse_relation.h"

static inline void
gpusort_note_inserted_columns(ParseState *pstate, Relation table, List *attnums)
{
	ParseNamespaceItem *item = addRangeTableEntryForRelation(pstate, table, RowExclusiveLock, NULL, false, false);
#if PG_VERSION_NUM >= 160000
	RTEPermissionInfo *permissions = item->p_perminfo;
#else
	RangeTblEntry *permissions = item->p_rte;
#endif
	ListCell   *lc;

	permissions->requiredPerms = ACL_INSERT;
	foreach(lc, attnums)
		permissions->insertedCols = bms_add_member(permissions->insertedCols,
												   lfirst_int(lc) - FirstLowInvalidHeapAttributeNumber);
}

/*
 * 17: the statement that wants an index rebuilt can be told to event triggers.
 */
#include "catalog/index.h"

static inline void
gpusort_reindex(Oid index, char persistence)
{
	ReindexParams params = {0};

#if PG_VERSION_NUM >= 170000
	reindex_index(NULL, index, false, persistence, &params);
#else
	reindex_index(index, false, persistence, &params);
#endif
}

/*
 * 16: there are more questions.  19: they are flags.
 */
static inline List *
gpusort_insert_index_tuples(ResultRelInfo *target, TupleTableSlot *slot, EState *estate)
{
#if PG_VERSION_NUM >= 190000
	return ExecInsertIndexTuples(target, estate, 0, slot, NIL, NULL);
#elif PG_VERSION_NUM >= 160000
	return ExecInsertIndexTuples(target, slot, estate, false, false, NULL, NIL, false);
#else
	return ExecInsertIndexTuples(target, slot, estate, false, false, NULL, NIL);
#endif
}

/*
 * 19: the origin of changes is in a struct.
 */
#include "replication/origin.h"

static inline bool
gpusort_has_replication_origin(void)
{
#if PG_VERSION_NUM >= 190000
	return replorigin_xact_state.origin != InvalidReplOriginId;
#else
	return replorigin_session_origin != InvalidRepOriginId;
#endif
}

/*
 * 16: relations grow by many blocks at a time.  The buffers are valid and not pinned.
 */
#include "storage/bufmgr.h"
#include "storage/lmgr.h"

static inline void
gpusort_extend_relation(Relation relation, BufferAccessStrategy strategy, BlockNumber *blocks, int count)
{
#if PG_VERSION_NUM >= 160000
	Buffer		buffers[64];

	while (count > 0)
	{
		uint32		got;
		BlockNumber first = ExtendBufferedRelBy(BMR_REL(relation), MAIN_FORKNUM, strategy, 0,
												Min(count, lengthof(buffers)), buffers, &got);

		for (uint32 i = 0; i < got; i++)
		{
			*blocks++ = first + i;
			ReleaseBuffer(buffers[i]);
		}
		count -= got;
	}
#else
	bool		is_shared = !RELATION_IS_LOCAL(relation);

	if (is_shared)
		LockRelationForExtension(relation, ExclusiveLock);
	for (int i = 0; i < count; i++)
	{
		Buffer		buffer = ReadBufferExtended(relation, MAIN_FORKNUM, P_NEW, RBM_NORMAL, strategy);

		blocks[i] = BufferGetBlockNumber(buffer);
		ReleaseBuffer(buffer);
	}
	if (is_shared)
		UnlockRelationForExtension(relation, ExclusiveLock);
#endif
}

#endif							/* GPUSORT_PG_COMPAT_H */
