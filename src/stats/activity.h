/*
 * activity.h
 *		Sorts that are running, as other sessions see them.
 *
 * Each process has a few entries in shared memory, which it alone writes, without a lock: one store
 * when a phase begins, and a few when a page or an extent has been filled.  A reader copies an
 * entry, and checks its change count to see that fields which belong together agree, as the server
 * does for pg_stat_activity.
 */
#ifndef GPUSORT_ACTIVITY_H
#define GPUSORT_ACTIVITY_H

#include "datatype/timestamp.h"

#include "stats/sort_kind.h"

typedef enum GpuSortPhase
{
	GPUSORT_PHASE_COLLECT,
	GPUSORT_PHASE_JOIN,			/* joining parts that several processes have collected */
	GPUSORT_PHASE_SORT,
	GPUSORT_PHASE_REFINE,
	GPUSORT_PHASE_VERIFY,
	GPUSORT_PHASE_SPILL,
	GPUSORT_PHASE_CORE,			/* the rows were handed over to PostgreSQL's sort */
	GPUSORT_PHASE_RETURN
} GpuSortPhase;

typedef struct GpuSortActivity
{
	uint32		changes;		/* odd while the entry is being changed */
	int32		pid;			/* 0: the entry is free */
	int32		leader_pid;		/* 0: the process is no worker */
	Oid			database;
	Oid			role;			/* of the session */
	int32		kind;
	int32		phase;
	int32		engine;			/* -1: not known yet; otherwise a GpuSortSortedBy */
	int64		rows;			/* collected so far */
	double		estimated_rows; /* 0: there is no estimate */
	int64		bytes;			/* private memory */
	int64		pool_bytes;
	int64		spilled_bytes;
	TimestampTz started;
} GpuSortActivity;

/* Called from shmem_request_hook and shmem_startup_hook, if the library is preloaded. */
extern void gpusort_request_activity(void);
extern void gpusort_make_activity(void);

extern bool gpusort_has_activity(void);

/*
 * Enters a sort of this process, which begins.  Returns NULL if there is no free entry for it.  The
 * entry is freed by gpusort_end_activity(), or when the process exits.
 */
extern GpuSortActivity *gpusort_begin_activity(GpuSortKind kind, double estimated_rows);
extern void gpusort_end_activity(GpuSortActivity *activity);

/*
 * Copies entry number i.  Returns false if there is no such entry.  The copy has pid 0 if the entry
 * is free.
 */
extern bool gpusort_read_activity(int i, GpuSortActivity *activity);

extern const char *gpusort_phase_name(GpuSortPhase phase);

static inline void
gpusort_enter_phase(GpuSortActivity *activity, GpuSortPhase phase)
{
	if (activity != NULL)
		activity->phase = phase;
}

#endif							/* GPUSORT_ACTIVITY_H */
