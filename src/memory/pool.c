/*
 * pool.c
 *		Makes the pool.
 *
 * The pool is a memfd that the postmaster maps before it forks, so that it lies
 * at one address in every process.  It is made in the shmem_startup_hook, and so
 * made again after a crash of a server process: what the owners of the old pool's
 * extents left behind goes with it, and a gpusortd that survives keeps a memfd that
 * nobody else looks at.
 *
 * With huge_pages = on, or with huge_pages = try and enough huge pages reserved, the
 * pool consists of the system's huge pages, all of which are taken at start, as for
 * shared_buffers.  Otherwise it consists of ordinary memory and costs no more than
 * address space at first: memory stays untouched until an extent is used
 * (memory_range.c).
 *
 * A server without a pool sorts in private memory.  So whatever goes wrong here
 * is logged, and the server starts all the same.
 */
#include "postgres.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "miscadmin.h"
#include "storage/ipc.h"
#include "storage/pg_shmem.h"

#include "memory/pool.h"

/* The default size: one DEFAULT_SHARE-th of the machine's memory, within bounds. */
#define DEFAULT_SHARE	4
#define DEFAULT_MIN_MB	64
#define DEFAULT_MAX_MB	16384

#define EXTENT_MB		((int) (GSD_EXTENT_BYTES >> 20))

/* missing in linux/memfd.h if that is older than the kernel */
#ifndef MFD_HUGETLB
#define MFD_HUGETLB		0x0004U
#endif
#ifndef MFD_HUGE_2MB
#define MFD_HUGE_2MB	(21U << 26)
#endif

gsd_pool   *gpusort_pool = NULL;
int			gpusort_pool_size = -1;

static gsd_pool the_pool = {.fd = -1};

int
gpusort_pool_default_mb(void)
{
	uint64		mb = (gpusort_machine_memory() >> 20) / DEFAULT_SHARE;

	mb = Max(mb, DEFAULT_MIN_MB);
	return (int) Min(mb, DEFAULT_MAX_MB);
}

/* Unmaps and closes a pool, as far as it was made. */
static void
drop_pool(gsd_pool *pool, uint64 bytes)
{
	if (pool->header != NULL)
		munmap(pool->header, bytes);
	pool->header = NULL;
	if (pool->fd >= 0)
		close(pool->fd);
	pool->fd = -1;
}

/*
 * Maps a new memfd; returns false, with errno set, if that fails.  The header's
 * memory is allocated here, so that writing to it can't fail; huge pages are
 * reserved by mmap.
 */
static bool
map_memfd(gsd_pool *pool, uint32 nextents, bool huge)
{
	uint64		bytes = gsd_pool_bytes(nextents);
	uint64		header_bytes = bytes - nextents * GSD_EXTENT_BYTES;

	pool->fd = memfd_create("gpusort pool",
							MFD_CLOEXEC | (huge ? MFD_HUGETLB | MFD_HUGE_2MB : 0));
	if (pool->fd < 0 || ftruncate(pool->fd, bytes) < 0)
		return false;
	pool->header = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
						MAP_SHARED | (huge ? 0 : MAP_NORESERVE), pool->fd, 0);
	if (pool->header == MAP_FAILED)
	{
		pool->header = NULL;
		return false;
	}
	(void) madvise(pool->header, bytes, MADV_DONTDUMP);
	return fallocate(pool->fd, 0, 0, header_bytes) == 0;
}

/* Makes the pool; returns false, with errno set and nothing left behind, if that fails. */
static bool
make_pool(gsd_pool *pool, uint32 nextents, bool huge)
{
	uint64		bytes = gsd_pool_bytes(nextents);
	int			saved_errno;

	memset(pool, 0, sizeof(*pool));
	pool->fd = -1;
	if (map_memfd(pool, nextents, huge))
	{
		gsd_pool_init(pool->header, bytes, huge);
		return true;
	}
	saved_errno = errno;
	drop_pool(pool, bytes);
	errno = saved_errno;
	return false;
}

/*
 * Warns of a size that is hardly meant.  The pool takes memory only as sorts use it, so that a size
 * the machine does not have would show when the machine's memory ends, and not before.
 */
static void
check_wanted_size(int wanted_mb)
{
	uint64		machine_mb = gpusort_machine_memory() >> 20;

	if (wanted_mb > 0 && wanted_mb < EXTENT_MB)
		ereport(WARNING,
				(errmsg("\"%s\" of %d MB is too small, there is no pool",
						"gpusort.pool_size", wanted_mb),
				 errdetail("A pool has at least %d MB.", EXTENT_MB),
				 errhint("A value without a unit is in megabytes.")));
	else if (machine_mb > 0 && wanted_mb > machine_mb)
		ereport(WARNING,
				(errmsg("\"%s\" of %d MB is more than the machine's memory",
						"gpusort.pool_size", wanted_mb),
				 errdetail("The machine, or the control group of the server, has %llu MB.",
						   (unsigned long long) machine_mb),
				 errhint("Processes may be killed when sorts use all of it.  The default is a quarter of the memory.")));
}

void
gpusort_make_pool(void)
{
	static int	wanted_mb = -1;
	uint32		nextents;
	bool		made = false;

	if (gpusort_pool != NULL)
		drop_pool(gpusort_pool, gpusort_pool->header->pool_bytes);
	gpusort_pool = NULL;

	if (wanted_mb < 0)
	{
		wanted_mb = gpusort_pool_size;
		check_wanted_size(wanted_mb);
	}
	nextents = wanted_mb / EXTENT_MB;
	/* let SHOW show what is in effect, and a reload find nothing changed */
	gpusort_pool_size = 0;
	if (nextents == 0)
		return;

	if (huge_pages != HUGE_PAGES_OFF)
		made = make_pool(&the_pool, nextents, true);
	if (!made && huge_pages != HUGE_PAGES_ON)
		made = make_pool(&the_pool, nextents, false);
	if (made)
	{
		gpusort_pool = &the_pool;
		gpusort_pool_size = wanted_mb;
	}
	else
		ereport(WARNING,
				(errmsg("could not make gpusort's memory pool of %d MB: %m", wanted_mb),
				 errdetail("Sorts will use private memory within work_mem * hash_mem_multiplier."),
				 huge_pages == HUGE_PAGES_ON ?
				 errhint("With huge_pages = on the pool takes huge pages. "
						 "Reserve more of them, or reduce gpusort.pool_size.") : 0));
}
