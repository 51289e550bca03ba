/*
 * gsd_collapse.h
 *		When a session may make a huge page of an extent.
 *
 * MADV_COLLAPSE has the kernel replace the small pages of an extent by one huge page.  It takes 0.2
 * ms on a machine that has time.  But it waits for each processor to run a worker of the kernel's,
 * and searches the mappings of all processes, while any process that maps another extent waits for
 * it.  Where there are more processes to run than processors, and all begin with a pool that nobody
 * has touched, one call takes 230 ms on average, and the extents are done one after the other
 * (docs/performance.md, "Many sessions").  Small pages are there at once.
 *
 * So only a few sessions may call it at a time, and after a slow call nobody does for a while; then
 * one process tries again, and the others follow if that was quick.
 *
 * A system that had no huge page left may have some later, and rows are returned in half the time
 * from huge pages.  So extents that are in small pages for that reason are tried again: one of them
 * after a while, and the others if the system had a huge page for that one.
 */
#ifndef GSD_COLLAPSE_H
#define GSD_COLLAPSE_H

#include "protocol/gsd_pool.h"

/*
 * How many sessions may call MADV_COLLAPSE at a time: enough for one to four processors to fill a
 * new pool.
 */
#define GSD_COLLAPSE_MAX		4

/*
 * A call that takes so long is slow: more than ten times what copying an extent in small pages
 * takes.
 */
#define GSD_COLLAPSE_SLOW_MS	10

/* For so long after a slow call nobody tries. */
#define GSD_COLLAPSE_PAUSE_MS	1000

/*
 * For so long after the system had no huge page, extents in small pages are not tried again: an
 * attempt costs a millisecond or two.
 */
#define GSD_COLLAPSE_RETRY_MS	30000

/*
 * Returns whether the caller may call MADV_COLLAPSE now.  If so, the caller has to call
 * gsd_collapse_end() afterwards, whatever came of it.  now_ms is the time in milliseconds, of a
 * clock that all processes share and that does not begin at 0.
 */
extern bool gsd_collapse_begin(gsd_header *header, uint64_t now_ms);

/*
 * Ends what gsd_collapse_begin() has allowed: the call took from then_ms, which
 * gsd_collapse_begin() was told, to now_ms.
 */
extern void gsd_collapse_end(gsd_header *header, uint64_t then_ms, uint64_t now_ms);

/*
 * Returns whether the caller may try once more to make a huge page of an extent in the state
 * GSD_EXTENT_SMALL, of which none could be made before.
 */
extern bool gsd_collapse_may_retry(gsd_header *header, uint64_t now_ms);

/* Notes whether a huge page was made of an extent that was in small pages. */
extern void gsd_collapse_note(gsd_header *header, bool made, uint64_t now_ms);

#endif							/* GSD_COLLAPSE_H */
