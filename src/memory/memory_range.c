/*
 * memory_range.c
 *		Reserved address space, grown in place and kept between sorts.
 *
 * A range is mapped without access rights, which costs no memory and is not
 * charged by the kernel's overcommit accounting.  It grows by pool extents mapped
 * over its beginning (range_extents.c) and, when it gets no more of them, by
 * private memory, which is made accessible step by step.  If the system refuses
 * a step, the range does not grow.
 *
 * Released ranges go to a list private to the process.  How much private memory
 * they may keep resident is bounded by gpusort.keep_memory: the touched part of a
 * range beyond what is left of that budget, or of what all processes may keep,
 * is given back at once.  Ranges are taken from the list by role, so the second
 * sort of a kind in a session finds every part warm.
 *
 * Huge pages.  A row that is fetched in sorted order misses the TLB on each
 * access if it lies in 4 kB pages, which makes emission 2.5 times as slow
 * (113-165 against 48 ns a row), so large row stores ask for huge pages; other
 * ranges are read and written in sequence and do not need them.  Fresh huge
 * pages are usually cheap (0.2 s a GiB), but a virtual machine that returns
 * free memory to its host gets it back slowly in units of huge pages (3 s a
 * GiB, against 0.5-0.8 s in small ones).  So when a new range grows by private
 * memory, the first fault of each step is timed, and the rest of the step gets
 * small pages if that fault was slow.  When a kept range is used again, its memory
 * is worth huge pages whatever they cost, and gets them.
 */
#include "postgres.h"

#include <sys/mman.h>
#include <unistd.h>

#include "miscadmin.h"
#include "portability/instr_time.h"

#include "elapsed.h"
#include "memory/extents_private.h"
#include "memory/memory_range.h"
#include "memory/pool.h"
#include "protocol/gsd_holders.h"

/* ---------- private memory that all processes keep for their next sorts ---------- */

/*
 * Each process says in its entry of the pool's header how much it keeps (protocol/gsd_holders.h).
 * It may add half of what is left of gpusort.keep_memory_total, so that many sessions can keep
 * something before nothing is left.  If two processes look at the same time, the limit may be
 * exceeded by what one of them adds.
 *
 * Without a pool, processes share no memory in which they could count, and there is no limit.
 */

int			gpusort_keep_memory_total = -1;

int
gpusort_default_keep_memory_total(void)
{
	return gpusort_pool_default_mb() * 1024;
}

/* Returns how many more bytes may be kept; a negative number if too many are kept. */
static int64
bytes_left(void)
{
	return (int64) gpusort_keep_memory_total * 1024 -
		(int64) gsd_kept_bytes(gpusort_pool->header);
}

/* Returns how many more bytes this process may keep. */
static size_t
gpusort_kept_room(void)
{
	int64		left;

	if (gpusort_pool == NULL)
		return SIZE_MAX;
	left = bytes_left();
	return left > 0 ? left / 2 : 0;
}

/* Returns whether all processes together keep more than they may. */
static bool
gpusort_too_much_is_kept(void)
{
	return gpusort_pool != NULL && bytes_left() < 0;
}

/*
 * Notes that this process keeps `bytes` bytes, all together, from now on; returns false if that
 * can't be noted, so that it must not keep any.
 */
static bool
gpusort_note_kept(size_t bytes)
{
	if (gpusort_pool == NULL)
		return true;
	gpusort_pool_register_exit();
	return gsd_note_kept(gpusort_pool->header, (uint32) MyProcPid, gpusort_session_pid(),
						 GetSessionUserId(), bytes);
}

/* ---------- ranges ---------- */

#define HUGE_PAGE_BYTES		((size_t) 2 << 20)
#define HUGE_RANGE_BYTES	((size_t) 64 << 20)
#define EXTENT_BYTES		((size_t) GSD_EXTENT_BYTES)

/* The system is asked for access rights in steps of at least this. */
#define GROW_STEP_BYTES		((size_t) 1 << 20)

/*
 * Pool memory becomes usable in steps of an eighth of what is usable, within these
 * bounds: small sorts should not touch much of a fresh extent, and large sorts should
 * not hold many extents in reserve.
 */
