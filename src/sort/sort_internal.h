/*
 * sort_internal.h
 *		What the files that make up a sort share: sort.c (life cycle),
 *		sort_memory.c (ranges and limits), sort_put.c (rows and keys in),
 *		row_store.c (tuples), key_planes.c (what the engine sorts by),
 *		key_refine.c and key_run.c (ties on key prefixes), sort_verify.c, sort_handover.c,
 *		sort_progress.c, sort_service.c (having it sorted elsewhere) and
 *		sort_reorder.c (having its rows brought into order there).
 *
 * A row exists in three places, all indexed by its row id, which is its place
 * in the order of arrival:
 *
 *	- the row store holds its MinimalTuple or IndexTuple, contiguous, in place
 *	  until the sort ends, followed by those key bytes that are not part of the
 *	  tuple;
 *	- row_refs[id] says where, in units of row_unit bytes from the base; while
 *	  all rows have the same length, so does id * stride, or the place of a granule
 *	  of rows (sort_parts.c), without a cache miss;
 *	- every part of every sort column has a plane: words[id] is the normalised
 *	  key word, complemented for descending order, and for byte strings
 *	  refs[id] says where the whole string lies.
 *
 * After the engine and the refinement, order[position] is the row id.
 */
#ifndef GPUSORT_SORT_INTERNAL_H
#define GPUSORT_SORT_INTERNAL_H

#include "access/htup.h"
#include "access/itup.h"
#include "port/pg_bswap.h"
#include "utils/sortsupport.h"

#include "engine/host/gs_sort.h"
#include "keys/key_codec.h"
#include "memory/memory_range.h"
#include "prefetch.h"
#include "service/service_client.h"
#include "sort/row_places.h"
#include "sort/sort.h"

/*
 * Where a key's byte string lies: offset from the row store's base in the upper
 * 40 bits, length in the lower 24.  Longer strings have no encoding.
 */
#define KEY_REF_LENGTH_BITS 24
#define KEY_REF_MAX_LENGTH	((1 << KEY_REF_LENGTH_BITS) - 1)
#define KEY_REF(offset, len) (((uint64) (offset) << KEY_REF_LENGTH_BITS) | (len))
#define KEY_REF_OFFSET(ref) ((ref) >> KEY_REF_LENGTH_BITS)
#define KEY_REF_LENGTH(ref) ((uint32) ((ref) & KEY_REF_MAX_LENGTH))
#define ROW_STORE_MAX_BYTES ((size_t) 1 << 40)

/*
 * Bytes of a string that one key word covers.  A binary string's word ends with
 * the number of bytes left, at most 8, so that "a" sorts before "a\0".
 */
#define PADDED_WORD_BYTES	8
#define BINARY_WORD_BYTES	7

/* What is known about all strings of a column. */
typedef struct GpuSortStringFacts
{
	bool		long_keys;		/* some go beyond their first word */
	uint32		common_len;		/* leading bytes that all share so far */
	uint64		common_ref;		/* a string to compare with; 0: none yet */
} GpuSortStringFacts;

/* One sort column. */
typedef struct GpuSortColumn
{
	AttrNumber	attno;
	bool		nulls_first;

	/* where the attribute lies in a tuple without nulls; -1: that varies */
	int			fixed_offset;
	int16		attlen;
	bool		attbyval;
	char		attalign;

	GpuSortEncoder encoder;
	uint64		flip;			/* all ones for descending order */

	/* byte string part, if the codec has one */
	GpuSortBytesKind bytes;
	bool		lazy;			/* refs are to strings without a key, until the
								 * refinement needs one */
	GpuSortRange *prefix;		/* first word of the string, uint64 */
	GpuSortRange *refs;			/* KEY_REF of the string, uint64 */
	GpuSortStringFacts facts;
	uint32		base;			/* where in the string the prefix word begins */

	int			nwords;
	int			integer_bytes;	/* the word is that of such an integer; 0: of
								 * something else */
	GpuSortRange *words[GPUSORT_CODEC_MAX_WORDS];

	GpuSortRange *nulls;		/* bitmap, once a null was seen */
} GpuSortColumn;

