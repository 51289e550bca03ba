/*
 * collate_library.h
 *		Sort keys of strings, as the library of a collation makes them.
 *
 * That is ICU's sort key (collate_icu.c) or the result of libc's strxfrm()
 * (collate_libc.c).  Neither holds a zero byte.
 */
#ifndef GPUSORT_COLLATE_LIBRARY_H
#define GPUSORT_COLLATE_LIBRARY_H

#include "postgres.h"

#include "utils/pg_locale.h"

#include "keys/key_codec.h"

/* A string's key. */
typedef struct CollatedKey
{
	char	   *buffer;			/* sort key, zero byte, and room behind */
	uint32		size;			/* allocated bytes */
	uint32		sort_key_len;	/* without the zero byte */
} CollatedKey;

typedef struct CollateLibrary CollateLibrary;

struct CollateLibrary
{
	/*
	 * Put the library's key of a string into key->buffer, with a zero byte
	 * behind it, and set key->sort_key_len.  False if there is none.
	 */
	bool		(*make_key) (CollateLibrary *library, CollatedKey *key,
							 const char *string, uint32 len);

	/*
	 * A word that orders strings like their keys, where it differs.  NULL if it is not
	 * to be had for much less than the key.  All processes of a sort find the same: this
	 * depends on the collation and the database alone.
	 */
	bool		(*make_word) (CollateLibrary *library, const char *string, uint32 len,
							  uint64 *word);

	/*
	 * The same word, made from what is known of characters, in less time than it takes
	 * to look one up in a cache.  False for strings that it does not know, or at all.
	 */
	bool		(*make_known_word) (CollateLibrary *library, const char *string, uint32 len,
									uint64 *word);

	/*
	 * Of strings that begin with the same `shared` bytes, where the rest begins whose word decides
	 * the order of strings that differ in it: not behind these.  0 if that is not known.
	 */
	uint32		(*rest_begins) (CollateLibrary *library, const char *string, uint32 shared);

	/*
	 * What the library's comparison says of two different strings, from what is known of characters.
	 * False where that is no proof.  NULL if it never is.
	 */
	bool		(*proven_order) (CollateLibrary *library, const char *a, uint32 a_len,
								 const char *b, uint32 b_len, int *cmp);

	/*
	 * Keys are of no use, as the comparison is known to disagree with them: no value
	 * has an encoding.
	 */
	bool		has_no_order;

	pg_locale_t locale;			/* NULL: libc's locale of the process */
	bool		deterministic;
	const struct CollateWeights *weights;	/* of libc; NULL if they are not known */
	struct CollatePrimaries *primaries; /* of ICU; NULL if they can't be */

	GpuSortKeyMemory *memory;	/* for all buffers */
	char	   *scratch;		/* the string as the library wants it */
	Size		scratch_size;
	CollatedKey whole;			/* one that only a word is wanted of */
};

/*
 * Make room for size bytes in a key's buffer, keeping its contents.  False if
 * that is more than encoders may hold.
 */
extern bool gpusort_collate_reserve(CollateLibrary *library, CollatedKey *key, Size size);

/* The same for scratch, whose contents are lost. */
extern bool gpusort_collate_reserve_scratch(CollateLibrary *library, Size size);

#endif							/* GPUSORT_COLLATE_LIBRARY_H */
