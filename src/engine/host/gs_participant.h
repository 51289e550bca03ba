/*
 * gs_participant.h
 *		One participant of a sort.
 *
 * Private to engine/host.
 */
#ifndef GS_PARTICIPANT_H
#define GS_PARTICIPANT_H

#include "engine/host/gs_key.h"
#include "engine/host/gs_scatter.h"
#include "engine/host/gs_shared.h"

struct gs_participant
{
	gs_shared_sort *shared;
	const gs_sort_args *args;
	unsigned	number;
	bool		has_layout;		/* the layout is known, once all words have been looked at */
	bool		has_section;
	gs_numbered numbered;		/* which planes are numbered */
	gs_job		job;
	uint64_t   *halves[2];		/* the two halves of the workspace */
	gs_cursor	behind_section;	/* where the key goes on behind its first section */
	gs_scatter	scatter;
};

/* Makes a participant in this memory, with this number, at whatever step the sort is. */
extern gs_participant *gs_participant_make(void *memory, gs_shared_sort *shared,
										   const gs_sort_args *args, unsigned number);

/* Reads all words at once, for a participant that is the only one.  May return GS_CANCELLED. */
extern gs_status gs_participant_read_key(gs_participant *participant);

/* Makes the participant's layout, once all words have been looked at, unless it has it. */
extern void gs_participant_know_layout(gs_participant *participant);

/*
 * Takes over what follows from the layout, if all words have been looked at.  Called in each phase
 * that this participant takes part in, and before it decides anything.
 */
extern void gs_participant_know_key(gs_participant *participant);

#endif							/* GS_PARTICIPANT_H */
