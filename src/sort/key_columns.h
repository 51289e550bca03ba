/*
 * key_columns.h
 *		A sort's columns, and the planes that their keys lie in.
 *
 * Every part of every sort column has a plane, which is an array indexed by row id.  words[w] is
 * the plane of normalised key word w; the words are complemented for descending order.  For byte
 * strings, `prefix` is the plane of the strings' first words, and `refs` tells where the whole
 * strings lie (key_strings.h).
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

/* What is known about the strings of a column, all of those that came so far. */
typedef struct GpuSortStringFacts
{
	bool		long_keys;		/* some string goes on behind its prefix word */
	uint32		common_len;		/* number of leading bytes that all strings share */
	uint64		common_ref;		/* reference to a string that begins with these; 0: none yet */
} GpuSortStringFacts;

/* One sort column. */
typedef struct GpuSortColumn
{
	AttrNumber	attno;
	bool		nulls_first;

	/* as gpusort_fixed_offset(): offset in a tuple without nulls, or -1 */
	int			fixed_offset;
	int16		attlen;
	bool		attbyval;
	char		attalign;

	GpuSortEncoder encoder;
	const GpuSortCodec *stored_codec;	/* codec to use if rows are stored */
	/* codec to use if rows are made of their keys (key_rows.h) */
	const GpuSortCodec *distinct_codec;
	uint64		flip;			/* xor-ed to all words: all ones for descending order */

	/* the byte string part of the key, if the codec has one */
	GpuSortBytesKind bytes;
	/* refs point to strings; keys are made of them by the refinement, if needed */
	bool		lazy;
	GpuSortRange *prefix;		/* plane of uint64: the first word of each string */
	GpuSortRange *refs;			/* plane of uint64: the KEY_REF of each string */
	GpuSortStringFacts facts;
	uint32		base;			/* byte of the strings at which their prefix words begin */
	gs_numbering *numbering;	/* numbers for the bytes of prefix words, made by the engine */

	/* the words behind the byte string part, or all words if there is none */
	int			nwords;
	/* width of the integer that the word is made of; 0: it is of something else */
	int			integer_bytes;
	GpuSortRange *words[GPUSORT_CODEC_MAX_WORDS];

	GpuSortRange *nulls;		/* bitmap of nulls by row id; NULL until the first null comes */
} GpuSortColumn;

/* The columns of a sort, and the planes that the engine sorts by. */
typedef struct GpuSortKeys
{
	int			ncolumns;
	GpuSortColumn *columns;
	AttrNumber	max_attno;		/* highest attribute number among the columns */
	bool		any_bytes;		/* some column has a byte string part */
	bool		fixed;			/* all columns have a fixed_offset */
	bool		untrusted;		/* some codec is untrusted: the order must be verified */
	bool		irreparable;	/* rows that the verification finds out of order are not repaired */

	gs_plane   *planes;			/* input of the engine (key_planes.h) */
	unsigned	nplanes;
	/* column whose strings go on behind the last plane; -1: there is none */
	int			refine_column;

	GpuSortKeyMemory memory;	/* memory that the encoders hold */
	bool		value_refused;	/* some value had no encoding */
	/* end of the part of the row store that may take keys made by the refinement */
	size_t		room_end;
	size_t		most_used;		/* most bytes of the row store used by the refinement at any time */
} GpuSortKeys;

static inline bool
column_is_null(const GpuSortColumn *column, uint32 id)
{
	return column->nulls != NULL &&
		(RANGE_U64(column->nulls)[id >> 6] >> (id & 63) & 1) != 0;
}

/*
 * Fills in *keys with the columns of a sort, in the current memory context and without memory for
 * rows.  The encoders may hold encoders_bytes in all.
 */
extern void gpusort_begin_columns(GpuSortKeys *keys, TupleDesc desc, const GpuSortSpec *spec,
								  size_t encoders_bytes);

/*
 * Gives back the memory that the encoders hold.  To be called when no more keys will be made for
 * now.
 */
extern void gpusort_forget_keys(GpuSortKeys *keys);

/* Forgets what is known about the values of rows that came so far. */
extern void gpusort_forget_values(GpuSortKeys *keys);

/*
 * Updates `facts`, which counts the leading bytes that all strings of a column share, for one more
 * string.  Its reference is ref, and its bytes are data[0 ..  len - 1].  To join the facts about
 * another set of strings, pass the bytes that these share.  References count from base, the row
 * store's.
 */
extern void gpusort_note_common_prefix(GpuSortStringFacts *facts, const char *base, uint64 ref,
									   const char *data, uint32 len);

/* Returns the names of the codecs, separated by commas.  The string is palloc'd. */
extern char *gpusort_describe_columns(const GpuSortKeys *keys);

#endif							/* GPUSORT_KEY_COLUMNS_H */
