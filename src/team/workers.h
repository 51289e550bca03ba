/*
 * workers.h
 *		Parallel workers of a job: their start, the memory and the queues that they share with the
 *		leader, and their end.
 *
 * Like the server's own parallel workers, ours show the statement in pg_stat_activity, and the
 * buffers and WAL that they use are counted as the leader's.
 */
#ifndef GPUSORT_WORKERS_H
#define GPUSORT_WORKERS_H

#include "access/parallel.h"
#include "access/tupdesc.h"
#include "storage/shm_mq.h"

#include "settings.h"

/* Returns the number of processors that are online. */
extern int	gpusort_processors(void);

/*
 * Returns the file that this library was loaded from.  The server may not find the library by any
 * other name.
 */
extern const char *gpusort_library_file(void);

/* ---------- members: what participants share ---------- */

/*
 * A job declares the members of its shared memory in an array.  A member is known to leader and
 * workers by its place in the array.
 */
typedef struct GpuSortMember GpuSortMember;

/*
 * Fills a member in the leader, before there are workers.  Returns false if it turns out that there
 * can be none.
 */
typedef bool (*GpuSortFillMember) (void *member, const GpuSortMember *declared,
								  ParallelContext *context);

struct GpuSortMember
{
	Size		bytes;			/* 0: there is no such member */
	GpuSortFillMember fill;		/* NULL: the member is all zeros */
	void	   *from;			/* what `fill` fills it with */
};

/* Return the declaration of a member that is a copy: of some bytes, or of a descriptor. */
extern GpuSortMember gpusort_member_of_bytes(Size bytes, const void *from);
extern GpuSortMember gpusort_member_of_desc(TupleDesc desc);

/* The key of the first member in a table of contents; the others follow. */
#define GPUSORT_MEMBER_KEY	UINT64CONST(0x4753000000000000)

/* Returns a member, or NULL if there is none. */
static inline void *
gpusort_member(shm_toc *toc, int place)
{
	return shm_toc_lookup(toc, GPUSORT_MEMBER_KEY + place, true);
}

/* ---------- the leader ---------- */

/*
 * Enters parallel mode, and starts at most nworkers workers, which call a function of this library.
 * Returns NULL, with nothing left behind, if there are no workers to be had: because the server has
 * none, there is no memory to share, or some member was not to be filled.  That is no error: the
 * caller then does the work of the workers.
 */
extern ParallelContext *gpusort_workers_start(const char *function, int nworkers,
											  const GpuSortMember *members, int nmembers);

/*
 * Waits until all workers have ended, and adds what they have used to the leader's own usage.  The
 * shared memory stays.
 */
extern void gpusort_workers_finish(ParallelContext *context);

/* Releases the shared memory, and leaves parallel mode. */
extern void gpusort_workers_end(ParallelContext *context);

/* ---------- a worker ---------- */

/* To be called by a worker before and after its work. */
extern void gpusort_begin_worker(shm_toc *toc);
extern void gpusort_end_worker(shm_toc *toc);

/* ---------- queues from the workers to the leader ---------- */

/*
 * There is one queue for each worker.  All have one size, and lie side by side in one member.
 * Whoever waits for something in them does so by gpusort_worker_await_latch().
 */

/* Returns the declaration of a member that is so many workers' queues. */
extern GpuSortMember gpusort_queues_member(int workers, Size queue_bytes);

/*
 * Attaches the leader to the queues, once the workers are launched.  Returns an array with an entry
 * for each launched worker.
 */
extern shm_mq_handle **gpusort_queues_attach(char *member, Size queue_bytes,
											 const ParallelContext *context);

/* Attaches a worker to its queue. */
extern shm_mq_handle *gpusort_queues_join(char *member, Size queue_bytes, dsm_segment *segment);

/* ---------- faults that tests provoke in participants (gpusort.inject_fault) ---------- */

/*
 * Called by a participant before it does a part of its work, which is named `part`.  Depending on
 * the setting, a worker raises an error or exits without reporting one; otherwise the participant
 * sleeps for a while.  If gpusort.inject_fault_at is set, only the parts named there are concerned.
 */
extern void gpusort_worker_do_fault(const char *part);

static inline void
gpusort_worker_fault(const char *part)
{
	if (unlikely(gpusort_inject_fault >= GPUSORT_FAULT_SLOW_SLICES))
		gpusort_worker_do_fault(part);
}

#endif							/* GPUSORT_WORKERS_H */
