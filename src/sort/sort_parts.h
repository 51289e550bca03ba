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
 *
 * Public: other folders include it.
 */
#ifndef GPUSORT_SORT_PARTS_H
#define GPUSORT_SORT_PARTS_H

#include "sort/sort.h"

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

#endif							/* GPUSORT_SORT_PARTS_H */
