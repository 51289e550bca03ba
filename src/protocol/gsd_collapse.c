/*
 * gsd_collapse.c
 *		When a session may make a huge page of an extent; see gsd_collapse.h.
 *
 * collapse_at_ms is 0 as long as all calls are quick, and else the time from which on one session
 * may try again.  The session that tries moves that time on first, so that the others go on
 * waiting.  retry_at_ms does the same for extents that are in small pages because the system had no
 * huge ones.
 */
#include "protocol/gsd_collapse.h"

/* Returns whether a call may be made at this time, and the caller is the one to make it. */
static bool
is_time(gsd_header *header, uint64_t now_ms)
{
	uint64_t	at_ms = atomic_load(&header->collapse_at_ms);

	return at_ms == 0 ||
		(now_ms >= at_ms &&
		 atomic_compare_exchange_strong(&header->collapse_at_ms, &at_ms,
										now_ms + GSD_COLLAPSE_PAUSE_MS));
}

bool
gsd_collapse_begin(gsd_header *header, uint64_t now_ms)
{
	if (atomic_fetch_add(&header->collapsing, 1) < GSD_COLLAPSE_MAX && is_time(header, now_ms))
		return true;
	atomic_fetch_sub(&header->collapsing, 1);
	return false;
}

void
gsd_collapse_end(gsd_header *header, uint64_t then_ms, uint64_t now_ms)
{
	bool		slow = now_ms - then_ms >= GSD_COLLAPSE_SLOW_MS;
	uint64_t	at_ms = atomic_load(&header->collapse_at_ms);

	if (slow)
		atomic_store(&header->collapse_at_ms, now_ms + GSD_COLLAPSE_PAUSE_MS);
	else if (at_ms == then_ms + GSD_COLLAPSE_PAUSE_MS)
		/* this call was the try after a slow one */
		atomic_compare_exchange_strong(&header->collapse_at_ms, &at_ms, 0);
	atomic_fetch_sub(&header->collapsing, 1);
}

bool
gsd_collapse_may_retry(gsd_header *header, uint64_t now_ms)
{
	uint64_t	at_ms = atomic_load(&header->retry_at_ms);

	return at_ms == 0 ||
		(now_ms >= at_ms &&
		 atomic_compare_exchange_strong(&header->retry_at_ms, &at_ms,
										now_ms + GSD_COLLAPSE_RETRY_MS));
}

void
gsd_collapse_note(gsd_header *header, bool made, uint64_t now_ms)
{
	atomic_store(&header->retry_at_ms, made ? 0 : now_ms + GSD_COLLAPSE_RETRY_MS);
}
