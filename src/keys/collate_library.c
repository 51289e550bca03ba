/*
 * collate_library.c
 *		Sort keys of strings, as the library of a collation makes them.
 *
 * That is ICU's sort key, or the result of libc's strxfrm().  Neither holds a zero byte.
 *
 * ICU can also make just the beginning of a key, in less than half the time (204
 * against 482 ns for 8 to 40 random characters).  It does not promise that this is
 * the beginning of the whole one, only that it orders alike.  Of strxfrm()'s keys we
 * know how they are made (collate_weights.h).
 */
#include "postgres.h"

#include "catalog/pg_collation.h"
#include "mb/pg_wchar.h"
#include "utils/memutils.h"

#include "keys/codec_private.h"
#include "keys/collate_library.h"

#ifdef USE_ICU
#include <unicode/uiter.h>
#include <unicode/ustring.h>
#endif

static void
reserve_scratch(CollateLibrary *library, Size size)
{
	if (size <= library->scratch_size)
		return;
	if (library->scratch)
		pfree(library->scratch);
	library->scratch = NULL;
	library->scratch_size = 0;
	library->scratch = MemoryContextAlloc(library->context, size * 2);
	library->scratch_size = size * 2;
}

bool
gpusort_collate_reserve(CollateLibrary *library, CollatedKey *key, Size size)
{
	if (size <= key->size)
		return true;
	if (!AllocSizeIsValid(size))
		return false;
	size = Min(MAXALIGN(size + size / 4), MaxAllocSize);
	if (key->buffer)
		key->buffer = repalloc(key->buffer, size);
	else
		key->buffer = MemoryContextAlloc(library->context, size);
	key->size = size;
	return true;
}

/* A locale of libc and what has been learned of it, kept as long as the process. */
typedef struct KnownLocale
{
	struct KnownLocale *next;
	locale_t	locale;			/* 0: the locale of the process */
	bool		has_weights;	/* keys look like made of weights ... */
	bool		has_pairs;		/* ... and they are */
	bool		pairs_tried;
	CollateWeights weights;
} KnownLocale;

static KnownLocale *known_locales = NULL;

/*
 * What is known of a locale.  Pairs of characters take half a millisecond, and
 * are learned not before there is something to sort; whether a codec is lazy must not
 * depend on them, for all processes of a sort have to find the same.
 */
static const KnownLocale *
know_locale(pg_locale_t pg_locale, bool pairs)
{
	locale_t	locale = pg_locale ? pg_locale->info.lt : (locale_t) 0;
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

static bool
call_strxfrm(CollateLibrary *library, CollatedKey *key, const char *string, uint32 len)
{
	reserve_scratch(library, len + 1);
	memcpy(library->scratch, string, len);
	library->scratch[len] = '\0';

	for (;;)
	{
		Size		needed;

		if (library->locale)
			needed = strxfrm_l(key->buffer, library->scratch, key->size, library->locale->info.lt);
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

/* The first letters of the key, or its first bytes if letters are not known. */
static bool
make_word_libc(CollateLibrary *library, const char *string, uint32 len, uint64 *word)
{
	CollatedKey *key = &library->whole;
	char		first[sizeof(uint64)] = {0};

	if (library->weights != NULL && collate_word(library->weights, string, len, word))
		return true;
	if (!gpusort_collate_reserve(library, key, 4 * (Size) len + 32) ||
		!call_strxfrm(library, key, string, len))
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

#ifdef USE_ICU

static bool
make_key_icu_utf8(CollateLibrary *library, CollatedKey *key, const char *string, uint32 len)
{
	UErrorCode	status = U_ZERO_ERROR;
	int32_t		length_utf16;

	/* UTF-16 has at most as many units as UTF-8 has bytes. */
	reserve_scratch(library, len * sizeof(UChar));
	u_strFromUTF8((UChar *) library->scratch, len, &length_utf16, string, len, &status);
	if (U_FAILURE(status))
		return false;

	for (;;)
	{
		int32_t		needed = ucol_getSortKey(library->locale->info.icu.ucol,
											 (UChar *) library->scratch, length_utf16,
											 (uint8_t *) key->buffer, key->size);

		if (needed <= 0)
			return false;
		if (needed <= key->size)
		{
			key->sort_key_len = needed - 1;		/* without its zero byte */
			return true;
		}
		if (!gpusort_collate_reserve(library, key, needed))
			return false;
	}
}

/* Same for the other server encodings, through PostgreSQL's conversion. */
static bool
make_key_icu(CollateLibrary *library, CollatedKey *key, const char *string, uint32 len)
{
	for (;;)
	{
		Size		needed = gpusort_icu_sort_key(key->buffer, key->size, string, len,
												  library->locale);

		if (needed < key->size)
		{
			key->sort_key_len = needed;
			return true;
		}
		if (!gpusort_collate_reserve(library, key, needed + 1))
			return false;
	}
}

/* The first word of ICU's partial sort key of a UTF-8 string. */
static bool
make_word_icu(CollateLibrary *library, const char *string, uint32 len, uint64 *word)
{
	UErrorCode	status = U_ZERO_ERROR;
	UCharIterator iterator;
	uint32_t	position[2] = {0, 0};
	uint8_t		part[sizeof(uint64)] = {0};

	uiter_setUTF8(&iterator, string, len);
	ucol_nextSortKeyPart(library->locale->info.icu.ucol, &iterator, position, part,
						 sizeof(part), &status);
	*word = load_be64(part);
	return U_SUCCESS(status);
}

#endif							/* USE_ICU */

static bool
uses_icu(pg_locale_t locale)
{
	return locale != NULL && locale->provider == COLLPROVIDER_ICU;
}

bool
gpusort_collate_has_words(pg_locale_t locale)
{
	if (uses_icu(locale))
		return GetDatabaseEncoding() == PG_UTF8;
	return know_locale(locale, false)->has_weights;
}

void
gpusort_collate_begin(CollateLibrary *library, Oid collation)
{
	pg_locale_t locale = pg_newlocale_from_collation(collation);

	memset(library, 0, sizeof(*library));
	library->context = CurrentMemoryContext;
	library->locale = locale;
	library->deterministic = locale == NULL || locale->deterministic;
#ifdef USE_ICU
	if (uses_icu(locale))
	{
		library->make_key = GetDatabaseEncoding() == PG_UTF8 ?
			make_key_icu_utf8 : make_key_icu;
		library->make_word = make_word_icu;
		return;
	}
#endif
	library->make_key = make_key_libc;
	library->make_word = make_word_libc;
	if (know_locale(locale, true)->has_pairs)
		library->weights = &know_locale(locale, true)->weights;
}
