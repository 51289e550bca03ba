/*
 * sort_counts.h
 *		Counts of sorts, by database and kind, and the time since when they are kept.
 *
 * Counts survive restarts as the server's statistics do: they are written at a clean shutdown, and
 * discarded after a crash.  There are two implementations.  From PostgreSQL 18 on, counts are a
 * kind of the server's own statistics (counts_kind.c); on older servers they are kept in a table in
 * shared memory, and in a file (counts_table.c).
 */
#ifndef GPUSORT_SORT_COUNTS_H
#define GPUSORT_SORT_COUNTS_H

#include "datatype/timestamp.h"

#include "stats/sort_kind.h"
#include "stats/tally.h"

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

#endif							/* GPUSORT_SORT_COUNTS_H */
