/*
 * gs_decide.h
 *		What the participants of a sort do next.
 *
 * Private to engine/host.
 */
#ifndef GS_DECIDE_H
#define GS_DECIDE_H

#include "engine/host/gs_participant.h"

/* All have done their part of the present step: begin the next one. */
extern void gs_decide(gs_participant *participant);

#endif							/* GS_DECIDE_H */
