/*
 * row_store.h
 *		The rows of a sort: MinimalTuples or IndexTuples, end to end in one range.
 *
 * A tuple stays where it is until the sort ends, and is followed by those key bytes that
 * are not part of it.
 *
 * Private to src/sort.
 */
#ifndef GPUSORT_ROW_STORE_H
#define GPUSORT_ROW_STORE_H

#include "port/pg_bitutils.h"

#include "memory/memory_range.h"
#include "sort/row_places.h"
#include "sort/sort.h"

/* How rows look if all their values are of fixed length and none is null. */
typedef struct GpuSortTemplate
{
	char	   *tuple;			/* NULL: some value varies */
	size_t		length;
	uint32	   *offsets;		/* of the attributes in it */
} GpuSortTemplate;

typedef struct GpuSortRows
{
	GpuSortRowPlaces places;
	uint64		count;
	GpuSortRange *store;
	size_t		used;			/* bytes of it */
	size_t		end;			/* used may grow so far without asking */
	GpuSortRange *refs;			/* those of places */
	int			shift;			/* places.unit is two to this power */
	GpuSortTemplate template;
	struct GpuSortSelection *selection; /* columns of a table that rows are now, or NULL */
	struct GpuSortSelection *selections;	/* ... of all tables that they have been made of */
} GpuSortRows;

/*
 * A row that was stored.  *source and source_len tell where the values that it was made of
 * lie, if they lie in a tuple, and *copy where that place is in the stored row: a pointer
 * into the former can be translated into the latter.
 */
typedef struct GpuSortStoredRow
{
	size_t		offset;			/* of the row from the row store's base */
	const char *source;			/* NULL: values lie outside any tuple */
	size_t		source_len;
	char	   *copy;			/* where source[0] went, or would have gone */
} GpuSortStoredRow;

/* A stored tuple that its values are to be looked up in. */
static inline void
stored_row_is_source(const GpuSortRows *rows, GpuSortStoredRow *row, size_t len)
{
	row->source = row->copy = rows->places.base + row->offset;
	row->source_len = len;
}

/* Let rows begin at multiples of so many bytes, a power of two. */
static inline void
set_row_unit(GpuSortRows *rows, size_t unit)
{
	rows->places.unit = unit;
	rows->shift = pg_leftmost_one_pos64(unit);
}

/* Average bytes of a row. */
static inline size_t
average_row_bytes(const GpuSortRows *rows)
{
	return rows->count > 0 ? rows->used / rows->count : 0;
}

/* No rows any more, in the memory that there is. */
extern void gpusort_empty_rows(GpuSortRows *rows);

/*
 * Work out how tuples of the descriptor look, behind a header of so many bytes, which is
 * left empty.  In the current context.
 */
extern void gpusort_make_template(GpuSortTemplate *template, TupleDesc desc, size_t header);

/* The same, with the header of a MinimalTuple. */
extern void gpusort_make_minimal_template(GpuSortTemplate *template, TupleDesc desc);

/*
 * Room for `bytes` more bytes of row store, at *offset from its base; false if
 * the limit or the system does not allow it.
 */
extern bool gpusort_row_store_reserve(GpuSort *sort, size_t bytes, size_t *offset);

/* Store the slot's tuple, or the MinimalTuple that a heap tuple is; false as above. */
extern bool gpusort_row_store_put(GpuSort *sort, TupleTableSlot *slot, GpuSortStoredRow *row);
extern bool gpusort_row_store_put_tuple(GpuSort *sort, HeapTuple tuple, GpuSortStoredRow *row);

/* Store a tuple of fixed-length values, none of them null, by the template. */
extern bool gpusort_row_store_put_fixed(GpuSort *sort, const Datum *values,
										GpuSortStoredRow *row);

/*
 * Rows are read in the order in which they are stored, and this is the next one: give the
 * memory in front of it back.  *discarded is 0 at first.
 */
extern void gpusort_discard_read_rows(GpuSortRows *rows, size_t *discarded, const void *next);

#endif							/* GPUSORT_ROW_STORE_H */
