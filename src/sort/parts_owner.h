/*
 * parts_owner.h
 *		Owner words of shared sorts.
 *
 * All extents of a shared sort carry the same owner word (gsd_pool.h), which consists of the
 * leader's pid and a number of the sort in that process.
 *
 * Private to src/sort.
 */
#ifndef GPUSORT_PARTS_OWNER_H
#define GPUSORT_PARTS_OWNER_H

#include "memory/memory_range.h"

/*
 * Gives the account an owner word for a shared sort.  Returns false if all numbers of this process
 * are in use.
 */
extern bool gpusort_take_owner(GpuSortPoolAccount *account);

/*
 * Gives back all extents that carry the account's owner word, whichever process took them, and then
 * the word itself, so that the account is an ordinary sort's again.  Does nothing if it is that
 * already.
 */
extern void gpusort_give_owner(GpuSortPoolAccount *account);

#endif							/* GPUSORT_PARTS_OWNER_H */
