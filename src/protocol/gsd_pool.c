/*
 * gsd_pool.c
 *		Extents and jobs of the pool: who owns what, and what becomes of it.
 *
 * Everything here works on shared memory with atomic operations only, without
 * locks: a process that is killed in the middle of a call leaves at worst one
 * too many in the count of free extents, and the server makes a new pool after
 * such a death anyway.
 *
 * An extent changes hands by compare-and-swap of its owner word.  free_extents is
 * raised before an extent becomes free and lowered after it was taken, so it is
 * never too small, and a count of zero means that looking for one is in vain.
 */
#include <string.h>

#include "protocol/gsd_holders.h"
#include "protocol/gsd_pool.h"
#include "protocol/gsd_wake.h"

/* Returns where the extents begin: behind header, owners and states. */
static uint64_t
extents_offset(uint32_t nextents)
{
	uint64_t	bytes = sizeof(gsd_header) +
		nextents * (uint64_t) (sizeof(_Atomic uint32_t) + sizeof(_Atomic uint8_t));

	return (bytes + GSD_EXTENT_BYTES - 1) / GSD_EXTENT_BYTES * GSD_EXTENT_BYTES;
}

uint64_t
gsd_pool_bytes(uint32_t nextents)
{
	return extents_offset(nextents) + ((uint64_t) nextents << GSD_EXTENT_SHIFT);
}

void
gsd_pool_init(gsd_header *header, uint64_t pool_bytes, bool huge)
{
	uint32_t	nextents = (uint32_t) (pool_bytes >> GSD_EXTENT_SHIFT);

	/* the header takes some of the space that the extents would need */
	while (nextents > 0 && gsd_pool_bytes(nextents) > pool_bytes)
		nextents--;
	header->abi_version = GSD_ABI_VERSION;
	header->extent_shift = GSD_EXTENT_SHIFT;
	header->pool_bytes = pool_bytes;
	header->extents_offset = extents_offset(nextents);
	header->nextents = nextents;
	header->huge = huge;
	atomic_store(&header->free_extents, nextents);
	header->magic = GSD_MAGIC;
}

const char *
gsd_pool_check(const gsd_header *header, uint64_t pool_bytes)
{
	if (pool_bytes < sizeof(gsd_header))
		return "the pool is smaller than its header";
	if (header->magic != GSD_MAGIC)
		return "this is no pool";
	if (header->abi_version != GSD_ABI_VERSION)
		return "the pool was made by another version";
	if (header->extent_shift != GSD_EXTENT_SHIFT || header->pool_bytes != pool_bytes ||
		header->extents_offset != extents_offset(header->nextents) ||
		gsd_pool_bytes(header->nextents) > pool_bytes)
		return "the pool's sizes contradict each other";
	return NULL;
}

/* Lets the search for free extents begin at this extent, if it would begin further up. */
static void
lower_hint(gsd_header *header, uint32_t extent)
{
	uint32_t	hint = atomic_load_explicit(&header->hint, memory_order_relaxed);

	while (hint > extent &&
		   !atomic_compare_exchange_weak_explicit(&header->hint, &hint, extent,
												  memory_order_relaxed,
												  memory_order_relaxed))
		;
}

bool
gsd_take_extent(gsd_header *header, uint32_t extent, uint32_t owner)
{
	uint32_t	none = GSD_OWNER_NONE;

	if (extent >= header->nextents ||
		atomic_load_explicit(&header->owners[extent], memory_order_relaxed) != GSD_OWNER_NONE ||
		!atomic_compare_exchange_strong_explicit(&header->owners[extent], &none, owner,
												 memory_order_acquire,
												 memory_order_relaxed))
		return false;
	atomic_fetch_sub_explicit(&header->free_extents, 1, memory_order_relaxed);
	gsd_count_taken(header, owner);
	return true;
}

/* Takes the first free extent of [from, to); returns false if none is free. */
static bool
take_between(gsd_header *header, uint32_t from, uint32_t to, uint32_t owner, uint32_t *extent)
{
	for (uint32_t i = from; i < to; i++)
	{
		if (!gsd_take_extent(header, i, owner))
			continue;
		*extent = i;
		return true;
	}
	return false;
}

bool
gsd_take_any(gsd_header *header, uint32_t owner, uint32_t *extent)
{
	uint32_t	hint = atomic_load_explicit(&header->hint, memory_order_relaxed);

	if (atomic_load_explicit(&header->free_extents, memory_order_relaxed) == 0)
		return false;
	if (!take_between(header, hint, header->nextents, owner, extent) &&
		!take_between(header, 0, hint, owner, extent))
		return false;

	/* the search begins here next time, unless a lower extent was given back meanwhile */
	atomic_compare_exchange_strong_explicit(&header->hint, &hint, *extent + 1,
											memory_order_relaxed, memory_order_relaxed);
	return true;
}

bool
gsd_take_row(gsd_header *header, uint32_t count, uint32_t owner, uint32_t *first)
{
	uint32_t	found = 0;
	uint32_t	taken = 0;
	uint32_t	i = header->nextents;

	while (found < count && i-- > 0)
		found = atomic_load_explicit(&header->owners[i], memory_order_relaxed) == GSD_OWNER_NONE
			? found + 1 : 0;
	if (count == 0 || found < count)
		return false;
	while (taken < count && gsd_take_extent(header, i + taken, owner))
		taken++;
	*first = i;
	if (taken == count)
		return true;
	/* somebody was faster */
	while (taken-- > 0)
		gsd_give_extent(header, i + taken, owner);
	return false;
}

