/*
 * collate_private.h
 *		Collations: the libraries that compare their strings, and the sort keys that these make.
 */
#ifndef GPUSORT_COLLATE_PRIVATE_H
#define GPUSORT_COLLATE_PRIVATE_H

#include "postgres.h"

#include "utils/pg_locale.h"

#include "keys/key_codec.h"

/* ---------- kinds: what compares the strings of a collation ---------- */

typedef enum GpuSortCollationKind
{
	GPUSORT_COLLATION_NONE,		/* not a collation, or none could be determined */
	GPUSORT_COLLATION_BYTES,	/* memcmp(): C, POSIX, the builtin provider's */
	GPUSORT_COLLATION_LIBC,
	GPUSORT_COLLATION_ICU,
	GPUSORT_COLLATION_OTHER		/* providers that we do not know */
} GpuSortCollationKind;

/*
 * Returns the kind of a collation, as the catalog tells it.  The collation is not opened, so this
 * does not fail where its library or locale has gone.
 */
extern GpuSortCollationKind gpusort_collation_kind(Oid collation);

/*
 * Returns the provider of a collation (COLLPROVIDER_xxx); the database's provider if it is the
 * default collation, and 0 if there is no such collation.
 */
extern char gpusort_collation_provider(Oid collation);

/* Returns the locale's name of a collation of libc, palloc'd; NULL if it is not one of libc. */
extern char *gpusort_collation_libc_name(Oid collation);

/* ---------- libraries: sort keys of strings, as a collation's library makes them ---------- */

/*
 * That is ICU's sort key (collate_icu.c) or the result of libc's strxfrm()
 * (collate_libc.c).  Neither holds a zero byte.
 */

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

/* ---------- ICU: sort keys of its collations ---------- */

#ifdef USE_ICU

/* Fills in the functions of *library and what they need, for library->locale. */
extern void gpusort_collate_begin_icu(CollateLibrary *library);

#endif

/* ---------- libc: sort keys of its collations ---------- */

/* Fills in the functions of *library and what they need, for library->locale. */
extern void gpusort_collate_begin_libc(CollateLibrary *library);

/* How the keys of a locale's strings are made. */
typedef enum GpuSortLibcKeys
{
	GPUSORT_LIBC_WHOLE,			/* by strxfrm(), for all strings */
	GPUSORT_LIBC_WORDS,			/* first words are made of weights that were learned */
	GPUSORT_LIBC_COPIES			/* by strxfrm(), which does no more than copy */
} GpuSortLibcKeys;

/*
 * Return how keys are made under the database's locale, or under the one that libc knows by a name.
 * The latter is opened past PostgreSQL, which would raise an error if there is no such locale; that
 * counts as GPUSORT_LIBC_WHOLE.
 */
extern GpuSortLibcKeys gpusort_collate_libc_default_keys(void);
extern GpuSortLibcKeys gpusort_collate_libc_keys(const char *name);

#endif							/* GPUSORT_COLLATE_PRIVATE_H */
