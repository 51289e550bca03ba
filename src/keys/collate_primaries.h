/*
 * collate_primaries.h
 *		ICU's sort keys and their beginnings, made without calling ICU.
 *
 * A sort key begins with the primary weights of the string's characters, one to four bytes
 * each, followed by a byte 01.  The weights of most characters of most scripts do not depend on
 * their neighbours.  So a table with the weights of every character that UTF-8 writes with one or
 * two bytes gives the first eight bytes of a key, its word, in 15 ns, where
 * ucol_nextSortKeyPart() takes 200.
 *
 * Two kinds of strings are left to ICU: those with a character that was not learned (it takes three
 * or more bytes, is ignorable or combining, or stands for several weights), and those with two
 * neighbours that a contraction may join (Czech c and h).  The table and ICU make the same word, so
 * it does not matter when a process learns the table, or whether it does.
 *
 * Whole keys go on with a level of secondary weights (accents) and one of tertiary weights (case),
 * each behind a byte 01.  The table makes the keys of strings whose characters all have the
 * secondary weight that nearly all characters have, and a tertiary weight of one byte.
 *
 * Two weights of the table that differ prove the order of two strings for ICU's comparison, too.
 * ICU's keys and its comparison do disagree about strings in which a character's weights depend on
 * other characters: where punctuation is ignored together with what follows it, or where marks come
 * in an order that normalisation changes.  But both compare the primary weights of the strings
 * first, in the order of the characters.  The table only has characters that have one primary
 * weight of their own and that no normalisation moves, and it gives up on any two characters that
 * may be seen as one, as far as one character behind the first two that differ.  So the
 * comparison finds the same difference.  If a trial with random strings finds otherwise, weights
 * prove nothing.
 *
 * Learning takes some 8 ms for a collation, so it begins when ICU has been asked so often that
 * this has taken as long.
 */
#ifndef GPUSORT_COLLATE_PRIMARIES_H
#define GPUSORT_COLLATE_PRIMARIES_H

#include "postgres.h"

#ifdef USE_ICU

#include <unicode/ucol.h>

/* Characters that UTF-8 writes with one or two bytes. */
#define PRIMARIES_CHARS		0x800

/*
 * Bytes of sort keys: what separates two levels, and the secondary and tertiary weight that most
 * characters have.
 */
#define LEVEL_SEPARATOR		0x01
#define COMMON_WEIGHT		0x05

/* Bits of CollatePrimary.kind: what a character is like beside its weight. */
#define PRIMARY_COMPRESSES	1	/* its weight's first byte is left out behind the same byte */
#define PRIMARY_OPENS		2	/* a contraction may begin with the character */
#define PRIMARY_CLOSES		4	/* a contraction may go on with the character */

/* The primary weight of a character. */
typedef struct CollatePrimary
{
	uint8		bytes[4];
	uint8		len;			/* bytes used; 0: not learned */
	uint8		kind;			/* PRIMARY_xxx bits */
	uint8		tertiary;		/* tertiary weight; 0: whole keys are left to ICU */
} CollatePrimary;

/* The table of a collator's primary weights. */
typedef struct CollatePrimaries
{
	struct CollatePrimaries *next;
	const UCollator *collator;
	uint32		asked;			/* how often ICU has made a word */
	bool		tried;			/* has this process tried to learn the table? */
	bool		learned;		/* can the table be used? */
	bool		proves;			/* do weights that differ prove an order? */
	bool		makes_keys;		/* can the table make whole keys? */

	/*
	 * The weights of ASCII characters whose weight is one byte that is never left out, and with
	 * which no contraction goes on; 0 for all other bytes.
	 */
	uint8		single[256];
	CollatePrimary of[PRIMARIES_CHARS];
} CollatePrimaries;

/*
 * Returns what this process knows about a collator, or NULL if there is no memory for that.  The
 * collator must never be closed, as PostgreSQL's are not.  The result is never freed.
 */
extern CollatePrimaries *gpusort_primaries_of(const UCollator *collator);

/*
 * Makes the word of a UTF-8 string: the first eight bytes of its primary weights, big-endian,
 * filled up with zeros.  Returns false if the string is left to ICU; the caller then calls
 * gpusort_primaries_ask(), and gpusort_primaries_asked().
 */
extern bool gpusort_primaries_word(const CollatePrimaries *primaries, const char *string,
								   uint32 len, uint64 *word);

/*
 * Returns, of UTF-8 strings that begin with the same `shared` bytes, behind how many of these bytes
 * a rest begins whose word orders all strings that differ in it.  The bytes in front of the rest
 * end with a character that is in no contraction; 0 if there is none.
 */
extern uint32 gpusort_primaries_rest(const CollatePrimaries *primaries, const char *string,
									 uint32 shared);

/*
 * Writes the whole key of a UTF-8 string to `buffer` of `size` bytes, with a zero byte behind it.
 * Returns the key's length without that byte; 0 if the buffer is too small, or the string is left
 * to ICU.
 */
extern uint32 gpusort_primaries_key(const CollatePrimaries *primaries, const char *string,
									uint32 len, uint8 *buffer, uint32 size);

/*
 * Sets *cmp to what ICU's comparison says of two UTF-8 strings, by the first two primary weights
 * that differ.  Returns false if no weights differ, or if a character before these two, or the one
 * behind them, was not learned.
 */
extern bool gpusort_primaries_order(const CollatePrimaries *primaries, const char *a, uint32 a_len,
									const char *b, uint32 b_len, int *cmp);

/* Has ICU make the word that gpusort_primaries_word() makes.  Returns false if ICU fails. */
extern bool gpusort_primaries_ask(const UCollator *collator, const char *string, uint32 len,
								  uint64 *word);

/* Counts that ICU was asked for a word, and learns the table when that was often enough. */
extern void gpusort_primaries_asked(CollatePrimaries *primaries);

#endif							/* USE_ICU */

#endif							/* GPUSORT_COLLATE_PRIMARIES_H */
