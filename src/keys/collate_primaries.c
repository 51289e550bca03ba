/*
 * collate_primaries.c
 *		The beginnings of ICU's sort keys, made without calling ICU.
 *
 * See collate_primaries.h.  What is known of sort keys and used here: within the primary
 * level ICU leaves out a weight's first byte if the weight before has the same and
 * that byte is one of those that are shared by a whole script; where such a stretch ends and another
 * weight follows, a byte says whether that is less (03) or greater (ff).  Whether a first byte is one of
 * those shows in the key of the character doubled.
 *
 * What was learned is tried on random strings, and given up if a single word differs
 * from ICU's.  Nothing has to be believed, though: sorts by collations are verified.
 */
#include "keys/collate_primaries.h"

#ifdef USE_ICU

#include <unicode/ucoleitr.h>
#include <unicode/uchar.h>
#include <unicode/uiter.h>
#include <unicode/uset.h>
#include <unicode/ustring.h>

#include "keys/codec_private.h"
#include "utils/memutils.h"

#define FIRST_CHAR			0x20

/* A learned word takes 15 ns, asking ICU 200 and more, learning 8 ms. */
#define LEARN_AFTER			20000

#define LEVEL_SEPARATOR		0x01
#define LOWER_FOLLOWS		0x03
#define HIGHER_FOLLOWS		0xff

/* Strings that what was learned is tried on, and their characters at most. */
#define TRIALS				512
#define TRIAL_CHARS			12

/* Enough for the keys of two characters, and for a contraction. */
#define SHORT_KEY_BYTES		128
#define CONTRACTION_UNITS	64

static CollatePrimaries *known_collators = NULL;

CollatePrimaries *
gpusort_primaries_of(const UCollator *collator)
{
	CollatePrimaries *known = known_collators;

	while (known != NULL && known->collator != collator)
		known = known->next;
	if (known != NULL)
		return known;
	known = MemoryContextAllocExtended(TopMemoryContext, sizeof(CollatePrimaries),
									   MCXT_ALLOC_NO_OOM | MCXT_ALLOC_ZERO);
	if (known == NULL)
		return NULL;
	known->collator = collator;
	known->next = known_collators;
	known_collators = known;
	return known;
}

/* The word of a string of which as much as matters is simple letters. */
static inline bool
word_of_singles(const CollatePrimaries *primaries, const uint8 *p, uint32 len, uint64 *word)
{
	uint32		n = Min(len, sizeof(uint64));
	uint64		made = 0;

	for (uint32 i = 0; i < n; i++)
	{
		uint8		byte = primaries->single[p[i]];

		if (byte == 0)
			return false;
		made = made << 8 | byte;
	}
	if (len > n && primaries->single[p[n]] == 0)
		return false;
	*word = n == 0 ? 0 : made << (8 * (sizeof(uint64) - n));
	return true;
}

bool
gpusort_primaries_word(const CollatePrimaries *primaries, const char *string, uint32 len,
					   uint64 *word)
{
	const uint8 *p = (const uint8 *) string;
	const uint8 *end = p + len;
	uint8		bytes[2 * sizeof(uint64)] = {0};
	uint32		used = 0;
	uint32		before = 0;		/* first byte of the last weight, if it is left out */
	bool		opens = false;

	if (word_of_singles(primaries, p, len, word))
		return true;
	while (p < end)
	{
		uint32		c = *p++;
		const CollatePrimary *primary;

		if (c >= 0x80)
		{
			if (c >= 0xe0 || p == end)
				return false;
			c = (c & 0x1f) << 6 | (*p++ & 0x3f);
		}
		primary = &primaries->of[c];
		if (primary->len == 0 || (opens && (primary->kind & PRIMARY_CLOSES)))
			return false;
		/* one character more has been looked at than the word holds */
		if (used >= sizeof(uint64))
			break;
		opens = (primary->kind & PRIMARY_OPENS) != 0;

		if (primary->bytes[0] == before)
		{
			memcpy(bytes + used, primary->bytes + 1, 3);
			used += primary->len - 1;
			continue;
		}
		if (before != 0)
			bytes[used++] = primary->bytes[0] < before ? LOWER_FOLLOWS : HIGHER_FOLLOWS;
		memcpy(bytes + used, primary->bytes, 4);
		used += primary->len;
		before = (primary->kind & PRIMARY_COMPRESSES) ? primary->bytes[0] : 0;
	}
	*word = load_be64(bytes);
	return true;
}

/* A string, read by characters. */
typedef struct Reader
{
	const uint8 *at;
	const uint8 *end;
	bool		opens;			/* the last character may begin a contraction */
} Reader;

/*
 * The primary weight of the next character, 0 behind the last one.  False if it has none that is
 * known, or not by itself.
 */
