/*
 * shared_refused.h
 *		Rows that the parts of a shared sort have refused.
 */
#ifndef GPUSORT_SHARED_REFUSED_H
#define GPUSORT_SHARED_REFUSED_H

#include "executor/tuptable.h"
#include "storage/sharedfileset.h"
#include "utils/sharedtuplestore.h"

#include "sort/sort.h"

/* A participant's access to the store of all refused rows. */
typedef struct GpuSortRefused
{
	SharedTuplestoreAccessor *rows;
	MemoryContext context;		/* that it was begun in */
} GpuSortRefused;

/*
 * In the leader: make the store, in shared memory, for so many participants.  In a
 * worker: find it.  In the current memory context.
 */
extern void gpusort_begin_refused(GpuSortRefused *refused, SharedTuplestore *store,
								  int participants, SharedFileSet *files);

/* Put rows in; then let the others read them. */
extern void gpusort_keep_refused(GpuSortRefused *refused, TupleTableSlot *row);
extern void gpusort_finish_refused(GpuSortRefused *refused);

/* When all have finished: put all rows, of this descriptor, into the sort. */
extern void gpusort_put_refused(GpuSortRefused *refused, TupleDesc desc, GpuSort *sort);

#endif							/* GPUSORT_SHARED_REFUSED_H */
