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
	MemoryContext context;		/* the memory context that `rows` was begun in */
} GpuSortRefused;

/*
 * Begins access to the store of refused rows, in the current memory context.  The leader
 * initializes the store, in shared memory, for so many participants; a worker attaches to it.
 */
extern void gpusort_begin_refused(GpuSortRefused *refused, SharedTuplestore *store,
								  int participants, SharedFileSet *files);

/* Put a row into the store; and say that this participant has put its last one. */
extern void gpusort_keep_refused(GpuSortRefused *refused, TupleTableSlot *row);
extern void gpusort_finish_refused(GpuSortRefused *refused);

/*
 * Puts all refused rows, which have this descriptor, into the sort.  All participants must have
 * finished writing.
 */
extern void gpusort_put_refused(GpuSortRefused *refused, TupleDesc desc, GpuSort *sort);

#endif							/* GPUSORT_SHARED_REFUSED_H */
