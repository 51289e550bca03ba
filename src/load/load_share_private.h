/*
 * load_share_private.h
 *		Loading by several participants, and by gpusortd.
 */
#ifndef GPUSORT_LOAD_SHARE_PRIVATE_H
#define GPUSORT_LOAD_SHARE_PRIVATE_H

#include "load/load_rows_private.h"
#include "parse/gs_dialect.h"
#include "service/service.h"

/* ---------- the chunks of an input that participants load together ---------- */

/*
 * The leader reads the input into numbered chunks, each of which has whole records.  Any
 * participant that is free takes the next chunk and forms its tuples in private pages.  Chunks have
 * turns (team/turns.h), in which their pages get their blocks, so the rows of the table have the
 * order of the input.
 *
 * If a chunk has an odd record, which PostgreSQL has to look at, the turns end, and the input is
 * given back to PostgreSQL from this record on.  A chunk with rows that need the toaster is left to
 * the leader.
 */

typedef struct GpuSortLoadShare GpuSortLoadShare;

/*
 * The share lies in shared memory.  The bytes of the chunks lie behind it, or in extents of the
 * pool (GSD_CHUNK_BYTES), if "extents" is not NULL.
 */
extern Size gpusort_share_bytes(int nchunks, bool in_pool);
extern void gpusort_share_init(GpuSortLoadShare *share, int nchunks, const uint32 *extents);

/* ---------- ... the leader ---------- */

/*
 * Returns where the bytes of the next chunk are to go, or NULL if there is no room for it yet.
 * Appends the lines of chunks that have had their turn to "lines".
 */
extern char *gpusort_share_room(GpuSortLoadShare *share, GpuSortLoadLines *lines);

/* Appends the lines of all other chunks that were loaded to "lines", at the end. */
extern void gpusort_share_take_lines(GpuSortLoadShare *share, GpuSortLoadLines *lines);

/*
 * Says that the bytes of the next chunk are there.  Participants may take it, unless it is in the
 * pool.
 */
extern void gpusort_share_fill(GpuSortLoadShare *share, Size bytes, bool at_end);

/*
 * gpusort_share_filled() lists the chunks in the pool that participants may not take yet, but not
 * more than "most", and returns how many.  gpusort_share_add() lets participants take the first of
 * them, with what a device has found in it, or NULL.
 */
extern uint64 gpusort_share_filled(const GpuSortLoadShare *share, GpuSortJobChunk *chunks,
								   uint64 most);
extern void gpusort_share_add(GpuSortLoadShare *share, const gs_found *found);

/* Returns whether some participant has seen that what a device has found was wrong. */
extern bool gpusort_share_is_mistaken(const GpuSortLoadShare *share);

/* Says that no chunk will be filled any more. */
extern void gpusort_share_close(GpuSortLoadShare *share);

/* Loads the chunk whose turn it is if it is left to the leader, and returns whether it is. */
extern bool gpusort_share_load_left(GpuSortLoadShare *share, GpuSortLoader *left);

/* Returns whether all chunks that were filled have had their turn, or the turns have ended. */
extern bool gpusort_share_is_done(GpuSortLoadShare *share);

/* Returns whether the turns have ended, because of an odd record. */
extern bool gpusort_share_has_ended(GpuSortLoadShare *share);

/* Waits for a turn to be over, unless a chunk is left to the leader, or all chunks are done. */
extern void gpusort_share_wait(GpuSortLoadShare *share);

/* Returns the counts of what was loaded. */
extern GpuSortLoadCounts gpusort_share_counts(GpuSortLoadShare *share);

/*
 * Returns the line that was reached by a participant that has failed to put rows into the table, or
 * 0 if none has.  Lines are counted from the first chunk on.
 */
extern uint64 gpusort_share_error_line(GpuSortLoadShare *share);

/*
 * Returns the number of lines in all chunks that were filled, whether they were loaded or not.
 */
extern uint64 gpusort_share_lines(GpuSortLoadShare *share, const gs_dialect *dialect);

/*
 * Returns how many bytes were filled and not loaded, at the end, and copies them to "buffer" unless
 * it is NULL.
 */
extern Size gpusort_share_rest(GpuSortLoadShare *share, char *buffer);

/*
 * Takes a chunk, if there is one, and loads it; returns whether there was one.  "left" is the
 * loader for chunks that are left to the leader: one of them may have its turn while the leader
 * waits for the turn of its own chunk.
 */
extern bool gpusort_share_load(GpuSortLoadShare *share, GpuSortLoader *loader, GpuSortLoader *left);

/* ---------- ... workers ---------- */

/* Loads chunks as they come, until there will be no more. */
extern void gpusort_share_load_all(GpuSortLoadShare *share, GpuSortLoader *loader);

/* ---------- records and fields of an input, found by gpusortd ---------- */

/*
 * The chunks of the input lie in the pool then.  The leader gives the chunks that it has filled to
 * gpusortd, as many as there are in each job, and one job after the other.  Participants may take
 * the chunks of a job when gpusortd has answered it.  They believe what gpusortd has found as far
 * as it is proven (parse/gs_parse.h).  If anything goes wrong, they find the fields themselves from
 * then on.
 */

typedef struct GpuSortLoadDevice GpuSortLoadDevice;

/*
 * Returns NULL if fields are not to be found by gpusortd (gpusort.copy_parser), or can't be; all
 * other functions here accept NULL, too.  The device is allocated in the current context, and
 * released together with it, if gpusort_load_device_end() has not released it before.
 */
extern GpuSortLoadDevice *gpusort_load_device_begin(const gs_dialect *dialect, int nworkers);
extern void gpusort_load_device_end(GpuSortLoadDevice *device);

/*
 * Return how many chunks there is room for, and the extents of the pool that the chunks lie in, or
 * NULL if they do not lie in the pool.
 */
extern int	gpusort_load_places(const GpuSortLoadDevice *device, int nworkers);
extern const uint32 *gpusort_load_device_extents(const GpuSortLoadDevice *device);

/*
 * Lets participants take the chunks in which gpusortd has found the fields, and has gpusortd look
 * at those that were filled since.
 */
extern void gpusort_load_device_serve(GpuSortLoadDevice *device, GpuSortLoadShare *share);

/* Waits for gpusortd's answer; returns false if gpusortd has not been asked anything. */
extern bool gpusort_load_device_wait(GpuSortLoadDevice *device);

#endif							/* GPUSORT_LOAD_SHARE_PRIVATE_H */
