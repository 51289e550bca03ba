/*
 * parts_owner.c
 *		Owner words of shared sorts; see parts_private.h.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "memory/pool.h"
#include "sort/parts_private.h"

/*
 * Which numbers of shared sorts are in use in this process.  Number 0 is that of all ordinary
 * sorts.
 */
static bool numbers_used[GSD_OWNER_SORTS];

bool
gpusort_take_owner(GpuSortPoolAccount *account)
{
	for (uint32 number = 1; number < GSD_OWNER_SORTS; number++)
		if (!numbers_used[number])
		{
			numbers_used[number] = true;
			account->owner = gsd_owner(MyProcPid, number);
			gpusort_pool_register_exit();
			return true;
		}
	return false;
}

void
gpusort_give_owner(GpuSortPoolAccount *account)
{
	uint32		number = account->owner >> GSD_OWNER_PID_BITS;

	if (number == 0)
		return;
	gsd_give_all(gpusort_pool->header, account->owner);
	numbers_used[number] = false;
	account->owner = gsd_owner(MyProcPid, 0);
	account->max_extents = gpusort_pool_quota_extents();
	pg_atomic_write_u32(&account->own_extents, 0);
	account->extents = &account->own_extents;
}