/* The sort columns, and what the engine sorts by. */
typedef struct GpuSortKeys
{
	int			ncolumns;
	GpuSortColumn *columns;
	AttrNumber	max_attno;		/* last attribute that keys need */
	bool		any_bytes;		/* some column has a byte string part */
	bool		fixed;			/* all columns have a fixed offset */
	bool		untrusted;		/* some codec asks for verification */

	gs_plane   *planes;			/* the engine's */
	unsigned	nplanes;
	int			refine_column;	/* its strings go on behind the planes; -1: none do */

	bool		value_refused;	/* a key had no encoding */
	bool		out_of_room;	/* the refinement found no memory for a key */
} GpuSortKeys;

/* How rows look if all their values are of fixed length and none is null. */
typedef struct GpuSortTemplate
{
	char	   *tuple;			/* NULL: some value varies */
	size_t		length;
	uint32	   *offsets;		/* of the attributes in it */
} GpuSortTemplate;

/* The rows: tuples end to end in a store. */
typedef struct GpuSortRows
{
	GpuSortRowPlaces places;
	uint64		count;
	GpuSortRange *store;
	size_t		used;			/* bytes of it */
	size_t		end;			/* used may grow so far without asking */
	GpuSortRange *refs;			/* that of places */
	int			shift;			/* places.unit is two to this power */
	GpuSortTemplate template;
	struct GpuSortSelection *selection; /* columns of a table that rows are, or NULL */
} GpuSortRows;

/* What is known about the rows of an index build. */
typedef struct GpuSortIndexFacts
{
	bool		tids_ordered;	/* they arrived in the order of their TIDs */
	uint64		last_tid;
	bool		any_dead;		/* some are marked dead */
	bool		other_lengths;	/* some are not as long as the template */
} GpuSortIndexFacts;

/* What a sort has of memory, and may have. */
typedef struct GpuSortMemory
{
	size_t		limit_bytes;	/* of private memory */
	GpuSortPoolShare pool_share;
	size_t		reserve_bytes;	/* reservation of each range */
	size_t		planes_private; /* private memory of planes and workspace; a sum
								 * in the making for sort_memory.c */
	uint64		capacity;		/* rows that the planes have room for */
} GpuSortMemory;

/* What a sort is in one whose rows several processes collect (sort_parts.h). */
typedef struct GpuSortMember
{
	struct GpuSortParts *parts; /* of a part; of a sort while it is joined */
	bool		is_part;
	bool		is_joined;		/* to be joined by another process than the leader */
	uint32		number;			/* of a part that is finished */
} GpuSortMember;

/* The result. */
typedef struct GpuSortOrder
{
	GpuSortRange *workspace;
	uint32	   *ids;			/* row ids by position: the engine's, in workspace,
								 * or a copy in refined, if there are ties to
								 * refine */
	uint64		ready;			/* so many positions of ids are valid */
	GpuSortRange *refined;
	GpuSortRange *equal;		/* engine's bitmap, for the refinement; in index
								 * sorts exact after it */
	bool		performed;
} GpuSortOrder;

/* Having it done by gpusortd (sort_service.c). */
typedef struct GpuSortJobState
{
	GpuSortJob	job;
	GpuSortRange *descriptor;	/* of an open job */
} GpuSortJobState;

/* Having rows brought into order (sort_reorder.c). */
typedef struct GpuSortReordered
{
	bool		running;		/* the job goes on with that */
	uint64		count;			/* so many positions are valid */
	GpuSortRange *rows;			/* NULL: there are none */
	GpuSortRange *refs;			/* NULL: all rows are as long */
	GpuSortRowPlaces places;	/* in these ranges; an id is a position here */
} GpuSortReordered;

struct GpuSort
{
	MemoryContext context;
	MemoryContext scratch;		/* detoasted values; reset for each row */
	MemoryContextCallback on_reset;
	TupleDesc	desc;
	GpuSortSpec spec;
	bool		index_rows;		/* rows are IndexTuples, else MinimalTuples */

	GpuSortKeys keys;
	GpuSortRows rows;
	GpuSortRows aside;			/* rows that were put into the sort itself, while
								 * parts are joined to it */
	GpuSortIndexFacts index;
	GpuSortMemory memory;
	GpuSortMember member;
	GpuSortOrder order;
	GpuSortJobState service;
	GpuSortReordered reorder;

	const struct GpuSortVerifyCrew *crew;	/* who helps to verify; NULL: nobody */
	gs_progress *progress;		/* of gpusort_perform(), or NULL: nobody looks */

	/* a slot of the row descriptor, to look into stored rows; made on demand */
	TupleTableSlot *row_slot;

