/*
 * sort_limits.c
 *		How much memory a sort may have; see sort.h.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "memory/pool.h"
#include "sort/keys_private.h"
#include "sort/sort.h"

size_t
gpusort_possible_bytes(size_t bytes)
{
	uint64		machine_bytes = gpusort_machine_memory();

	if (machine_bytes == 0 || machine_bytes >= ROW_STORE_MAX_BYTES)
		machine_bytes = ROW_STORE_MAX_BYTES - 1;
	return Min(bytes, machine_bytes);
}

size_t
gpusort_memory_limit(void)
{
	return gpusort_possible_bytes(get_hash_memory_limit());
}

size_t
gpusort_pool_limit(void)
{
	return gpusort_pool_quota_extents() * (size_t) GSD_EXTENT_BYTES;
}

size_t
gpusort_pool_available(void)
{
	return gpusort_pool_available_extents() * (size_t) GSD_EXTENT_BYTES;
}
