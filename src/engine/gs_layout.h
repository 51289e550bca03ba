/*
 * gs_layout.h
 *		The composite key: which bits of which plane, in what order, and packed into what.
 */
#ifndef GS_LAYOUT_H
#define GS_LAYOUT_H

#include "engine/gs_engine.h"

/* ---------- layout: the fields of a key, and sections of it ---------- */

/*
 * The key of a row is never stored as a whole.  The layout describes it as a sequence of *fields*,
 * most significant first, each of them a null flag of one bit or the varying bits of a plane's
 * word.  A *section* is the part of that sequence which one sorting step looks at, at most 64 bits
 * wide; it is made of *pieces*, each of which is some bits of one field.  A *cursor* remembers
 * where the next section begins.
 */

/* Statistics of the words of a plane's non-null rows, see gs_layout.c. */
typedef struct gs_plane_stats
{
	uint64_t	min;
	uint64_t	max;
	uint64_t	all_and;
	uint64_t	all_or;
	uint64_t	nulls;			/* how many rows are null */
} gs_plane_stats;

#define GS_PLANE_STATS_INIT	{.min = UINT64_MAX, .all_and = UINT64_MAX}

extern void gs_plane_stats_fold(gs_plane_stats *stats, const gs_plane *plane, uint64_t begin,
								uint64_t end);

/* One null flag, or the varying bits of one plane. */
typedef struct gs_field
{
	unsigned	plane;
	bool		is_null_flag;
	/* if not a null flag: some rows are null, and their bits are zeros */
	bool		nullable;
	const uint64_t *words;		/* the plane's words, for the host's own sort */
	const uint64_t *nulls;		/* NULL: no row is null */
	const gs_numbering *numbering;	/* not NULL: words' numbers make up the field */
	uint64_t	min;			/* is subtracted from a word, or its number, first */
	uint64_t	flag_invert;	/* of a null flag: 1 if nulls sort first */
	unsigned	shift;			/* low bits on which all rows agree, and that are left out */
	unsigned	width;			/* width in bits, 1 .. 64 */
} gs_field;

typedef struct gs_layout
{
	uint64_t	key_bits;		/* sum of the widths */
	unsigned	nfields;
	gs_field	fields[2 * GS_MAX_PLANES];
} gs_layout;

/* A position between two bits of the composite key. */
typedef struct gs_cursor
{
	uint64_t	bits_left;		/* bits from here to the end of the key */
	unsigned	field;			/* the field that holds the next bit */
	unsigned	field_used;		/* how many leading bits of that field are before the cursor */
} gs_cursor;

/* The widest section.  The host's items have room for 63 bits beside a row id. */
#define GS_SECTION_MAX_BITS	64

/* A piece of a section: consecutive bits of one field. */
typedef struct gs_piece
{
	const gs_field *field;
	unsigned	shift;			/* bits of the field below the piece */
	unsigned	width;
	uint64_t	mask;			/* the lowest `width` bits are set */
} gs_piece;

typedef struct gs_section
{
	unsigned	width;
	unsigned	npieces;
	gs_piece	pieces[GS_SECTION_MAX_BITS];
} gs_section;

/*
 * gs_layout_clear() makes the layout of no planes; gs_layout_add_plane() adds a plane, most
 * significant first.  If the plane has a numbering, it is used, and has to stay where it is.
 */
extern void gs_layout_clear(gs_layout *layout);
extern void gs_layout_add_plane(gs_layout *layout, unsigned index, const gs_plane *plane,
								const gs_plane_stats *stats, uint64_t nrows);

/*
 * How to get a plane's word back out of keys of at most 64 bits.  If all words of a plane are the
 * same, they are not in the key.
 */
typedef struct gs_unpacking
{
	unsigned	width;			/* how many bits of the key are the word's; 0: the word is `min` */
	unsigned	key_shift;		/* bits of the key below them */
	unsigned	shift;			/* low bits of the word that are not in the key */
	uint64_t	mask;			/* the lowest `width` bits are set */
	uint64_t	min;
	uint64_t	flag;			/* the key's bit that tells which rows are null; 0: there is none */
	uint64_t	flag_of_null;	/* that bit in the key of a null */
} gs_unpacking;

