/*
 * load_order.h
 *		Which partition each row of an input went to.
 *
 * In a partition, rows are in the order of the input; this is what the order among all of them is found by.  Rows of
 * partitions without indexes have no number (load_leaves.h).
 */
#ifndef GPUSORT_LOAD_ORDER_H
#define GPUSORT_LOAD_ORDER_H

#include "storage/buffile.h"
#include "utils/dsa.h"
#include "utils/palloc.h"

#include "load/load_leaves.h"

typedef struct GpuSortLoadOrder
{
	BufFile    *file;			/* of the first rows, or NULL */
	uint64		filed;			/* so many */
	GpuSortLeafNumber *leaves;	/* of those behind them */
	uint64		kept;			/* so many */
	uint64		room;			/* ... of as many */
	uint64	   *rows;			/* of each partition, by number, if somebody wants to know */
	MemoryContext context;		/* where all that is */
	dsa_area   *area;			/* where participants leave theirs; or NULL: there is one participant */
} GpuSortLoadOrder;

extern void gpusort_order_grow(GpuSortLoadOrder *order, uint64 more);

/* Another row. */
static inline void
gpusort_order_add(GpuSortLoadOrder *order, GpuSortLeafNumber leaf)
{
	if (unlikely(order->kept == order->room))
		gpusort_order_grow(order, 1);
	order->leaves[order->kept++] = leaf;
}

/* Those of another part of the input.  If it is many, they go to a file. */
extern void gpusort_order_join(GpuSortLoadOrder *order, const GpuSortLeafNumber *leaves, uint64 count);

/* Leave what is in memory in the area, or take what another participant has left there. */
extern dsa_pointer gpusort_order_leave(const GpuSortLoadOrder *order);
extern void gpusort_order_take(GpuSortLoadOrder *order, dsa_pointer left, uint64 count);

/* Forget all of them. */
extern void gpusort_order_clear(GpuSortLoadOrder *order);

/* Going through all rows, the first one first. */
typedef struct GpuSortOrderReader
{
	const GpuSortLoadOrder *order;
	uint64		next;
	GpuSortLeafNumber *buffer;	/* of the file */
	uint64		begin;			/* the rows that are there */
	uint64		end;
} GpuSortOrderReader;

extern void gpusort_order_read(GpuSortOrderReader *reader, const GpuSortLoadOrder *order);

/* The next row's, which there must be. */
extern GpuSortLeafNumber gpusort_order_next(GpuSortOrderReader *reader);

extern void gpusort_order_end(GpuSortOrderReader *reader);

#endif							/* GPUSORT_LOAD_ORDER_H */
