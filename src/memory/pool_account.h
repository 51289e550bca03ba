/*
 * pool_account.h
 *		What one sort has of the pool, and may have.
 *
 * How much more it may take is asked whenever it grows (protocol/gsd_holders.h has the rule):
 * a sort that was told "no more" goes on in private memory, and begins anew in the pool when
 * its ranges are rewound.  It never waits for others.
 */
#ifndef GPUSORT_POOL_ACCOUNT_H
#define GPUSORT_POOL_ACCOUNT_H

#include "port/atomics.h"

/* In lists of extents, in place of one. */
#define GPUSORT_NO_EXTENT	PG_UINT32_MAX

/* What the ranges of one sort have of the pool, and may have, together. */
typedef struct GpuSortPoolAccount
{
	uint32		owner;			/* what its extents are marked with (gsd_pool.h) */
	uint32		max_extents;	/* whatever others have; 0: private memory only */
	bool		pool_only;		/* no private memory: others are to read it all */
	bool		entered;		/* counted among the sorts of its process */
	bool		is_short;		/* others have kept it from more */
	bool		wants;			/* ... and are told so */
	pg_atomic_uint32 *extents;	/* owned: own_extents, or a count in shared memory
								 * if several processes collect rows */
	pg_atomic_uint32 own_extents;
} GpuSortPoolAccount;

/* Settings, in per cent of the pool. */
extern int	gpusort_pool_quota;
extern int	gpusort_pool_session_quota;
extern int	gpusort_pool_role_quota;

/* Extents that one sort may take at most; 0 without a pool. */
extern uint32 gpusort_pool_quota_extents(void);

/* ... and so many of them would one get that begins now. */
extern uint32 gpusort_pool_available_extents(void);

/* Other sessions that have sorts in the pool now; 0 without a pool. */
extern uint32 gpusort_pool_other_sessions(void);

/* An account that may take so many extents at most, for what is this process's alone. */
extern void gpusort_pool_open(GpuSortPoolAccount *account, uint32 max_extents);

/* The sort is over, or has no more use for the pool.  May be called again. */
extern void gpusort_pool_close(GpuSortPoolAccount *account);

/* How many extents it may take now, given what others have. */
extern uint32 gpusort_pool_room(const GpuSortPoolAccount *account);

/*
 * The same for one that is going to take `wanted` of them: it is counted among the sorts, and
 * others learn if it is they who keep it from that.
 */
extern uint32 gpusort_pool_claim(GpuSortPoolAccount *account, uint32 wanted);

/*
 * Take an extent that was claimed: this one, if it is free, else another; the caller counts it.
 * False if the pool has none after all.
 */
extern bool gpusort_pool_take(const GpuSortPoolAccount *account, uint32 preferred, uint32 *extent);

/* Has its session more than is fair, while others are short? */
extern bool gpusort_pool_is_wanted(const GpuSortPoolAccount *account);

/*
 * Would it get more extents, or leave some to others, if it gave back all and asked again?
 * That is so if others have kept it from more, or if what it has is wanted.
 */
extern bool gpusort_pool_is_uneven(const GpuSortPoolAccount *account);

/* It has given extents back and may ask for others: it is not short of any. */
extern void gpusort_pool_forget_want(GpuSortPoolAccount *account);

/*
 * It has all that it is going to ask for until it begins anew: others need leave it nothing,
 * however long its rows are fetched.
 */
extern void gpusort_pool_be_content(GpuSortPoolAccount *account);

/* The process that this one works for in parallel, or itself. */
extern uint32 gpusort_session_pid(void);

/* See to it that what this process has of shared memory is given back when it exits. */
extern void gpusort_pool_register_exit(void);

#endif							/* GPUSORT_POOL_ACCOUNT_H */