static inline bool
gs_unpack_is_null(const gs_unpacking *unpacking, uint64_t key)
{
	return unpacking->flag != 0 && (key & unpacking->flag) == unpacking->flag_of_null;
}

static inline uint64_t
gs_unpack_word(const gs_unpacking *unpacking, uint64_t key)
{
	return ((key >> unpacking->key_shift & unpacking->mask) << unpacking->shift) + unpacking->min;
}

/*
 * Returns how to get the words of a plane back out of keys.  only_word is what the plane's words
 * are if they are all the same.  The plane must not be numbered.
 */
extern gs_unpacking gs_layout_find_word(const gs_layout *layout, unsigned plane,
										uint64_t only_word);

extern gs_cursor gs_layout_start(const gs_layout *layout);
extern void gs_section_build(gs_section *section, const gs_layout *layout,
							 gs_cursor *cursor, unsigned width);

/* ---------- numbering: words made of bytes, as numbers of mixed radix ---------- */

/* The compilers of the host and of the device read this. */

#ifdef __CUDACC__
#define GS_WORD_FUNCTION	static __host__ __device__ __forceinline__
#else
#define GS_WORD_FUNCTION	static inline
#endif

/* With fewer rows a table of numbers costs more time than it saves. */
#define GS_NUMBERING_MIN_ROWS	4096

/*
 * Which bytes occur at each position of the words of a plane's non-null rows, a bit each; position
 * 0 is the most significant byte.  All zeros at first: no words were looked at.
 */
typedef struct gs_alphabets
{
	uint64_t	seen[GS_WORD_BYTES][GS_BYTE_VALUES / 64];
} gs_alphabets;

extern void gs_alphabets_fold(gs_alphabets *alphabets, const gs_plane *plane, uint64_t begin,
							  uint64_t end);

/*
 * Makes the numbering of words with these statistics and alphabets; returns false if that saves too
 * little.
 */
extern bool gs_numbering_make(gs_numbering *numbering, const gs_plane_stats *stats,
							  const gs_alphabets *alphabets);

/* Returns the byte at a position of a word. */
GS_WORD_FUNCTION unsigned
gs_byte_at(uint64_t word, unsigned position)
{
	return (unsigned) (word >> (8 * (GS_WORD_BYTES - 1 - position))) & (GS_BYTE_VALUES - 1);
}

/*
 * Returns a word's number.  A word with other bytes than those of the alphabets gets some number.
 */
GS_WORD_FUNCTION uint64_t
gs_number(const gs_numbering *numbering, uint64_t word)
{
	const uint64_t (*digits)[GS_BYTE_VALUES] = numbering->digits;

	return digits[0][gs_byte_at(word, 0)] + digits[1][gs_byte_at(word, 1)] +
		digits[2][gs_byte_at(word, 2)] + digits[3][gs_byte_at(word, 3)] +
		digits[4][gs_byte_at(word, 4)] + digits[5][gs_byte_at(word, 5)] +
		digits[6][gs_byte_at(word, 6)] + digits[7][gs_byte_at(word, 7)];
}

/* ---------- pack: bits of planes into keys and items ---------- */

/* How many rows are packed at a time; a multiple of 64, the rows of a bitmap word. */
#define GS_PACK_BLOCK_ROWS	512

extern uint64_t gs_pack_row(const gs_section *section, uint64_t row);
extern void gs_pack_keys(uint64_t *keys, const gs_section *section, uint64_t first_row,
						 unsigned count);
extern void gs_pack_rows(uint64_t *items, const gs_section *section, unsigned id_bits,
						 uint64_t first_row, unsigned count);
extern void gs_repack_items(uint64_t *items, const gs_section *section, unsigned id_bits,
							uint64_t count);
extern void gs_prefetch_section(const gs_section *section, uint64_t row);

#endif							/* GS_LAYOUT_H */