static inline bool
next_weight(const CollatePrimaries *primaries, Reader *reader, uint32 *weight)
{
	uint32		c;
	const CollatePrimary *primary;

	if (reader->at == reader->end)
	{
		*weight = 0;
		return true;
	}
	c = *reader->at++;
	if (c >= 0x80)
	{
		if (c >= 0xe0 || reader->at == reader->end)
			return false;
		c = (c & 0x1f) << 6 | (*reader->at++ & 0x3f);
	}
	primary = &primaries->of[c];
	if (primary->len == 0 || (reader->opens && (primary->kind & PRIMARY_CLOSES)))
		return false;
	reader->opens = (primary->kind & PRIMARY_OPENS) != 0;
	*weight = load_be32(primary->bytes);
	return true;
}

bool
gpusort_primaries_order(const CollatePrimaries *primaries, const char *a, uint32 a_len,
						const char *b, uint32 b_len, int *cmp)
{
	Reader		readers[2] = {
		{(const uint8 *) a, (const uint8 *) a + a_len, false},
		{(const uint8 *) b, (const uint8 *) b + b_len, false}
	};
	uint32		x;
	uint32		y;
	uint32		behind;

	do
	{
		if (!next_weight(primaries, &readers[0], &x) || !next_weight(primaries, &readers[1], &y))
			return false;
		if (x == 0 && y == 0)
			return false;
	} while (x == y);
	*cmp = x < y ? -1 : 1;
	return next_weight(primaries, &readers[0], &behind) &&
		next_weight(primaries, &readers[1], &behind);
}

bool
gpusort_primaries_ask(const UCollator *collator, const char *string, uint32 len, uint64 *word)
{
	UErrorCode	status = U_ZERO_ERROR;
	UCharIterator iterator;
	uint32_t	position[2] = {0, 0};
	uint8_t		part[sizeof(uint64)] = {0};
	uint8_t    *separator;

	uiter_setUTF8(&iterator, string, len);
	ucol_nextSortKeyPart(collator, &iterator, position, part, sizeof(part), &status);

	/* accents and case are no part of the word */
	separator = memchr(part, LEVEL_SEPARATOR, sizeof(part));
	if (separator != NULL)
		memset(separator, 0, part + sizeof(part) - separator);
	*word = load_be64(part);
	return U_SUCCESS(status);
}

/* ---------- learning ---------- */

/* The key of a short string; returns the length of its primary level, 0 if it has none. */
static uint32
primary_level(const UCollator *collator, const UChar *string, int32_t len, uint8_t *key)
{
	int32_t		key_len = ucol_getSortKey(collator, string, len, key, SHORT_KEY_BYTES);
	uint8_t    *separator;

	if (key_len <= 0 || key_len > SHORT_KEY_BYTES)
		return 0;
	separator = memchr(key, LEVEL_SEPARATOR, key_len);
	return separator != NULL ? separator - key : 0;
}

/* Is a character's primary level a single weight? */
static bool
has_one_primary(UCollationElements *elements, UChar c)
{
	UErrorCode	status = U_ZERO_ERROR;
	int32_t		order;
	int			n = 0;

	ucol_setText(elements, &c, 1, &status);
	while (U_SUCCESS(status) && (order = ucol_next(elements, &status)) != UCOL_NULLORDER)
	{
		/* an element that continues the one before says so in its tertiary weight */
		if (ucol_primaryOrder(order) != 0 && (n == 0 || (order & 0xc0) != 0xc0))
			n++;
	}
	return U_SUCCESS(status) && n == 1;
}

static void
learn_character(CollatePrimaries *primaries, UCollationElements *elements, UChar c)
{
	CollatePrimary *primary = &primaries->of[c];
	UChar		twice[2] = {c, c};
	uint8_t		key[SHORT_KEY_BYTES];
	uint8_t		key_twice[SHORT_KEY_BYTES];
	uint32		len;
	uint32		len_twice;

	if (u_getCombiningClass(c) != 0 || !has_one_primary(elements, c))
		return;
	len = primary_level(primaries->collator, twice, 1, key);
	len_twice = primary_level(primaries->collator, twice, 2, key_twice);
	if (len == 0 || len > sizeof(primary->bytes) ||
		(len_twice != 2 * len && len_twice != 2 * len - 1))
		return;
	memcpy(primary->bytes, key, len);
	primary->len = len;
	if (len_twice != 2 * len)
		primary->kind |= PRIMARY_COMPRESSES;
}

