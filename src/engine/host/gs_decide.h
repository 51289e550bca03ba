/*
 * gs_decide.h
 *		What the participants of a sort do next.
 *
 * Private to engine/host.
 */
#ifndef GS_DECIDE_H
#define GS_DECIDE_H

#include "engine/host/gs_participant.h"

/* Begins the next step; all participants have done their part of the present one. */
extern void gs_decide(gs_participant *participant);

#endif							/* GS_DECIDE_H */
