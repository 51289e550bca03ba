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
 * Nearly always a string's weights are those of its characters, one after the other.  So a table of
 * every character's weights, taken from strxfrm() of that character alone, is enough to make the
 * same bytes for any string, in a sixth of the time (test/unit/weights_test --time).  Some pairs of
 * characters make something else together, as c and h do in Czech; which pairs do is found out by
 * trying all.  Strings in which such a pair may occur, and strings with anything but printable
 * ASCII, are left to strxfrm().
 *
 * Besides, the first weights of a string, renumbered to one byte each, are a word that
 * tells the string from most others.  It covers eight letters or digits, where the first eight
 * bytes of strxfrm()'s result cover four to eight.
 *
 * What was learned is tried on strings and given up if strxfrm() makes something else of one; and
 * sorts by libc's collations are verified with strcoll() anyway (sort_verify.c).
 *
 * This is plain C without the server, for the sake of the unit tests.
 */
#ifndef GPUSORT_COLLATE_WEIGHTS_H
#define GPUSORT_COLLATE_WEIGHTS_H

#include <locale.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define COLLATE_LEVELS		4

/* The most bytes that one character adds to a key; and a key's separators, with some slack. */
#define COLLATE_CHAR_BYTES	16
#define COLLATE_KEY_SLACK	16

/* Bits of CollateWeights.kind. */
#define COLLATE_FOREIGN		1	/* the character was not learned */
#define COLLATE_OPENS		2	/* it may make something else with a character behind it */
#define COLLATE_CLOSES		4	/* it may make something else with a character before it */

/* A character's weight on one level, or an entry of the alphabet. */
typedef struct CollateWeight
{
	uint8_t		bytes[8];
	uint32_t	len;
} CollateWeight;

typedef struct CollateWeights
{
	uint8_t		kind[256];		/* COLLATE_xxx bits of every character */
	uint8_t		letter[256];	/* first weight, renumbered; 0: the character has none */
	CollateWeight weight[COLLATE_LEVELS][128];

	/* the different first weights in order; entry i is renumbered as letter 2 * i + 2 */
	CollateWeight alphabet[128];
	int			nletters;
} CollateWeights;

/*
 * Learns the characters' weights under a locale, which takes 20 microseconds.  Returns false if the
 * locale's keys don't look like weights of characters (the C locale, other C libraries).
 */
extern bool collate_learn_weights(CollateWeights *w, locale_t locale);

/*
 * Finds the pairs of characters that make something else together, which takes 2 milliseconds.
 * Returns false if keys are not made of the weights of characters after all.  To be called before
 * any of the functions below.
 */
extern bool collate_learn_pairs(CollateWeights *w, locale_t locale);

/*
 * Makes the first word of a string's key.  Words that differ order the strings as strxfrm() does.
 * Returns false if the string is left to strxfrm().
 */
extern bool collate_word(const CollateWeights *w, const char *string, size_t len,
						 uint64_t *word);

/*
 * Returns, of strings that begin with the same `shared` bytes, behind how many of these bytes a
 * rest begins whose word orders all strings that differ in it.  The bytes in front of the rest end
 * with a character that makes nothing else with its neighbours; 0 if there is none.
 */
extern size_t collate_rest(const CollateWeights *w, const char *string, size_t shared);

/* Makes the word that collate_word() makes from what strxfrm() has made of the string. */
extern uint64_t collate_word_of_key(const CollateWeights *w, const char *key, size_t len);

/*
 * Writes what strxfrm() makes of a string to `key`, which has room for
 * len * COLLATE_CHAR_BYTES + COLLATE_KEY_SLACK bytes, without a zero byte behind it.  Returns false
 * if the string is left to strxfrm().
 */
extern bool collate_key(const CollateWeights *w, const char *string, size_t len,
						char *key, size_t *key_len);

#endif							/* GPUSORT_COLLATE_WEIGHTS_H */
