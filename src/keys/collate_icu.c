/*
 * collate_icu.c
 *		Sort keys of ICU's collations.
 *
 * ICU can also make just the beginning of a key, in less than half the time (204
 * against 482 ns for 8 to 40 random characters).  For most strings we make it
 * ourselves (collate_primaries.h).
 */
#include "postgres.h"

#include "mb/pg_wchar.h"

#include "keys/codec_private.h"
#include "keys/collate_primaries.h"
#include "keys/collate_private.h"
#include "pg_compat/keys.h"

#ifdef USE_ICU

#include <unicode/ustring.h>

/* A collation that moves more scripts than this is not trusted. */
#define REORDER_CODES		64

/* Makes the key of a string in a database in UTF-8. */
static bool
make_key_icu_utf8(CollateLibrary *library, CollatedKey *key, const char *string, uint32 len)
{
	UErrorCode	status = U_ZERO_ERROR;
	int32_t		length_utf16;

	if (library->primaries != NULL &&
		(key->sort_key_len = gpusort_primaries_key(library->primaries, string, len,
												   (uint8 *) key->buffer, key->size)) > 0)
		return true;

	/*
	 * UTF-16 has at most as many units as UTF-8 has bytes.  One more, because ICU must not be given
	 * a null pointer for an empty string.
	 */
	if (!gpusort_collate_reserve_scratch(library, (len + 1) * sizeof(UChar)))
		return false;
	u_strFromUTF8((UChar *) library->scratch, len, &length_utf16, string, len, &status);
	if (U_FAILURE(status))
		return false;

	for (;;)
	{
		int32_t		needed = ucol_getSortKey(gpusort_icu_collator(library->locale),
											 (UChar *) library->scratch, length_utf16,
											 (uint8_t *) key->buffer, key->size);

		if (needed <= 0)
			return false;
		if (needed <= key->size)
		{
			key->sort_key_len = needed - 1; /* without the zero byte */
			return true;
		}
		if (!gpusort_collate_reserve(library, key, needed))
			return false;
	}
}

/* Makes the key of a string in another encoding, through PostgreSQL's conversion. */
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

/* Has ICU make a string's word: the first eight bytes of its primary weights. */
static bool
make_word_icu(CollateLibrary *library, const char *string, uint32 len, uint64 *word)
{
	if (library->primaries != NULL)
		gpusort_primaries_asked(library->primaries);
	return gpusort_primaries_ask(gpusort_icu_collator(library->locale), string, len, word);
}

static bool
make_known_word_icu(CollateLibrary *library, const char *string, uint32 len, uint64 *word)
{
	return library->primaries != NULL && library->primaries->learned &&
		gpusort_primaries_word(library->primaries, string, len, word);
}

static uint32
rest_begins_icu(CollateLibrary *library, const char *string, uint32 shared)
{
	return library->primaries != NULL && library->primaries->learned ?
		gpusort_primaries_rest(library->primaries, string, shared) : 0;
}

static bool
proven_order_icu(CollateLibrary *library, const char *a, uint32 a_len, const char *b, uint32 b_len,
				 int *cmp)
{
	return library->primaries != NULL && library->primaries->proves &&
		gpusort_primaries_order(library->primaries, a, a_len, b, b_len, cmp);
}

/* Returns whether the collation leaves digits and punctuation in front of all scripts. */
static bool
only_scripts_move(const UCollator *collator)
{
	UErrorCode	status = U_ZERO_ERROR;
	int32_t		codes[REORDER_CODES];
	int32_t		ncodes = ucol_getReorderCodes(collator, codes, lengthof(codes), &status);

	for (int32_t i = 0; i < ncodes && U_SUCCESS(status); i++)
	{
		if (codes[i] >= UCOL_REORDER_CODE_FIRST)
			return false;
	}
	return U_SUCCESS(status);
}

/* Returns whether the collation ignores punctuation ("shifted"). */
static bool
is_shifted(const UCollator *collator)
{
	UErrorCode	status = U_ZERO_ERROR;

	return ucol_getAttribute(collator, UCOL_ALTERNATE_HANDLING, &status) != UCOL_NON_IGNORABLE ||
		U_FAILURE(status);
}

/* Returns whether accents are compared from the end of the string to its beginning. */
static bool
is_backwards(const UCollator *collator)
{
	UErrorCode	status = U_ZERO_ERROR;

	return ucol_getAttribute(collator, UCOL_FRENCH_COLLATION, &status) != UCOL_OFF ||
		U_FAILURE(status);
}

void
gpusort_collate_begin_icu(CollateLibrary *library)
{
	const UCollator *collator = gpusort_icu_collator(library->locale);

	library->has_no_order = is_shifted(collator) || is_backwards(collator) ||
		!only_scripts_move(collator);
	if (GetDatabaseEncoding() != PG_UTF8)
	{
		library->make_key = make_key_icu;
		return;
	}
	library->make_key = make_key_icu_utf8;
	library->make_word = make_word_icu;
	library->make_known_word = make_known_word_icu;
	library->rest_begins = rest_begins_icu;
	library->proven_order = proven_order_icu;
	library->primaries = gpusort_primaries_of(collator);
}

#endif							/* USE_ICU */
