/*
 * gsd_collapse.h
 *		When a session may make a huge page of an extent.
 *
 * MADV_COLLAPSE takes 0.2 ms on a machine that has time.  But it waits for each processor to run a
 * worker of the kernel's, and searches the mappings of all processes, while whoever maps another
 * extent waits for it.  Where there are more processes to run than processors, and all begin with a
 * pool that nobody has touched, it takes 230 ms on average, one after the other for each extent
 * (docs/performance.md, "Many sessions").  Small pages are there at once.
 *
 * So few do it at a time, and after one that was slow nobody does for a while; then one process
 * tries again, and the others follow if it was quick.
 *
 * Where the system had no huge page left, it may have some later: rows are returned in half the time
 * from these.  So extents that are in small pages for that reason are tried again, one of them after a
 * while, and the others if there was one for that.
 */
#ifndef GSD_COLLAPSE_H
#define GSD_COLLAPSE_H

#include "protocol/gsd_pool.h"

/* At a time: enough for a processor or four to fill a new pool. */
#define GSD_COLLAPSE_MAX		4

/* Slow: ten times what copying an extent that is there in small pages takes, and more. */
#define GSD_COLLAPSE_SLOW_MS	10

/* After a slow one, so long nobody tries. */
#define GSD_COLLAPSE_PAUSE_MS	1000

/* After one that the system had no huge page for: an attempt costs a millisecond or two. */
#define GSD_COLLAPSE_RETRY_MS	30000

/*
 * May the caller make a huge page now?  If so, it says gsd_collapse_end() afterwards, whatever came
 * of it.  now_ms: of a clock that all processes share, and that does not begin at 0.
 */
extern bool gsd_collapse_begin(gsd_header *header, uint64_t now_ms);

/* It took from then_ms, which gsd_collapse_begin() was told, to now_ms. */
extern void gsd_collapse_end(gsd_header *header, uint64_t then_ms, uint64_t now_ms);

/* May the caller try an extent again of which no huge page could be made? */
extern bool gsd_collapse_may_retry(gsd_header *header, uint64_t now_ms);

/* A huge page was made of such a one, or could not be made of one. */
extern void gsd_collapse_note(gsd_header *header, bool made, uint64_t now_ms);

#endif							/* GSD_COLLAPSE_H */
