/*
 * keys_private.h
 *		The keys of a sort: its columns, their planes, and the byte strings of keys.
 */
#ifndef GPUSORT_KEYS_PRIVATE_H
#define GPUSORT_KEYS_PRIVATE_H

#include "access/tupmacs.h"
#include "port/pg_bswap.h"

#include "engine/gs_engine.h"
#include "keys/key_codec.h"
#include "memory/memory_range.h"
#include "pg_compat.h"
#include "sort/rows_private.h"
#include "sort/sort.h"

/* ---------- a sort's columns, and the planes that their keys lie in ---------- */

/*
 * Every part of every sort column has a plane, which is an array indexed by row id.  words[w] is
 * the plane of normalised key word w; the words are complemented for descending order.  For byte
 * strings, `prefix` is the plane of the strings' first words, and `refs` tells where the whole
 * strings lie.
 */

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
	/* codec to use if rows are made of their keys (key_rows.c) */
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
	bool		not_repaired;	/* rows that the verification finds out of order are not repaired */

	gs_plane   *planes;			/* input of the engine (key_planes.c) */
	unsigned	nplanes;
	/* column whose strings go on behind the last plane; -1: there is none */
	int			refine_column;

	GpuSortKeyMemory memory;	/* memory that the encoders hold */
	bool		value_refused;	/* some value had no encoding */
	/* begin and end of the part of the row store that may take keys made by the refinement */
	size_t		room_begin;
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

/* ---------- the byte strings of keys: where they lie, and their words ---------- */

/*
 * Where a key's byte string lies: offset from the row store's base in the upper
 * 40 bits, length in the lower 24.  Longer strings have no encoding.
 */
#define KEY_REF_LENGTH_BITS 24
#define KEY_REF_MAX_LENGTH	((1 << KEY_REF_LENGTH_BITS) - 1)
#define KEY_REF(offset, len) (((uint64) (offset) << KEY_REF_LENGTH_BITS) | (len))
#define KEY_REF_OFFSET(ref) ((ref) >> KEY_REF_LENGTH_BITS)
#define KEY_REF_LENGTH(ref) ((uint32) ((ref) & KEY_REF_MAX_LENGTH))

/* A row store must be smaller than this, or KEY_REF could not tell an offset in it. */
#define ROW_STORE_MAX_BYTES ((size_t) 1 << (64 - KEY_REF_LENGTH_BITS))

/*
 * Bytes of a string that one key word covers.  The last byte of a binary string's word is not a
 * byte of the string, but the number of bytes that are left, at most 8, so that "a" sorts before
 * "a\0".
 */
#define PADDED_WORD_BYTES	8
#define BINARY_WORD_BYTES	7

/* Returns the string that a reference points to.  base is the row store's. */
static inline const char *
string_by_ref(const char *base, uint64 ref)
{
	return base + KEY_REF_OFFSET(ref);
}

/* Returns the first 8 of len bytes as a big-endian word, zero-padded on the right. */
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

/* Returns the key word that begins at byte `from` of a string of len bytes. */
static inline uint64
bytes_word(GpuSortBytesKind kind, const char *data, uint32 len, uint32 from)
{
	uint32		left = len > from ? len - from : 0;

	if (kind == GPUSORT_BYTES_PADDED)
		return load_padded_word(data + from, left);
	return (load_padded_word(data + from, Min(left, BINARY_WORD_BYTES)) & ~UINT64CONST(0xff)) |
		Min(left, 8);
}

/* Returns whether a string of len bytes goes on behind the key word that begins at byte `from`. */
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

/* ---------- which planes the engine sorts by ---------- */

/*
 * Fills in keys->planes and keys->nplanes with the planes that the engine is to sort these rows by,
 * and sets keys->refine_column to the column whose strings go on behind the last plane, or to -1.
 * A column has three planes at most.
 */
extern void gpusort_choose_planes(GpuSortKeys *keys, const GpuSortRows *rows);

/*
 * Restores prefix planes that gpusort_choose_planes() has changed, for a sort that the engine has
 * failed to do.
 */
extern void gpusort_restore_planes(GpuSortKeys *keys, const GpuSortRows *rows);

/*
 * Returns whether the column's prefix plane is final: gpusort_choose_planes() will not change the
 * words that it has, whatever rows still come.
 */
extern bool gpusort_prefix_is_final(const GpuSortColumn *column);

/* ---------- a sort column's value into its planes ---------- */

/*
 * Encodes one sort column's value of row `id` into the column's planes.  `row` tells how the row
 * was stored; NULL: it is not stored.  Returns false if there is no room for the value's string, or
 * if the value has no encoding; then keys.value_refused is set.
 */
extern bool gpusort_put_key(GpuSort *sort, GpuSortColumn *column, uint32 id, Datum value,
							bool is_null, const GpuSortStoredRow *row);

/*
 * Does the same for a value that lies in a tuple and is not null.  Plain integers, which include
 * dates and timestamps, take no function call.
 */
static pg_always_inline bool
gpusort_put_stored_key(GpuSort *sort, GpuSortColumn *column, uint32 id,
					   const char *value, const GpuSortStoredRow *row)
{
	uint64		word;

	switch (column->integer_bytes)
	{
		case sizeof(int64):
			word = word_from_int64(*(const int64 *) value);
			break;
		case sizeof(int32):
			word = word_from_int64(*(const int32 *) value);
			break;
		default:
			return gpusort_put_key(sort, column, id,
								   fetch_att(value, column->attbyval, column->attlen),
								   false, row);
	}
	if (column->nulls != NULL && (id & 63) == 0)
		RANGE_U64(column->nulls)[id >> 6] = 0;
	RANGE_U64(column->words[0])[id] = word ^ column->flip;
	return true;
}

#endif							/* GPUSORT_KEYS_PRIVATE_H */
