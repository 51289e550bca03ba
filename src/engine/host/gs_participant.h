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
	bool		has_layout;		/* it is known when all words have been looked at */
	bool		has_section;
	gs_numbered numbered;		/* planes */
	gs_job		job;
	uint64_t   *halves[2];		/* of the workspace */
	gs_cursor	behind_section;	/* the first one */
	gs_scatter	scatter;
};

/* A participant in this memory, the number-th, whatever has been done up to now. */
extern gs_participant *gs_participant_make(void *memory, gs_shared_sort *shared,
										   const gs_sort_args *args, unsigned number);

/* Read all words at once, if it is the only one.  GS_CANCELLED is possible. */
extern gs_status gs_participant_read_key(gs_participant *participant);

/* All words have been looked at: have the layout. */
extern void gs_participant_know_layout(gs_participant *participant);

/*
 * Know what follows from the layout, if all words have been looked at: in whatever phase this
 * participant has come, and before it decides anything.
 */
extern void gs_participant_know_key(gs_participant *participant);

#endif							/* GS_PARTICIPANT_H */
