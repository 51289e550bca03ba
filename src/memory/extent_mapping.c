/*
 * extent_mapping.c
 *		Maps extents of another process, one behind the other; see pool.h.
 *
 * Extents that are neighbours in the pool are mapped by one call.
 */
#include "postgres.h"

#include <sys/mman.h>

#include "memory/pool.h"

/* missing in asm-generic/mman-common.h if that is older than the kernel */
#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#endif

#define EXTENT_BYTES	((size_t) GSD_EXTENT_BYTES)

/* Reserves address space for `count` extents, aligned to an extent, as huge pages need it. */
static char *
reserve(uint32 count)
{
	size_t		bytes = count * EXTENT_BYTES;
	char	   *reserved = mmap(NULL, bytes + EXTENT_BYTES, PROT_NONE,
								MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	char	   *base;
	size_t		lead;

	if (reserved == MAP_FAILED)
		return NULL;
	base = (char *) TYPEALIGN(EXTENT_BYTES, reserved);
	lead = base - reserved;
	if (lead > 0)
		(void) munmap(reserved, lead);
	if (lead < EXTENT_BYTES)
		(void) munmap(base + bytes, EXTENT_BYTES - lead);
	return base;
}

/* Maps extents from `base` on, in reserved address space; returns false if that fails. */
static bool
map_extents(char *base, const uint32 *list, uint32 count, int access)
{
	for (uint32 i = 0; i < count;)
	{
		uint32		run = 1;

		while (i + run < count && list[i + run] == list[i] + run)
			run++;
		if (mmap(base + i * EXTENT_BYTES, run * EXTENT_BYTES, access, MAP_SHARED | MAP_FIXED,
				 gpusort_pool->fd, gsd_extent_offset(gpusort_pool, list[i])) == MAP_FAILED)
			return false;
		i += run;
	}
	return true;
}

char *
gpusort_mapping_make(const uint32 *list, uint32 count, bool writable)
{
	char	   *base = reserve(count);

	if (base == NULL ||
		map_extents(base, list, count, writable ? PROT_READ | PROT_WRITE : PROT_READ))
		return base;
	gpusort_mapping_end(base, count);
	return NULL;
}

char *
gpusort_mapping_make_before(const uint32 *list, uint32 count, uint32 more)
{
	char	   *base = reserve(count + more);

	if (base == NULL ||
		(map_extents(base, list, count, PROT_READ) &&
		 mprotect(base + count * EXTENT_BYTES, more * EXTENT_BYTES, PROT_READ | PROT_WRITE) == 0))
		return base;
	gpusort_mapping_end(base, count + more);
	return NULL;
}

void
gpusort_mapping_end(char *base, uint32 count)
{
	(void) munmap(base, count * EXTENT_BYTES);
}

void
gpusort_mapping_populate(char *base, size_t bytes)
{
	(void) madvise(base, bytes, MADV_POPULATE_READ);
}
