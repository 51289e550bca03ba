/*
 * sort_counts.h
 *		Counts of sorts, by database and kind, since when they are kept.
 *
 * They survive restarts as the server's statistics do: written at a clean shutdown, discarded
 * after a crash.  There are two implementations: from PostgreSQL 18 on a kind of the server's
 * own statistics (counts_kind.c), before a table in shared memory and a file (counts_table.c).
 */
#ifndef GPUSORT_SORT_COUNTS_H
#define GPUSORT_SORT_COUNTS_H

#include "datatype/timestamp.h"

#include "stats/sort_kind.h"
#include "stats/tally.h"

/* From _PG_init(), if the library is preloaded; else there are no counts. */
extern void gpusort_install_counts(void);

/* From shmem_request_hook and shmem_startup_hook. */
extern void gpusort_request_counts(void);
extern void gpusort_make_counts(void);

/* From object_access_hook: the transaction drops the database. */
extern void gpusort_drop_counts(Oid database);

extern bool gpusort_has_counts(void);

/* Add to the counts of the current database. */
extern void gpusort_count(GpuSortKind kind, const GpuSortTally *tally);

/* False if nothing was counted. */
extern bool gpusort_read_counts(Oid database, GpuSortKind kind, GpuSortTally *tally,
								TimestampTz *since);

/* Begin anew, in one database or in all (InvalidOid). */
extern void gpusort_reset_counts(Oid database);

#endif							/* GPUSORT_SORT_COUNTS_H */
