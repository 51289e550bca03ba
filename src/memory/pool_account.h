/*
 * pool_account.h
 *		What one sort has of the pool, and may have.
 *
 * How much more a sort may take is computed whenever one of its ranges grows
 * (protocol/gsd_holders.h has the rule).  A sort that gets no more goes on in private memory, and
 * asks the pool again when its ranges are rewound.  It never waits for other sorts.
 */
#ifndef GPUSORT_POOL_ACCOUNT_H
#define GPUSORT_POOL_ACCOUNT_H

#include "port/atomics.h"

/* Stands for no extent in lists of extents. */
#define GPUSORT_NO_EXTENT	PG_UINT32_MAX

/* What the ranges of one sort have of the pool, and may have, together. */
typedef struct GpuSortPoolAccount
{
	uint32		owner;			/* the owner word of its extents (gsd_pool.h) */
	uint32		max_extents;	/* the most it may take, whatever others have; 0: private memory
								 * only */
	bool		pool_only;		/* takes no private memory, since other processes are to read all
								 * of it */
	bool		entered;		/* counted among the sorts of its process */
	bool		is_short;		/* other sorts have kept it from as much as it asked for */
	bool		wants;			/* the pool's header tells other sorts that this one is short */
	pg_atomic_uint32 *extents;	/* number of owned extents: points to own_extents, or to a count
								 * in shared memory if several processes collect rows */
	pg_atomic_uint32 own_extents;
} GpuSortPoolAccount;

/* Settings, in per cent of the pool. */
extern int	gpusort_pool_quota;
extern int	gpusort_pool_session_quota;
extern int	gpusort_pool_role_quota;

/* Returns how many extents one sort may take at most; 0 without a pool. */
extern uint32 gpusort_pool_quota_extents(void);

/* Returns how many extents a sort would get that began now; 0 without a pool. */
extern uint32 gpusort_pool_available_extents(void);

/* Returns how many other sessions have sorts in the pool now; 0 without a pool. */
extern uint32 gpusort_pool_other_sessions(void);

/* Opens an account that may take at most max_extents extents, and that only this process uses. */
extern void gpusort_pool_open(GpuSortPoolAccount *account, uint32 max_extents);

/* Closes an account whose sort is over, or has no more use for the pool.  May be called again. */
extern void gpusort_pool_close(GpuSortPoolAccount *account);

/* Returns how many extents the sort may take now, given what other sorts have. */
extern uint32 gpusort_pool_room(const GpuSortPoolAccount *account);

/*
 * Returns how many of `wanted` extents the sort may take now, before it takes them.  From then on
 * the sort is counted among those that use the pool; and if other sorts keep it from so many
 * extents, it is counted as short.
 */
extern uint32 gpusort_pool_claim(GpuSortPoolAccount *account, uint32 wanted);

/*
 * Takes an extent that was claimed: `preferred` if it is free, else another one.  The caller counts
 * it.  Returns false if the pool has none after all.
 */
extern bool gpusort_pool_take(const GpuSortPoolAccount *account, uint32 preferred, uint32 *extent);

/* Returns whether the sort's session has more than its even part while other sorts are short. */
extern bool gpusort_pool_is_wanted(const GpuSortPoolAccount *account);

/*
 * Returns whether the sort would get more extents, or leave some to others, if it gave back all and
 * asked again.  That is so if it is short, or if gpusort_pool_is_wanted().
 */
extern bool gpusort_pool_is_uneven(const GpuSortPoolAccount *account);

/*
 * Counts the sort as short no more; to be called when it has given extents back and may ask again.
 */
extern void gpusort_pool_forget_want(GpuSortPoolAccount *account);

/*
 * Has other sorts leave nothing to this one any more.  To be called when the sort asks for no more
 * until it begins anew, as when its rows are in order, however long they are fetched.
 */
extern void gpusort_pool_be_content(GpuSortPoolAccount *account);

/* Returns the PID of this process's parallel leader, or its own if it has none. */
extern uint32 gpusort_session_pid(void);

/* Sees to it that all that this process has of the pool is given back when it exits. */
extern void gpusort_pool_register_exit(void);

#endif							/* GPUSORT_POOL_ACCOUNT_H */
