/*
 * first_word.h
 *		The first word of a row's sort key, made anew from its value.
 *
 * Some code needs the first key word of a value that does not go into a sort, or whose words are
 * gone.  GpuSortFirstWord makes it.  The first words of two sorts in the same order (operator
 * family, direction, collation) can be compared with each other, even if their columns are of
 * different types of the family, provided that gpusort_first_words_compare() says so.
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
	uint64		flip;			/* xor-ed to the word: all ones for descending order */
	int			integer_bytes;	/* width if the value is an integer, else 0 */
	bool		exact;			/* two values with the same word are equal */
} GpuSortFirstWord;

/*
 * Returns whether the first words of two columns, of these types and sorted by these operators, can
 * be compared with each other.
 */
extern bool gpusort_first_words_compare(Oid sortop, Oid type, Oid other_sortop, Oid other_type,
										Oid collation);

/*
 * Prepares *word for making the first words of one such column, with memory of the current context.
 */
extern void gpusort_begin_first_word(GpuSortFirstWord *word, Oid sortop, Oid type, Oid collation);

/*
 * Returns the first word of a value, which must not be null.  The value is detoasted in the current
 * context.
 */
extern uint64 gpusort_first_word(GpuSortFirstWord *word, Datum value);

#endif							/* GPUSORT_FIRST_WORD_H */
