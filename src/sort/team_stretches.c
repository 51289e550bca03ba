/*
 * team_stretches.c
 *		Dealing out work on the order of a sort's rows to its team; see team_private.h.
 */
#include "postgres.h"

#include "access/xact.h"
#include "miscadmin.h"

#include "sort/team_private.h"
#include "team/workers.h"

/* Writes the job into the pool.  Returns NULL if there is no room. */
static TeamStretches *
write_job(GpuSort *sort, TeamStretches *head, StringInfo lent, StringInfo list,
		  const TeamStretch *stretches)
{
	size_t		stretches_bytes = head->count * sizeof(TeamStretch);
	char	   *base;

	head->stretches_offset = MAXALIGN(sizeof(TeamStretches));
	head->sort_offset = MAXALIGN(head->stretches_offset + stretches_bytes);
	head->job.list_offset = MAXALIGN(head->sort_offset + lent->len);
	if (!gpusort_team_job_make(sort, head->job.list_offset + list->len))
		return NULL;
	base = sort->team.job->base;
	memcpy(base, head, sizeof(TeamStretches));
	memcpy(base + head->stretches_offset, stretches, stretches_bytes);
	memcpy(base + head->sort_offset, lent->data, lent->len);
	memcpy(base + head->job.list_offset, list->data, list->len);
	return (TeamStretches *) base;
}

/*
 * Returns whether other processes can read all values of the rows.  If the transaction has accessed
 * temporary tables, the rows may hold toasted values of these, which no worker can read.  If the
 * team has collected the rows, they have none, since workers can't read temporary tables either.
 */
static bool
may_read_values(const GpuSort *sort)
{
	bool		collected = sort->team.team != NULL && sort->team.workers == NULL;

	return collected || (MyXactFlags & XACT_FLAGS_ACCESSEDTEMPNAMESPACE) == 0;
}

bool
gpusort_may_deal_out(GpuSort *sort, uint64 rows)
{
	return gpusort_team_pays((double) rows) && may_read_values(sort) &&
		(sort->team.team != NULL || gpusort_start_sort_workers(sort, rows));
}

TeamStretches *
gpusort_deal_out(GpuSort *sort, TeamJobKind kind, const TeamStretch *stretches, uint32 count)
{
	TeamStretches *head;
	TeamStretches *job = NULL;
	StringInfoData lent;
	StringInfoData list;

	/* there is nothing to share */
	if (count < 2)
		return NULL;
	head = palloc0(sizeof(TeamStretches));
	head->job.kind = kind;
	head->count = count;
	pg_atomic_init_u32(&head->next, 0);
	pg_atomic_init_u32(&head->scratches, 1);
	pg_atomic_init_u64(&head->memory_bytes, 0);
	pg_atomic_init_u32(&head->nnoted, 0);
	pg_atomic_init_u32(&head->nleft, 0);
	pg_atomic_init_u32(&head->shared, PG_UINT32_MAX);
	pg_atomic_init_u32(&head->differ, 0);
	pg_atomic_init_u32(&head->refused, 0);
	initStringInfo(&lent);
	initStringInfo(&list);
	if (gpusort_lend(sort, kind != TEAM_JOB_VERIFY, &lent, &list))
		job = write_job(sort, head, &lent, &list, stretches);
	pfree(head);
	pfree(lent.data);
	pfree(list.data);
	if (job != NULL)
		gpusort_team_job_open(sort);
	return job;
}

bool
gpusort_take_stretch(TeamStretches *job, TeamStretch *stretch)
{
	const TeamStretch *stretches = (const TeamStretch *) ((const char *) job +
														  job->stretches_offset);
	uint32		number;

	CHECK_FOR_INTERRUPTS();
	gpusort_worker_fault("a stretch of a sort");
	number = pg_atomic_fetch_add_u32(&job->next, 1);
	if (number >= job->count)
		return false;
	*stretch = stretches[number];
	return true;
}

size_t
gpusort_scratch_bytes(const GpuSort *sort)
{
	return TYPEALIGN_DOWN(GS_LINE_BYTES, sort->order.workspace->usable / sort->team.participants);
}

bool
gpusort_take_scratch(GpuSort *sort, TeamStretches *job)
{
	uint32		number = pg_atomic_fetch_add_u32(&job->scratches, 1);

	sort->order.scratch_bytes = gpusort_scratch_bytes(sort);
	sort->order.scratch = sort->order.workspace->base + number * sort->order.scratch_bytes;
	return number < (uint32) sort->team.participants;
}

void
gpusort_note_position(TeamStretches *job, uint64 position)
{
	uint32		number = pg_atomic_fetch_add_u32(&job->nnoted, 1);

	if (number < TEAM_MAX_NOTED)
		job->noted[number] = position;
}

bool
gpusort_leave_run(GpuSort *sort, const uint32 *ids, uint32 n, KeyPlace place)
{
	TeamStretches *job = sort->team.stretches;
	uint64		from = ids - sort->order.ids;
	uint32		number;

	if (job == NULL || gpusort_team_runs_left(job) == TEAM_MAX_LEFT)
		return false;
	number = pg_atomic_fetch_add_u32(&job->nleft, 1);
	if (number >= TEAM_MAX_LEFT)
		return false;
	job->left[number] = (TeamStretch) {from, from + n, place};
	return true;
}

uint32
gpusort_team_runs_left(TeamStretches *job)
{
	return Min(pg_atomic_read_u32(&job->nleft), TEAM_MAX_LEFT);
}

void
gpusort_await_stretches(GpuSort *sort)
{
	gpusort_team_job_close(sort);
}