	bool		random_access;	/* what the tuplesort must be able to do */
	struct Tuplesortstate *tuplesort;	/* that the sort was handed over to */
	GpuSortStats stats;
};

#define RANGE_U64(range) ((uint64 *) (range)->base)
#define RANGE_U32(range) ((uint32 *) (range)->base)

/* A TID as a number that sorts like it. */
static inline uint64
tid_word(const ItemPointerData *tid)
{
	return (uint64) ItemPointerGetBlockNumberNoCheck(tid) << 16 |
		ItemPointerGetOffsetNumberNoCheck(tid);
}

/* Is it of interest which rows are equal to the engine? */
static inline bool
needs_equal_rows(const GpuSort *sort)
{
	return sort->keys.refine_column >= 0 || sort->index_rows;
}

/* Is there an order among rows that are equal to the engine? */
static inline bool
needs_refinement(const GpuSort *sort)
{
	return sort->keys.refine_column >= 0 || (sort->index_rows && !sort->index.tids_ordered);
}

static inline const char *
string_by_ref(const GpuSortRows *rows, uint64 ref)
{
	return rows->places.base + KEY_REF_OFFSET(ref);
}

static inline bool
column_is_null(const GpuSortColumn *column, uint32 id)
{
	return column->nulls != NULL &&
		(RANGE_U64(column->nulls)[id >> 6] >> (id & 63) & 1) != 0;
}

/* A big-endian word of up to 8 bytes, zero-padded on the right. */
static inline uint64
load_padded_word(const char *data, uint32 len)
{
	uint64		word = 0;

	if (likely(len >= 8))
		memcpy(&word, data, 8);
	else if (len >= 4)
	{
		uint32		head,
					tail;

		memcpy(&head, data, 4);
		memcpy(&tail, data + len - 4, 4);
		return ((uint64) pg_ntoh32(head) << 32) |
			((uint64) pg_ntoh32(tail) << (64 - 8 * len));
	}
	else
	{
		for (uint32 i = 0; i < len; i++)
			word |= (uint64) (unsigned char) data[i] << (56 - 8 * i);
		return word;
	}
	return pg_ntoh64(word);
}

/* The key word of a byte string of length len, from byte `from` on. */
static inline uint64
bytes_word(GpuSortBytesKind kind, const char *data, uint32 len, uint32 from)
{
	uint32		left = len > from ? len - from : 0;

	if (kind == GPUSORT_BYTES_PADDED)
		return load_padded_word(data + from, left);
	return (load_padded_word(data + from, Min(left, BINARY_WORD_BYTES)) & ~UINT64CONST(0xff)) |
		Min(left, 8);
}

/* Does the string go beyond the word that begins at byte `from`? */
static inline bool
bytes_continue(GpuSortBytesKind kind, uint32 len, uint32 from)
{
	return len > from + (kind == GPUSORT_BYTES_PADDED ? PADDED_WORD_BYTES : BINARY_WORD_BYTES);
}

static inline uint32
bytes_per_word(GpuSortBytesKind kind)
{
	return kind == GPUSORT_BYTES_PADDED ? PADDED_WORD_BYTES : BINARY_WORD_BYTES;
}

/* sort_put.c */

/*
 * Keep track of how many leading bytes all strings of the column share, given one
 * more of them, or what others have in common.
 */
extern void gpusort_note_common_prefix(GpuSort *sort, GpuSortColumn *column, uint64 ref,
									   const char *data, uint32 len);

/* sort_memory.c */

/* Called with a range and the bytes that so many rows take of it; false: stop. */
typedef bool (*GpuSortRangeVisitor) (GpuSort *sort, GpuSortRange **range, size_t bytes);

/* Visit all ranges that the sort has for its rows. */
extern bool gpusort_visit_memory(GpuSort *sort, uint64 rows, GpuSortRangeVisitor visit);

extern GpuSortRange *gpusort_acquire_range(GpuSort *sort, int role);

/* Find out the limits, given that of private memory. */
extern void gpusort_begin_memory(GpuSort *sort, size_t limit_bytes);

/* Get all ranges but those of nulls; false if there is no address space. */
extern bool gpusort_acquire_memory(GpuSort *sort);

/* Release everything that palloc did not provide. */
extern void gpusort_release_memory(GpuSort *sort);

