/*
 * first_word.h
 *		The first word of a row's sort key, made anew from its value.
 *
 * Sorts of the same order (operator family, direction, collation) have comparable first words, of
 * whatever type of the family their column is, if gpusort_first_words_compare() says so.
 *
 * Public: other folders include it.
 */
#ifndef GPUSORT_FIRST_WORD_H
#define GPUSORT_FIRST_WORD_H

#include "keys/key_codec.h"

typedef struct GpuSortFirstWord
{
	GpuSortEncoder encoder;
	GpuSortKeyMemory memory;
	uint64		flip;			/* all ones for descending order */
	int			integer_bytes;	/* the value is an integer of so many; 0: something else */
	bool		exact;			/* values that have the same word are equal */
} GpuSortFirstWord;

/* Are the first words of columns of these types in one order? */
extern bool gpusort_first_words_compare(Oid sortop, Oid type, Oid other_sortop, Oid other_type,
										Oid collation);

/* ... then: begin to make those of one of them, in the current context. */
extern void gpusort_begin_first_word(GpuSortFirstWord *word, Oid sortop, Oid type, Oid collation);

/* That of a value which is not null.  Values are detoasted in the current context. */
extern uint64 gpusort_first_word(GpuSortFirstWord *word, Datum value);

#endif							/* GPUSORT_FIRST_WORD_H */
