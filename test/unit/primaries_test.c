/*
 * primaries_test.c
 *		Words of strings, made without ICU, against what ICU makes of them.
 *
 * For every collation of ICU's that is unlike the ones before, and for some with settings of
 * their own: where gpusort_primaries_word() makes a word it is gpusort_primaries_ask()'s,
 * gpusort_primaries_order() says what ucol_strcollUTF8() says, and gpusort_primaries_key() makes
 * ucol_getSortKey()'s keys.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tap.h"
#include "keys/collate_primaries.h"
#include "utils/memutils.h"

/* the server's headers have a function of their own for this */
#undef sprintf

#ifdef USE_ICU

#include <unicode/uloc.h>
#include <unicode/ustring.h>

MemoryContext TopMemoryContext = NULL;

/* Collators are asked about more often than they are learned after. */
#define ENOUGH_QUESTIONS	30000

#define MAX_COLLATORS		400
#define MAX_CHARS			24		/* of a string */
#define MAX_COMMON			12		/* that two strings begin with */
#define STRING_BYTES		(4 * MAX_CHARS)
#define LONG_BYTES			400		/* of a string whose key has full runs */
#define KEY_BYTES			(8 * LONG_BYTES)

static int	nstrings = 4000;
static uint64 state = 4711;

/* What is allocated is a table for each collator, and freed with it. */
void *
MemoryContextAllocExtended(MemoryContext context, Size size, int flags)
{
	return calloc(1, size);
}

static uint32
random_below(uint32 bound)
{
	state = state * UINT64CONST(6364136223846793005) + UINT64CONST(1442695040888963407);
	return (state >> 33) % bound;
}

/* ---------- strings ---------- */

typedef struct Range
{
	uint32		first;
	uint32		count;
} Range;

/* Those in front make words; what is behind is left to ICU now and then or always. */
static const Range ranges[] = {
	{'a', 26}, {'a', 26}, {' ', 0x5f}, {' ', 0x5f}, {'A', 26}, {0xc0, 0x140}, {0x370, 0x90}, {0x400, 0x130},
	/* combining marks, right to left, Indic, Thai, Hangul, any, invisible ones, nearly all */
	{0x300, 0x70}, {0x590, 0x150}, {0x900, 0x100}, {0xe00, 0x60}, {0xac00, 0x2000}, {0x1, 0x7ff},
	{0x200b, 0x60}, {0xfe00, 0x10}, {0x20, 0x2ff00}
};

#define NEASY		8

static uint32
random_char(bool easy)
{
	const Range *range = &ranges[random_below(easy ? NEASY : lengthof(ranges))];
	uint32		c = range->first + random_below(range->count);

	return c >= 0xd800 && c < 0xe000 ? 'a' : c;
}

typedef struct String
{
	char		bytes[STRING_BYTES];
	uint32		len;
} String;

static void
append_char(String *s, uint32 c)
{
	char	   *p = s->bytes + s->len;

	if (c < 0x80)
		*p++ = c;
	else if (c < 0x800)
	{
		*p++ = 0xc0 | c >> 6;
		*p++ = 0x80 | (c & 0x3f);
	}
	else
	{
		if (c < 0x10000)
			*p++ = 0xe0 | c >> 12;
		else
		{
			*p++ = 0xf0 | c >> 18;
			*p++ = 0x80 | (c >> 12 & 0x3f);
		}
		*p++ = 0x80 | (c >> 6 & 0x3f);
		*p++ = 0x80 | (c & 0x3f);
	}
	s->len = p - s->bytes;
}

/* Two strings that begin alike, but for the case of letters, and are short more often than not. */
static void
make_strings(String *a, String *b)
{
	bool		easy = random_below(2) == 0;

	a->len = b->len = 0;
	for (int n = random_below(random_below(2) == 0 ? 4 : MAX_COMMON + 1); n > 0; n--)
	{
		uint32		c = random_char(easy);

		append_char(a, c);
		append_char(b, c < 0x80 && isalpha(c) && random_below(4) == 0 ? c ^ 0x20 : c);
	}
	for (int n = random_below(MAX_CHARS - MAX_COMMON); n > 0; n--)
		append_char(a, random_char(easy));
	for (int n = random_below(MAX_CHARS - MAX_COMMON); n > 0; n--)
		append_char(b, random_char(easy));
}

static const char *
hex(const String *s)
{
	static char texts[2][2 * STRING_BYTES + 1];
	static int	which = 0;
	char	   *text = texts[which ^= 1];

	text[0] = '\0';
	for (uint32 i = 0; i < s->len; i++)
		sprintf(text + 2 * i, "%02x", (uint8) s->bytes[i]);
	return text;
}

