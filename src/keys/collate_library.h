/*
 * collate_library.h
 *		Sort keys of strings, as the library of a collation makes them.
 */
#ifndef GPUSORT_COLLATE_LIBRARY_H
#define GPUSORT_COLLATE_LIBRARY_H

#include "postgres.h"

#include "utils/pg_locale.h"

#include "keys/collate_weights.h"

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
	 * A word that orders strings like their keys, where it differs.  Only if
	 * gpusort_collate_has_words().
	 */
	bool		(*make_word) (CollateLibrary *library, const char *string, uint32 len,
							  uint64 *word);

	pg_locale_t locale;			/* NULL: libc's locale of the process */
	bool		deterministic;
	const CollateWeights *weights;	/* libc only; NULL if they are not known */

	MemoryContext context;		/* for all buffers */
	char	   *scratch;		/* the string as the library wants it */
	Size		scratch_size;
	CollatedKey whole;			/* one that only a word is wanted of */
};

/* Prepare for a collation; memory from CurrentMemoryContext. */
extern void gpusort_collate_begin(CollateLibrary *library, Oid collation);

/* Is the first word of a key to be had for much less than the key? */
extern bool gpusort_collate_has_words(pg_locale_t locale);

/*
 * Make room for size bytes in a key's buffer, keeping its contents.  False if
 * that is more than memory contexts give.
 */
extern bool gpusort_collate_reserve(CollateLibrary *library, CollatedKey *key, Size size);

#endif							/* GPUSORT_COLLATE_LIBRARY_H */