#define MIN_POOL_STEP_BYTES	((size_t) 64 << 10)
#define MAX_POOL_STEP_BYTES	((size_t) 16 << 20)

/* How long the fault of a huge page takes on a slow host, at least; zeroing 2 MB takes 0.1-0.3. */
#define SLOW_FAULT_MS		1.0

/*
 * A process keeps no more ranges than this, whatever their size, and no more
 * mapped extents, each of which may be a mapping of its own (vm.max_map_count is
 * 65530 by default).
 */
#define MAX_KEPT_RANGES		64
#define MAX_KEPT_EXTENTS	16384

/* How many ranges in use are many, for gpusort_ranges_are_many().  Each has about two mappings. */
#define MANY_RANGES			8192

static int	mapped_ranges = 0;	/* number of ranges in use or kept */
static GpuSortRange *kept_ranges = NULL;
static int	kept_count = 0;		/* number of kept_ranges */
static uint32 kept_extents = 0; /* number of extents that are mapped in kept_ranges */
static size_t kept_bytes = 0;	/* sum of private_bytes() over kept_ranges */
static size_t keep_bytes = 0;	/* limit of kept_bytes */

static size_t
round_up(size_t bytes, size_t unit)
{
	return (bytes + unit - 1) / unit * unit;
}

static size_t
page_bytes(void)
{
	static size_t bytes = 0;

	if (bytes == 0)
		bytes = sysconf(_SC_PAGESIZE);
	return bytes;
}

/* Returns the end of the mapped extents, where private memory may begin. */
static size_t
mapped_end(const GpuSortRange *range)
{
	return range->nmapped * EXTENT_BYTES;
}

/* Returns how many bytes of private memory may be resident. */
static size_t
private_bytes(const GpuSortRange *range)
{
	return range->private_end - Min(range->private_end, mapped_end(range));
}

size_t
gpusort_range_pool_bytes(const GpuSortRange *range)
{
	return range->nowned * EXTENT_BYTES;
}

bool
gpusort_range_is_private(const GpuSortRange *range)
{
	return range->usable > gpusort_range_pool_bytes(range);
}

static void
unmap_range(GpuSortRange *range)
{
	munmap(range->base, range->reserved);
	free(range->owned);
	free(range->mapped);
	free(range);
	mapped_ranges--;
}

