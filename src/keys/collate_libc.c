/*
 * collate_libc.c
 *		Sort keys of libc's collations: what strxfrm() makes.
 *
 * How glibc makes them is known (collate_weights.h), which saves most calls.
 */
#include "postgres.h"

#include "catalog/pg_collation.h"
#include "mb/pg_wchar.h"
#include "utils/memutils.h"

#include "keys/codec_private.h"
#include "keys/collate_private.h"
#include "keys/collate_weights.h"
#include "pg_compat/keys.h"

/* The byte between the levels of a key. */
#define LEVEL_SEPARATOR		0x01

/*
 * To make the word of a long string, FIRST_PART_BYTES of it are given to strxfrm(), then twice as
 * many and so on, until the first level of the key has ENOUGH_BYTES: more letters than a word has.
 */
#define FIRST_PART_BYTES	256
#define ENOUGH_BYTES		128

/* A locale of libc and what has been learned of it, kept as long as the process. */
typedef struct KnownLocale
{
	struct KnownLocale *next;
	locale_t	locale;			/* 0: the locale of the process */
	bool		has_weights;	/* keys look as if they were made of characters' weights */
	bool		has_pairs;		/* pairs were learned, and keys are made of weights */
	bool		pairs_tried;	/* collate_learn_pairs() was called */
	bool		copies;			/* keys are the strings themselves, as in C.UTF-8 */
	CollateWeights weights;
} KnownLocale;

static KnownLocale *known_locales = NULL;

/* Returns whether strxfrm() only copies, so that keys cost as little as words. */
static bool
copies_strings(locale_t locale)
{
	static const char string[] = "b-A a";
	char		key[sizeof(string)];

	return strxfrm_l(key, string, sizeof(key), locale) == sizeof(string) - 1 &&
		strcmp(key, string) == 0;
}

/*
 * Returns what is known of a locale, and learns it if need be.  `pairs` asks for pairs of
 * characters as well; to learn these takes half a millisecond, so the planner does without.
 * Whether a codec is lazy must not depend on pairs, since all processes of a sort have to agree on
 * it.
 */
static const KnownLocale *
know_locale(pg_locale_t pg_locale, bool pairs)
{
	locale_t	locale = pg_locale ? gpusort_libc_locale(pg_locale) : (locale_t) 0;
	KnownLocale *known = known_locales;
	KnownLocale *made = NULL;
	locale_t	copy;

	while (known != NULL && known->locale != locale)
		known = known->next;
	if (known != NULL && (!pairs || !known->has_weights || known->pairs_tried))
		return known;

	copy = duplocale(locale != (locale_t) 0 ? locale : LC_GLOBAL_LOCALE);
	if (known == NULL && copy != (locale_t) 0)
	{
		made = MemoryContextAllocExtended(TopMemoryContext, sizeof(KnownLocale),
										  MCXT_ALLOC_NO_OOM | MCXT_ALLOC_ZERO);
		if (made == NULL)
			freelocale(copy);
	}
	if (copy == (locale_t) 0 || (known == NULL && made == NULL))
		ereport(ERROR,
				(errcode(ERRCODE_OUT_OF_MEMORY),
				 errmsg("out of memory"),
				 errdetail("Failed while looking into a locale.")));
	if (known == NULL)
	{
		known = made;
		known->locale = locale;
		known->has_weights = collate_learn_weights(&known->weights, copy);
		known->copies = copies_strings(copy);
		known->next = known_locales;
		known_locales = known;
	}
	if (known->has_weights && pairs)
	{
		known->has_pairs = collate_learn_pairs(&known->weights, copy);
		known->pairs_tried = true;
	}
	freelocale(copy);
	return known;
}

/* Has strxfrm() make the key of a string. */
static bool
call_strxfrm(CollateLibrary *library, CollatedKey *key, const char *string, uint32 len)
{
	if (!gpusort_collate_reserve_scratch(library, len + 1))
		return false;
	memcpy(library->scratch, string, len);
	library->scratch[len] = '\0';

	for (;;)
	{
		Size		needed;

		if (library->locale)
			needed = strxfrm_l(key->buffer, library->scratch, key->size,
							   gpusort_libc_locale(library->locale));
		else
			needed = strxfrm(key->buffer, library->scratch, key->size);
		if (needed < key->size)
		{
			key->sort_key_len = needed;
			return true;
		}
		if (needed >= MaxAllocSize || !gpusort_collate_reserve(library, key, needed + 1))
			return false;
	}
}

