/*
 * gs_layout.h
 *		The composite key: which bits of which plane, and in what order.
 *
 * The key of a row is never stored as a whole.  The layout describes it as a
 * sequence of *fields*, most significant first, each a null flag of one bit or
 * the varying bits of a plane's word.  A *slice* is the part of that sequence
 * which one sorting step looks at, at most 63 bits wide; a *cursor* remembers
 * where the next slice begins.
 */
#ifndef GS_LAYOUT_H
#define GS_LAYOUT_H

#include "gs_engine.h"

/* One null flag, or the varying bits of one plane. */
typedef struct gs_field
{
	const uint64_t *words;		/* NULL: the field is the null flag */
	const uint64_t *nulls;		/* NULL: no row is null */
	uint64_t	min;			/* words: subtracted first */
	uint64_t	flag_invert;	/* null flag: 1 when nulls sort first */
	unsigned	shift;			/* words: low bits on which all rows agree */
	unsigned	width;			/* bits, 1 .. 64 */
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
	uint64_t	bits_left;		/* from here to the end of the key */
	unsigned	field;			/* field that holds the next bit */
	unsigned	field_used;		/* leading bits of it that are behind us */
} gs_cursor;

/* The widest slice: an item has at least one bit of row id. */
#define GS_SLICE_MAX_BITS	63

/* Consecutive bits of one field. */
typedef struct gs_piece
{
	const gs_field *field;
	unsigned	shift;			/* bits of the field below the piece */
	unsigned	width;
	uint64_t	mask;			/* width ones */
} gs_piece;

typedef struct gs_slice
{
	unsigned	width;
	unsigned	npieces;
	gs_piece	pieces[GS_SLICE_MAX_BITS];
} gs_slice;

extern gs_status gs_layout_build(gs_layout *layout, const gs_sort_args *args);
extern gs_cursor gs_layout_start(const gs_layout *layout);
extern void gs_slice_build(gs_slice *slice, const gs_layout *layout,
						   gs_cursor *cursor, unsigned width);

#endif							/* GS_LAYOUT_H */
