/*
 * collate_primaries.h
 *		ICU's sort keys and their beginnings, made without calling ICU.
 *
 * A sort key begins with the primary weights of the string's characters, one to four bytes
 * each, and ends them with a byte 01.  The weights of most characters of most scripts do
 * not depend on their neighbours.  So a table with the weights of every character that
 * UTF-8 writes with one or two bytes gives the first eight bytes of a key in 15 ns, where
 * ucol_nextSortKeyPart() takes 200.
 *
 * Left to ICU are strings with a character that was not learned: one of three or more
 * bytes, an ignorable or combining one, one that stands for several weights; and strings
 * with two neighbours that a contraction may join (Czech c and h).  Both ways make the same word,
 * so it does not matter when a process learns, or whether it does.
 *
 * Whole keys go on with a level of secondary weights (accents) and one of tertiary ones (case), each
 * behind a byte 01.  They are made of characters that have the secondary weight of nearly all, and
 * a tertiary weight of one byte.
 *
 * Two weights of the table that differ prove an order.  ICU's keys and its comparison do disagree, about
 * strings in which a character's weights depend on others: where punctuation is ignored and what
 * follows it with it, or where marks come in an order that normalisation changes.  But both
 * compare the primary weights of the strings first, in the order of the characters.  The table holds
 * characters with one such weight of their own, that no normalisation moves, and gives up
 * on any two that may be seen as one, up to and with the character behind the first two that
 * differ.  So the comparison finds the same difference.  A trial with random strings must not speak
 * against it.
 *
 * Learning takes some 8 ms for a collation, so it begins when ICU has been asked often
 * enough to have taken as long.
 */
#ifndef GPUSORT_COLLATE_PRIMARIES_H
#define GPUSORT_COLLATE_PRIMARIES_H

#include "postgres.h"

#ifdef USE_ICU

#include <unicode/ucol.h>

/* Characters that UTF-8 writes with one or two bytes. */
#define PRIMARIES_CHARS		0x800

/* In sort keys: the byte between levels, and the weight behind the first level of most characters. */
#define LEVEL_SEPARATOR		0x01
#define COMMON_WEIGHT		0x05

/* What a character is like beside its weight. */
#define PRIMARY_COMPRESSES	1	/* its first byte is left out behind one with the same */
#define PRIMARY_OPENS		2	/* a contraction may begin with it, */
#define PRIMARY_CLOSES		4	/* or go on with it */

/* The primary weight of a character. */
typedef struct CollatePrimary
{
	uint8		bytes[4];
	uint8		len;			/* 0: not learned */
	uint8		kind;
	uint8		tertiary;		/* weight; 0: whole keys are left to ICU */
} CollatePrimary;

typedef struct CollatePrimaries
{
	struct CollatePrimaries *next;
	const UCollator *collator;
	uint32		asked;			/* how often ICU has made a word */
	bool		tried;			/* to learn */
	bool		learned;
	bool		proves;			/* weights that differ are a proof of order */
	bool		makes_keys;		/* whole ones */

	/* the weights of ASCII characters that have one byte and close nothing; others 0 */
	uint8		single[256];
	CollatePrimary of[PRIMARIES_CHARS];
} CollatePrimaries;

/*
 * What this process knows about a collator, which is never closed, as PostgreSQL's are not; nor is the
 * answer freed.  NULL if there is no memory for it.
 */
extern CollatePrimaries *gpusort_primaries_of(const UCollator *collator);

/*
 * The first eight bytes of primary weights of a UTF-8 string, as a big-endian word
 * that zeros fill up.  False if the string is left to ICU, which is to be asked then, and
 * gpusort_primaries_asked() told.
 */
extern bool gpusort_primaries_word(const CollatePrimaries *primaries, const char *string,
								   uint32 len, uint64 *word);

/*
 * UTF-8 strings that begin with the same `shared` bytes are ordered by the words of what is behind
 * so many of these, where they differ: up to a character that is in no contraction.
 */
extern uint32 gpusort_primaries_rest(const CollatePrimaries *primaries, const char *string,
									 uint32 shared);

/*
 * The whole key of a UTF-8 string, with a zero byte behind it, in a buffer.  Returns its length
 * without that; 0 if the buffer is too small, or the string is left to ICU.
 */
extern uint32 gpusort_primaries_key(const CollatePrimaries *primaries, const char *string,
									uint32 len, uint8 *buffer, uint32 size);

/*
 * What ICU's comparison says of two UTF-8 strings, by the first two primary weights that differ.
 * False if there are none, or a character before or behind them was not learned.
 */
extern bool gpusort_primaries_order(const CollatePrimaries *primaries, const char *a, uint32 a_len,
									const char *b, uint32 b_len, int *cmp);

/*
 * The word that gpusort_primaries_word() makes, made by ICU.  False if it can't.
 */
extern bool gpusort_primaries_ask(const UCollator *collator, const char *string, uint32 len,
								  uint64 *word);

/* ICU has been asked once more: learn, if that was often enough (collate_learn.c). */
extern void gpusort_primaries_asked(CollatePrimaries *primaries);

#endif							/* USE_ICU */

#endif							/* GPUSORT_COLLATE_PRIMARIES_H */
