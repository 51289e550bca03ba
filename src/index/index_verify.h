/*
 * index_verify.h
 *		Having the workers of an index build help to verify its order.
 */
#ifndef GPUSORT_INDEX_VERIFY_H
#define GPUSORT_INDEX_VERIFY_H

#include "btree/btree_target.h"
#include "index/index_stage.h"
#include "sort/sort_verify.h"

/* In shared memory. */
typedef struct GpuSortSharedVerify
{
	GpuSortVerifyWork work;		/* made before the stage is VERIFY */
	ConditionVariable done;
} GpuSortSharedVerify;

extern void gpusort_index_verify_init(GpuSortSharedVerify *shared);

/*
 * By the leader: have the workers help when its sort is verified.  Memory comes from the
 * current context, and must outlive the sort's gpusort_perform().
 */
extern void gpusort_index_verify_with(GpuSortSharedVerify *shared, GpuSortStageControl *stage);

/* By a worker: help. */
extern void gpusort_index_verify_help(GpuSortSharedVerify *shared,
									  const GpuSortIndexTarget *target, const GpuSortView *view);

#endif							/* GPUSORT_INDEX_VERIFY_H */
