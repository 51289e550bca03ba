/*
 * statistics.h
 *		Differences of PostgreSQL's versions: cumulative statistics.
 */
#ifndef GPUSORT_PG_COMPAT_STATISTICS_H
#define GPUSORT_PG_COMPAT_STATISTICS_H

#include "postgres.h"

#include "storage/proc.h"

/*
 * 17: a process's number is in a variable of its own.
 */
static inline int
gpusort_proc_number(void)
{
#if PG_VERSION_NUM >= 170000
	return MyProcNumber;
#else
	return MyProc->pgprocno;
#endif
}

/*
 * 18: extensions can have kinds of statistics of their own.  19: the caller that fetches an entry
 * can ask whether to free it; we leave that to the memory context.
 */
#if PG_VERSION_NUM >= 180000
#define GPUSORT_HAS_STATISTICS_KINDS

#include "utils/pgstat_internal.h"

static inline const void *
gpusort_fetch_statistics(PgStat_Kind kind, Oid database, uint64 object)
{
#if PG_VERSION_NUM >= 190000
	return pgstat_fetch_entry(kind, database, object, NULL);
#else
	return pgstat_fetch_entry(kind, database, object);
#endif
}
#endif

#endif							/* GPUSORT_PG_COMPAT_STATISTICS_H */
