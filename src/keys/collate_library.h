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
	char	   *buffer;			/* sort key, zero byte, and unused room */
	uint32		size;			/* allocated bytes of buffer */
	uint32		sort_key_len;	/* length of the sort key, without the zero byte */
} CollatedKey;

typedef struct CollateLibrary CollateLibrary;

struct CollateLibrary
{
	/*
	 * Puts the library's key of a string into key->buffer, with a zero byte
	 * behind it, and sets key->sort_key_len.  Returns false if there is no key.
	 */
	bool		(*make_key) (CollateLibrary *library, CollatedKey *key,
							 const char *string, uint32 len);

	/*
	 * Makes a word of a string; strings that differ in their words are ordered by them as by
	 * their keys.  The pointer is NULL if a word costs about as much as the key.  Whether it
	 * is depends on the collation and the database alone, so all processes of a sort agree.
	 */
	bool		(*make_word) (CollateLibrary *library, const char *string, uint32 len,
							  uint64 *word);

	/*
	 * Makes the same word from what has been learned of characters, in less time than it takes
	 * to look a word up in a cache.  Returns false if nothing has been learned, or the string
	 * has a character or pair of characters that can't be handled that way.
	 */
	bool		(*make_known_word) (CollateLibrary *library, const char *string, uint32 len,
									uint64 *word);

	/*
	 * Returns, of strings that begin with the same `shared` bytes, at which byte a rest begins
	 * whose word orders all strings that differ in it: at `shared` or before.  0 if that is not
	 * known.
	 */
	uint32		(*rest_begins) (CollateLibrary *library, const char *string, uint32 shared);

	/*
	 * Sets *cmp to what the library's comparison says of two different strings, from what has been
	 * learned of characters.  Returns false where that proves nothing.  The pointer is NULL if it
	 * never proves anything.
	 */
	bool		(*proven_order) (CollateLibrary *library, const char *a, uint32 a_len,
								 const char *b, uint32 b_len, int *cmp);

	/*
	 * The library's comparison is known to disagree with its keys, or to be no order at all.  So
	 * no value has an encoding.
	 */
	bool		has_no_order;

	pg_locale_t locale;			/* NULL: libc's locale of the process */
	bool		deterministic;
	const struct CollateWeights *weights;	/* of libc; NULL: not learned */
	struct CollatePrimaries *primaries; /* of ICU; NULL: can't be learned */

	GpuSortKeyMemory *memory;	/* for all buffers */
	char	   *scratch;		/* the string in the form that the library takes */
	Size		scratch_size;
	CollatedKey whole;			/* a key that is made for the sake of its first word */
};

/*
 * Makes room for size bytes in a key's buffer, keeping its contents.  Returns
 * false if encoders would hold more than they may.
 */
extern bool gpusort_collate_reserve(CollateLibrary *library, CollatedKey *key, Size size);

/* Makes room for size bytes in library->scratch in the same way, but loses its contents. */
extern bool gpusort_collate_reserve_scratch(CollateLibrary *library, Size size);

#endif							/* GPUSORT_COLLATE_LIBRARY_H */
