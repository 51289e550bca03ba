/*
 * sort_parts.h
 *		One sort whose rows are collected by several processes.
 *
 * Each participant, the leader among them, collects rows into a *part*: a sort of its own that
 * lives in extents of the pool only.  Parts that are finished are joined to the leader's sort:
 * their extents are mapped into its ranges, so that no row is copied and none passes through a
 * queue.  If a part has no room for a row, or no encoding, its caller has to send the row to the
 * leader, who puts it into the sort itself, as into a sort that is not shared.
 *
 * Life of a shared sort:
 *
 *	leader			gpusort_begin(), gpusort_parts_create()
 *	participants	gpusort_parts_attach(), gpusort_parts_begin_part(),
 *					gpusort_put_part_slot() ..., gpusort_parts_finish_part(),
 *					gpusort_end()
 *	leader			gpusort_parts_join() when all have finished or are gone,
 *					gpusort_perform() ...
 *
 * All extents carry one owner word, that of the sort (gsd_pool.h), whichever process took them, and
 * are given back when the leader's sort ends, on error as well.  So no worker may be alive then
 * (the server waits for workers before it resets memory contexts), and the leader's own part must
 * have been begun in the context of the sort, or in one below.
 *
 * If any participant may be the one that sorts, the leader has a sort that does nothing but own the
 * extents:
 *
 *	leader			gpusort_parts_begin_owner(), gpusort_parts_create()
 *	participants	as above
 *	one of them		gpusort_parts_begin_joined(), gpusort_parts_join() when all have
 *					finished, gpusort_perform(), gpusort_leave_view(), gpusort_end()
 */
#ifndef GPUSORT_SORT_PARTS_H
#define GPUSORT_SORT_PARTS_H

#include "sort/sort.h"

/* ---------- the life of a shared sort ---------- */

/* What the participants share, in the pool. */
typedef struct GpuSortParts GpuSortParts;

/*
 * Make a sort that has just begun, or was reset, a shared one, of about all_rows rows in all.
 * Returns NULL if there is no pool, if nothing is left of it, or if this session has too many
 * shared sorts; then the sort stays an ordinary one.
 */
extern GpuSortParts *gpusort_parts_create(GpuSort *sort, int participants, double all_rows);

/*
 * Tell that so many participants were launched, the leader included.  These divide the memory that
 * was meant for all.
 */
extern void gpusort_parts_launched(GpuSortParts *parts, int participants);

/* Returns how many rows all parts together have room for so far. */
extern uint64 gpusort_parts_rows(GpuSortParts *parts);

/* Make a shared sort an ordinary one again.  Rows of parts are lost. */
extern void gpusort_parts_dissolve(GpuSort *sort);

/*
 * gpusort_parts_number() returns the number by which other processes find a shared sort, with
 * gpusort_parts_attach(), until it is made anew or ended.
 */
extern uint32 gpusort_parts_number(const GpuSortParts *parts);
extern GpuSortParts *gpusort_parts_attach(uint32 number);

/*
 * Begin a participant's part.  desc and spec (or index and spec, if rows are index tuples) are
 * those of the sort.  Returns NULL if there is no address space for it.
 */
extern GpuSort *gpusort_parts_begin_part(GpuSortParts *parts, TupleDesc desc,
										 const GpuSortSpec *spec);
extern GpuSort *gpusort_parts_begin_index_part(GpuSortParts *parts, Relation index,
											   const GpuSortSpec *spec);

/* Begin a sort that never has rows of its own, for gpusort_parts_create(). */
extern GpuSort *gpusort_parts_begin_owner(TupleDesc desc, const GpuSortSpec *spec);

/*
 * Begin a sort for gpusort_parts_join() in any participant.  Once joined it is an ordinary one,
 * except that its extents belong to the shared sort.
 */
extern GpuSort *gpusort_parts_begin_joined(GpuSortParts *parts, TupleDesc desc,
										   const GpuSortSpec *spec);

/* Hand in a part whose rows have all been put.  Afterwards the part can only be ended. */
extern void gpusort_parts_finish_part(GpuSortParts *parts, GpuSort *part);

/* ---------- joining: the parts of a shared sort become the rows of one sort ---------- */

/* Adds the rows of all finished parts to the sort, which is an ordinary sort again afterwards. */
extern void gpusort_parts_join(GpuSortParts *parts, GpuSort *sort);

/* ---------- portions of a spilled sort, divided among its participants ---------- */

/*
 * Each process takes some of the portions, and has the rows of these for itself, a window of
 * positions at a time (sort.h), as if they were all rows of a sort.  Rows that are equal in
 * the first columns are in one portion, however many they are.
 *
 *	leader			gpusort_divide() before gpusort_perform(), gpusort_share_portions()
 *	others			gpusort_parts_attach(), gpusort_parts_begin_part(), gpusort_open_portions()
 *	all				gpusort_take_portion(), gpusort_fetch_window() ...
 *
 * The leader is the process that has joined the parts.
 */