void
gsd_give_extent(gsd_header *header, uint32_t extent, uint32_t owner)
{
	if (extent >= header->nextents)
		return;
	atomic_fetch_add_explicit(&header->free_extents, 1, memory_order_relaxed);
	if (atomic_compare_exchange_strong_explicit(&header->owners[extent], &owner,
												GSD_OWNER_NONE, memory_order_release,
												memory_order_relaxed))
	{
		lower_hint(header, extent);
		gsd_count_given(header, owner);
	}
	else
		atomic_fetch_sub_explicit(&header->free_extents, 1, memory_order_relaxed);
}

void
gsd_leave_extent(gsd_header *header, uint32_t extent, uint32_t owner, uint32_t job)
{
	if (extent < header->nextents &&
		atomic_compare_exchange_strong_explicit(&header->owners[extent], &owner,
												GSD_OWNER_JOB | job, memory_order_release,
												memory_order_relaxed))
		gsd_count_given(header, owner);
}

uint32_t
gsd_give_all(gsd_header *header, uint32_t owner)
{
	uint32_t	given = 0;

	for (uint32_t i = 0; i < header->nextents; i++)
	{
		if (atomic_load_explicit(&header->owners[i], memory_order_relaxed) != owner)
			continue;
		gsd_give_extent(header, i, owner);
		given++;
	}
	return given;
}

uint32_t
gsd_give_backend(gsd_header *header, uint32_t pid)
{
	uint32_t	given = 0;

	for (uint32_t i = 0; i < header->nextents; i++)
	{
		uint32_t	owner = atomic_load_explicit(&header->owners[i], memory_order_relaxed);

		if (!gsd_owner_is_backend(owner, pid))
			continue;
		gsd_give_extent(header, i, owner);
		given++;
	}
	return given;
}

int
gsd_claim_job(gsd_header *header, uint32_t pid)
{
	for (int i = 0; i < GSD_MAX_JOBS; i++)
	{
		gsd_job    *job = &header->jobs[i];
		uint32_t	none = GSD_BACKEND_NONE;

		if (atomic_load(&job->daemon_state) != GSD_DAEMON_IDLE ||
			!atomic_compare_exchange_strong(&job->backend_state, &none, GSD_BACKEND_CLAIMED))
			continue;
		atomic_fetch_add(&job->claims, 1);
		job->pid = pid;
		atomic_store(&job->cancel, 0);
		atomic_store(&job->abandoned, 0);
		atomic_store(&job->waiter, 0);
		atomic_store(&job->ready_rows, 0);
		atomic_store(&job->reordered_rows, 0);
		return i;
	}
	return -1;
}

/* Returns whether the backend has closed the job, and the daemon no longer writes for it. */
static bool
job_is_over(gsd_job *job)
{
	return atomic_load(&job->backend_state) == GSD_BACKEND_CLOSED &&
		atomic_load(&job->daemon_state) == GSD_DAEMON_IDLE;
}

/*
 * Frees an abandoned job; returns false if there was nothing to free.  Only the supervisor does so,
 * but several processes might: the one that moves abandoned from 1 to 2 frees the job, after a
 * second look at its state, since the slot may have passed through another job since the first.
 */
static bool
reap_job(gsd_header *header, uint32_t number)
{
	gsd_job    *job = &header->jobs[number];
	uint32_t	abandoned = 1;

	if (!job_is_over(job) ||
		!atomic_compare_exchange_strong(&job->abandoned, &abandoned, 2))
		return false;
	if (!job_is_over(job))
	{
		atomic_store(&job->abandoned, 1);
		return false;
	}
	gsd_give_all(header, GSD_OWNER_JOB | number);
	atomic_store(&job->abandoned, 0);
	atomic_store(&job->backend_state, GSD_BACKEND_NONE);
	return true;
}

unsigned
gsd_reap_jobs(gsd_header *header)
{
	unsigned	reaped = 0;

	for (uint32_t i = 0; i < GSD_MAX_JOBS; i++)
		reaped += reap_job(header, i);
	return reaped;
}

/* Does what the dead daemon would still have to do for a job. */
static void
fail_job(gsd_job *job)
{
	uint32_t	backend = atomic_load(&job->backend_state);
	uint32_t	daemon = atomic_load(&job->daemon_state);

	if (backend == GSD_BACKEND_OPEN || backend == GSD_BACKEND_RUN)
	{
		/* the answer that the daemon gave before still holds */
		if (daemon == GSD_DAEMON_DONE || daemon == GSD_DAEMON_FAILED)
			return;
		job->failure = GSD_FAILURE_GONE;
		strcpy(job->message, "gpusortd has died");
		atomic_store(&job->daemon_state, GSD_DAEMON_FAILED);
		gsd_wake_waiter(job);

		/* if the backend has closed the job just now, nobody else will set IDLE */
		backend = atomic_load(&job->backend_state);
		if (backend == GSD_BACKEND_OPEN || backend == GSD_BACKEND_RUN)
			return;
	}
	if (atomic_load(&job->daemon_state) != GSD_DAEMON_IDLE)
		gsd_let_go(job);
}

void
gsd_daemon_died(gsd_header *header)
{
	for (unsigned i = 0; i < GSD_MAX_JOBS; i++)
		fail_job(&header->jobs[i]);
	gsd_give_all(header, GSD_OWNER_DAEMON);
	gsd_reap_jobs(header);
}

bool
gsd_exit_is_permanent(int status)
{
	switch (status)
	{
		case GSD_EXIT_USAGE:
		case GSD_EXIT_NO_DEVICE:
		case GSD_EXIT_WRONG_POOL:
		case GSD_EXIT_DEVICE_WRONG:
		case GSD_EXIT_NO_CUDA:
		case GSD_EXIT_NO_PROGRAM:
			return true;
		default:
			return false;
	}
}
