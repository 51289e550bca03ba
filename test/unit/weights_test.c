/*
 * weights_test.c
 *		Keys and words of strings against what strxfrm() makes of them.
 *
 * For the locales there are of those below: LOCPATH may lead to some.  With --time LOCALE
 * it tells instead what each takes for a string of 16 letters, digits and blanks.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "keys/collate_weights.h"
#include "tap.h"

/*
 * newlocale() never frees the copy of LOCPATH that it makes with argz_add_sep().  Where
 * glibc's debugging symbols are installed that function is __argz_add_sep; a pattern
 * matches any part of a name.  A locale that somebody forgets to free is still found.
 */
extern const char *__lsan_default_suppressions(void) __attribute__((visibility("default")));

const char *
__lsan_default_suppressions(void)
{
	return "leak:argz_add_sep";
}

#define MAX_CHARS	40
#define MAX_BYTES	(4 * MAX_CHARS)
#define KEY_BYTES	(64 * MAX_BYTES)

static int	nstrings = 100000;
static uint64_t state;

static uint32_t
random_below(uint32_t bound)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (state >> 33) % bound;
}

/* Characters of several kinds; pairs that some language takes for one letter come often. */
static const char *const characters[] = {
	"a", "b", "c", "ch", "d", "dz", "dzs", "e", "g", "gy", "h", "i", "j", "k", "l", "lj", "ll", "ly", "n",
	"nj", "ny", "o", "r", "s", "sz", "t", "ty", "y", "z", "zs", "A", "C", "CH", "Ch", "D", "DZ", "I", "L", "Z", "0", "1",
	"7", "9", " ", "-", "_", "'", ".", "/", "~", "\t", "\x7f", "\xc3\xa4", "\xc3\xa9", "\xc3\x9f", "\xcc\x81", "\xc4\xb1",
	"\xe6\x97\xa5", "\xf0\x9f\x98\x80"
};

#define NCHARACTERS	(int) (sizeof(characters) / sizeof(characters[0]))
#define NLETTERS	50			/* printable ASCII ones, in front */

typedef struct String
{
	char		bytes[MAX_BYTES + 1];
	size_t		len;
	char		key[KEY_BYTES];	/* strxfrm()'s */
	size_t		key_len;
	uint64_t	word;
} String;

/* Few characters out of few, so that strings share beginnings. */
static void
make_string(String *s, bool ascii, locale_t locale)
{
	int			nchars = random_below(4) == 0 ? random_below(MAX_CHARS) : random_below(12);
	int			few = 1 + random_below(ascii ? NLETTERS : NCHARACTERS);
	int			first = random_below((ascii ? NLETTERS : NCHARACTERS) - few + 1);

	s->bytes[0] = '\0';
	for (int i = 0; i < nchars; i++)
		strcat(s->bytes, characters[first + random_below(few)]);
	s->len = strlen(s->bytes);
	s->key_len = strxfrm_l(s->key, s->bytes, KEY_BYTES, locale);
}

/* strcmp() of keys, which hold no zero bytes. */
static int
compare_keys(const String *a, const String *b)
{
	return strcmp(a->key, b->key);
}

typedef struct Counts
{
	int			keys;			/* that were made */
	int			wrong_keys;
	int			words;
	int			wrong_words;
	int			wrong_orders;
	int			rests;			/* of strings that begin alike */
	int			wrong_rests;
} Counts;

static void
try_string(const CollateWeights *w, String *s, Counts *counts)
{
	/* not a byte more than promised, so that the sanitizer sees what is beyond */
	char	   *key = malloc(s->len * COLLATE_CHAR_BYTES + COLLATE_KEY_SLACK);
	size_t		key_len;
	uint64_t	word;

	s->word = collate_word_of_key(w, s->key, s->key_len);
	if (collate_key(w, s->bytes, s->len, key, &key_len))
	{
		counts->keys++;
		if (key_len != s->key_len || memcmp(key, s->key, key_len) != 0)
		{
			if (counts->wrong_keys++ == 0)
				tap_note("wrong key: \"%s\"", s->bytes);
		}
	}
	if (collate_word(w, s->bytes, s->len, &word))
	{
		counts->words++;
		if (word != s->word)
		{
			if (counts->wrong_words++ == 0)
				tap_note("wrong word: \"%s\", %016llx, not %016llx", s->bytes, (unsigned long long) word, (unsigned long long) s->word);
		}
	}
	free(key);
}

static int
sign(int number)
{
	return (number > 0) - (number < 0);
}

/* Does what follows bytes that two strings share decide their order? */
static void
try_rest(const CollateWeights *w, const String *s, const String *tail, Counts *counts,
		 locale_t locale)
{
	size_t		shared = s->len > 0 ? random_below(s->len) + 1 : 0;
	size_t		rest = collate_rest(w, s->bytes, shared);
	char		other[2 * MAX_BYTES + 1];
	char		key[2][2 * KEY_BYTES];
	int			cmp;

	if (rest == 0)
		return;
	memcpy(other, s->bytes, shared);
	strcpy(other + shared, tail->bytes);
	strxfrm_l(key[0], other, sizeof(key[0]), locale);
	cmp = sign(strcmp(s->key, key[0]));
	strxfrm_l(key[0], s->bytes + rest, sizeof(key[0]), locale);
	strxfrm_l(key[1], other + rest, sizeof(key[1]), locale);
	counts->rests++;
	if (sign(strcmp(key[0], key[1])) != cmp)
	{
		if (counts->wrong_rests++ == 0)
			tap_note("wrong rest: \"%s\", \"%s\" from byte %zu on", s->bytes, other, rest);
	}
}

