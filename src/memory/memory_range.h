/*
 * memory_range.h
 *		Large memory that grows in place.
 *
 * A range is a stretch of reserved address space of which a prefix is usable.
 * It grows in place, so pointers into it stay valid and growing copies nothing.
 * It grows by extents of the pool (pool.h) as long as there are any for it, and
 * by private memory from then on:
 *
 *	base | extent | extent | ... | private memory | address space only
 *
 * Extent i of a range covers bytes [i * GSD_EXTENT_BYTES, (i + 1) * ...), so that
 * a list of extent numbers tells another process what the range holds.
 *
 * Private memory that a finished sort has touched is kept by the process for the
 * next sort, up to gpusort.keep_memory: the page faults on fresh memory cost more
 * than the sort does (0.5 s a GiB, docs/performance.md).  Extents go back to the pool
 * at once.  They stay mapped, and their numbers are remembered, so that the next sort
 * gets the same extents for nothing if they are still free.
 *
 * Nothing here raises an error: functions return that there is no memory, and a sort
 * that finds no room goes on in PostgreSQL's tuplesort.
 */
#ifndef GPUSORT_MEMORY_RANGE_H
#define GPUSORT_MEMORY_RANGE_H

#include "memory/pool.h"

/*
 * What a range is for.  A range that was kept is used again by the next sort that asks for one of
 * the same role.
 */
typedef enum GpuSortRangeRole
{
	GPUSORT_RANGE_ROWS,
	GPUSORT_RANGE_ROW_REFS,
	GPUSORT_RANGE_WORKSPACE,
	GPUSORT_RANGE_REFINED,
	GPUSORT_RANGE_EQUAL,
	GPUSORT_RANGE_DESCRIPTOR,	/* the descriptor of a job for gpusortd */
	GPUSORT_RANGE_SORTED_ROWS,	/* a copy of the rows, in order */
	GPUSORT_RANGE_SORTED_REFS,
	GPUSORT_RANGE_RUNS,			/* sorted runs that need not go to files */
	GPUSORT_RANGE_TEAM,			/* what processes that sort together share */
	GPUSORT_RANGE_PLANE			/* the first of the columns' roles: GPUSORT_PLANE_ROLE() */
} GpuSortRangeRole;

/*
 * The roles of a column's ranges: prefixes of its strings, references to these, words (several
 * roles), and nulls.
 */
#define GPUSORT_COLUMN_ROLES	8
#define GPUSORT_PREFIX_ROLE		0
#define GPUSORT_REFS_ROLE		1
#define GPUSORT_WORDS_ROLE		2
#define GPUSORT_NULLS_ROLE		7
#define GPUSORT_PLANE_ROLE(column, role) \
	(GPUSORT_RANGE_PLANE + (column) * GPUSORT_COLUMN_ROLES + (role))

typedef struct GpuSortRange
{
	char	   *base;			/* aligned to GSD_EXTENT_BYTES */
	size_t		reserved;		/* bytes of address space */
	size_t		usable;			/* bytes that may be touched */
	size_t		private_end;	/* end of the private memory ever made accessible,
								 * which is what may be resident; it begins
								 * behind the mapped extents */
	GpuSortPoolAccount *account;	/* the sort's account; NULL while the range is kept */

	/* extents, in malloc'd arrays of extents_size elements (range_extents.c) */
	uint32	   *owned;			/* numbers of owned extents; GPUSORT_NO_EXTENT: given back */
	uint32	   *mapped;			/* numbers of the extents that are mapped, owned or not */
	uint32		nowned;
	uint32		nmapped;
	uint32		extents_size;
	uint32		left_to;		/* 1 + the job that the extents are left to; 0: none */

	int			role;
	bool		huge;			/* asks for huge pages */
	bool		fresh;			/* not kept from an earlier sort */
	bool		small_pages;	/* some private memory has small pages, since the system is slow */
	struct GpuSortRange *next;	/* in the list of kept ranges */
} GpuSortRange;

/*
 * Returns whether so many ranges are in use that no other sort should begin.  The number of a
 * process's mappings is limited (vm.max_map_count), and at the limit nothing in the process gets
 * memory.
 */
extern bool gpusort_ranges_are_many(void);

/*
 * Returns a range of at least reserve_bytes reserved bytes, or NULL if there is no address space.
 * Nothing of it is usable yet, even if the range was kept; its contents are undefined.  The caller
 * owns the range until it releases it; the account must live as long.
 */
extern GpuSortRange *gpusort_range_acquire(int role, size_t reserve_bytes,
										   GpuSortPoolAccount *account);

/*
 * Makes at least the first `bytes` bytes usable (a little more may become so).  Returns false if
 * that exceeds the reservation, if the system has no memory, or if the account allows no private
 * memory and the pool has no more.
 */
extern bool gpusort_range_grow(GpuSortRange *range, size_t bytes);

/*
 * Makes at least the first `bytes` bytes usable, with extents only; no more than the first `most`
 * bytes, a multiple of an extent, become usable.
 */
extern bool gpusort_range_grow_in_pool(GpuSortRange *range, size_t bytes, size_t most);

/*
 * Takes extents for the first `bytes` bytes, as far as there are any, without
 * making anything usable.
 */
extern void gpusort_range_reserve(GpuSortRange *range, size_t bytes);

/* Returns how many bytes, from the base on, have or will have pool memory behind them. */
extern size_t gpusort_range_pool_bytes(const GpuSortRange *range);

/*
 * Returns how many bytes of the range's pool memory are not usable yet and have never been
 * populated by any process, which takes time when they become usable.
 */
extern size_t gpusort_range_fresh_bytes(const GpuSortRange *range);

/* Returns whether the range has begun to use private memory.  It takes no more extents then. */
extern bool gpusort_range_is_private(const GpuSortRange *range);

/*
 * Sets *list and *count to the numbers of the extents that hold the usable bytes, valid until the
 * range grows.  Returns false if some of those bytes are private memory.
 */
extern bool gpusort_range_extents(const GpuSortRange *range, const uint32 **list, uint32 *count);

/*
 * Gives up the first `count` extents without giving them back: the caller makes somebody else their
 * owner.  Stores their numbers in list[], unless that is NULL.  Gives the other extents back.  The
 * range can't be used before it is rewound.
 */
extern void gpusort_range_yield(GpuSortRange *range, uint32 count, uint32 *list);

/*
 * Makes an empty range own extents that belong to the sort already; none of it is usable
 * before the range grows.  Returns false if it has no room for them.
 */
extern bool gpusort_range_adopt(GpuSortRange *range, const uint32 *list, uint32 count);

/*
 * Has the range's extents left to this job when its memory is given back, since gpusortd may still
 * be writing to them.
 */
extern void gpusort_range_leave(GpuSortRange *range, uint32 job);

/*
 * Gives the memory of the bytes [from, to) back, whole pages or extents only; contents become
 * undefined.  The range can't grow any more until it is rewound.
 */
extern void gpusort_range_discard(GpuSortRange *range, size_t from, size_t to);

/* Makes nothing usable any more; the extents go back to the pool. */
extern void gpusort_range_rewind(GpuSortRange *range);

/* Releases the range: the process keeps it, or unmaps it. */
extern void gpusort_range_release(GpuSortRange *range);

/* Has this process keep at most `bytes` bytes of private memory from now on. */
extern void gpusort_range_keep(size_t bytes);

/* Returns how many bytes gpusort_range_keep() was last told. */
extern size_t gpusort_range_keep_bytes(void);

#endif							/* GPUSORT_MEMORY_RANGE_H */
