/*
 * pool_account.c
 *		What sorts of this process have of the pool and may have; see pool.h.
 *
 * A sort enters the pool's counts when it first asks for extents, and leaves them when its memory
 * is released, by a callback of its memory context.  An exit callback gives back what a process
 * may still have.
 */
#include "postgres.h"

#include "fmgr.h"
#include "miscadmin.h"
#include "storage/ipc.h"
#include "storage/proc.h"

#include "memory/pool.h"
#include "protocol/gsd_holders.h"

int			gpusort_pool_quota = 75;
int			gpusort_pool_session_quota = 100;
int			gpusort_pool_role_quota = 100;

/* An exit callback: gives back all that this process may still have of the pool. */
static void
give_all(int code, Datum arg)
{
	(void) gsd_give_backend(gpusort_pool->header, (uint32) MyProcPid);
	gsd_drop_holder(gpusort_pool->header, (uint32) MyProcPid);
}

void
gpusort_pool_register_exit(void)
{
	static bool registered = false;

	if (!registered)
		on_shmem_exit(give_all, (Datum) 0);
	registered = true;
}

uint32
gpusort_session_pid(void)
{
	return (uint32) (MyProc != NULL && MyProc->lockGroupLeader != NULL
					 ? MyProc->lockGroupLeader->pid : MyProcPid);
}

static gsd_limits
limits(void)
{
	return (gsd_limits) {
		.sort = gpusort_pool_quota,
		.session = gpusort_pool_session_quota,
		.role = gpusort_pool_role_quota,
	};
}

/* Describes a sort of this process that has `held` extents, for gsd_holders.h. */
static gsd_claim
claim_of(uint32 held)
{
	return (gsd_claim) {
		.session = gpusort_session_pid(),
		.role = GetSessionUserId(),
		.held = held,
		.limits = limits(),
	};
}

/* Returns how many extents a sort that has `held` may take now. */
static uint32
room(uint32 held, bool *is_short)
{
	gsd_claim	claim = claim_of(held);

	return gsd_room(gpusort_pool->header, &claim, is_short);
}

uint32
gpusort_pool_quota_extents(void)
{
	gsd_limits	most = limits();

	return gpusort_pool == NULL ? 0 : gsd_most_extents(gpusort_pool->header, &most);
}

uint32
gpusort_pool_available_extents(void)
{
	bool		is_short;

	return gpusort_pool == NULL ? 0 : room(0, &is_short);
}

uint32
gpusort_pool_other_sessions(void)
{
	return gpusort_pool == NULL ? 0
		: gsd_other_sessions(gpusort_pool->header, gpusort_session_pid());
}

void
gpusort_pool_open(GpuSortPoolAccount *account, uint32 max_extents)
{
	account->owner = gsd_owner(MyProcPid, 0);
	account->max_extents = max_extents;
	account->pool_only = false;
	pg_atomic_init_u32(&account->own_extents, 0);
	account->extents = &account->own_extents;
}

/*
 * Counts the sort among those that use the pool, unless it has been counted.  An account whose
 * extents belong to another process is part of that process's sort, and is not counted here.
 */
static void
enter(GpuSortPoolAccount *account)
{
	if (account->entered || gsd_owner_pid(account->owner) != (uint32) MyProcPid)
		return;
	gpusort_pool_register_exit();
	account->entered = gsd_enter_sort(gpusort_pool->header, (uint32) MyProcPid,
									  gpusort_session_pid(), GetSessionUserId());
}

void
gpusort_pool_close(GpuSortPoolAccount *account)
{
	gpusort_pool_clear_short(account);
	if (account->entered)
		gsd_leave_sort(gpusort_pool->header, (uint32) MyProcPid);
	account->entered = false;
}

/*
 * A test's library may pretend that the pool is full (test/proof/fail_nth.c).  The hook returns
 * whether to refuse an extent that is being taken (`taking`), or to say that there is no room.
 */
typedef bool (*RefusalHook) (bool taking);

static bool
is_refused(bool taking)
{
	static RefusalHook *hook = NULL;

	if (unlikely(hook == NULL))
		hook = (RefusalHook *) find_rendezvous_variable("gpusort_refuses_extent");
	return unlikely(*hook != NULL) && (*hook) (taking);
}

/*
 * Returns how many extents the sort may take now; *is_short tells whether other sorts keep it from
 * more.
 */
static uint32
room_of(const GpuSortPoolAccount *account, bool *is_short)
{
	uint32		held = pg_atomic_read_u32(account->extents);

	*is_short = false;
	if (held >= account->max_extents || is_refused(false))
		return 0;
	return Min(room(held, is_short), account->max_extents - held);
}

uint32
gpusort_pool_room(const GpuSortPoolAccount *account)
{
	bool		is_short;

	return room_of(account, &is_short);
}

uint32
gpusort_pool_claim(GpuSortPoolAccount *account, uint32 wanted)
{
	bool		is_short;
	uint32		count;

	if (account->max_extents == 0)
		return 0;
	enter(account);
	count = room_of(account, &is_short);
	if (count >= wanted || !is_short)
		gpusort_pool_clear_short(account);
	else if (account->entered)
	{
		account->is_short = true;
		if (!account->wants)
			gsd_note_want(gpusort_pool->header, (uint32) MyProcPid, true);
		account->wants = true;
	}
	return Min(count, wanted);
}

bool
gpusort_pool_take(const GpuSortPoolAccount *account, uint32 preferred, uint32 *extent)
{
	gsd_header *header = gpusort_pool->header;

	if (is_refused(true))
		return false;
	*extent = preferred;
	return gsd_take_extent(header, preferred, account->owner) ||
		gsd_take_any(header, account->owner, extent);
}

bool
gpusort_pool_is_wanted(const GpuSortPoolAccount *account)
{
	gsd_claim	claim;

	if (!account->entered)
		return false;
	claim = claim_of(pg_atomic_read_u32(account->extents));
	return gsd_is_wanted(gpusort_pool->header, &claim);
}

bool
gpusort_pool_is_uneven(const GpuSortPoolAccount *account)
{
	return account->is_short || gpusort_pool_is_wanted(account);
}

void
gpusort_pool_clear_short(GpuSortPoolAccount *account)
{
	gpusort_pool_clear_want(account);
	account->is_short = false;
}

void
gpusort_pool_clear_want(GpuSortPoolAccount *account)
{
	if (account->wants)
		gsd_note_want(gpusort_pool->header, (uint32) MyProcPid, false);
	account->wants = false;
}
