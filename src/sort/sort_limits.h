/*
 * sort_limits.h
 *		How much memory a sort may have.
 *
 * Public: other folders include it.
 */
#ifndef GPUSORT_SORT_LIMITS_H
#define GPUSORT_SORT_LIMITS_H

/*
 * gpusort_memory_limit() returns how many bytes of private memory one sort may use: work_mem *
 * hash_mem_multiplier, but no more than the machine has.  gpusort_pool_limit() returns how many
 * bytes of the pool one sort may use, if they are free.
 */
extern size_t gpusort_memory_limit(void);
extern size_t gpusort_pool_limit(void);

/* Returns how many bytes of the pool a sort would get that begins now, given what others have. */
extern size_t gpusort_pool_available(void);

/*
 * Returns `bytes`, or less if the machine has less memory, or if a row store can't address as much.
 */
extern size_t gpusort_possible_bytes(size_t bytes);

#endif							/* GPUSORT_SORT_LIMITS_H */
