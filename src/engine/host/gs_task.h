/*
 * gs_task.h
 *		Finishing a task: rows that one participant sorts, marks and writes.
 *
 * Private to engine/host.
 */
#ifndef GS_TASK_H
#define GS_TASK_H

#include "engine/host/gs_participant.h"

/* A task accounts for each of its rows so often. */
#define GS_TASK_VISITS	5

/* Sorts, marks and writes the rows of a task; returns false when cancelled. */
extern bool gs_task_finish(gs_participant *participant, const gs_task *task);

/* Sorts a node by itself, where it lies, and marks its equal rows; returns false when cancelled. */
extern bool gs_task_finish_node(gs_participant *participant, const gs_node *node);

#endif							/* GS_TASK_H */
