/*
 * index_progress.c
 *		What pg_stat_progress_create_index shows of a build.
 *
 * The phases are those of PostgreSQL's own builds, under the same names
 * (btbuildphasename()): the table is scanned, block by block; tuples are sorted;
 * tuples are loaded.  "Dead" tuples have no sort of their own here.
 *
 * Rows done in the sort.  The engine makes no call while it works, so it can't
 * report by pgstat_progress_update_param(); it raises a word (gs_progress.h), and
 * that word is the counter itself, in this backend's entry of the server's status
 * array.  That is right, although readers expect entries to be written between two
 * increments of st_changecount:
 *
 *	- The counter is written by this process only, which does nothing else with its
 *	  entry while it is in the engine: the protocol is never broken into.
 *	- st_changecount makes readers see fields that belong together.  Phase and total
 *	  are set by the server's functions before the first raise and after the last, so
 *	  whatever value of the counter goes with them in a copy was true.
 *	- A store of 8 bytes is one where the platform says so
 *	  (PG_HAVE_8BYTE_SINGLE_COPY_ATOMICITY); elsewhere we don't do it, and the
 *	  sort is seen without moving.
 *
 * The server does the same with wait events, a word that is stored into another
 * process's view without any lock.  The other way, a timer whose handler reports,
 * would need a slot of the server's timeouts and wake the backend for nothing.
 */
#include "postgres.h"

#include "access/nbtree.h"
#include "commands/progress.h"
#include "pgstat.h"
#include "port/atomics.h"
#include "utils/backend_status.h"

#include "index/index_progress.h"

StaticAssertDecl(sizeof(((PgBackendStatus *) NULL)->st_progress_param[0]) == sizeof(int64_t),
				 "a counter must be what the engine raises");

void
gpusort_progress_phase(int64 phase, int64 rows)
{
	const int	params[] = {
		PROGRESS_CREATEIDX_SUBPHASE,
		PROGRESS_CREATEIDX_TUPLES_TOTAL,
		PROGRESS_CREATEIDX_TUPLES_DONE,
		PROGRESS_SCAN_BLOCKS_TOTAL,
		PROGRESS_SCAN_BLOCKS_DONE
	};
	const int64 values[] = {phase, rows, 0, 0, 0};

	pgstat_progress_update_multi_param(lengthof(params), params, values);
}

void
gpusort_progress_pages(BlockNumber done, BlockNumber total)
{
	const int	params[] = {
		PROGRESS_SCAN_BLOCKS_TOTAL,
		PROGRESS_SCAN_BLOCKS_DONE
	};
	const int64 values[] = {total, Min(done, total)};

	pgstat_progress_update_multi_param(lengthof(params), params, values);
}

void
gpusort_progress_tuples(int64 done)
{
	pgstat_progress_update_param(PROGRESS_CREATEIDX_TUPLES_DONE, done);
}

gs_progress *
gpusort_progress_rows(gs_progress *progress, int64 rows)
{
#ifdef PG_HAVE_8BYTE_SINGLE_COPY_ATOMICITY
	PgBackendStatus *entry = MyBEEntry;

	if (entry == NULL || !pgstat_track_activities)
		return NULL;
	gs_progress_begin(progress, (volatile int64_t *)
					  &entry->st_progress_param[PROGRESS_CREATEIDX_TUPLES_DONE], rows);
	return progress;
#else
	return NULL;
#endif
}

void
gpusort_progress_reset(void)
{
	gpusort_progress_phase(PROGRESS_CREATEIDX_SUBPHASE_INITIALIZE, 0);
}
