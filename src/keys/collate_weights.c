/*
 * collate_weights.c
 *		What strxfrm() makes of ASCII strings, without calling it.
 *
 * See collate_weights.h.
 */
#include "keys/collate_weights.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_CHAR		0x20
#define LAST_CHAR		0x7e
#define NCHARS			(LAST_CHAR - FIRST_CHAR + 1)

/* The byte between levels.  Only weights of the last level may have such a byte, too. */
#define SEPARATOR		0x01

/*
 * Locales are left alone in which fewer characters can be learned, or more pairs of characters are
 * odd: their key is not the two characters' weights.
 */
#define MIN_CHARS		(NCHARS * 3 / 4)
#define MAX_ODD_PAIRS	(NCHARS * NCHARS / 16)

/* How many strings the learned weights are tried on, and how many characters these have at most. */
#define TRIALS			256
#define TRIAL_CHARS		24

#define PAIR_KEY_BYTES	(TRIAL_CHARS * COLLATE_CHAR_BYTES + COLLATE_KEY_SLACK)

/*
 * Splits the key of a single character into its weights, one for each level.  Returns
 * false if the key has not four levels, or more bytes than a character may add to a key.
 */
static bool
split_key(const char *key, size_t len, CollateWeight *parts)
{
	size_t		from = 0;
	size_t		total = 0;

	for (int level = 0; level < COLLATE_LEVELS; level++)
	{
		const char *end = level + 1 < COLLATE_LEVELS ?
			memchr(key + from, SEPARATOR, len - from) : key + len;
		size_t		part;

		if (end == NULL)
			return false;
		part = end - (key + from);
		total += part;
		if (part > sizeof(parts[level].bytes) || total > COLLATE_CHAR_BYTES)
			return false;
		memset(&parts[level], 0, sizeof(parts[level]));
		memcpy(parts[level].bytes, key + from, part);
		parts[level].len = part;
		from += part + 1;
	}
	/*
	 * The last level must have a weight.  Without one, the level may be counting characters, so
	 * that this character would change the weights of those behind it.
	 */
	return parts[COLLATE_LEVELS - 1].len > 0;
}

static int
compare_weights(const void *a, const void *b)
{
	return memcmp(((const CollateWeight *) a)->bytes, ((const CollateWeight *) b)->bytes,
				  sizeof(((const CollateWeight *) a)->bytes));
}

static bool
begins_with(const char *bytes, size_t len, const CollateWeight *weight)
{
	return len >= weight->len && memcmp(bytes, weight->bytes, weight->len) == 0;
}

/*
 * Sorts the first weights and renumbers them.  Returns false if a weight is the beginning
 * of another: then a string's weights need not have the order of the bytes that they make
 * together.
 */
static bool
number_letters(CollateWeights *w)
{
	int			n = 0;

	for (int c = FIRST_CHAR; c <= LAST_CHAR; c++)
	{
		if (w->kind[c] == 0 && w->weight[0][c].len > 0)
			w->alphabet[n++] = w->weight[0][c];
	}
	qsort(w->alphabet, n, sizeof(w->alphabet[0]), compare_weights);

	w->nletters = 0;
	for (int i = 0; i < n; i++)
	{
		const CollateWeight *last = w->nletters > 0 ? &w->alphabet[w->nletters - 1] : NULL;

		if (last != NULL && compare_weights(last, &w->alphabet[i]) == 0)
			continue;
		if (last != NULL &&
			begins_with((char *) w->alphabet[i].bytes, w->alphabet[i].len, last))
			return false;
		w->alphabet[w->nletters++] = w->alphabet[i];
	}

	for (int c = FIRST_CHAR; c <= LAST_CHAR; c++)
	{
		for (int i = 0; w->kind[c] == 0 && i < w->nletters; i++)
		{
			if (w->weight[0][c].len > 0 &&
				compare_weights(&w->alphabet[i], &w->weight[0][c]) == 0)
				w->letter[c] = 2 * i + 2;
		}
	}
	return w->nletters > 1;
}

bool
collate_learn_weights(CollateWeights *w, locale_t locale)
{
	int			known = 0;

	memset(w, 0, sizeof(*w));
	memset(w->kind, COLLATE_FOREIGN, sizeof(w->kind));
	for (int c = FIRST_CHAR; c <= LAST_CHAR; c++)
	{
		char		string[2] = {c, '\0'};
		char		key[64];
		size_t		len = strxfrm_l(key, string, sizeof(key), locale);
		CollateWeight parts[COLLATE_LEVELS];

		if (len >= sizeof(key) || !split_key(key, len, parts))
			continue;
		for (int level = 0; level < COLLATE_LEVELS; level++)
			w->weight[level][c] = parts[level];
		w->kind[c] = 0;
		known++;
	}
	return known >= MIN_CHARS && number_letters(w);
}

