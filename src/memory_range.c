/*
 * memory_range.c
 *		Reserved address space, grown in place and kept between sorts.
 *
 * A range is mapped without access rights, which costs no memory and is not
 * charged by the kernel's overcommit accounting, and is made accessible from
 * its start step by step; a step that the system refuses is an ordinary "no".
 *
 * Released ranges go to a list private to the process.  What they may keep
 * resident is bounded by gpusort.keep_memory: the touched part of a range
 * beyond what is left of that budget is given back at once.  Since roles are
 * matched first, the second sort of a kind in a session finds every part warm.
 *
 * Huge pages.  A row that is fetched in sorted order misses the TLB on each
 * access if it lies in 4 kB pages, which makes emission 2.5 times as slow
 * (113-165 against 48 ns a row), so large row stores ask for huge pages; other
 * ranges are read and written in sequence and do not need them.  Fresh huge
 * pages are usually cheap (0.2 s a GiB), but a virtual machine that returns
 * free memory to its host gets it back slowly in units of huge pages (3 s a
 * GiB, against 0.5-0.8 s in small ones).  A range that is used for the first
 * time therefore times the first fault of each step of growth, and takes the
 * step in small pages if that was slow; a range that is used again has earned
 * its huge pages, and gets them.
 */
#include "postgres.h"

#include <sys/mman.h>
#include <unistd.h>

#include "portability/instr_time.h"

#include "memory_range.h"
#include "settings.h"

#define HUGE_PAGE_BYTES		((size_t) 2 << 20)
#define HUGE_RANGE_BYTES	((size_t) 64 << 20)

/* The system is asked for access rights in steps of at least this. */
#define GROW_STEP_BYTES		((size_t) 1 << 20)

/* Fault of a huge page that tells of a slow host; zeroing 2 MB takes 0.1-0.3. */
#define SLOW_FAULT_MS		1.0

/* A process keeps no more ranges than this, whatever their size. */
#define MAX_KEPT_RANGES		64

static GpuSortRange *kept_ranges = NULL;
static int	kept_count = 0;
static size_t kept_bytes = 0;	/* sum of touched over kept_ranges */

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

static void
unmap_range(GpuSortRange *range)
{
	munmap(range->base, range->reserved);
	free(range);
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
	bool		huge = role == GPUSORT_RANGE_ROWS && reserve_bytes >= HUGE_RANGE_BYTES;
	size_t		align = huge ? HUGE_PAGE_BYTES : page_bytes();
	size_t		bytes = round_up(reserve_bytes, GROW_STEP_BYTES) + (huge ? align : 0);
	GpuSortRange *range = malloc(sizeof(GpuSortRange));
	char	   *base;
	size_t		lead;

	if (range == NULL)
		return NULL;
	base = mmap(NULL, bytes, PROT_NONE,
				MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (base == MAP_FAILED)
	{
		free(range);
		return NULL;
	}

	/* cut the edges off so that the base is aligned to a huge page */
	lead = (align - (uintptr_t) base % align) % align;
	if (huge)
	{
		if (lead > 0)
			munmap(base, lead);
		base += lead;
		bytes -= align;
		if (align > lead)
			munmap(base + bytes, align - lead);
		advise(base, bytes, true);
	}

	memset(range, 0, sizeof(*range));
	range->base = base;
	range->reserved = bytes;
	range->role = role;
	range->huge = huge;
	range->fresh = true;
	return range;
}

static void
unlink_kept(GpuSortRange **link)
{
	GpuSortRange *range = *link;

	*link = range->next;
	range->next = NULL;
	kept_bytes -= range->touched;
	kept_count--;
}

GpuSortRange *
gpusort_range_acquire(int role, size_t reserve_bytes)
{
	GpuSortRange **link;

	for (link = &kept_ranges; *link != NULL; link = &(*link)->next)
	{
		GpuSortRange *range = *link;

		if (range->role != role)
			continue;
		unlink_kept(link);
		if (range->reserved >= reserve_bytes)
		{
			range->usable = range->touched;
			range->fresh = false;
			if (range->small_pages)
			{
				/* let them be faulted in again, as huge ones */
				(void) madvise(range->base, range->touched, MADV_DONTNEED);
				advise(range->base, range->reserved, true);
				range->small_pages = false;
			}
			return range;
		}
		unmap_range(range);		/* work_mem was raised since */
		break;
	}
	return map_range(role, reserve_bytes);
}

/*
 * The range has grown by [from, to): decide on the pages it is to have.
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
	INSTR_TIME_SET_CURRENT(duration);
	INSTR_TIME_SUBTRACT(duration, start);
	if (INSTR_TIME_GET_MILLISEC(duration) > SLOW_FAULT_MS)
	{
		advise(range->base + probe + HUGE_PAGE_BYTES, to - probe - HUGE_PAGE_BYTES, false);
		range->small_pages = true;
	}
}

bool
gpusort_range_grow(GpuSortRange *range, size_t bytes)
{
	size_t		target;

	if (bytes <= range->usable)
		return true;
	if (bytes > range->reserved)
		return false;

	/* grow geometrically, to keep the number of calls small */
	target = Max(bytes, range->usable + range->usable / 8);
	target = Min(round_up(target, GROW_STEP_BYTES), range->reserved);
	if (mprotect(range->base + range->usable, target - range->usable,
				 PROT_READ | PROT_WRITE) != 0)
		return false;
	choose_pages(range, range->usable, target);
	range->usable = target;
	range->touched = Max(range->touched, target);
	return true;
}

void
gpusort_range_discard(GpuSortRange *range, size_t from, size_t to)
{
	size_t		unit = range->huge ? HUGE_PAGE_BYTES : page_bytes();

	from = round_up(from, unit);
	to = to / unit * unit;
	if (from < to)
		(void) madvise(range->base + from, to - from, MADV_DONTNEED);
}

void
gpusort_range_trim(size_t keep_bytes)
{
	while (kept_ranges != NULL && kept_bytes > keep_bytes)
	{
		GpuSortRange *victim = kept_ranges;

		unlink_kept(&kept_ranges);
		unmap_range(victim);
	}
}

void
gpusort_range_release(GpuSortRange *range)
{
	size_t		budget = (size_t) gpusort_keep_memory * 1024;
	size_t		room = budget - Min(budget, kept_bytes);

	if (room == 0 || kept_count >= MAX_KEPT_RANGES)
	{
		unmap_range(range);
		return;
	}
	if (range->touched > room)
	{
		/* keep the beginning, which is what every sort uses */
		room = room / HUGE_PAGE_BYTES * HUGE_PAGE_BYTES;
		if (room == 0 ||
			madvise(range->base + room, range->touched - room, MADV_DONTNEED) != 0 ||
			mprotect(range->base + room, range->touched - room, PROT_NONE) != 0)
		{
			unmap_range(range);
			return;
		}
		range->touched = room;
	}
	range->usable = 0;
	range->next = kept_ranges;
	kept_ranges = range;
	kept_count++;
	kept_bytes += range->touched;
}
