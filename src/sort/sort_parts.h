/*
 * sort_parts.h
 *		One sort whose rows are collected by several processes.
 *
 * Each participant, the leader among them, collects into a *part*: a sort of its
 * own that lives in extents of the pool only.  Parts that are finished are joined
 * to the leader's sort: their extents are mapped into its ranges, so that no row is
 * copied and none passes through a queue.  Rows that a part has no room for, or no
 * encoding, are its caller's to send to the leader, who puts them into the sort
 * itself, as if it were no shared one.
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
 * All extents carry one owner word, that of the sort (gsd_pool.h), whoever took them,
 * and are given back when the leader's sort ends, on error as well.  So no worker may
 * be alive then (the server waits for workers before it resets memory contexts),
 * and the leader's own part must have been begun in the context of the sort, or in
 * one below.
 *
 * Where any participant may be the one who sorts, the leader has a sort that is nothing
 * but the owner of the extents:
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

/* What the participants share; in the pool. */
typedef struct GpuSortParts GpuSortParts;

/*
 * Make a sort that has just begun, or was reset, a shared one, of about all_rows rows in all.
 * NULL if there is no pool, nothing left of it, or if there are too many shared sorts in this session:
 * it stays an ordinary one then.
 */
extern GpuSortParts *gpusort_parts_create(GpuSort *sort, int participants, double all_rows);

/* So many participants were launched, the leader included: what the others would have had is theirs. */
extern void gpusort_parts_launched(GpuSortParts *parts, int participants);

/* Rows that all parts have room for so far. */
extern uint64 gpusort_parts_rows(GpuSortParts *parts);

/* Make it an ordinary sort again; rows of parts are lost. */
extern void gpusort_parts_dissolve(GpuSort *sort);

/* Its number, by which other processes find it, until it is created anew or ended. */
extern uint32 gpusort_parts_number(const GpuSortParts *parts);
extern GpuSortParts *gpusort_parts_attach(uint32 number);

/*
 * A participant's part; desc and spec (or index and spec, with index tuples as rows)
 * are those of the sort.  NULL if there is no address space for it.
 */
extern GpuSort *gpusort_parts_begin_part(GpuSortParts *parts, TupleDesc desc,
										 const GpuSortSpec *spec);
extern GpuSort *gpusort_parts_begin_index_part(GpuSortParts *parts, Relation index,
											   const GpuSortSpec *spec);

/* A sort that never has rows of its own, for gpusort_parts_create(). */
extern GpuSort *gpusort_parts_begin_owner(TupleDesc desc, const GpuSortSpec *spec);

/*
 * A sort for gpusort_parts_join() in any participant, which then is an ordinary one, but
 * that its extents are the shared sort's.
 */
extern GpuSort *gpusort_parts_begin_joined(GpuSortParts *parts, TupleDesc desc,
										   const GpuSortSpec *spec);

/* All rows of the part are in: let the leader have them.  The part can only be ended. */
extern void gpusort_parts_finish_part(GpuSortParts *parts, GpuSort *part);

#endif							/* GPUSORT_SORT_PARTS_H */