/* What the leader tells the other processes about the portions, in shared memory. */
typedef struct GpuSortSharedPortions
{
	uint32		parts;			/* number of the shared sort (gpusort_parts_number) */
	uint32		file;			/* number of the file with the portions */
	uint32		count;			/* of portions */
	int			workers;		/* processes that there is memory for, beside the leader */
} GpuSortSharedPortions;

/*
 * Asks for the portions of a shared sort, if it is read back in portions, to be divided among
 * processes.  Rows that are equal in the first group_columns columns then stay in one portion.  If
 * there are several portions, each has min_rows rows at least.
 */
extern void gpusort_divide(GpuSort *sort, int group_columns, uint64 min_rows);

/*
 * Returns how many processes beside the leader could load portions of a performed sort: there is
 * memory for so many, and there are portions for them.  0 if there are no portions.
 */
extern int	gpusort_portion_workers(const GpuSort *sort);

/*
 * Lets other processes take portions of a performed sort, and describes these in *shared.  Returns
 * false if all rows are in memory, or if there are not portions or not memory enough for several
 * processes.
 */
extern bool gpusort_share_portions(GpuSort *sort, GpuSortSharedPortions *shared);

/*
 * Returns the number of portions that a performed sort was divided into, some of which may have to
 * be split when they are loaded.  0 if all rows are in memory.
 */
extern uint32 gpusort_portions_planned(const GpuSort *sort);

/* Called in a process that is not the leader: prepares a part for taking portions. */
extern void gpusort_open_portions(GpuSort *part, const GpuSortSharedPortions *shared);

/*
 * Takes a portion, of whose rows the positions are *from .. *to - 1.  They can be fetched from now
 * on.  In the leader, rows at other positions can be fetched, too.
 */
extern void gpusort_take_portion(GpuSort *sort, uint32 number, uint64 *from, uint64 *to);

/*
 * Returns a copy of the first tuple behind the portion that was taken and ends at `to`, or NULL if
 * it is the last portion.  The copy includes marks of dead rows.  The caller may change it, and it
 * is valid until the next call or fetch.
 */
extern void *gpusort_tuple_behind(GpuSort *sort, uint64 to);

/* ---------- a crew: workers that load portions ahead of the reader ---------- */

/*
 * The rows of a shared sort (sort_parts.h) that has spilled are read back portion by portion, and
 * each portion has to be sorted.  A crew of parallel workers does that side by side.  Each worker
 * takes the next portion, loads it into extents of the pool that belong to the shared sort, and
 * publishes a view of it (sort_view.h).  The leader maps the portions in order
 * (gpusort_fetch_window()).  When it has read one, it lets the worker have the next.  While it
 * would have to wait for a worker, it loads a portion by itself.
 *
 *	leader			gpusort_perform(), gpusort_portion_workers(), gpusort_crew_init()
 *	workers			gpusort_crew_parts(), gpusort_parts_begin_part(), gpusort_crew_load(),
 *					gpusort_end()
 *	leader			gpusort_crew_begin(), gpusort_fetch_window() ..., gpusort_crew_stop(); the
 *					workers end
 *
 * Without a crew, or with one that comes late, is lost or has stopped, the result of the sort is
 * the same: the leader then loads portions as they are wanted.
 */

/* What the leader and the workers share, in dynamic shared memory (spill_private.h). */
typedef struct GpuSortPortionCrew GpuSortPortionCrew;

/* Returns the bytes of a crew of this many workers. */
extern Size gpusort_crew_bytes(int workers);

/*
 * Initializes the memory of a crew, which is to load the sort's portions.  To be called before
 * workers can see it.  Returns false if there is not memory enough for a crew.
 */
extern bool gpusort_crew_init(GpuSortPortionCrew *crew, int workers, GpuSort *sort);

/* Called by the leader when workers were started: fetches rows from what they load. */
extern void gpusort_crew_begin(GpuSortPortionCrew *crew, GpuSort *sort);

/*
 * Called by the leader before the crew's memory goes: no more portions are wanted.  A worker that
 * is still loading a portion ends when it has done so.
 */
extern void gpusort_crew_stop(GpuSort *sort);

/* ---------- a worker of a crew ---------- */

/*
 * Returns the shared sort whose portions the crew loads.  Called by a worker, so after
 * gpusort_crew_init().
 */
extern GpuSortParts *gpusort_crew_parts(const GpuSortPortionCrew *crew);

/*
 * Loads one portion after the other into `part`, a part of the shared sort, until no more are
 * wanted.  Called by the worker with this number, counted from 0.
 */
extern void gpusort_crew_load(GpuSortPortionCrew *crew, int number, GpuSort *part);

#endif							/* GPUSORT_SORT_PARTS_H */
