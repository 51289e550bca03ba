/*
 * load_share.h
 *		The chunks of an input that participants load together.
 *
 * The leader reads the input into numbered chunks, each of which has whole records.  Whoever is free takes
 * the next one and forms its tuples in private pages.  Then, when the chunks before have had theirs, it is
 * the chunk's turn: the pages get their blocks, so the table has the order of the input.  Pages are
 * written after that, while others have their turn.
 *
 * Where a chunk has something odd, the turns end, and what comes from there on is to be given back.  A chunk
 * with rows that need the toaster is left to the leader, who loads it in its turn.
 */
#ifndef GPUSORT_LOAD_SHARE_H
#define GPUSORT_LOAD_SHARE_H

#include "load/load_rows.h"
#include "parse/gs_found.h"
#include "service/service_client.h"

typedef struct GpuSortLoadShare GpuSortLoadShare;

/* In shared memory; the chunks' bytes lie behind it, or in extents of the pool (GSD_CHUNK_BYTES). */
extern Size gpusort_share_bytes(int nchunks, bool in_pool);
extern void gpusort_share_init(GpuSortLoadShare *share, int nchunks, const uint32 *extents);

/* ---------- the leader ---------- */

/*
 * Where the next chunk's bytes are to go; NULL: there is no room yet.  Takes note of the lines of those that were there
 * before.
 */
extern char *gpusort_share_room(GpuSortLoadShare *share, GpuSortLoadLines *lines);

/* ... of all that are left, when it is done. */
extern void gpusort_share_take_lines(GpuSortLoadShare *share, GpuSortLoadLines *lines);

/* They are there.  Others may take the chunk, unless it is in the pool. */
extern void gpusort_share_fill(GpuSortLoadShare *share, Size bytes, bool at_end);

/*
 * Chunks in the pool that others may not take yet; returns how many, but not more than "most".  The next one may be taken when it is added, with what a device has found in
 * it, or NULL.
 */
extern uint64 gpusort_share_filled(const GpuSortLoadShare *share, GpuSortJobChunk *chunks, uint64 most);
extern void gpusort_share_add(GpuSortLoadShare *share, const gs_found *found);

/* Has somebody seen that what a device has found was wrong? */
extern bool gpusort_share_is_mistaken(const GpuSortLoadShare *share);

/* There won't be others. */
extern void gpusort_share_close(GpuSortLoadShare *share);

/* Load the chunk whose turn it is, if that is left to the leader. */
extern bool gpusort_share_load_left(GpuSortLoadShare *share, GpuSortLoader *loader);

/* Have all chunks that were filled had their turn, or have the turns ended? */
extern bool gpusort_share_is_done(GpuSortLoadShare *share);

/* ... the latter? */
extern bool gpusort_share_has_ended(GpuSortLoadShare *share);

/* Wait for a turn to be over. */
extern void gpusort_share_wait(GpuSortLoadShare *share);

/* What was loaded. */
extern GpuSortLoadCounts gpusort_share_counts(GpuSortLoadShare *share);

/*
 * The line that a participant had reached whose rows could not be written, or 0.  Line numbers begin with those of the
 * first chunk.
 */
extern uint64 gpusort_share_error_line(GpuSortLoadShare *share);

/* The lines of all chunks that were filled, by the byte that ends them: of those that were loaded, and others. */
extern uint64 gpusort_share_lines(GpuSortLoadShare *share, char newline);

/* What was filled and not loaded, when it is done: "bytes" of it go to a buffer, if there is one. */
extern Size gpusort_share_rest(GpuSortLoadShare *share, char *buffer);

/* ---------- all ---------- */

/*
 * Take a chunk, if there is one, and load it.  "left" is the loader for those that are left to
 * the leader, who may have to load one while it waits for its turn; NULL in others.
 */
extern bool gpusort_share_load(GpuSortLoadShare *share, GpuSortLoader *loader, GpuSortLoader *left);

/* ---------- workers ---------- */

/* Wait for a chunk to take; false: there won't be one. */
extern bool gpusort_share_await_chunk(GpuSortLoadShare *share);

#endif							/* GPUSORT_LOAD_SHARE_H */