/* ---------- collators ---------- */

typedef struct Counts
{
	int			collators;
	int			learned;
	int			proving;
	int			words;
	int			wrong_words;
	int			decided;		/* pairs whose order was proven */
	int			decided_late;	/* ... and whose words are the same */
	int			wrong_orders;
	int			keys;
	int			wrong_keys;
	int			rests;			/* of strings that begin alike */
	int			wrong_rests;
} Counts;

/* A copy that has not a byte more than promised, so that the sanitizer sees what is beyond. */
static char *
exact_copy(const String *s)
{
	char	   *copy = malloc(s->len > 0 ? s->len : 1);

	memcpy(copy, s->bytes, s->len);
	return copy;
}

/* Returns the string's word, 0 if it has none. */
static uint64
try_string(const CollatePrimaries *primaries, const char *name, const String *s, Counts *counts)
{
	char	   *copy = exact_copy(s);
	uint64		word;
	bool		known = gpusort_primaries_word(primaries, copy, s->len, &word);
	uint64		asked;

	free(copy);
	if (!known)
		return 0;
	counts->words++;
	if (!gpusort_primaries_ask(primaries->collator, s->bytes, s->len, &asked) || asked != word)
	{
		if (counts->wrong_words++ < 5)
			tap_note("wrong word, %s: %s is %016llx, not %016llx", name, hex(s),
					 (unsigned long long) asked, (unsigned long long) word);
	}
	return word;
}

/* Returns whether the strings' order is proven. */
static bool
try_order(const CollatePrimaries *primaries, const char *name, const String *a, const String *b,
		  Counts *counts)
{
	UErrorCode	status = U_ZERO_ERROR;
	char	   *copies[2] = {exact_copy(a), exact_copy(b)};
	int			proven;
	bool		known = primaries->proves &&
		gpusort_primaries_order(primaries, copies[0], a->len, copies[1], b->len, &proven);
	int			cmp;

	free(copies[0]);
	free(copies[1]);
	if (!known)
		return false;
	counts->decided++;
	cmp = ucol_strcollUTF8(primaries->collator, a->bytes, a->len, b->bytes, b->len, &status);
	if (U_FAILURE(status) || cmp != proven)
	{
		if (counts->wrong_orders++ < 5)
			tap_note("wrong order, %s: %s and %s compare %d", name, hex(a), hex(b), cmp);
	}
	return true;
}

/* The key of a string of so many bytes, in a buffer that is large enough. */
static void
try_key(const CollatePrimaries *primaries, const char *name, const char *string, uint32 len,
		Counts *counts)
{
	uint8		key[KEY_BYTES];
	uint8		asked[KEY_BYTES];
	UChar		utf16[LONG_BYTES];
	UErrorCode	status = U_ZERO_ERROR;
	int32_t		units;
	uint32		made = gpusort_primaries_key(primaries, string, len, key, sizeof(key));
	int32_t		wanted;

	if (made == 0)
		return;
	counts->keys++;
	u_strFromUTF8(utf16, LONG_BYTES, &units, string, len, &status);
	wanted = ucol_getSortKey(primaries->collator, utf16, units, asked, sizeof(asked));
	if (U_FAILURE(status) || wanted != (int32_t) made + 1 || memcmp(key, asked, made + 1) != 0 ||
		gpusort_primaries_key(primaries, string, len, key, made) != 0 ||
		gpusort_primaries_key(primaries, string, len, key, made + 1) != made)
	{
		if (counts->wrong_keys++ < 5)
			tap_note("wrong key, %s: of %u bytes, %.*s", name, made, (int) len, string);
	}
}

/* ICU's key of a string. */
static void
ask_key(const UCollator *collator, const char *string, uint32 len, uint8 *key)
{
	UErrorCode	status = U_ZERO_ERROR;
	UChar		utf16[STRING_BYTES];
	int32_t		units;

	u_strFromUTF8(utf16, STRING_BYTES, &units, string, len, &status);
	if (U_FAILURE(status) || ucol_getSortKey(collator, utf16, units, key, KEY_BYTES) > KEY_BYTES)
		abort();
}

/* How ICU's keys of two strings compare without so many bytes in front. */
static int
compare_rests(const UCollator *collator, const String *a, const String *b, uint32 rest)
{
	uint8		keys[2][KEY_BYTES];
	int			cmp;

	ask_key(collator, a->bytes + rest, a->len - rest, keys[0]);
	ask_key(collator, b->bytes + rest, b->len - rest, keys[1]);
	cmp = strcmp((char *) keys[0], (char *) keys[1]);
	return (cmp > 0) - (cmp < 0);
}

