/*
 * sort_team.c
 *		A sort by several participants, each a thread.
 *
 * What is shared lies between red zones, and what a participant has for itself, too.  Each has its own
 * room for the numbers of words, as a process would.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "case_data.h"
#include "sort_team.h"

#define MAX_TEAM	32

/* A barrier that lets participants in at any time. */
typedef struct gate
{
	pthread_mutex_t mutex;
	pthread_cond_t opened;
	unsigned	inside;
	unsigned	arrived;
	uint32_t	phase;
} gate;

typedef struct team
{
	gate		gate;
	gs_shared_sort *shared;
	const gs_sort_args *args;
} team;

typedef struct member
{
	team	   *team;
	pthread_t	thread;
	uint32_t	entry;			/* the phase in which it comes */
	guarded		memory;
	gs_sort_args args;
	gs_plane   *planes;
	gs_numbering *numberings;
	gs_participant *participant;
	gs_status	status;
} member;

static member members[MAX_TEAM];
static guarded shared_memory;

/* Wait until the others are so far, but not for ever: they may be through. */
static uint32_t
enter_gate(gate *gate, uint32_t phase)
{
	uint32_t	found;

	for (;;)
	{
		pthread_mutex_lock(&gate->mutex);
		if (gate->phase >= phase || gate->inside == 0)
			break;
		pthread_mutex_unlock(&gate->mutex);
		sched_yield();
	}
	gate->inside++;
	found = gate->phase;
	pthread_mutex_unlock(&gate->mutex);
	return found;
}

static void
pass_gate(gate *gate)
{
	uint32_t	phase;

	pthread_mutex_lock(&gate->mutex);
	phase = gate->phase;
	if (++gate->arrived == gate->inside)
	{
		gate->arrived = 0;
		gate->phase++;
		pthread_cond_broadcast(&gate->opened);
	}
	while (gate->phase == phase)
		pthread_cond_wait(&gate->opened, &gate->mutex);
	pthread_mutex_unlock(&gate->mutex);
}

static void
leave_gate(gate *gate)
{
	pthread_mutex_lock(&gate->mutex);
	gate->inside--;
	if (gate->inside > 0 && gate->arrived == gate->inside)
	{
		gate->arrived = 0;
		gate->phase++;
		pthread_cond_broadcast(&gate->opened);
	}
	pthread_mutex_unlock(&gate->mutex);
}

static void *
run_member(void *argument)
{
	member	   *m = argument;
	uint32_t	phase = enter_gate(&m->team->gate, m->entry);

	m->participant = gs_participant_begin(guarded_data(&m->memory), m->team->shared, &m->args);
	if (m->participant == NULL)
		m->status = GS_INVALID;
	for (; m->status == GS_OK && !gs_shared_sort_done(m->team->shared, phase); phase++)
	{
		m->status = gs_participate(m->participant, phase);
		if (m->status == GS_OK)
			pass_gate(&m->team->gate);
	}
	leave_gate(&m->team->gate);
	return NULL;
}

static void
free_team(void)
{
	for (unsigned i = 0; i < MAX_TEAM; i++)
	{
		guarded_free(&members[i].memory);
		free(members[i].planes);
		free(members[i].numberings);
		members[i] = (member) {.status = GS_OK};
	}
	guarded_free(&shared_memory);
	shared_memory = (guarded) {.bytes = 0};
}

static void
make_member(member *m, team *team, unsigned participants)
{
	const gs_sort_args *args = team->args;

	m->team = team;
	m->memory = guarded_alloc(gs_participant_bytes(args->nrows, participants));
	m->planes = calloc(args->nplanes + 1, sizeof(gs_plane));
	m->numberings = calloc(args->nplanes + 1, sizeof(gs_numbering));
	memcpy(m->planes, args->planes, args->nplanes * sizeof(gs_plane));
	for (unsigned i = 0; i < args->nplanes; i++)
		if (args->planes[i].numbering != NULL)
			m->planes[i].numbering = &m->numberings[i];
	m->args = *args;
	m->args.planes = m->planes;
	if (m != members)
		m->args.progress = NULL;
}

static gs_status
status_of_team(unsigned participants)
{
	gs_status	status = guarded_intact(&shared_memory) ? GS_OK : GS_NO_SPACE;

	for (unsigned i = 0; i < participants; i++)
	{
		pthread_join(members[i].thread, NULL);
		if (members[i].status != GS_OK)
			status = members[i].status;
		if (!guarded_intact(&members[i].memory))
			status = GS_NO_SPACE;
	}
	return status;
}

gs_status
sort_by_team(const gs_sort_args *args, unsigned participants, bool late, gs_sort_result *result)
{
	team		team = {.args = args};
	gs_status	status;

	free_team();
	shared_memory = guarded_alloc(gs_shared_sort_bytes(args->nrows, args->nplanes, participants));
	team.shared = guarded_data(&shared_memory);
	status = gs_shared_sort_init(team.shared, args, participants);
	if (status != GS_OK)
		return status;
	pthread_mutex_init(&team.gate.mutex, NULL);
	pthread_cond_init(&team.gate.opened, NULL);
	/* who is inside from the start: nobody goes on before */
	for (unsigned i = 0; i < participants; i++)
	{
		make_member(&members[i], &team, participants);
		members[i].entry = late && i % 2 == 1 ? i : 0;
	}
	for (unsigned i = 0; i < participants; i++)
		pthread_create(&members[i].thread, NULL, run_member, &members[i]);
	status = status_of_team(participants);
	if (status == GS_OK)
		gs_participant_result(members[0].participant, result);
	pthread_mutex_destroy(&team.gate.mutex);
	pthread_cond_destroy(&team.gate.opened);
	return status;
}
