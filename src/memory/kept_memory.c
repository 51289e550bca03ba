/*
 * kept_memory.c
 *		Private memory that all processes keep for their next sorts.
 *
 * Each process says in its entry of the pool's header how much it keeps (protocol/gsd_holders.h).
 * It may add half of what is left of gpusort.keep_memory_total, so that many sessions can keep
 * something before nothing is left.  If two processes look at the same time, the limit may be
 * exceeded by what one of them adds.
 *
 * Without a pool, processes share no memory in which they could count, and there is no limit.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "memory/extents_private.h"
#include "memory/pool.h"
#include "protocol/gsd_holders.h"

int			gpusort_keep_memory_total = -1;

int
gpusort_default_keep_memory_total(void)
{
	return gpusort_pool_default_mb() * 1024;
}

/* Returns how many more bytes may be kept; a negative number if too many are kept. */
static int64
bytes_left(void)
{
	return (int64) gpusort_keep_memory_total * 1024 -
		(int64) gsd_kept_bytes(gpusort_pool->header);
}

size_t
gpusort_kept_room(void)
{
	int64		left;

	if (gpusort_pool == NULL)
		return SIZE_MAX;
	left = bytes_left();
	return left > 0 ? left / 2 : 0;
}

bool
gpusort_too_much_is_kept(void)
{
	return gpusort_pool != NULL && bytes_left() < 0;
}

bool
gpusort_note_kept(size_t bytes)
{
	if (gpusort_pool == NULL)
		return true;
	gpusort_pool_register_exit();
	return gsd_note_kept(gpusort_pool->header, (uint32) MyProcPid, gpusort_session_pid(),
						 GetSessionUserId(), bytes);
}