/* All but the rows; bitmaps of nulls; what was set aside. */
extern void gpusort_release_planes(GpuSort *sort);
extern void gpusort_release_nulls(GpuSort *sort);
extern void gpusort_release_rows_aside(GpuSort *sort);

/* Begin again with empty ranges. */
extern void gpusort_rewind_memory(GpuSort *sort);

/* Give back the memory of all but the rows and what points to them, until rewound. */
extern void gpusort_discard_planes(GpuSort *sort);

/* Make room for more rows in every plane; false if that exceeds the limits. */
extern bool gpusort_grow_planes(GpuSort *sort);

/* Make room for so many rows, which are there already, whatever the limits say. */
extern bool gpusort_grow_planes_to(GpuSort *sort, uint64 rows);

/*
 * Make the row store usable up to `end`, and tell in sort->rows.end how far rows
 * may go; false if they may not go so far.
 */
extern bool gpusort_grow_rows(GpuSort *sort, size_t end);

/* Recompute sort->rows.end. */
extern void gpusort_set_rows_end(GpuSort *sort);

/* A bitmap with room for as many rows as the planes have; NULL if there is none. */
extern GpuSortRange *gpusort_acquire_bitmap(GpuSort *sort, int role);

/* gpusort_range_grow() for a range of the sort's, interruptible and with progress. */
extern bool gpusort_grow_in_steps(GpuSort *sort, GpuSortRange *range, size_t bytes);

/* Memory for the result, which was counted while collecting. */
extern bool gpusort_grow_workspace(GpuSort *sort);

/* Put the memory in use into the statistics. */
extern void gpusort_note_memory(GpuSort *sort);

/* sort_parts.c */

/* Make a sort that has no memory yet a part. */
extern void gpusort_parts_enter(struct GpuSortParts *parts, GpuSort *part);

/* ... one that parts will be joined to, but that does not own the extents. */
extern void gpusort_parts_enter_joined(struct GpuSortParts *parts, GpuSort *sort);

/* Let a part's planes have room for so many rows more; false if all would have too many. */
extern bool gpusort_parts_claim_rows(struct GpuSortParts *parts, uint64 rows);

/* The sort, which has released its memory, is no shared one any more, if it was. */
extern void gpusort_parts_end(GpuSort *sort);

/* sort.c */

/* Forget the rows, keep the memory, but for what gpusortd may still write to. */
extern void gpusort_forget_rows(GpuSort *sort);
extern TupleTableSlot *gpusort_row_slot(GpuSort *sort);
extern void gpusort_run_engine(gs_sort_args *args, gs_sort_result *result);

/* Sort with the engine in this process; false if there is no memory for it. */
extern bool gpusort_sort_on_host(GpuSort *sort);

/* sort_service.c */

/* While collecting: what has arrived may be worth telling gpusortd. */
extern void gpusort_service_feed(GpuSort *sort);

/*
 * Have gpusortd sort; false if it does not.  all_at_once: every row must be in
 * place when this returns, else some of them may become ready later.
 */
extern bool gpusort_service_sort(GpuSort *sort, bool all_at_once);

/* Wait until the first `rows` positions are ready. */
extern void gpusort_service_await(GpuSort *sort, uint64 rows);

/*
 * Have no job any more.  gpusortd may still hold on to some ranges: then they must
 * not be written to again, but be released, and gpusort_service_abandon() called.
 */
extern void gpusort_service_end(GpuSort *sort);
extern bool gpusort_service_holds_memory(const GpuSort *sort);
extern void gpusort_service_abandon(GpuSort *sort);

/* sort_reorder.c */

/* While collecting, with an open job: let gpusortd have rows it may reorder. */
extern void gpusort_reorder_feed(GpuSort *sort);

/* Before the job is run: have rows reordered behind the sort, if that pays and there is room. */
extern void gpusort_reorder_begin(GpuSort *sort);

/*
 * While rows are reordered: find out how many are, or, where that was asked for, wait for
 * the first `rows` of them.
 */
extern void gpusort_reorder_look(GpuSort *sort, uint64 rows);

/* Wait until no more rows will be reordered; all are ready before that. */
extern void gpusort_reorder_finish(GpuSort *sort);

/* The order is going to change: have no rows reordered. */
extern void gpusort_reorder_abandon(GpuSort *sort);

/* As gpusort_fetch_block(), of rows that have been reordered. */
extern void gpusort_reorder_fetch(GpuSort *sort, uint64 from, int count, void **rows);

