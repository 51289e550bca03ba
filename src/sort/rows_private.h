/*
 * rows_private.h
 *		The rows of a sort: where they are stored, and what they are made of.
 */
#ifndef GPUSORT_ROWS_PRIVATE_H
#define GPUSORT_ROWS_PRIVATE_H

#include "port/pg_bitutils.h"
#include "storage/bufpage.h"

#include "engine/gs_layout.h"
#include "keys/key_codec.h"
#include "memory/memory_range.h"
#include "sort/sort.h"
#include "sort/sort_view.h"

/* ---------- row store: the tuples of a sort, end to end in one range ---------- */

/*
 * Tuples are MinimalTuples, or IndexTuples in a sort for an index build.  A tuple stays where it is
 * until the sort ends.  It is followed by those bytes of its keys that are not part of it.
 */

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

/* ---------- rows that are made of a table's tuples ---------- */

/*
 * Rows may be made of columns of a table's tuples and of other values (sort.h).  What it
 * takes to make them of the tuples of one table is a GpuSortSelection.
 */

/* Do what gpusort_sort_select_columns() and gpusort_sort_select_tuples() say (sort.h). */
extern bool gpusort_row_store_select(GpuSort *sort, const GpuSortRowColumns *columns);
extern void gpusort_row_store_select_none(GpuSort *sort);

/*
 * Returns the number of the table's attribute that column attno of the rows is copied from, and in
 * *offset its place as gpusort_fixed_offset() tells it.  *offset is -1 also if the column is one of
 * the other values.
 */
extern AttrNumber gpusort_row_store_selected(const GpuSort *sort, AttrNumber attno, int *offset);

/*
 * Finds the values of the row that a tuple on a page makes, without storing it.  Sets found[] by
 * column to where each value lies, or to NULL for a null; only the entries of sort columns are
 * valid.  Returns false if the tuple has fewer attributes than are selected.
 */
extern bool gpusort_row_store_find_columns(GpuSort *sort, HeapTuple tuple, const char **found);

/*
 * Stores the row that a tuple on a page makes.  Sets *offsets to an array that tells by column
 * where each value lies in the row, or 0 for a null; only the entries of sort columns are valid,
 * and only until the next row is stored.  The source of *row is the stored row itself.  Returns
 * false, and leaves no trace, if there is no room, or if the tuple has fewer attributes than are
 * selected.
 */
extern bool gpusort_row_store_put_columns(GpuSort *sort, HeapTuple tuple,
										  GpuSortStoredRow *row, const uint32 **offsets);

/* ---------- rows that are index tuples ---------- */

/* What is known about the rows of an index build. */
typedef struct GpuSortIndexFacts
{
	bool		tids_ordered;	/* rows arrived in the order of their TIDs */
	uint64		last_tid;
	bool		any_dead;		/* some rows are marked dead */
	bool		other_lengths;	/* some tuples are not as long as the template */
} GpuSortIndexFacts;

/* Returns a TID as a number, so that the numbers of TIDs sort as TIDs do. */
static inline uint64
tid_word(const ItemPointerData *tid)
{
	return (uint64) ItemPointerGetBlockNumberNoCheck(tid) << 16 |
		ItemPointerGetOffsetNumberNoCheck(tid);
}

/* Does gpusort_make_template() for index tuples, and fills in their header. */
extern void gpusort_make_index_template(GpuSortTemplate *template, TupleDesc desc);

/*
 * Forms the index tuple of the values and stores it.  If the codecs are to see the values where
 * they lie, row->source is set to NULL; otherwise to the stored tuple, in which they must be looked
 * up.  Returns false if there is no room.
 */
extern bool gpusort_row_store_put_index(GpuSort *sort, const Datum *values, const bool *isnull,
										ItemPointer tid, GpuSortStoredRow *row);

/* ---------- rows that are made of their keys when they are returned ---------- */

/*
 * Where all columns of a row are sort columns, and their words tell the values
 * (keys/key_codec.h), the sort keeps planes only: it has neither row store nor references.  If
 * the whole key fits a word, the host engine sorts keys without row ids, and rows are returned by
 * reading the keys one after the other.  Otherwise, and if gpusortd sorts, the words of a row are
 * looked up by its id.
 */

/* A column of rows that are made of their keys. */
typedef struct GpuSortKeyRowColumn
{
	struct GpuSortColumn *column;
	GpuSortInverse inverse;
	int			bytes;			/* length of its value */
	uint32		offset;			/* where the value lies in a row without nulls */
	int			page_offset;	/* where it lies in tuples on pages of page_natts attributes */
	gs_unpacking unpacking;		/* how to get its word back out of order.keys */
	bool		always_null;
} GpuSortKeyRowColumn;

/* Rows that are made of their keys (key_rows.c). */
typedef struct GpuSortKeyRows
{
	bool		possible;
	bool		used;			/* no rows are stored */
	/*
	 * tuples on pages that have so many attributes and no nulls have the values at fixed places; 0:
	 * none do
	 */
	AttrNumber	page_natts;
	GpuSortKeyRowColumn columns[GPUSORT_KEY_ROW_COLUMNS];	/* indexed by attribute number - 1 */
} GpuSortKeyRows;

/* Finds out whether rows of the sort can be made of their keys, and sets key_rows.possible. */
extern void gpusort_prepare_key_rows(GpuSort *sort);

/*
 * Decides whether rows are made of their keys from now on, or stored.  They are made of their keys
 * if `use` is true and gpusort_prepare_key_rows() has found that possible.  The sort must not have
 * rows.
 */
extern void gpusort_use_key_rows(GpuSort *sort, bool use);

/* Returns the bytes of a row without nulls. */
extern size_t gpusort_key_row_bytes(const GpuSort *sort);

/*
 * Takes note that the engine has sorted keys, which are in order, instead of row ids.  `layout`
 * tells how columns are found in them.
 */
extern void gpusort_read_keys(GpuSort *sort, const uint64 *keys, const gs_layout *layout);

/*
 * Makes the rows at positions from .. from + count - 1 in room[0..count-1], and sets rows[] to
 * point there.  What the rows at positions from + count .. from + ahead_to - 1 need is prefetched.
 */
extern void gpusort_make_key_rows(GpuSort *sort, uint64 from, int count, int ahead_to,
								  GpuSortRowRoom *room, void **rows);

/* Makes the row with this id in *room. */
extern void gpusort_make_key_row(const GpuSort *sort, uint32 id, GpuSortRowRoom *room);

/* ---------- putting the keys of all tuples on a page at once ---------- */

/*
 * Where rows are made of their keys (key_rows.c), and the keys are integers at fixed places in the
 * tuples, a few words are all that is needed of a tuple.  Putting them page by page costs a sixth
 * of the instructions that putting them row by row costs.
 */

/*
 * Finds out where the keys lie in tuples on pages, and sets key_rows.page_natts.  To be called when
 * rows are made of tuples of another table from now on.
 */
extern void gpusort_place_page_keys(GpuSort *sort);

/*
 * Puts the rows of the first of `count` tuples on a page, which are at offsets[].  Returns of how
 * many tuples rows were put.  If these are not all, the next tuple has to be put by itself.
 */
extern int	gpusort_put_page_keys(GpuSort *sort, Page page, const OffsetNumber *offsets, int count);

#endif							/* GPUSORT_ROWS_PRIVATE_H */
