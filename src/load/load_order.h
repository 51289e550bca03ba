/*
 * load_order.h
 *		Which partition each row of an input went to.
 *
 * In each partition, rows are in the order of the input.  What is kept here gives the order among
 * the rows of all partitions.  It is the number of each row's leaf, which is GPUSORT_NO_LEAF for
 * all partitions without indexes (load_leaves.h).
 */
#ifndef GPUSORT_LOAD_ORDER_H
#define GPUSORT_LOAD_ORDER_H

#include "storage/buffile.h"
#include "utils/dsa.h"
#include "utils/palloc.h"

#include "load/load_leaves.h"

typedef struct GpuSortLoadOrder
{
	BufFile    *file;			/* the leaves of the first rows, or NULL */
	uint64		filed;			/* rows in the file */
	GpuSortLeafNumber *leaves;	/* the leaves of the rows behind these */
	uint64		kept;			/* rows in memory */
	uint64		room;			/* rows that there is memory for */
	uint64	   *rows;			/* by leaf, how many rows it has got; or NULL: nobody asks */
	MemoryContext context;		/* where all of this is allocated */
	dsa_area   *area;			/* where participants leave their rows; NULL: there is only one */
} GpuSortLoadOrder;

/* Makes room in memory for this many more rows. */
extern void gpusort_order_grow(GpuSortLoadOrder *order, uint64 more);

/* Appends a row that went to this leaf. */
static inline void
gpusort_order_add(GpuSortLoadOrder *order, GpuSortLeafNumber leaf)
{
	if (unlikely(order->kept == order->room))
		gpusort_order_grow(order, 1);
	order->leaves[order->kept++] = leaf;
}

/*
 * Appends the rows of the next part of the input.  If there are too many for memory, rows are
 * written to the file.
 */
extern void gpusort_order_join(GpuSortLoadOrder *order, const GpuSortLeafNumber *leaves,
							   uint64 count);

/*
 * gpusort_order_leave() copies the rows in memory into the area, and returns where they are.
 * gpusort_order_take() appends "count" rows that another participant has left in the area, and
 * frees them there.
 */
extern dsa_pointer gpusort_order_leave(const GpuSortLoadOrder *order);
extern void gpusort_order_take(GpuSortLoadOrder *order, dsa_pointer left, uint64 count);

/* Forgets all rows. */
extern void gpusort_order_clear(GpuSortLoadOrder *order);

/* Reads the leaves of all rows, from the first row on. */
typedef struct GpuSortOrderReader
{
	const GpuSortLoadOrder *order;
	uint64		next;
	GpuSortLeafNumber *buffer;	/* a piece of the file */
	uint64		begin;			/* the rows whose leaves are in the buffer, up to "end" */
	uint64		end;
} GpuSortOrderReader;

/* Begins to read; the reader has to be ended. */
extern void gpusort_order_read(GpuSortOrderReader *reader, const GpuSortLoadOrder *order);

/* Returns the leaf of the next row, which must be there. */
extern GpuSortLeafNumber gpusort_order_next(GpuSortOrderReader *reader);

extern void gpusort_order_end(GpuSortOrderReader *reader);

#endif							/* GPUSORT_LOAD_ORDER_H */
