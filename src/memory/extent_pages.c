/*
 * extent_pages.c
 *		Pages of memory behind an extent that is mapped, see extents_private.h; and extents of
 *		another process, mapped one behind the other, see pool.h.
 *
 * To touch memory for the first time costs more than to sort in it (measured on Linux 6.18 with
 * transparent huge pages for shared memory off, seconds a GiB):
 *
 *	fresh, 4 kB pages, by MADV_POPULATE_WRITE						0.55 - 2.3
 *	the same, then MADV_COLLAPSE									1.4
 *	fresh: one page of the extent, then MADV_COLLAPSE				0.07 - 0.16
 *	mapped before by another process: by page faults				0.54
 *	mapped before: by MADV_POPULATE_WRITE							0.17
 *	mapped before: a huge page										0.001
 *
 * So the first process ever to use an extent makes a huge page of it (collapses it) before there is
 * anything to copy; reading rows in sorted order is faster from huge pages, too.  Where that is not
 * possible (older kernels, no free huge page) the extent is populated in small pages, and only as
 * far as it is used.
 *
 * Where many processes run on few processors, collapsing extents holds them all up, so it is done
 * only while it is quick (protocol/gsd_collapse.h).  An extent that got small pages for that reason
 * gets its huge page from a process that maps it later.  An extent for which the system had no huge
 * page is tried again when the system may have some.
 *
 * To find out by touching memory that the system has none would raise SIGBUS.  So all memory is
 * populated by system calls, whose failure means that there is none.
 */
#include "postgres.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <time.h>

#include "memory/extents_private.h"
#include "memory/pool.h"
#include "protocol/gsd_collapse.h"
#include "settings.h"

/* missing in asm-generic/mman-common.h if that is older than the kernel */
#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#endif
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif
#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif

#define EXTENT_BYTES	((size_t) GSD_EXTENT_BYTES)

/* Whether this kernel knows MADV_COLLAPSE and MADV_POPULATE_WRITE; cleared when it refuses one. */
static bool can_collapse = true;
static bool can_populate = true;

/* Returns a time that all processes agree on, whichever clock PostgreSQL times statements with. */
static uint64
clock_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64) now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static uint8
state_of(uint32 extent)
{
	return atomic_load_explicit(gsd_extent_state_of(gpusort_pool->header, extent),
								memory_order_relaxed);
}

static void
set_state(uint32 extent, gsd_extent_state state)
{
	atomic_store_explicit(gsd_extent_state_of(gpusort_pool->header, extent), state,
						  memory_order_relaxed);
}

/*
 * Sees to it that there is memory behind the bytes [from, to) of an extent; false if there is none.
 */
static bool
populate(uint32 extent, char *start, size_t from, size_t to)
{
	if (can_populate)
	{
		if (madvise(start + from, to - from, MADV_POPULATE_WRITE) == 0)
			return true;
		if (errno != EINVAL)
			return false;
		can_populate = false;
	}
	return fallocate(gpusort_pool->fd, 0, gsd_extent_offset(gpusort_pool, extent) + from,
					 to - from) == 0;
}

/* Makes one huge page of an extent; returns false if the system does not. */
static bool
collapse(uint32 extent, char *start)
{
	/* an extent without any page is not collapsed */
	if (!populate(extent, start, 0, 1))
		return false;
	if (madvise(start, EXTENT_BYTES, MADV_COLLAPSE) == 0)
		return true;
	if (errno == EINVAL)
		can_collapse = false;
	return false;
}

/* Makes one huge page of an extent, if that is quick now; returns false if it did not. */
static bool
make_huge(uint32 extent, char *start)
{
	gsd_header *header = gpusort_pool->header;
	uint64		then_ms;
	bool		made;

	if (!can_collapse || header->huge || gpusort_inject_fault == GPUSORT_FAULT_SMALL_PAGES)
		return false;
	then_ms = clock_ms();
	if (!gsd_collapse_begin(header, then_ms))
		return false;
	made = collapse(extent, start);
	gsd_collapse_end(header, then_ms, clock_ms());
	if (!made && state_of(extent) == GSD_EXTENT_FRESH)
		return false;
	/* the extent had small pages: note whether it was worth trying again */
	if (state_of(extent) != GSD_EXTENT_FRESH)
		gsd_collapse_note(header, made, clock_ms());
	set_state(extent, made ? GSD_EXTENT_HUGE : GSD_EXTENT_SMALL);
	return made;
}

/* Returns whether to try to make a huge page of an extent. */
static bool
may_become_huge(uint32 extent)
{
	switch (state_of(extent))
	{
		case GSD_EXTENT_HUGE:
			return false;
		case GSD_EXTENT_SMALL:
			return can_collapse && gsd_collapse_may_retry(gpusort_pool->header, clock_ms());
		default:
			return true;
	}
}

bool
gpusort_extent_is_populated(uint32 extent)
{
	return state_of(extent) != GSD_EXTENT_FRESH &&
		gpusort_inject_fault != GPUSORT_FAULT_SMALL_PAGES;
}

bool
gpusort_extent_populate(uint32 extent, char *start, size_t from, size_t to)
{
	if (may_become_huge(extent) && make_huge(extent, start))
		return true;
	if (gpusort_extent_is_populated(extent))
		return populate(extent, start, 0, EXTENT_BYTES);
	if (!populate(extent, start, from, to))
		return false;
	if (to == EXTENT_BYTES)
		set_state(extent, GSD_EXTENT_POPULATED);
	return true;
}

/* ---------- extents of another process, mapped one behind the other ---------- */

/* Extents that are neighbours in the pool are mapped by one call. */

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
