/*
 * index_progress.c
 *		Reports an index build to pg_stat_progress_create_index.
 *
 * The phases are those of PostgreSQL's own builds, under the same names (btbuildphasename()): the
 * table is scanned, block by block; tuples are sorted; tuples are loaded.  "Dead" tuples have no
 * sort of their own here.  What workers have read and written counts, too, and the leader reports
 * it (README.md).
 *
 * The engine makes no calls while it sorts, so it can't report the rows done by
 * pgstat_progress_update_param().  Instead it raises a word in memory (gs_engine.h), and that
 * word is the progress counter itself, in this backend's entry of the server's status array.
 * Readers expect an entry to be written between two increments of st_changecount.  Yet writing the
 * counter without them is right:
 *
 * - Only this process writes the counter, and it does nothing else with its entry while it is in
 *   the engine, so it never breaks into an update of the entry.
 * - st_changecount makes readers see fields that belong together.  The phase and the total are set
 *   by the server's functions before the counter is first raised and after it is last raised, so
 *   any value of the counter that a reader copies belongs to them.
 * - A store of 8 bytes is atomic where the platform says so (PG_HAVE_8BYTE_SINGLE_COPY_ATOMICITY).
 *   Elsewhere we don't raise the counter, and the progress of a sort is not seen to move.
 *
 * The server does the same with wait events, each of which is a word that is stored without any
 * lock where other processes read it.  The alternative, a timer whose handler reports, would need a
 * slot of the server's timeouts and wake the backend for nothing.
 */
#include "postgres.h"

#include "access/nbtree.h"
#include "commands/progress.h"
#include "pgstat.h"
#include "port/atomics.h"
#include "utils/backend_status.h"

#include "index/index_build_private.h"

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
