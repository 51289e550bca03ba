/*
 * gs_numbering.c
 *		Words made of bytes, as numbers of mixed radix.
 *
 * Strings waste bits: digits need 3.3 of a byte's 8 bits, hexadecimal digits 4, lower case letters
 * 4.7, and a sort pays for all bits.  So words that are made of strings' bytes are numbered: each
 * byte is replaced by its rank among the bytes that occur at its position, and the ranks are
 * combined as digits of a number of mixed radix.  That keeps the order, and leaves of 62 bits of
 * hexadecimal digits the 32 that tell something.
 *
 * The words stay as they are.  Code that reads a word for the key looks its bytes up in a table,
 * which takes 8 loads and additions.  As numbers are in the order of their words, the numbers of
 * the least and the greatest word are the least and the greatest number, and nothing has to be read
 * again to know the bits that vary.
 */
#include "engine/gs_engine.h"
#include "engine/gs_layout.h"

/*
 * Numbering has to save so many bits: looking at the bytes and numbering the words takes the host
 * as long as sorting by a digit.
 */
#define MIN_SAVED_BITS	8

/* The alphabets while they are collected, in which each byte value has a byte, 0 or 1. */
typedef struct byte_marks
{
	unsigned char seen[GS_WORD_BYTES][GS_BYTE_VALUES];
} byte_marks;

static void
read_marks(byte_marks *marks, const gs_alphabets *alphabets)
{
	for (unsigned p = 0; p < GS_WORD_BYTES; p++)
		for (unsigned b = 0; b < GS_BYTE_VALUES; b++)
			marks->seen[p][b] = alphabets->seen[p][b / 64] >> (b % 64) & 1;
}

static void
write_marks(gs_alphabets *alphabets, const byte_marks *marks)
{
	for (unsigned p = 0; p < GS_WORD_BYTES; p++)
		for (unsigned b = 0; b < GS_BYTE_VALUES; b++)
			alphabets->seen[p][b / 64] |= (uint64_t) marks->seen[p][b] << (b % 64);
}

static inline bool
all_known(const byte_marks *marks, uint64_t word)
{
	const unsigned char (*seen)[GS_BYTE_VALUES] = marks->seen;

	return seen[0][gs_byte_at(word, 0)] & seen[1][gs_byte_at(word, 1)] &
		seen[2][gs_byte_at(word, 2)] & seen[3][gs_byte_at(word, 3)] &
		seen[4][gs_byte_at(word, 4)] & seen[5][gs_byte_at(word, 5)] &
		seen[6][gs_byte_at(word, 6)] & seen[7][gs_byte_at(word, 7)];
}

/*
 * Marks the bytes of words.  Nearly all words have no new byte, and loads are cheaper than stores,
 * so marks are looked at before they are set.
 */
static void
mark_words(byte_marks *marks, const uint64_t *words, uint64_t count)
{
	for (uint64_t i = 0; i < count; i++)
		for (unsigned p = 0; p < GS_WORD_BYTES && !all_known(marks, words[i]); p++)
			marks->seen[p][gs_byte_at(words[i], p)] = 1;
}

/* Adds the bytes of rows [begin, end) of a plane; begin is a multiple of 64. */
void
gs_alphabets_fold(gs_alphabets *alphabets, const gs_plane *plane, uint64_t begin, uint64_t end)
{
	byte_marks	marks;

	read_marks(&marks, alphabets);
	for (uint64_t row = begin; row < end && plane->nulls != NULL; row += 64)
	{
		unsigned	count = end - row < 64 ? (unsigned) (end - row) : 64;
		uint64_t	nulls = plane->nulls[row >> 6];

		for (unsigned i = 0; i < count; i++)
			if ((nulls >> i & 1) == 0)
				mark_words(&marks, plane->words + row + i, 1);
	}
	if (plane->nulls == NULL)
		mark_words(&marks, plane->words + begin, end - begin);
	write_marks(alphabets, &marks);
}

/*
 * Fills the table of what each byte stands for.  The product of the sizes of all alphabets is at
 * most 256^8, so the largest number fits a word.
 */
static void
fill_digits(gs_numbering *numbering, const gs_alphabets *alphabets)
{
	uint64_t	weight = 1;

	for (unsigned p = GS_WORD_BYTES; p-- > 0;)
	{
		uint64_t	rank = 0;

		for (unsigned b = 0; b < GS_BYTE_VALUES; b++)
		{
			numbering->digits[p][b] = rank * weight;
			rank += alphabets->seen[p][b / 64] >> (b % 64) & 1;
		}
		weight *= rank > 0 ? rank : 1;
	}
}

bool
gs_numbering_make(gs_numbering *numbering, const gs_plane_stats *stats,
				  const gs_alphabets *alphabets)
{
	uint64_t	range;

	if (stats->min >= stats->max)
		return false;
	fill_digits(numbering, alphabets);
	range = gs_number(numbering, stats->max) - gs_number(numbering, stats->min);

	/* a range of 0 means that the words have changed between statistics and alphabets */
	return range > 0 && gs_bit_width(range) + MIN_SAVED_BITS <=
		gs_bit_width(stats->max - stats->min) -
		gs_trailing_zeros(stats->all_and ^ stats->all_or);
}