static void
test_strings(const char *name, const CollateWeights *w, bool ascii, locale_t locale)
{
	Counts		counts = {0};
	String	   *strings = calloc(2, sizeof(String));
	const char *kind = ascii ? "ASCII" : "any";

	state = 4711;
	for (int i = 0; i < nstrings; i++)
	{
		String	   *now = &strings[i & 1];
		String	   *before = &strings[~i & 1];

		make_string(now, ascii, locale);
		try_string(w, now, &counts);
		if (i > 0 && now->word != before->word &&
			(now->word < before->word) != (compare_keys(now, before) < 0))
		{
			if (counts.wrong_orders++ == 0)
				tap_note("wrong order: \"%s\", \"%s\"", before->bytes, now->bytes);
		}
		try_rest(w, now, before, &counts, locale);
	}
	tap_ok(counts.wrong_keys == 0, "%s, %s strings: %d keys", name, kind, counts.keys);
	tap_ok(counts.wrong_words == 0, "%s, %s strings: %d words", name, kind, counts.words);
	tap_ok(counts.wrong_orders == 0, "%s, %s strings: words order like keys", name, kind);
	tap_ok(counts.wrong_rests == 0 && counts.rests > nstrings / 10,
		   "%s, %s strings: %d rests order like strings", name, kind, counts.rests);
	tap_ok(counts.keys > nstrings / 10 && counts.words >= counts.keys, "%s, %s strings: enough of them", name, kind);
	free(strings);
}

static bool
makes_key(const CollateWeights *w, const char *string)
{
	char		key[256];
	size_t		len;

	return collate_key(w, string, strlen(string), key, &len);
}

static void
test_locale(const char *name)
{
	locale_t	locale = newlocale(LC_ALL_MASK, name, (locale_t) 0);
	CollateWeights w;

	if (locale == (locale_t) 0)
	{
		tap_note("no locale %s here", name);
		return;
	}
	tap_ok(collate_learn_weights(&w, locale), "%s: weights", name);
	tap_ok(collate_learn_pairs(&w, locale), "%s: pairs", name);
	test_strings(name, &w, true, locale);
	test_strings(name, &w, false, locale);
	if (strcmp(name, "cs_CZ.utf8") == 0)
		tap_ok(!makes_key(&w, "bach") && makes_key(&w, "hc") && makes_key(&w, "c-h"), "%s: ch is a letter", name);
	if (strcmp(name, "en_US.utf8") == 0)
		tap_ok(makes_key(&w, "bach") && makes_key(&w, "") && !makes_key(&w, "\xc3\xa4") && !makes_key(&w, "a\n"),
			   "%s: what is left to strxfrm()", name);
	freelocale(locale);
}

/* Keys that are the string itself are not made of weights. */
static void
test_c(void)
{
	locale_t	locale = newlocale(LC_ALL_MASK, "C", (locale_t) 0);
	CollateWeights w;

	tap_ok(!collate_learn_weights(&w, locale), "C: no weights");
	freelocale(locale);
}

/* ---------- --time ---------- */

#define TIMED_STRINGS	200000
#define TIMED_BYTES		16

static double
ns_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1e9 + now.tv_nsec;
}

static int
tell_times(const char *name)
{
	locale_t	locale = newlocale(LC_ALL_MASK, name, (locale_t) 0);
	char		(*strings)[TIMED_BYTES + 1] = calloc(TIMED_STRINGS, sizeof(*strings));
	char		key[TIMED_BYTES * COLLATE_CHAR_BYTES + COLLATE_KEY_SLACK];
	double		start[4];
	size_t		sum = 0;
	size_t		len;
	uint64_t	word;
	CollateWeights w;

	if (locale == (locale_t) 0 || !collate_learn_weights(&w, locale) || !collate_learn_pairs(&w, locale))
	{
		fprintf(stderr, "nothing is learned of %s\n", name);
		return 1;
	}
	for (int i = 0; i < TIMED_STRINGS; i++)
		for (int j = 0; j < TIMED_BYTES; j++)
			strings[i][j] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ -"[random_below(64)];
	start[0] = ns_now();
	for (int i = 0; i < TIMED_STRINGS; i++)
		sum += strxfrm_l(key, strings[i], sizeof(key), locale);
	start[1] = ns_now();
	for (int i = 0; i < TIMED_STRINGS; i++)
		sum += collate_key(&w, strings[i], TIMED_BYTES, key, &len);
	start[2] = ns_now();
	for (int i = 0; i < TIMED_STRINGS; i++)
		sum += collate_word(&w, strings[i], TIMED_BYTES, &word) && word > 0;
	start[3] = ns_now();
	printf("%s, ns: strxfrm %.0f, key %.0f, word %.0f (%zu)\n", name, (start[1] - start[0]) / TIMED_STRINGS,
		   (start[2] - start[1]) / TIMED_STRINGS, (start[3] - start[2]) / TIMED_STRINGS, sum);
	free(strings);
	freelocale(locale);
	return 0;
}

int
main(int argc, char **argv)
{
	static const char *const names[] = {
		"en_US.utf8", "de_DE.utf8", "cs_CZ.utf8", "hu_HU.utf8", "tr_TR.utf8"
	};

	if (argc == 3 && strcmp(argv[1], "--time") == 0)
		return tell_times(argv[2]);
	if (argc > 1 && strcmp(argv[1], "--small") == 0)
		nstrings = 5000;
	test_c();
	for (int i = 0; i < (int) (sizeof(names) / sizeof(names[0])); i++)
		test_locale(names[i]);
	return tap_finish();
}