static void
advise(char *base, size_t bytes, bool huge)
{
#ifdef MADV_HUGEPAGE
	(void) madvise(base, bytes, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
#endif
}

static GpuSortRange *
map_range(int role, size_t reserve_bytes)
{
	size_t		bytes = round_up(reserve_bytes, EXTENT_BYTES);
	GpuSortRange *range = calloc(1, sizeof(GpuSortRange));
	char	   *base;
	size_t		lead;

	if (range == NULL)
		return NULL;
	base = mmap(NULL, bytes + EXTENT_BYTES, PROT_NONE,
				MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (base == MAP_FAILED)
	{
		free(range);
		return NULL;
	}

	/* cut the edges off so that the base is aligned */
	lead = (EXTENT_BYTES - (uintptr_t) base % EXTENT_BYTES) % EXTENT_BYTES;
	if (lead > 0)
		munmap(base, lead);
	munmap(base + lead + bytes, EXTENT_BYTES - lead);

	range->base = base + lead;
	range->reserved = bytes;
	range->role = role;
	range->huge = role == GPUSORT_RANGE_ROWS && bytes >= HUGE_RANGE_BYTES;
	range->fresh = true;
	mapped_ranges++;
	if (range->huge)
		advise(range->base, bytes, true);
	return range;
}

/* Removes a range from the list of kept ranges. */
static void
unlink_kept(GpuSortRange **link)
{
	GpuSortRange *range = *link;

	*link = range->next;
	range->next = NULL;
	kept_bytes -= private_bytes(range);
	kept_extents -= range->nmapped;
	kept_count--;
	(void) gpusort_note_kept(kept_bytes);
}

/* Frees the small pages of a kept range, so that its memory is faulted in again as huge pages. */
static void
earn_huge_pages(GpuSortRange *range)
{
	char	   *start = range->base + mapped_end(range);

	(void) madvise(start, private_bytes(range), MADV_DONTNEED);
	advise(start, range->reserved - mapped_end(range), true);
	range->small_pages = false;
}

bool
gpusort_ranges_are_many(void)
{
	return mapped_ranges - kept_count >= MANY_RANGES;
}

GpuSortRange *
gpusort_range_acquire(int role, size_t reserve_bytes, GpuSortPoolAccount *account)
{
	GpuSortRange **link = &kept_ranges;
	GpuSortRange *range;

	while (*link != NULL && (*link)->role != role)
		link = &(*link)->next;
	range = *link;
	if (range != NULL)
	{
		unlink_kept(link);
		range->fresh = false;
		if (range->reserved < reserve_bytes)
		{
			/* settings allow sorts more memory than when the range was made */
			unmap_range(range);
			range = NULL;
		}
		else if (range->small_pages)
			earn_huge_pages(range);
	}
	if (range == NULL)
		range = map_range(role, reserve_bytes);
	if (range != NULL)
		range->account = account;
	return range;
}

/*
 * Decides whether the private memory [from, to), by which the range has grown, gets
 * huge or small pages.
 */
static void
choose_pages(GpuSortRange *range, size_t from, size_t to)
{
	size_t		probe = round_up(from, HUGE_PAGE_BYTES);
	instr_time	start;
	instr_time	duration;

	if (!range->huge || !range->fresh || probe + HUGE_PAGE_BYTES > to)
		return;
	INSTR_TIME_SET_CURRENT(start);
	*(volatile char *) (range->base + probe) = 0;
	duration = gpusort_elapsed(start);
	if (INSTR_TIME_GET_MILLISEC(duration) > SLOW_FAULT_MS)
	{
		advise(range->base + probe + HUGE_PAGE_BYTES, to - probe - HUGE_PAGE_BYTES, false);
		range->small_pages = true;
	}
}

/*
 * Grows by extents, as far as there are any: to `bytes` bytes or more, but at most to `most` bytes.
 */
static void
grow_in_pool(GpuSortRange *range, size_t bytes, size_t most)
{
	size_t		step = Min(Max(range->usable / 8, MIN_POOL_STEP_BYTES), MAX_POOL_STEP_BYTES);
	size_t		target = Max(bytes, range->usable + step);

	target = Min(round_up(target, MIN_POOL_STEP_BYTES), most);
	gpusort_extents_take(range, target);
	range->usable = gpusort_extents_populate(range, target);
}

/*
 * Maps address space over extents that are still mapped behind the range's own but
 * are not owned any more, so that private memory can follow.  Address space is not charged by the
 * kernel's overcommit accounting, so this can't fail halfway and leave a hole.
 */
static bool
cover_foreign_extents(GpuSortRange *range)
{
	size_t		from = gpusort_range_pool_bytes(range);
	size_t		to = mapped_end(range);
	size_t		accessible = Max(to, range->private_end);

	if (from >= to)
		return true;
	if (mmap(range->base + from, accessible - from, PROT_NONE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == MAP_FAILED)
		return false;
	if (range->huge)
		advise(range->base + from, accessible - from, true);
	range->nmapped = range->nowned;
	range->private_end = 0;
	return true;
}

/* Grows by private memory. */
static bool
grow_privately(GpuSortRange *range, size_t bytes)
{
	size_t		target = Max(bytes, range->usable + range->usable / 8);
	size_t		from;

	if (!cover_foreign_extents(range))
		return false;
	from = Max(range->private_end, mapped_end(range));
	target = Max(Min(round_up(target, GROW_STEP_BYTES), range->reserved), from);
	if (target > from)
	{
		if (mprotect(range->base + from, target - from, PROT_READ | PROT_WRITE) != 0)
			return false;
		choose_pages(range, from, target);
		range->private_end = target;
	}
	range->usable = target;
	return true;
}

bool
gpusort_range_grow(GpuSortRange *range, size_t bytes)
{
	if (bytes <= range->usable)
		return true;
	if (bytes > range->reserved)
		return false;
	if (!gpusort_range_is_private(range) && range->account->max_extents > 0)
		grow_in_pool(range, bytes, range->reserved);
	if (bytes <= range->usable)
		return true;
	/* private memory begins behind the last extent, so that one must be usable to its end */
	return !range->account->pool_only && range->usable >= gpusort_range_pool_bytes(range) &&
		grow_privately(range, bytes);
}

bool
gpusort_range_grow_in_pool(GpuSortRange *range, size_t bytes, size_t most)
{
	if (bytes > range->usable && bytes <= most && most <= range->reserved &&
		range->account->max_extents > 0)
		grow_in_pool(range, bytes, most);
	return bytes <= range->usable;
}

void
gpusort_range_reserve(GpuSortRange *range, size_t bytes)
{
	if (!gpusort_range_is_private(range) && range->account->max_extents > 0)
		gpusort_extents_take(range, Min(bytes, range->reserved));
}

bool
gpusort_range_extents(const GpuSortRange *range, const uint32 **list, uint32 *count)
{
	*list = range->owned;
	*count = (range->usable + EXTENT_BYTES - 1) / EXTENT_BYTES;
	return !gpusort_range_is_private(range);
}

void
gpusort_range_leave(GpuSortRange *range, uint32 job)
{
	range->left_to = job + 1;
}

void
gpusort_range_discard(GpuSortRange *range, size_t from, size_t to)
{
	size_t		pool_end = gpusort_range_pool_bytes(range);
	size_t		unit = range->huge ? HUGE_PAGE_BYTES : page_bytes();

	/* the rest of the last extent, behind what is usable, will not be used either */
	if (to >= range->usable)
		to = Max(to, pool_end);
	if (from < pool_end)
		gpusort_extents_give(range, (from + EXTENT_BYTES - 1) / EXTENT_BYTES,
							 Min(to, pool_end) / EXTENT_BYTES);
	from = round_up(Max(from, pool_end), unit);
	to = to / unit * unit;
	if (from < to)
		(void) madvise(range->base + from, to - from, MADV_DONTNEED);
}

void
gpusort_range_rewind(GpuSortRange *range)
{
	gpusort_extents_give(range, 0, range->nowned);
	range->nowned = 0;
	range->left_to = 0;
	range->usable = 0;
}

void
gpusort_range_keep(size_t bytes)
{
	keep_bytes = bytes;
	while (kept_ranges != NULL && (kept_bytes > keep_bytes || gpusort_too_much_is_kept()))
	{
		GpuSortRange *victim = kept_ranges;

		unlink_kept(&kept_ranges);
		unmap_range(victim);
	}
}

size_t
gpusort_range_keep_bytes(void)
{
	return keep_bytes;
}

/*
 * Gives private memory beyond the first `room` bytes back to the system; returns false on failure.
 */
static bool
trim_private(GpuSortRange *range, size_t room)
{
	size_t		end = mapped_end(range) + room / HUGE_PAGE_BYTES * HUGE_PAGE_BYTES;
	size_t		excess = range->private_end - Min(range->private_end, end);

	/* the beginning is kept, which every sort uses */
	if (excess == 0)
		return true;
	if (madvise(range->base + end, excess, MADV_DONTNEED) != 0 ||
		mprotect(range->base + end, excess, PROT_NONE) != 0)
		return false;
	range->private_end = end;
	return true;
}

void
gpusort_range_release(GpuSortRange *range)
{
	size_t		room = keep_bytes - Min(keep_bytes, kept_bytes);

	gpusort_range_rewind(range);
	if (kept_count >= MAX_KEPT_RANGES ||
		kept_extents + range->nmapped > MAX_KEPT_EXTENTS ||
		!trim_private(range, Min(room, gpusort_kept_room())) ||
		(range->nmapped == 0 && range->private_end == 0) ||
		!gpusort_note_kept(kept_bytes + private_bytes(range)))
	{
		unmap_range(range);
		return;
	}
	range->account = NULL;
	range->next = kept_ranges;
	kept_ranges = range;
	kept_count++;
	kept_extents += range->nmapped;
	kept_bytes += private_bytes(range);
}
