/*
 * stats.h
 *		What was sorted, and what is being sorted: kinds of sorts, counts, running sorts, and a
 *		trace.
 */
#ifndef GPUSORT_STATS_H
#define GPUSORT_STATS_H

#include "datatype/timestamp.h"
#include "portability/instr_time.h"

#include "stats/counters.h"

/* ---------- kinds: what a sort is for, as statistics tell it apart ---------- */

/*
 * These numbers are stored in plans, and in the server's statistics file, so new kinds have to be
 * added at the end.
 */
typedef enum GpuSortKind
{
	GPUSORT_KIND_OTHER,
	GPUSORT_KIND_ORDER_BY,
	GPUSORT_KIND_GROUP,
	GPUSORT_KIND_DISTINCT,
	GPUSORT_KIND_WINDOW,
	GPUSORT_KIND_JOIN,
	GPUSORT_KIND_SET_OPERATION,
	GPUSORT_KIND_INDEX,
	GPUSORT_KIND_CLUSTER
} GpuSortKind;

#define GPUSORT_KINDS	(GPUSORT_KIND_CLUSTER + 1)

extern const char *gpusort_kind_name(GpuSortKind kind);

/*
 * Returns whether sorts of this kind belong to a command that may use maintenance_work_mem, for all
 * of its processes together.
 */
static inline bool
gpusort_kind_is_build(GpuSortKind kind)
{
	return kind == GPUSORT_KIND_INDEX || kind == GPUSORT_KIND_CLUSTER;
}

/* ---------- counts of sorts ---------- */

/*
 * They are kept by database and kind, with the time since when they are kept.
 *
 * Counts survive restarts as the server's statistics do: they are written at a clean shutdown, and
 * discarded after a crash.  There are two implementations.  From PostgreSQL 18 on, counts are a
 * kind of the server's own statistics (counts_kind.c); on older servers they are kept in a table in
 * shared memory, and in a file (counts_table.c).
 */

/* Called from _PG_init() if the library is preloaded; otherwise there are no counts. */
extern void gpusort_install_counts(void);

/* Called from shmem_request_hook and shmem_startup_hook. */
extern void gpusort_request_counts(void);
extern void gpusort_make_counts(void);

/* Called from object_access_hook when the transaction drops a database. */
extern void gpusort_drop_counts(Oid database);

extern bool gpusort_has_counts(void);

/* Adds a tally to the counts of the current database. */
extern void gpusort_count(GpuSortKind kind, const GpuSortTally *tally);

/* Reads the counts of sorts of a kind in a database.  Returns false if nothing was counted. */
extern bool gpusort_read_counts(Oid database, GpuSortKind kind, GpuSortTally *tally,
								TimestampTz *since);

/* Sets counts to 0, in one database or, if it is InvalidOid, in all. */
extern void gpusort_reset_counts(Oid database);

/* ---------- activity: sorts that are running, as other sessions see them ---------- */

/*
 * Each process has a few entries in shared memory, which it alone writes, without a lock: one store
 * when a phase begins, and a few when a page or an extent has been filled.  A reader copies an
 * entry, and checks its change count to see that fields which belong together agree, as the server
 * does for pg_stat_activity.
 */

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

	volatile int64 done;		/* of GPUSORT_ACTIVITY_WHOLE; never falls */
	uint32		owner;			/* of a sort whose rows several processes collect; else 0 */
} GpuSortActivity;

/* What `done` is when the last row has been returned. */
#define GPUSORT_ACTIVITY_WHOLE	1000000

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
 * Returns the entry of a sort of this process whose rows several processes are collecting, which
 * has this owner word; NULL if there is none.
 */
extern GpuSortActivity *gpusort_find_activity(uint32 owner);

/*
 * Copies entry number i.  Returns false if there is no such entry.  The copy has pid 0 if the entry
 * is free.
 */
extern bool gpusort_read_activity(int i, GpuSortActivity *activity);

extern const char *gpusort_phase_name(GpuSortPhase phase, GpuSortKind kind);

static inline void
gpusort_enter_phase(GpuSortActivity *activity, GpuSortPhase phase)
{
	if (activity != NULL)
		activity->phase = phase;
}

/* Notes how much has been done, unless that is known to be more already. */
static inline void
gpusort_raise_activity(GpuSortActivity *activity, double done)
{
	if (activity != NULL && done > (double) activity->done)
		activity->done = (int64) done;
}

/* ---------- trace: gpusort.trace_file ---------- */

/*
 * It is read by Perfetto (ui.perfetto.dev) or chrome://tracing.
 *
 * What a process does is shown as bars on its own line, below the process that it works for.
 * Devices of gpusortd have lines of their own, one for each queue in which they work.  All times
 * are those of the machine's monotonic clock.
 */

/* A queue number for gpusort_trace_device(): the queue is not known. */
#define GPUSORT_TRACE_ANY_QUEUE 7

/* Called from _PG_init(): defines the setting. */
extern void gpusort_define_trace_file(void);

/*
 * Returns whether sorts that begin now are traced.  The leader creates the file, or empties it, at
 * the first call since the setting was set.  If that fails, or the user may not write the file, a
 * warning is raised, and there is no trace until the setting is set again.
 */
extern bool gpusort_trace_begin(void);

/* Writes an event: something that this process did from start to end. */
extern void gpusort_trace_event(const char *name, const char *kind, instr_time start,
								instr_time end, uint64 rows);

/*
 * Writes an event: what a device of gpusortd, whose process id is `pid`, did in one of its queues.
 * Times are in ms of the machine's monotonic clock, which gpusort_trace_ms() converts a time of the
 * server to.
 */
extern void gpusort_trace_device(uint32 pid, unsigned device, unsigned queue, const char *name,
								 double begin_ms, double end_ms, uint64 rows);
extern double gpusort_trace_ms(instr_time time);

#endif							/* GPUSORT_STATS_H */
