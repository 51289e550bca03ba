/*
 * sort_limits.h
 *		How much memory a sort may have.
 *
 * Public: other folders include it.
 */
#ifndef GPUSORT_SORT_LIMITS_H
#define GPUSORT_SORT_LIMITS_H

/*
 * Bytes of private memory one sort may use: work_mem x hash_mem_multiplier, no
 * more than the machine has; and of the pool, if they are free.
 */
extern size_t gpusort_memory_limit(void);
extern size_t gpusort_pool_limit(void);

/* ... bytes of the pool that one would get that begins now, given what others have. */
extern size_t gpusort_pool_available(void);

/* So many bytes, but no more than the machine has or than a row store can address. */
extern size_t gpusort_possible_bytes(size_t bytes);

#endif							/* GPUSORT_SORT_LIMITS_H */
