/*
 * gs_task.h
 *		Bringing some rows to their end.
 *
 * Private to engine/host.
 */
#ifndef GS_TASK_H
#define GS_TASK_H

#include "engine/host/gs_participant.h"

/* How often a task accounts for each of its rows. */
#define GS_TASK_VISITS	5

/* Sort, mark and write what a task is about; false when cancelled. */
extern bool gs_task_finish(gs_participant *participant, const gs_task *task);

/* Sort a node by itself where it lies; false when cancelled. */
extern bool gs_task_finish_node(gs_participant *participant, const gs_node *node);

#endif							/* GS_TASK_H */
