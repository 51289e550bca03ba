/*
 * parts_owner.h
 *		Owner words of shared sorts.
 *
 * All extents of a shared sort carry one owner word (gsd_pool.h): the leader's pid and a
 * number of the sort in that process.
 *
 * Private to src/sort.
 */
#ifndef GPUSORT_PARTS_OWNER_H
#define GPUSORT_PARTS_OWNER_H

#include "memory/memory_range.h"

/* Have an owner word for a shared sort; false if all of this process are in use. */
extern bool gpusort_take_owner(GpuSortPoolAccount *account);

/*
 * Give back all extents that carry the word, whoever took them, and the word itself: the
 * account is an ordinary sort's again.  Does nothing if it is one.
 */
extern void gpusort_give_owner(GpuSortPoolAccount *account);

#endif							/* GPUSORT_PARTS_OWNER_H */
