/*
 * memory_range.h
 *		Large growable memory that stays where it is.
 *
 * A range is a stretch of reserved address space of which a prefix is usable.
 * It grows in place, so pointers into it stay valid and growing copies nothing.
 * Memory that a finished sort has touched is kept by the process for the next
 * one, up to gpusort.keep_memory: the page faults on fresh memory cost more
 * than the sort does (0.5 s a GiB, src/README.md).
 *
 * Nothing here raises an error: running out of memory is an answer, since a
 * sort that finds no room goes on in PostgreSQL's tuplesort.
 */
#ifndef GPUSORT_MEMORY_RANGE_H
#define GPUSORT_MEMORY_RANGE_H

/* What a range is for: the next sort's same part gets the same memory. */
typedef enum GpuSortRangeRole
{
	GPUSORT_RANGE_ROWS,
	GPUSORT_RANGE_ROW_REFS,
	GPUSORT_RANGE_WORKSPACE,
	GPUSORT_RANGE_REFINED,
	GPUSORT_RANGE_EQUAL,
	GPUSORT_RANGE_PLANE			/* PLANE + i for the i-th plane or bitmap */
} GpuSortRangeRole;

typedef struct GpuSortRange
{
	char	   *base;
	size_t		reserved;		/* bytes of address space */
	size_t		usable;			/* bytes that may be touched */
	size_t		touched;		/* highest usable ever: what may be resident */
	int			role;
	bool		huge;			/* asks for huge pages */
	bool		fresh;			/* not kept from an earlier sort */
	bool		small_pages;	/* was given small ones in places */
	struct GpuSortRange *next;
} GpuSortRange;

/*
 * A range of at least so many reserved bytes, nothing of it usable yet as far
 * as the caller is concerned; contents undefined.  NULL if there is no address
 * space.  The caller owns it until it releases it.
 */
extern GpuSortRange *gpusort_range_acquire(int role, size_t reserve_bytes);

/*
 * Make at least the first `bytes` bytes usable (a little more may become so).
 * False if that exceeds the reservation or the system has no memory.
 */
extern bool gpusort_range_grow(GpuSortRange *range, size_t bytes);

/* Give the pages of [from, to) back to the system; contents become undefined. */
extern void gpusort_range_discard(GpuSortRange *range, size_t from, size_t to);

/* Hand the range over to the cache, or to the system. */
extern void gpusort_range_release(GpuSortRange *range);

/* Let the cache keep no more than so much. */
extern void gpusort_range_trim(size_t keep_bytes);

#endif							/* GPUSORT_MEMORY_RANGE_H */
