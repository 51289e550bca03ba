/*
 * activity.h
 *		Sorts that are running, for others to see.
 *
 * Each process has a few entries in shared memory, which it alone writes: a store when a phase
 * begins, and some when a page or an extent has been filled.  Who reads looks at the change count,
 * as of the server's own pg_stat_activity.
 */
#ifndef GPUSORT_ACTIVITY_H
#define GPUSORT_ACTIVITY_H

#include "datatype/timestamp.h"

#include "stats/sort_kind.h"

typedef enum GpuSortPhase
{
	GPUSORT_PHASE_COLLECT,
	GPUSORT_PHASE_JOIN,			/* parts that several processes have collected */
	GPUSORT_PHASE_SORT,
	GPUSORT_PHASE_REFINE,
	GPUSORT_PHASE_VERIFY,
	GPUSORT_PHASE_SPILL,
	GPUSORT_PHASE_CORE,			/* PostgreSQL's sort has been handed the rows */
	GPUSORT_PHASE_RETURN
} GpuSortPhase;

typedef struct GpuSortActivity
{
	uint32		changes;		/* odd while it is changed */
	int32		pid;			/* 0: no sort */
	int32		leader_pid;		/* 0: it is no worker */
	Oid			database;
	Oid			role;			/* of the session */
	int32		kind;
	int32		phase;
	int32		engine;			/* -1: not known yet; else as the sort's owner names it */
	int64		rows;			/* so far */
	double		estimated_rows; /* 0: there is no estimate */
	int64		bytes;			/* private memory */
	int64		pool_bytes;
	int64		spilled_bytes;
	TimestampTz started;
} GpuSortActivity;

/* From shmem_request_hook and shmem_startup_hook, if the library is preloaded. */
extern void gpusort_request_activity(void);
extern void gpusort_make_activity(void);

extern bool gpusort_has_activity(void);

/*
 * A sort of this process begins; NULL if there is no entry for it.  It goes with
 * gpusort_end_activity(), or with the process.
 */
extern GpuSortActivity *gpusort_begin_activity(GpuSortKind kind, double estimated_rows);
extern void gpusort_end_activity(GpuSortActivity *activity);

/* Entry number i, as it is now; false if there are no more, *activity without a pid if it is free. */
extern bool gpusort_read_activity(int i, GpuSortActivity *activity);

extern const char *gpusort_phase_name(GpuSortPhase phase);

static inline void
gpusort_enter_phase(GpuSortActivity *activity, GpuSortPhase phase)
{
	if (activity != NULL)
		activity->phase = phase;
}

#endif							/* GPUSORT_ACTIVITY_H */
