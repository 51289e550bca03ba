/*
 * exec_private.h
 *		What the nodes that sort use of each other.
 */
#ifndef GPUSORT_EXEC_PRIVATE_H
#define GPUSORT_EXEC_PRIVATE_H

#include "executor/tuptable.h"
#include "nodes/execnodes.h"
#include "nodes/plannodes.h"
#include "storage/condition_variable.h"
#include "storage/spin.h"

#include "sort/sort.h"
#include "sort/sort_cursor.h"
#include "sort/sort_result.h"

/* ---------- GpuSort: what is found out when a query starts ---------- */

/*
 * If the node is a GpuSort, tells it that this Limit takes its rows, and that no other node does.
 */
extern void gpusort_tell_limit(PlanState *node, LimitState *limit);

/*
 * If the node is a GpuSort that fetches no rows late, makes it return its rows in a slot with this
 * descriptor, which has only the first of their columns.  Returns whether it does.
 */
extern bool gpusort_return_clean_rows(PlanState *node, TupleDesc desc);

/* ---------- GpuSort: its result ---------- */

/* Does for a GpuSort what gpusort_exec_result() does. */
extern GpuSortResult *gpusort_own_result(PlanState *node, bool is_viewed);

/* ---------- GpuSort Collect: what the GpuSort node above asks of it ---------- */

typedef struct GpuSortCollectState GpuSortCollectState;

/* Returns the GpuSort Collect node below a GpuSort's child, or NULL if there is none. */
extern GpuSortCollectState *gpusort_find_collect(PlanState *child);

/* Returns the node whose rows the GpuSort Collect node collects. */
extern PlanState *gpusort_collect_input(GpuSortCollectState *node);

/*
 * Called by the GpuSort before it reads the Gather: the participants are to collect rows for this
 * sort, which is empty and lives in `context`.  If `sorts`, the participants also put the rows in
 * order when all have collected.
 */
extern void gpusort_collect_for(GpuSortCollectState *node, GpuSort *sort, MemoryContext context,
								bool sorts);

/*
 * Called by the GpuSort when it has read the Gather to its end: adds what was collected to the
 * sort.  Returns true if the participants have done that already, and have performed the sort.
 */
extern bool gpusort_collect_join(GpuSortCollectState *node);

/* ---------- meeting: when all have collected, and who stays to sort ---------- */

/*
 * Participants of a collected sort meet.
 *
 * The leader sorts, and workers that have collected help it before they leave
 * (sort/sort.h). The leader waits for the workers that have begun to collect, and for no
 * other.  A worker that comes when the leader is sorting already does not collect, but helps:
 * the rows that it would have read were read by other participants, as with all partial plans.
 *
 * A worker stays only if the leader has begun to collect, too.  Then either the leader will come
 * to the meeting, or the query fails.
 *
 * Rows that a part refuses travel through the Gather, which the leader does not read while it
 * waits.  So a participant that is about to return such a row calls the meeting off: workers
 * then leave when they have collected, and the leader sorts when they have left.
 */

/* Lives in dynamic shared memory.  The mutex protects all other fields but `changed`. */
typedef struct GpuSortMeeting
{
	slock_t		mutex;
	ConditionVariable changed;	/* broadcast when a field below has changed */
	int			collecting;		/* participants that have begun to collect and have not finished */
	bool		leader_came;
	bool		called_off;
	bool		over;			/* all have collected, and the leader is sorting */
} GpuSortMeeting;

/*
 * Initializes a meeting, before other processes see it.  It may be called off from the beginning.
 */
extern void gpusort_meeting_init(GpuSortMeeting *meeting, bool called_off);

/*
 * Called by a participant that is about to collect.  Returns false if the meeting is over, so that
 * nothing is left to be collected.
 */
extern bool gpusort_meeting_enter(GpuSortMeeting *meeting);

extern void gpusort_meeting_call_off(GpuSortMeeting *meeting);

/*
 * Called by a worker that has collected.  Returns whether the leader is going to sort as soon as
 * all have collected, so that the worker should stay and help.
 */
extern bool gpusort_meeting_arrive(GpuSortMeeting *meeting);

/*
 * Called by the leader when it has collected: waits until all participants have.  Returns false if
 * the meeting was called off.
 */
extern bool gpusort_meeting_await(GpuSortMeeting *meeting);

/* ---------- late: rows that a GpuSort fetches from their table when it returns them ---------- */

typedef struct GpuSortLate GpuSortLate;

/*
 * Begins to fetch rows late for a GpuSort node, whose child has been initialized.  From now on the
 * node returns rows of the table that `table_scan`, a scan below it, reads.  Memory is taken from
 * `context`.
 */
extern GpuSortLate *gpusort_begin_late(CustomScanState *css, const ScanState *table_scan,
									   MemoryContext context);

/*
 * Returns a slot with the next row in the direction of the scan; the slot is empty if there is
 * none.
 */
extern TupleTableSlot *gpusort_fetch_late(GpuSortLate *late, GpuSortCursor *cursor, bool forward);

/* Returns an empty slot, and drops all references to rows and pages. */
extern TupleTableSlot *gpusort_clear_late(GpuSortLate *late);

/* Forgets the rows looked at in advance, since the sort is going to have other rows. */
extern void gpusort_reset_late(GpuSortLate *late);

/* ---------- clean slots: only the first columns of the minimal tuples stored in them ---------- */

/*
 * A tuple may have more attributes than its slot's descriptor: deforming stops at the last
 * attribute of the descriptor.  But code that fetches the minimal tuple from such a slot, or copies
 * it, would get all attributes.  So clean slots have operations of their own.  They hold minimal
 * tuples, but don't hand out the stored tuple: they return values, and tuples that are formed of
 * these.
 */

/* Makes an empty clean slot that lives as long as the query; gpusort_store_tuple() fills it. */
extern TupleTableSlot *gpusort_make_clean_slot(EState *estate, TupleDesc desc);

/* ---------- portion workers: load portions of a spilled sort ---------- */

/*
 * They are parallel workers of the node that returns the sort's rows.
 *
 * The workers that have collected the rows have ended with their Gather.  The node starts
 * portion workers itself, if the query runs in parallel mode; they end when its last row was
 * read, or with the node.
 */

typedef struct GpuSortPortionWorkers GpuSortPortionWorkers;

/*
 * Starts workers that load the portions of a performed sort, whose rows and sort key are described
 * by desc and spec.  Returns NULL if there are no portions to load, or no workers to be had.  The
 * result is allocated in the current memory context.
 */
extern GpuSortPortionWorkers *gpusort_begin_portion_workers(GpuSort *sort, TupleDesc desc,
															const GpuSortSpec *spec);

/* Ends the workers.  The sort stays as it is: the rest of its rows is read without them. */
extern void gpusort_end_portion_workers(GpuSortPortionWorkers *workers);

#endif							/* GPUSORT_EXEC_PRIVATE_H */
