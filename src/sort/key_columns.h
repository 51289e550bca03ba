/*
 * key_columns.h
 *		The columns that a sort is by, and the planes that their keys lie in.
 *
 * Every part of every sort column has a plane: words[id] is the normalised key word of row
 * id, complemented for descending order, and for byte strings refs[id] says where the whole
 * string lies (key_strings.h).
 *
 * Private to src/sort.
 */
#ifndef GPUSORT_KEY_COLUMNS_H
#define GPUSORT_KEY_COLUMNS_H

#include "engine/gs_engine.h"
#include "keys/key_codec.h"
#include "memory/memory_range.h"
#include "sort/sort.h"

#define RANGE_U64(range) ((uint64 *) (range)->base)
#define RANGE_U32(range) ((uint32 *) (range)->base)

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
	const GpuSortCodec *stored_codec;	/* the encoder's: of rows that are stored, */
	const GpuSortCodec *distinct_codec; /* ... or made of their keys (key_rows.h) */
	uint64		flip;			/* all ones for descending order */

	/* byte string part, if the codec has one */
	GpuSortBytesKind bytes;
	bool		lazy;			/* refs are to strings without a key, until the
								 * refinement needs one */
	GpuSortRange *prefix;		/* first word of the string, uint64 */
	GpuSortRange *refs;			/* KEY_REF of the string, uint64 */
	GpuSortStringFacts facts;
	uint32		base;			/* where in the string the prefix word begins */
	gs_numbering *numbering;	/* of the prefix words, for the engine */

	int			nwords;
	int			integer_bytes;	/* the word is that of such an integer; 0: of
								 * something else */
	GpuSortRange *words[GPUSORT_CODEC_MAX_WORDS];

	GpuSortRange *nulls;		/* bitmap, once a null was seen */
} GpuSortColumn;

/* All of them, and what the engine sorts by. */
typedef struct GpuSortKeys
{
	int			ncolumns;
	GpuSortColumn *columns;
	AttrNumber	max_attno;		/* last attribute that keys need */
	bool		any_bytes;		/* some column has a byte string part */
	bool		fixed;			/* all columns have a fixed offset */
	bool		untrusted;		/* some codec asks for verification, ... */
	bool		irreparable;	/* ... and what that finds can't be put right */

	gs_plane   *planes;			/* the engine's (key_planes.h) */
	unsigned	nplanes;
	int			refine_column;	/* its strings go on behind the planes; -1: none do */

	GpuSortKeyMemory memory;	/* of the encoders */
	bool		value_refused;	/* a key had no encoding */
	size_t		room_end;		/* of the row store, for keys that are made when ties are refined */
	size_t		most_used;		/* ... of which so much was used at most */
} GpuSortKeys;

static inline bool
column_is_null(const GpuSortColumn *column, uint32 id)
{
	return column->nulls != NULL &&
		(RANGE_U64(column->nulls)[id >> 6] >> (id & 63) & 1) != 0;
}

/*
 * Columns without memory for any rows, in the current context, whose encoders may hold so
 * many bytes.
 */
extern void gpusort_begin_columns(GpuSortKeys *keys, TupleDesc desc, const GpuSortSpec *spec,
								  size_t encoders_bytes);

/* No more keys will be made for now: give back what the encoders hold. */
extern void gpusort_forget_keys(GpuSortKeys *keys);

/* Forget what is known about the values of rows. */
extern void gpusort_forget_values(GpuSortKeys *keys);

/*
 * Keep track of how many leading bytes all strings of a column have in common, given one
 * more of them, or what others have in common.  base: what references count from.
 */
extern void gpusort_note_common_prefix(GpuSortStringFacts *facts, const char *base, uint64 ref,
									   const char *data, uint32 len);

/* Comma-separated names of the codecs, palloc'd. */
extern char *gpusort_describe_columns(const GpuSortKeys *keys);

#endif							/* GPUSORT_KEY_COLUMNS_H */
