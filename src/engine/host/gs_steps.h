/*
 * gs_steps.h
 *		What a participant does in each step of a sort.
 *
 * Private to engine/host.
 */
#ifndef GS_STEPS_H
#define GS_STEPS_H

#include "engine/host/gs_participant.h"

/* Does pieces of the present step until none is left; returns false when cancelled. */
extern bool gs_steps_work(gs_participant *participant);

#endif							/* GS_STEPS_H */