/* Returns whether strxfrm() makes the same key of a string as collate_key() does. */
static bool
key_is_right(const CollateWeights *w, const char *string, size_t len, locale_t locale)
{
	char		ours[PAIR_KEY_BYTES];
	char		theirs[PAIR_KEY_BYTES];
	size_t		our_len;
	size_t		their_len = strxfrm_l(theirs, string, sizeof(theirs), locale);

	/* A key that is left to strxfrm() is always right. */
	if (!collate_key(w, string, len, ours, &our_len))
		return true;
	return their_len == our_len && memcmp(ours, theirs, our_len) == 0;
}

/* Returns whether the keys of random strings are right. */
static bool
try_strings(const CollateWeights *w, locale_t locale)
{
	uint64_t	state = 1;

	for (int i = 0; i < TRIALS; i++)
	{
		char		string[TRIAL_CHARS + 1] = {0};
		size_t		len = i % (TRIAL_CHARS + 1);

		for (size_t j = 0; j < len; j++)
		{
			/* Knuth's generator for 64 bits */
			state = state * 6364136223846793005u + 1442695040888963407u;
			string[j] = FIRST_CHAR + (state >> 33) % NCHARS;
		}
		if (!key_is_right(w, string, len, locale))
			return false;
	}
	return true;
}

bool
collate_learn_pairs(CollateWeights *w, locale_t locale)
{
	uint8_t		found[256] = {0};
	int			odd = 0;

	for (int a = FIRST_CHAR; a <= LAST_CHAR; a++)
	{
		for (int b = FIRST_CHAR; b <= LAST_CHAR; b++)
		{
			char		string[3] = {a, b, '\0'};

			if (key_is_right(w, string, 2, locale))
				continue;
			found[a] |= COLLATE_OPENS;
			found[b] |= COLLATE_CLOSES;
			odd++;
		}
	}
	for (int c = 0; c < 256; c++)
		w->kind[c] |= found[c];
	return odd <= MAX_ODD_PAIRS && try_strings(w, locale);
}

/*
 * Returns whether a character of kind `kind` was learned and keeps its weights behind a character
 * of kind `before`.
 */
static inline bool
is_simple(uint8_t before, uint8_t kind)
{
	return (kind & COLLATE_FOREIGN) == 0 &&
		!((before & COLLATE_OPENS) != 0 && (kind & COLLATE_CLOSES) != 0);
}

bool
collate_word(const CollateWeights *w, const char *string, size_t len, uint64_t *word)
{
	uint64_t	letters = 0;
	int			shift = 64;
	uint8_t		before = 0;

	for (size_t i = 0; i < len; i++)
	{
		uint8_t		c = string[i];
		uint8_t		kind = w->kind[c];

		if (!is_simple(before, kind))
			return false;
		/* The word is full, and what follows can't change its last letter (Hungarian lly). */
		if (shift == 0 && (before & COLLATE_OPENS) == 0)
			break;
		if (shift > 0 && w->letter[c] != 0)
		{
			shift -= 8;
			letters |= (uint64_t) w->letter[c] << shift;
		}
		before = kind;
	}
	*word = letters;
	return true;
}

size_t
collate_rest(const CollateWeights *w, const char *string, size_t shared)
{
	while (shared > 0 && w->kind[(uint8_t) string[shared - 1]] != 0)
		shared--;
	return shared;
}

/*
 * Letters of the alphabet have even numbers.  A weight that no learned character has gets the odd
 * number between two letters, below the first or above the last, and ends the word.
 */
uint64_t
collate_word_of_key(const CollateWeights *w, const char *key, size_t len)
{
	const char *end = memchr(key, SEPARATOR, len);
	uint64_t	letters = 0;

	if (end == NULL)
		end = key + len;
	for (int shift = 56; shift >= 0 && key < end; shift -= 8)
	{
		size_t		left = end - key;
		uint64_t	letter = 1;
		uint32_t	found = 0;

		for (int i = 0; i < w->nletters && found == 0; i++)
		{
			const CollateWeight *weight = &w->alphabet[i];

			if (begins_with(key, left, weight))
			{
				letter = 2 * i + 2;
				found = weight->len;
			}
			else if (memcmp(key, weight->bytes, left < weight->len ? left : weight->len) > 0)
				letter = 2 * i + 3;
			else
				break;
		}
		letters |= letter << shift;
		if (found == 0)
			break;
		key += found;
	}
	return letters;
}

bool
collate_key(const CollateWeights *w, const char *string, size_t len, char *key,
			size_t *key_len)
{
	char	   *out = key;
	uint8_t		before = 0;

	for (size_t i = 0; i < len; i++)
	{
		uint8_t		kind = w->kind[(uint8_t) string[i]];

		if (!is_simple(before, kind))
			return false;
		before = kind;
	}
	for (int level = 0; level < COLLATE_LEVELS && len > 0; level++)
	{
		const CollateWeight *weights = w->weight[level];

		if (level > 0)
			*out++ = SEPARATOR;
		for (size_t i = 0; i < len; i++)
		{
			const CollateWeight *weight = &weights[(uint8_t) string[i]];

			/* For speed this always copies 8 bytes; COLLATE_KEY_SLACK makes room for them. */
			memcpy(out, weight->bytes, sizeof(weight->bytes));
			out += weight->len;
		}
	}
	*key_len = out - key;
	return true;
}
