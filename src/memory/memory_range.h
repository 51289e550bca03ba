/*
 * memory_range.h
 *		Large growable memory that stays where it is.
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
 * next one, up to gpusort.keep_memory: the page faults on fresh memory cost more
 * than the sort does (0.5 s a GiB, docs/performance.md).  Extents go back to the pool
 * at once; where they were mapped is remembered, so that the next sort gets the
 * same ones for nothing if they are still free.
 *
 * Nothing here raises an error: running out of memory is an answer, since a
 * sort that finds no room goes on in PostgreSQL's tuplesort.
 */
#ifndef GPUSORT_MEMORY_RANGE_H
#define GPUSORT_MEMORY_RANGE_H

#include "memory/pool_account.h"

/* What a range is for: the next sort's same part gets the same memory. */
typedef enum GpuSortRangeRole
{
	GPUSORT_RANGE_ROWS,
	GPUSORT_RANGE_ROW_REFS,
	GPUSORT_RANGE_WORKSPACE,
	GPUSORT_RANGE_REFINED,
	GPUSORT_RANGE_EQUAL,
	GPUSORT_RANGE_DESCRIPTOR,	/* of a job for gpusortd */
	GPUSORT_RANGE_SORTED_ROWS,	/* rows once more, in order */
	GPUSORT_RANGE_SORTED_REFS,
	GPUSORT_RANGE_RUNS,			/* sorted runs that need not go to files */
	GPUSORT_RANGE_TEAM,			/* what processes that sort together share */
	GPUSORT_RANGE_PLANE			/* what columns have: GPUSORT_PLANE_ROLE() */
} GpuSortRangeRole;

/* Roles of a column's ranges: its prefix, the references, words, and nulls. */
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
	size_t		private_end;	/* end of the private memory made accessible ever,
								 * which is what may be resident; it begins
								 * behind the mapped extents */
	GpuSortPoolAccount *account;	/* the sort's; unused while kept */

	/* extents, in malloc'd arrays of extents_size (range_extents.c) */
	uint32	   *owned;			/* numbers; PG_UINT32_MAX: given back */
	uint32	   *mapped;			/* what is mapped there, owned or not */
	uint32		nowned;
	uint32		nmapped;
	uint32		extents_size;
	uint32		left_to;		/* job + 1 that gets them at the end; 0: none */

	int			role;
	bool		huge;			/* asks for huge pages */
	bool		fresh;			/* not kept from an earlier sort */
	bool		small_pages;	/* was given small ones in places */
	struct GpuSortRange *next;
} GpuSortRange;

/*
 * Are so many ranges in use that no other sort should begin?  A process may have so
 * many mappings only (vm.max_map_count), and without any left, nothing in it gets memory.
 */
extern bool gpusort_ranges_are_many(void);

/*
 * A range of at least so many reserved bytes, nothing of it usable yet as far
 * as the caller is concerned; contents undefined.  NULL if there is no address
 * space.  The caller owns it until it releases it; the account must live as long.
 */
extern GpuSortRange *gpusort_range_acquire(int role, size_t reserve_bytes,
										   GpuSortPoolAccount *account);

/*
 * Make at least the first `bytes` bytes usable (a little more may become so).
 * False if that exceeds the reservation, if the system has no memory, or if only the pool
 * will do and has no more.
 */
extern bool gpusort_range_grow(GpuSortRange *range, size_t bytes);

/*
 * The same in the pool only, and in steps that go no further than `most` bytes, which is a multiple
 * of an extent.
 */
extern bool gpusort_range_grow_in_pool(GpuSortRange *range, size_t bytes, size_t most);

/*
 * Take extents for the first `bytes` bytes, as far as there are any, without
 * making anything usable.
 */
extern void gpusort_range_reserve(GpuSortRange *range, size_t bytes);

/* Bytes from the base on that have, or will have, pool memory behind them. */
extern size_t gpusort_range_pool_bytes(const GpuSortRange *range);

/*
 * How much of its pool memory has never been touched by anybody, which takes
 * time when it becomes usable.
 */
extern size_t gpusort_range_fresh_bytes(const GpuSortRange *range);

/* Has the range begun to use private memory?  It takes no more extents then. */
extern bool gpusort_range_is_private(const GpuSortRange *range);

/*
 * The numbers of the extents that hold the usable bytes, valid until the range
 * grows.  False if some of those bytes are private memory.
 */
extern bool gpusort_range_extents(const GpuSortRange *range, const uint32 **list, uint32 *count);

/*
 * Let somebody else have the first `count` extents, whose numbers are stored in
 * list[], unless that is NULL, and give the others back.  The range can't be used before it is rewound.
 */
extern void gpusort_range_yield(GpuSortRange *range, uint32 count, uint32 *list);

/*
 * Begin an empty range with extents that are the sort's already; none of it is usable
 * before the range grows.  False if it has no room for them.
 */
extern bool gpusort_range_adopt(GpuSortRange *range, const uint32 *list, uint32 count);

/*
 * When the range's memory is given back, leave its extents to this job, for which
 * gpusortd may still be writing.
 */
extern void gpusort_range_leave(GpuSortRange *range, uint32 job);

/*
 * Give the memory of [from, to) back, whole pages or extents only; contents become
 * undefined.  The range can't grow any more until it is rewound.
 */
extern void gpusort_range_discard(GpuSortRange *range, size_t from, size_t to);

/* Begin again with nothing usable; the extents go back to the pool. */
extern void gpusort_range_rewind(GpuSortRange *range);

/* Hand the range over to the cache, or to the system. */
extern void gpusort_range_release(GpuSortRange *range);

/* From now on, let the cache keep at most so much private memory. */
extern void gpusort_range_keep(size_t bytes);

/* What was said last. */
extern size_t gpusort_range_keep_bytes(void);

#endif							/* GPUSORT_MEMORY_RANGE_H */