/* Forget the rows in order, whose memory gpusortd has let go of or is left to the job. */
extern void gpusort_reorder_forget(GpuSort *sort);

/* row_store.c */

/*
 * Room for `bytes` more bytes of row store, at *offset from its base; false if
 * the limit or the system does not allow it.
 */
extern bool gpusort_row_store_reserve(GpuSort *sort, size_t bytes, size_t *offset);

extern void gpusort_row_store_make_template(GpuSort *sort, size_t header);
extern void gpusort_row_store_make_minimal_template(GpuSort *sort);

/*
 * Store the slot's tuple.  *source and *source_len tell where the values of
 * the slot lie if they lie in a tuple, and *copy where that place is in the
 * stored row: a pointer into the former can be translated into the latter.
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
stored_row_is_source(const GpuSort *sort, GpuSortStoredRow *row, size_t len)
{
	row->source = row->copy = sort->rows.places.base + row->offset;
	row->source_len = len;
}

extern bool gpusort_row_store_put(GpuSort *sort, TupleTableSlot *slot,
								  GpuSortStoredRow *row);
extern bool gpusort_row_store_put_tuple(GpuSort *sort, HeapTuple tuple,
										GpuSortStoredRow *row);

/* Store a tuple of fixed-length values, none of them null, by the template. */
extern bool gpusort_row_store_put_fixed(GpuSort *sort, const Datum *values,
										GpuSortStoredRow *row);

/* row_store_columns.c */

/* Columns of a table's tuples that rows are made of. */
typedef struct GpuSortSelection GpuSortSelection;

/*
 * Store the columns selected of a tuple on a page.  *offsets is where they lie in
 * the row, which is their source, 0 for nulls; valid until the next one.  False, and no trace, if
 * there is no room, or if the tuple is shorter than the table's are.
 */
extern bool gpusort_row_store_put_columns(GpuSort *sort, HeapTupleHeader tuple,
										  GpuSortStoredRow *row, const uint32 **offsets);

/* row_store_index.c */
extern void gpusort_row_store_make_index_template(GpuSort *sort);
extern bool gpusort_row_store_put_index(GpuSort *sort, const Datum *values,
										const bool *isnull, ItemPointer tid, GpuSortStoredRow *row);

/* key_planes.c */
extern unsigned gpusort_engine_planes(GpuSort *sort, gs_plane *planes);

/*
 * sort_progress.c: plan what is left of a sort that is performed, and enter its
 * next step; gs_progress_leave() sort->progress when that is done.
 */
extern gs_progress gpusort_enter_engine(GpuSort *sort);
extern gs_progress gpusort_enter_growth(GpuSort *sort, size_t bytes, size_t fresh_bytes);
extern gs_progress gpusort_enter_refinement(GpuSort *sort);
extern gs_progress gpusort_enter_verification(GpuSort *sort);

/*
 * Units of work in the refinement, nanoseconds a row: looking at one that does not
 * tie, at a word of one that does, making a lazy key.  Verification counts rows.
 */
#define GPUSORT_SWEEP_COST		0.3
#define GPUSORT_TIED_COST		130.0
#define GPUSORT_COMPLETE_COST	900.0

/* key_refine.c */
extern bool gpusort_refine(GpuSort *sort);

/* sort_verify.c */
extern bool gpusort_must_verify(const GpuSort *sort);
extern bool gpusort_order_is_right(GpuSort *sort);

/* Comma-separated codec names of the key columns, palloc'd. */
extern char *gpusort_describe_key(const GpuSort *sort);

/* sort_handover.c */

/* Why taking a row in, or sorting, has failed. */
static inline GpuSortHandover
gpusort_handover_cause(const GpuSort *sort)
{
	return sort->keys.value_refused ? GPUSORT_HANDOVER_VALUE : GPUSORT_HANDOVER_MEMORY;
}

extern void gpusort_hand_over(GpuSort *sort, GpuSortHandover why);

/* Move all rows into the sort's tuplesort. */
extern void gpusort_move_to_tuplesort(GpuSort *sort);

/*
 * Rows are read in the order in which they are stored, and this is the offset of the
 * next one: give the memory in front of it back.
 */
extern void gpusort_discard_read_rows(GpuSortRange *rows, size_t *discarded, size_t offset);

#endif							/* GPUSORT_SORT_INTERNAL_H */