/* Does what follows bytes that two strings share decide their order? */
static void
try_rest(const CollatePrimaries *primaries, const char *name, const String *a, const String *b,
		 Counts *counts)
{
	uint32		shared = 0;
	uint32		rest;

	while (shared < a->len && shared < b->len && a->bytes[shared] == b->bytes[shared])
		shared++;
	rest = gpusort_primaries_rest(primaries, a->bytes, shared);
	if (rest == 0)
		return;
	counts->rests++;
	if (compare_rests(primaries->collator, a, b, rest) !=
		compare_rests(primaries->collator, a, b, 0))
	{
		if (counts->wrong_rests++ < 5)
			tap_note("wrong rest, %s: %s and %s from byte %u on", name, hex(a), hex(b), rest);
	}
}

/* Does the comparison look at characters that others hide?  Such collations are not sorted by. */
static bool
compares_by_context(const UCollator *collator)
{
	UErrorCode	status = U_ZERO_ERROR;

	return ucol_getAttribute(collator, UCOL_ALTERNATE_HANDLING, &status) != UCOL_NON_IGNORABLE ||
		ucol_getAttribute(collator, UCOL_FRENCH_COLLATION, &status) != UCOL_OFF;
}

/* Letters, most of them small, so many that counts of common weights are written in several bytes. */
static void
try_long_key(const CollatePrimaries *primaries, const char *name, Counts *counts)
{
	char		string[LONG_BYTES];
	uint32		len = random_below(LONG_BYTES);
	uint32		rarely = 1 + random_below(200);

	for (uint32 i = 0; i < len; i++)
		string[i] = random_below(rarely) == 0 ? ' ' + random_below(0x5f) : 'i' + random_below(3);
	try_key(primaries, name, string, len, counts);
}

static void
test_collator(const CollatePrimaries *primaries, const char *name, Counts *counts)
{
	counts->collators++;
	counts->learned += primaries->learned;
	counts->proving += primaries->learned && primaries->proves;
	if (!primaries->learned)
		return;
	for (int i = 0; i < nstrings; i++)
	{
		String		a;
		String		b;

		uint64		word_a;
		uint64		word_b;

		make_strings(&a, &b);
		word_a = try_string(primaries, name, &a, counts);
		word_b = try_string(primaries, name, &b, counts);
		counts->decided_late += try_order(primaries, name, &a, &b, counts) && word_a != 0 &&
			word_a == word_b;
		if (!compares_by_context(primaries->collator))
			try_rest(primaries, name, &a, &b, counts);
		try_key(primaries, name, a.bytes, a.len, counts);
		if (i % 16 == 0)
			try_long_key(primaries, name, counts);
	}
}

/*
 * Closed collators' addresses come again, and with them tables that were made for others.  So all
 * stay open to the end.
 */
typedef struct Opened
{
	UCollator  *collators[MAX_COLLATORS];
	CollatePrimaries *primaries[MAX_COLLATORS];
	int			count;
} Opened;

/* Are two collators made of the same rules and settings? */
static bool
are_alike(const UCollator *a, const UCollator *b)
{
	static const UColAttribute attributes[] = {
		UCOL_ALTERNATE_HANDLING, UCOL_CASE_FIRST, UCOL_CASE_LEVEL, UCOL_FRENCH_COLLATION,
		UCOL_NORMALIZATION_MODE, UCOL_NUMERIC_COLLATION, UCOL_STRENGTH
	};
	UErrorCode	status = U_ZERO_ERROR;
	int32_t		len_a;
	int32_t		len_b;
	const UChar *rules_a = ucol_getRules(a, &len_a);
	const UChar *rules_b = ucol_getRules(b, &len_b);
	int32_t		codes_a[64];
	int32_t		codes_b[64];

	if (len_a != len_b || memcmp(rules_a, rules_b, len_a * sizeof(UChar)) != 0)
		return false;
	for (size_t i = 0; i < sizeof(attributes) / sizeof(attributes[0]); i++)
		if (ucol_getAttribute(a, attributes[i], &status) != ucol_getAttribute(b, attributes[i], &status))
			return false;
	if (ucol_getMaxVariable(a) != ucol_getMaxVariable(b))
		return false;
	len_a = ucol_getReorderCodes(a, codes_a, 64, &status);
	len_b = ucol_getReorderCodes(b, codes_b, 64, &status);
	return U_SUCCESS(status) && len_a == len_b &&
		memcmp(codes_a, codes_b, len_a * sizeof(codes_a[0])) == 0;
}

