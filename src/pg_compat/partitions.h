/*
 * partitions.h
 *		Differences of PostgreSQL's versions: routing rows to partitions.
 */
#ifndef GPUSORT_PG_COMPAT_PARTITIONS_H
#define GPUSORT_PG_COMPAT_PARTITIONS_H

#include "postgres.h"

#include "executor/executor.h"
#include "nodes/bitmapset.h"
#include "nodes/execnodes.h"
#include "parser/parse_relation.h"

/*
 * 16: permissions are kept in a list apart from the range table.  18: the executor is told which
 * relations are not pruned.
 *
 * Makes a table the first and only entry of an executor state's range table.
 */
static inline void
gpusort_init_range_table(EState *estate, Relation table)
{
	ParseState *pstate = make_parsestate(NULL);

	addRangeTableEntryForRelation(pstate, table, RowExclusiveLock, NULL, false, false);
#if PG_VERSION_NUM >= 180000
	ExecInitRangeTable(estate, pstate->p_rtable, pstate->p_rteperminfos, bms_make_singleton(1));
#elif PG_VERSION_NUM >= 160000
	ExecInitRangeTable(estate, pstate->p_rtable, pstate->p_rteperminfos);
#else
	ExecInitRangeTable(estate, pstate->p_rtable);
#endif
}

/*
 * 16: the map is made when it is asked for, not when the partition is initialized.
 */
static inline TupleConversionMap *
gpusort_root_to_child_map(ResultRelInfo *partition, EState *estate)
{
#if PG_VERSION_NUM >= 160000
	return ExecGetRootToChildMap(partition, estate);
#else
	return partition->ri_RootToPartitionMap;
#endif
}

#endif							/* GPUSORT_PG_COMPAT_PARTITIONS_H */