/* Note which characters a contraction may begin or go on with. */
static bool
learn_contractions(CollatePrimaries *primaries)
{
	UErrorCode	status = U_ZERO_ERROR;
	USet	   *contractions = uset_openEmpty();
	int32_t		nitems = 0;

	if (contractions == NULL)
		return false;
	ucol_getContractionsAndExpansions(primaries->collator, contractions, NULL, true, &status);
	if (U_SUCCESS(status))
		nitems = uset_getItemCount(contractions);
	for (int32_t i = 0; i < nitems && U_SUCCESS(status); i++)
	{
		UChar		string[CONTRACTION_UNITS];
		UChar32		first;
		UChar32		last;
		int32_t		len = uset_getItem(contractions, i, &first, &last, string, lengthof(string),
									   &status);

		for (int32_t j = 0; j < len; j++)
		{
			if (string[j] < PRIMARIES_CHARS)
				primaries->of[string[j]].kind |= j == 0 ? PRIMARY_OPENS : PRIMARY_CLOSES;
		}
	}
	uset_close(contractions);
	return U_SUCCESS(status);
}

typedef struct Trial
{
	char		string[2 * TRIAL_CHARS];
	uint32		len;
	uint64		word;
	bool		known;			/* the word was made without ICU */
} Trial;

/* Make the number-th random string of characters that were learned, and its word. */
static void
make_trial(const CollatePrimaries *primaries, int number, Trial *trial)
{
	static uint64 random = UINT64CONST(0x9E3779B97F4A7C15);

	trial->len = 0;
	for (int n = number % TRIAL_CHARS + 1; n > 0; n--)
	{
		uint32		c;

		random = random * UINT64CONST(6364136223846793005) + UINT64CONST(1442695040888963407);
		c = random >> 33;
		if (number % 3 == 0)
			c %= 0x80;			/* ASCII */
		else if (number % 3 == 1)
			c = c % 0x40 + number / 3 % (PRIMARIES_CHARS / 0x40) * 0x40;	/* one script */
		else
			c %= PRIMARIES_CHARS;
		if (primaries->of[c].len == 0)
			continue;
		if (c < 0x80)
			trial->string[trial->len++] = c;
		else
		{
			trial->string[trial->len++] = 0xc0 | c >> 6;
			trial->string[trial->len++] = 0x80 | (c & 0x3f);
		}
	}
	trial->known = gpusort_primaries_word(primaries, trial->string, trial->len, &trial->word);
}

/*
 * Are words of random strings what ICU makes of them?  Notes as well whether ICU's comparison
 * agrees with the order of their weights.
 */
static bool
try_words(CollatePrimaries *primaries)
{
	Trial		trials[2];

	trials[1].known = false;
	for (int i = 0; i < TRIALS; i++)
	{
		Trial	   *a = &trials[i % 2];
		Trial	   *b = &trials[(i + 1) % 2];
		UErrorCode	status = U_ZERO_ERROR;
		uint64		asked;
		int			cmp;

		make_trial(primaries, i, a);
		if (!a->known)
			continue;
		if (!gpusort_primaries_ask(primaries->collator, a->string, a->len, &asked) ||
			a->word != asked)
			return false;
		if (!gpusort_primaries_order(primaries, a->string, a->len, b->string, b->len, &cmp))
			continue;
		if (cmp != ucol_strcollUTF8(primaries->collator, a->string, a->len, b->string, b->len,
									&status) || U_FAILURE(status))
			primaries->proves = false;
	}
	return true;
}

/* Fill in the table; false if what is in it then is not to be used. */
static bool
learn(CollatePrimaries *primaries)
{
	UErrorCode	status = U_ZERO_ERROR;
	UCollationElements *elements = ucol_openElements(primaries->collator, NULL, 0, &status);

	if (U_FAILURE(status))
		return false;
	for (UChar c = FIRST_CHAR; c < PRIMARIES_CHARS; c++)
		learn_character(primaries, elements, c);
	ucol_closeElements(elements);

	/* such collations take several digits for one number */
	if (ucol_getAttribute(primaries->collator, UCOL_NUMERIC_COLLATION, &status) != UCOL_OFF)
	{
		for (UChar c = 0; c < PRIMARIES_CHARS; c++)
		{
			if (u_isdigit(c))
				primaries->of[c].len = 0;
		}
	}
	if (!learn_contractions(primaries))
		return false;
	for (int c = FIRST_CHAR; c < 0x80; c++)
	{
		const CollatePrimary *primary = &primaries->of[c];

		if (primary->len == 1 && !(primary->kind & (PRIMARY_COMPRESSES | PRIMARY_CLOSES)))
			primaries->single[c] = primary->bytes[0];
	}
	primaries->proves = true;
	return U_SUCCESS(status) && try_words(primaries);
}

void
gpusort_primaries_asked(CollatePrimaries *primaries)
{
	if (primaries->tried || ++primaries->asked < LEARN_AFTER)
		return;
	primaries->tried = true;
	primaries->learned = learn(primaries);
	primaries->proves &= primaries->learned;
}

#endif							/* USE_ICU */
