/*
 * daemon_memory.c
 *		The pool's memory, as the daemon maps it.
 *
 * Devices reach host memory at full speed only if its pages are present and pinned.  Making them
 * present costs 0.5 s a GiB and pinning 0.04 s, once in the daemon's life, while the server is
 * running already; sessions then find pages that need no clearing any more.  An extent that can be
 * had as one huge page is made one, since that makes both cheaper, and everything that sessions do
 * with it.
 */
#define _GNU_SOURCE
#include <sys/mman.h>
#include <sys/stat.h>

#include "daemon/daemon.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif
#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif

/* Returns what is wrong with the pool that was mapped, or NULL. */
static const char *
pool_mistake(const gsd_options *options, const gsd_header *header)
{
	if (options->fault == GSD_FAULT_ABI)
		return "another ABI version was asked for";
	return gsd_pool_check(header, options->pool_bytes);
}

gsd_exit
gsd_map_pool(const gsd_options *options, gsd_pool *pool)
{
	struct stat file;
	const char *mistake;
	void	   *base;

	if (fstat(options->pool_fd, &file) != 0 || (uint64_t) file.st_size < options->pool_bytes)
	{
		gsd_log("the pool's file is shorter than the pool");
		return GSD_EXIT_WRONG_POOL;
	}
	base = mmap(NULL, options->pool_bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
				options->pool_fd, 0);
	if (base == MAP_FAILED)
	{
		gsd_log("the pool cannot be mapped");
		return GSD_EXIT_NO_MEMORY;
	}
	(void) madvise(base, options->pool_bytes, MADV_DONTDUMP);
	mistake = pool_mistake(options, base);
	if (mistake != NULL)
	{
		gsd_log("%s", mistake);
		return GSD_EXIT_WRONG_POOL;
	}
	pool->header = base;
	pool->fd = options->pool_fd;
	return GSD_EXIT_ASKED;
}

/* Raises the state of an extent, unless a session has set a better one. */
static void
raise_state(const gsd_pool *pool, uint32_t extent, uint8_t state)
{
	_Atomic uint8_t *known = gsd_extent_state_of(pool->header, extent);
	uint8_t		old = *known;

	while (old < state && !atomic_compare_exchange_weak(known, &old, state))
		;
}

/* Makes all of an extent's pages present; returns false if the system has no more. */
static bool
populate_extent(const gsd_pool *pool, uint32_t extent)
{
	void	   *memory = gsd_extent(pool, extent);

	/* the kernel does not collapse an extent of which no page is there */
	if (!pool->header->huge && madvise(memory, 1, MADV_POPULATE_WRITE) == 0 &&
		madvise(memory, GSD_EXTENT_BYTES, MADV_COLLAPSE) == 0)
	{
		raise_state(pool, extent, GSD_EXTENT_HUGE);
		return true;
	}
	if (madvise(memory, GSD_EXTENT_BYTES, MADV_POPULATE_WRITE) != 0)
		return false;
	raise_state(pool, extent, pool->header->huge ? GSD_EXTENT_HUGE : GSD_EXTENT_SMALL);
	return true;
}

gs_status
gsd_register_pool(const gsd_pool *pool, gs_device *device)
{
	gsd_header *header = pool->header;

	for (uint32_t extent = 0; extent < header->nextents; extent++)
		if (!populate_extent(pool, extent))
		{
			gsd_log("only %u of the pool's %u extents could be made present", extent,
					header->nextents);
			break;
		}
	return device->ops->host_register(device, header, header->pool_bytes);
}
