/*
 * pool.h
 *		Makes the pool of memory that the server's processes share.
 *
 * protocol/gsd_pool.h has the layout, and the functions that take and give extents.
 */
#ifndef GPUSORT_POOL_H
#define GPUSORT_POOL_H

#include "port/atomics.h"

#include "protocol/gsd_pool.h"

/* ---------- making the pool ---------- */

/*
 * The pool, mapped at the same address in all processes of the server; NULL if
 * there is none: gpusort was not loaded by shared_preload_libraries,
 * gpusort.pool_size is 0, or the pool could not be made.
 */
extern gsd_pool *gpusort_pool;

/* Setting: the size in effect, in MB; -1: not decided yet. */
extern int	gpusort_pool_size;

/*
 * Makes the pool; called by shmem_startup_hook.  After a crash the server makes its shared memory
 * anew, and so the pool, when the processes that used the old one are gone.
 */
extern void gpusort_make_pool(void);

/* Returns the size that a gpusort.pool_size of -1 stands for, in MB. */
extern int	gpusort_pool_default_mb(void);

/* ---------- accounts: what one sort has of the pool, and may have ---------- */

/*
 * How much more a sort may take is computed whenever one of its ranges grows
 * (protocol/gsd_holders.h has the rule).  A sort that gets no more goes on in private memory, and
 * asks the pool again when its ranges are rewound.  It never waits for other sorts.
 */

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
extern void gpusort_pool_clear_short(GpuSortPoolAccount *account);

/*
 * Has other sorts leave nothing to this one any more.  To be called when the sort asks for no more
 * until it begins anew, as when its rows are in order, however long they are fetched.
 */
extern void gpusort_pool_clear_want(GpuSortPoolAccount *account);

/* Returns the PID of this process's parallel leader, or its own if it has none. */
extern uint32 gpusort_session_pid(void);

/* Sees to it that all that this process has of the pool is given back when it exits. */
extern void gpusort_pool_register_exit(void);

/* ---------- mapping extents of another process, one behind the other ---------- */

/*
 * Maps extents in the order of the list, at an address that is aligned to an extent, for reading,
 * and for writing if `writable`.  Returns NULL if there is no address space for them.  The caller
 * must unmap them with gpusort_mapping_end() before their owner gives them back.
 */
extern char *gpusort_mapping_make(const uint32 *list, uint32 count, bool writable);
extern void gpusort_mapping_end(char *base, uint32 count);

/*
 * Maps extents in the same way for reading, with private memory of the size of `more` extents
 * behind them.
 */
extern char *gpusort_mapping_make_before(const uint32 *list, uint32 count, uint32 more);

/*
 * Has the pages of the first `bytes` bytes of a mapping mapped at once, for a caller that is going
 * to use them all: that is an order of magnitude cheaper than a fault for each page.  The kernel
 * maps them as if they were read, many at a time; since the memory is shared, they can be written
 * to, too.
 */
extern void gpusort_mapping_populate(char *base, size_t bytes);

/* ---------- the machine: how much memory the server could have ---------- */

/*
 * Returns the bytes of memory that the machine has, or the limit of the control
 * group that this process is in if that is less; 0 if unknown.
 */
extern uint64 gpusort_machine_memory(void);

/* ---------- settings of the pool, and of memory that sessions keep ---------- */

/* Defines the settings; called by _PG_init(). */
extern void gpusort_define_memory_settings(void);

#endif							/* GPUSORT_POOL_H */