static CollatePrimaries *
learn_collator(Opened *opened, UCollator *collator)
{
	CollatePrimaries *primaries = gpusort_primaries_of(collator);

	for (int i = 0; i < ENOUGH_QUESTIONS; i++)
		gpusort_primaries_asked(primaries);
	opened->collators[opened->count] = collator;
	opened->primaries[opened->count++] = primaries;
	return primaries;
}

/* Open and learn a collation; NULL if there is none, or one like it is open. */
static CollatePrimaries *
open_collator(Opened *opened, const char *name)
{
	UErrorCode	status = U_ZERO_ERROR;
	UCollator  *collator = ucol_open(name, &status);
	bool		is_new = U_SUCCESS(status) && opened->count < MAX_COLLATORS;

	for (int i = 0; i < opened->count && is_new; i++)
		is_new = !are_alike(opened->collators[i], collator);
	if (!is_new)
	{
		if (U_SUCCESS(status))
			ucol_close(collator);
		return NULL;
	}
	return learn_collator(opened, collator);
}

static void
close_collators(Opened *opened)
{
	for (int i = 0; i < opened->count; i++)
	{
		ucol_close(opened->collators[i]);
		free(opened->primaries[i]);
	}
}

/* The letter doubled, which it is learned from, is a contraction of another length. */
static void
test_unlearned(Opened *opened)
{
	static const UChar rules[] = u"&e<<<ss";
	UErrorCode	status = U_ZERO_ERROR;
	UCollator  *collator = ucol_openRules(rules, -1, UCOL_DEFAULT, UCOL_DEFAULT_STRENGTH, NULL, &status);
	CollatePrimaries *primaries = learn_collator(opened, collator);

	tap_ok(U_SUCCESS(status) && !primaries->learned && !primaries->proves,
		   "what ICU makes other words of proves nothing");
}

static void
tell_counts(const char *kind, const Counts *counts)
{
	tap_ok(counts->collators > 0 && counts->learned == counts->collators,
		   "%s: %d of %d learned", kind, counts->learned, counts->collators);
	tap_ok(counts->wrong_words == 0, "%s: %d words", kind, counts->words);
	tap_ok(counts->wrong_orders == 0, "%s: %d pairs of strings in order", kind, counts->decided);
	tap_ok(counts->wrong_keys == 0 && counts->keys > counts->collators * nstrings / 16, "%s: %d keys",
		   kind, counts->keys);
	tap_ok(counts->wrong_rests == 0 && counts->rests > counts->proving * nstrings / 8,
		   "%s: %d rests order like strings", kind, counts->rests);
	tap_ok(counts->proving > counts->collators / 2 &&
		   counts->words > counts->learned * nstrings / 2 &&
		   counts->decided > counts->proving * nstrings / 8 &&
		   counts->decided_late > counts->proving * nstrings / 64,
		   "%s: enough of them, %d prove", kind, counts->proving);
}

static void
test_collations(void)
{
	static const char *const custom[] = {
		"und-u-ka-shifted", "de-u-kn", "und-u-kf-upper", "und-u-ks-level1", "fr-u-kb-true", "und-u-kc",
		"da-u-ka-shifted-kn", "und-u-kk-true", "en-u-kr-latn-digit", "und-u-kr-grek-latn",
		"th-u-ks-identic", "zh-u-co-pinyin", "ja-u-ks-level4", "de-u-co-phonebk", "es-u-co-trad",
		"und-u-ka-shifted-kv-symbol"
	};
	static Opened opened;
	Counts		counts[2] = {0};

	for (int i = 0; i < (int) lengthof(custom); i++)
	{
		CollatePrimaries *primaries = open_collator(&opened, custom[i]);

		if (primaries != NULL)
			test_collator(primaries, custom[i], &counts[0]);
	}
	for (int i = 0; i < uloc_countAvailable(); i++)
	{
		const char *name = uloc_getAvailable(i);
		CollatePrimaries *primaries = open_collator(&opened, name);

		if (primaries != NULL)
			test_collator(primaries, name, &counts[1]);
	}
	test_unlearned(&opened);
	tell_counts("collations with settings", &counts[0]);
	tell_counts("predefined collations", &counts[1]);
	close_collators(&opened);
}

#else							/* !USE_ICU */

static int	nstrings;

static void
test_collations(void)
{
	tap_ok(nstrings > 0, "PostgreSQL was built without ICU: nothing to test");
}

#endif							/* USE_ICU */

int
main(int argc, char **argv)
{
	nstrings = argc > 1 && strcmp(argv[1], "--small") == 0 ? 500 : 4000;
	test_collations();
	return tap_finish();
}
