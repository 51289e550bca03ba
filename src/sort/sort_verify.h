/*
 * sort_verify.h
 *		Verifying the order of a sort, an index sort's with the help of other processes.
 *
 * The sort's own process sets the work up, summons helpers, who see the sort as a
 * view, works off stretches of the order as they do, waits until all are done, and
 * then puts right what was found.
 *
 * Public: other folders include it.
 */
#ifndef GPUSORT_SORT_VERIFY_H
#define GPUSORT_SORT_VERIFY_H

#include "port/atomics.h"

#include "sort/sort_view.h"

/* Wrong positions that are noted; if there are more, one process looks at all rows. */
#define GPUSORT_VERIFY_WRONG	1024

/* In shared memory. */
typedef struct GpuSortVerifyWork
{
	uint64		nrows;
	uint64		stretch;		/* positions taken at a time */
	pg_atomic_uint64 next;		/* first position that no process has taken */
	pg_atomic_uint64 checked;	/* so many are done */
	pg_atomic_uint32 nwrong;
	uint64		wrong[GPUSORT_VERIFY_WRONG];
} GpuSortVerifyWork;

/* Who helps. */
typedef struct GpuSortVerifyCrew
{
	GpuSortVerifyWork *work;
	bool		(*summon) (void *arg);	/* the work is ready; false if nobody
										 * comes */
	void		(*await) (void *arg);	/* until gpusort_verify_is_done(); ERROR if a
										 * helper is lost */
	void	   *arg;
} GpuSortVerifyCrew;

/* Have a sort verified with help; the crew must outlive its gpusort_perform(). */
extern void gpusort_verify_with(GpuSort *sort, const GpuSortVerifyCrew *crew);

/* A helper's part: descriptor and sort key are those of the sort. */
extern void gpusort_verify_help(GpuSortVerifyWork *work, const GpuSortView *view,
								TupleDesc desc, const GpuSortSpec *spec);

extern bool gpusort_verify_is_done(GpuSortVerifyWork *work);

/*
 * Of a sort in the midst of gpusort_perform(): verify the order, if that is called for, and
 * repair it.  False if it is not right even so.
 */
extern bool gpusort_order_is_right(GpuSort *sort);

#endif							/* GPUSORT_SORT_VERIFY_H */
