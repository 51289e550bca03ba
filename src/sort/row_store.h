/*
 * row_store.h
 *		The row store: the tuples of a sort, end to end in one range.
 *
 * Tuples are MinimalTuples, or IndexTuples in a sort for an index build.  A tuple stays where it is
 * until the sort ends.  It is followed by those bytes of its keys that are not part of it.
 *
 * Private to src/sort.
 */
#ifndef GPUSORT_ROW_STORE_H
#define GPUSORT_ROW_STORE_H

#include "port/pg_bitutils.h"

#include "memory/memory_range.h"
#include "sort/sort.h"
#include "sort/sort_view.h"

/* What a row looks like if all of its values are of fixed length and none is null. */
typedef struct GpuSortTemplate
{
	/* a tuple of which only the header is filled in; NULL: some value is of varying length */
	char	   *tuple;
	size_t		length;			/* bytes of a row */
	uint32	   *offsets;		/* by attribute: where the value lies in a row */
} GpuSortTemplate;

typedef struct GpuSortRows
{
	GpuSortRowPlaces places;
	uint64		count;
	GpuSortRange *store;
	size_t		used;			/* bytes of the store that are in use */
	size_t		end;			/* used may grow so far before gpusort_grow_rows() must be asked */
	GpuSortRange *refs;			/* the range of places.refs */
	int			shift;			/* places.unit is two to this power */
	GpuSortTemplate template;
	/* how rows are made of tuples on pages now (row_store_columns.c); NULL: rows are the tuples */
	struct GpuSortSelection *selection;
	/* list of the selections of all tables that rows have been made of */
	struct GpuSortSelection *selections;
} GpuSortRows;

/*
 * A row that was stored.  If its values lie in a tuple, source and source_len tell where, and
 * `copy` tells where that place is in the row store.  So a pointer into the source can be
 * translated into a pointer into the stored row.
 */
typedef struct GpuSortStoredRow
{
	size_t		offset;			/* where the row begins in the row store, in bytes */
	const char *source;			/* NULL: the values lie outside of any tuple */
	size_t		source_len;
	/* where source[0] was copied to, or would be if it were part of the row */
	char	   *copy;
} GpuSortStoredRow;

/* Lets the values of a row be looked up in the stored tuple itself, which has len bytes. */
static inline void
stored_row_is_source(const GpuSortRows *rows, GpuSortStoredRow *row, size_t len)
{
	row->source = row->copy = rows->places.base + row->offset;
	row->source_len = len;
}

/* Lets rows begin at multiples of this number of bytes, which must be a power of two. */
static inline void
set_row_unit(GpuSortRows *rows, size_t unit)
{
	rows->places.unit = unit;
	rows->shift = pg_leftmost_one_pos64(unit);
}

/* Returns the average bytes of a row. */
static inline size_t
average_row_bytes(const GpuSortRows *rows)
{
	return rows->count > 0 ? rows->used / rows->count : 0;
}

/* Forgets all rows, and keeps the memory. */
extern void gpusort_empty_rows(GpuSortRows *rows);

/*
 * Sets *template to what tuples of this descriptor look like, in the current memory context.
 * `header` is the size of the header, which is left empty.
 */
extern void gpusort_make_template(GpuSortTemplate *template, TupleDesc desc, size_t header);

/* Does the same for MinimalTuples, and fills in their header. */
extern void gpusort_make_minimal_template(GpuSortTemplate *template, TupleDesc desc);

/*
 * Takes room for `bytes` more bytes in the row store, and returns its offset from the store's base
 * in *offset.  Returns false if the limit or the system does not allow it.
 */
extern bool gpusort_row_store_reserve(GpuSort *sort, size_t bytes, size_t *offset);

/*
 * Stores the tuple of a slot, or a heap tuple, as a MinimalTuple.  Returns false if there is no
 * room.
 */
extern bool gpusort_row_store_put(GpuSort *sort, TupleTableSlot *slot, GpuSortStoredRow *row);
extern bool gpusort_row_store_put_tuple(GpuSort *sort, HeapTuple tuple, GpuSortStoredRow *row);

/* Stores a tuple by the template, of fixed-length values of which none is null. */
extern bool gpusort_row_store_put_fixed(GpuSort *sort, const Datum *values,
										GpuSortStoredRow *row);

/*
 * Gives back the memory of the rows in front of `next`.  To be called before each row is read, in
 * the order in which rows were stored; `next` is that row.  *discarded must be 0 at first, and is
 * kept by this function.
 */
extern void gpusort_discard_read_rows(GpuSortRows *rows, size_t *discarded, const void *next);

#endif							/* GPUSORT_ROW_STORE_H */
