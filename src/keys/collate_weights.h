/*
 * collate_weights.h
 *		What strxfrm() makes of ASCII strings, without calling it.
 *
 * glibc compares strings level by level (letters, then accents, then case, then
 * everything), and strxfrm() writes the levels one after the other, each a list of
 * the characters' weights:
 *
 *		weights 1, 01, weights 2, 01, weights 3, 01, weights 4
 *
 * Nearly always a string's weights are those of its characters, one after the other.
 * So a table of every character's weights, taken from strxfrm() of that character
 * alone, is enough to make the same bytes for any string, in a sixth of the time
 * (test/unit/weights_test --time).  Which two characters make something else together, as c and
 * h in Czech, is found out by trying all pairs.  Strings in which such a pair may occur, and
 * those with anything but printable ASCII, are left to strxfrm().
 *
 * Besides, the first weights of a string, renumbered to one byte each, are a word that
 * tells it from most others: eight letters or digits, where eight bytes of strxfrm()'s
 * result are four to eight.
 *
 * What is learned is tried on strings and given up if it isn't so; and sorts by
 * libc's collations are verified with strcoll() anyway (sort_verify.c).
 *
 * Plain C without the server, for the sake of the unit tests.
 */
#ifndef GPUSORT_COLLATE_WEIGHTS_H
#define GPUSORT_COLLATE_WEIGHTS_H

#include <locale.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define COLLATE_LEVELS		4

/* Most bytes that one character adds to a key; separators and slack of a key. */
#define COLLATE_CHAR_BYTES	16
#define COLLATE_KEY_SLACK	16

/* What strings with a character are like. */
#define COLLATE_FOREIGN		1	/* not learned */
#define COLLATE_OPENS		2	/* may make something else with a character behind */
#define COLLATE_CLOSES		4	/* ... with the one before */

/* A character's weight on a level, or a part of the alphabet. */
typedef struct CollateWeight
{
	uint8_t		bytes[8];
	uint32_t	len;
} CollateWeight;

typedef struct CollateWeights
{
	uint8_t		kind[256];		/* bits from above */
	uint8_t		letter[256];	/* renumbered first weight, 0: it has none */
	CollateWeight weight[COLLATE_LEVELS][128];

	/* the different first weights in order; number i is letter 2 * i + 2 */
	CollateWeight alphabet[128];
	int			nletters;
} CollateWeights;

/*
 * Learn the characters' weights under a locale; false if its keys don't look like
 * weights of characters (the C locale, other C libraries).  20 microseconds.
 */
extern bool collate_learn_weights(CollateWeights *w, locale_t locale);

/*
 * Find the pairs of characters that are more than the two; false if weights of
 * characters don't make keys after all.  2 milliseconds.  To be done before any of the
 * functions below is used.
 */
extern bool collate_learn_pairs(CollateWeights *w, locale_t locale);

/*
 * The first word of a string's key: words that differ order the strings as strxfrm()
 * does.  False if the string is left to strxfrm().
 */
extern bool collate_word(const CollateWeights *w, const char *string, size_t len,
						 uint64_t *word);

/*
 * Strings that begin with the same `shared` bytes are ordered by the words of what is behind so
 * many of these, where they differ: up to a character that makes nothing else with those that
 * follow.
 */
extern size_t collate_rest(const CollateWeights *w, const char *string, size_t shared);

/* The same word, from what strxfrm() has made of the string. */
extern uint64_t collate_word_of_key(const CollateWeights *w, const char *key, size_t len);

/*
 * Write what strxfrm() makes of a string, without a zero byte behind it, to key, which has room for
 * len * COLLATE_CHAR_BYTES + COLLATE_KEY_SLACK bytes.  False if the string is left to
 * strxfrm().
 */
extern bool collate_key(const CollateWeights *w, const char *string, size_t len,
						char *key, size_t *key_len);

#endif							/* GPUSORT_COLLATE_WEIGHTS_H */