static bool
make_key_libc(CollateLibrary *library, CollatedKey *key, const char *string, uint32 len)
{
	const CollateWeights *weights = library->weights;
	size_t		key_len;

	if (weights != NULL &&
		gpusort_collate_reserve(library, key,
								(Size) len * COLLATE_CHAR_BYTES + COLLATE_KEY_SLACK) &&
		collate_key(weights, string, len, key->buffer, &key_len))
	{
		key->buffer[key_len] = '\0';
		key->sort_key_len = key_len;
		return true;
	}
	return call_strxfrm(library, key, string, len);
}

/*
 * Makes the key of the beginning of a string, as much of the string as fixes the word whatever
 * follows.  That is a little more than the word's letters, since a few characters may be one letter
 * together.
 */
static bool
make_beginning(CollateLibrary *library, const char *string, uint32 len, CollatedKey *key)
{
	for (uint32 part = FIRST_PART_BYTES;; part *= 2)
	{
		uint32		bytes = part < len ? pg_mbcliplen(string, len, part) : len;

		if (!gpusort_collate_reserve(library, key, 4 * (Size) bytes + 32) ||
			!call_strxfrm(library, key, string, bytes))
			return false;
		if (bytes == len || (key->sort_key_len >= ENOUGH_BYTES &&
							 memchr(key->buffer, LEVEL_SEPARATOR, ENOUGH_BYTES) == NULL))
			return true;
	}
}

/* Makes a word of the key's first letters, or of its first bytes if weights are not known. */
static bool
make_word_libc(CollateLibrary *library, const char *string, uint32 len, uint64 *word)
{
	CollatedKey *key = &library->whole;
	char		first[sizeof(uint64)] = {0};

	if (!make_beginning(library, string, len, key))
		return false;
	if (library->weights != NULL)
	{
		*word = collate_word_of_key(library->weights, key->buffer, key->sort_key_len);
		return true;
	}
	memcpy(first, key->buffer, Min(key->sort_key_len, sizeof(first)));
	*word = load_be64(first);
	return true;
}

static bool
make_known_word_libc(CollateLibrary *library, const char *string, uint32 len, uint64 *word)
{
	return library->weights != NULL && collate_word(library->weights, string, len, word);
}

static uint32
rest_begins_libc(CollateLibrary *library, const char *string, uint32 shared)
{
	return library->weights != NULL ? collate_rest(library->weights, string, shared) : 0;
}

/* Returns how the keys of a locale are made that has these properties. */
static GpuSortLibcKeys
keys_of(bool has_weights, bool copies)
{
	if (has_weights)
		return GPUSORT_LIBC_WORDS;
	return copies ? GPUSORT_LIBC_COPIES : GPUSORT_LIBC_WHOLE;
}

GpuSortLibcKeys
gpusort_collate_libc_default_keys(void)
{
	const KnownLocale *known = know_locale(pg_newlocale_from_collation(DEFAULT_COLLATION_OID),
										   false);

	return keys_of(known->has_weights, known->copies);
}

/* What gpusort_collate_libc_keys() has found out about a locale, kept as long as the process. */
typedef struct NamedLocale
{
	struct NamedLocale *next;
	GpuSortLibcKeys keys;
	char		name[FLEXIBLE_ARRAY_MEMBER];
} NamedLocale;

static NamedLocale *named_locales = NULL;

GpuSortLibcKeys
gpusort_collate_libc_keys(const char *name)
{
	NamedLocale *named = named_locales;
	CollateWeights weights;
	locale_t	locale;
	GpuSortLibcKeys keys;

	while (named != NULL && strcmp(named->name, name) != 0)
		named = named->next;
	if (named != NULL)
		return named->keys;

	locale = newlocale(LC_COLLATE_MASK | LC_CTYPE_MASK, name, (locale_t) 0);
	if (locale == (locale_t) 0)
		return GPUSORT_LIBC_WHOLE;
	keys = keys_of(collate_learn_weights(&weights, locale), copies_strings(locale));
	freelocale(locale);
	named = MemoryContextAllocExtended(TopMemoryContext,
									   offsetof(NamedLocale, name) + strlen(name) + 1,
									   MCXT_ALLOC_NO_OOM);
	if (named != NULL)
	{
		strcpy(named->name, name);
		named->keys = keys;
		named->next = named_locales;
		named_locales = named;
	}
	return keys;
}

void
gpusort_collate_begin_libc(CollateLibrary *library)
{
	const KnownLocale *known = know_locale(library->locale, true);

	library->make_key = make_key_libc;
	if (!known->has_weights)
		return;
	library->make_word = make_word_libc;
	library->make_known_word = make_known_word_libc;
	library->rest_begins = rest_begins_libc;
	if (known->has_pairs)
		library->weights = &known->weights;
}
