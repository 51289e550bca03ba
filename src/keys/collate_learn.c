/*
 * collate_learn.c
 *		Learning the weights of characters under one of ICU's collations.
 *
 * See collate_primaries.h.  What was learned is tried on random strings, and given up if a single
 * word, order or key differs from ICU's.
 */
#include "keys/collate_primaries.h"

#ifdef USE_ICU

#include <unicode/ucoleitr.h>
#include <unicode/uchar.h>
#include <unicode/uset.h>

#define FIRST_CHAR			0x20

/*
 * How often ICU is asked for a word before weights are learned.  To make a word from learned
 * weights takes 15 ns, to ask ICU 200 and more, and to learn 8 ms.
 */
#define LEARN_AFTER			20000

/* How many strings the learned weights are tried on, and how many characters these have at most. */
#define TRIALS				512
#define TRIAL_CHARS			12
#define TRIAL_KEY_CHARS		256
#define TRIAL_KEY_BYTES		(8 * TRIAL_KEY_CHARS)

/* Enough for the keys of two characters, and for a contraction. */
#define SHORT_KEY_BYTES		128
#define CONTRACTION_UNITS	64

/* Makes ICU's key of a short string; returns the length of its primary level, 0 if it has none. */
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

/*
 * Returns the tertiary weight of a character, given its key from the end of the primary level on; 0
 * unless the secondary weight is the common one and the tertiary weight is one byte.
 */
static uint8
tertiary_weight(const uint8_t *key)
{
	static const uint8_t usual[] = {LEVEL_SEPARATOR, COMMON_WEIGHT, LEVEL_SEPARATOR};

	/* A zero byte ends the key, and memcmp() stops there if the key ends early. */
	return memcmp(key, usual, sizeof(usual)) == 0 && key[3] > LEVEL_SEPARATOR && key[4] == 0
		? key[3] : 0;
}

/* Returns whether the primary level of a character is a single weight. */
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

/*
 * Learns the weights of a character.  Whether its primary weight's first byte is left out behind
 * the same byte shows in the key of the character doubled.
 */
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
	primary->tertiary = tertiary_weight(key + len);
}

/* Notes which characters a contraction may begin or go on with. */
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

/* A random string that words are tried on. */
typedef struct Trial
{
	char		string[2 * TRIAL_CHARS];
	uint32		len;
	uint64		word;
	bool		known;			/* the word was made without ICU */
} Trial;

static uint32
random_number(void)
{
	static uint64 state = UINT64CONST(0x9E3779B97F4A7C15);

	state = state * UINT64CONST(6364136223846793005) + UINT64CONST(1442695040888963407);
	return state >> 33;
}

/* Writes one of the table's characters in UTF-8; returns how many bytes that took. */
static uint32
put_utf8(char *at, uint32 c)
{
	if (c < 0x80)
	{
		at[0] = c;
		return 1;
	}
	at[0] = 0xc0 | c >> 6;
	at[1] = 0x80 | (c & 0x3f);
	return 2;
}

/* Makes the number-th random string of characters that were learned, and its word. */
static void
make_trial(const CollatePrimaries *primaries, int number, Trial *trial)
{
	trial->len = 0;
	for (int n = number % TRIAL_CHARS + 1; n > 0; n--)
	{
		uint32		c;

		c = random_number();
		if (number % 3 == 0)
			c %= 0x80;			/* ASCII */
		else if (number % 3 == 1)
			c = c % 0x40 + number / 3 % (PRIMARIES_CHARS / 0x40) * 0x40;	/* one script */
		else
			c %= PRIMARIES_CHARS;
		if (primaries->of[c].len == 0)
			continue;
		trial->len += put_utf8(trial->string + trial->len, c);
	}
	trial->known = gpusort_primaries_word(primaries, trial->string, trial->len, &trial->word);
}

/*
 * Returns whether the words of random strings are the words that ICU makes.  Clears
 * primaries->proves if ICU's comparison disagrees with the order of their weights.
 */
static bool
try_words(CollatePrimaries *primaries)
{
	Trial		trials[2] = {0};	/* this string and the last; at first an empty one */

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

/*
 * Returns whether the keys of random strings are the keys that ICU makes.  Most characters of the
 * long strings are the same letter, whose weights are common, so that there are full runs of these.
 */
static bool
try_keys(const CollatePrimaries *primaries)
{
	int			made = 0;

	for (int i = 0; i < TRIALS; i++)
	{
		UChar		usual = 'a' + random_number() % 26;
		UChar		utf16[TRIAL_KEY_CHARS];
		char		utf8[2 * TRIAL_KEY_CHARS];
		uint8		key[TRIAL_KEY_BYTES];
		uint8		asked[TRIAL_KEY_BYTES];
		uint32		bytes = 0;
		uint32		len;
		int			n = 0;

		for (int wanted = 1 << i % 9; n < wanted; n++)
		{
			uint32		c = random_number() % (i % 3 == 0 ? PRIMARIES_CHARS : 0x80);

			if (primaries->of[c].tertiary == 0 ||
				(primaries->of[c].tertiary != COMMON_WEIGHT && random_number() % 16 != 0))
				c = usual;
			utf16[n] = c;
			bytes += put_utf8(utf8 + bytes, c);
		}
		len = gpusort_primaries_key(primaries, utf8, bytes, key, sizeof(key));
		if (len == 0)
			continue;
		if (ucol_getSortKey(primaries->collator, utf16, n, asked, sizeof(asked)) != len + 1 ||
			memcmp(key, asked, len) != 0)
			return false;
		made++;
	}
	return made >= TRIALS / 4;
}

/* Fills in the table; returns false if it must not be used. */
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

	/* Numeric collations take several digits for one number, so digits are left to ICU. */
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
	/* gpusort_primaries_key(), which try_keys() calls, makes keys only if this is set. */
	primaries->makes_keys = primaries->learned;
	primaries->makes_keys = primaries->learned && try_keys(primaries);
}

#endif							/* USE_ICU */
