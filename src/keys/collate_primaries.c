/*
 * collate_primaries.c
 *		ICU's sort keys and their beginnings, made without calling ICU.
 *
 * See collate_primaries.h.  ICU compresses sort keys, and so do we, in two ways.
 *
 * In the primary level, some first bytes of weights are shared by a whole script.  ICU leaves out
 * such a byte if the weight before begins with the same.  Where such a stretch ends and another
 * weight follows, a byte says whether that weight is less (03) or greater (ff).  Whether a
 * character's first byte is shared by a script shows in the key of the character doubled.
 *
 * In the levels behind, the weight that is common to most characters is counted instead of written:
 * ICU writes a byte for each full run, and one for the rest.  The count of the rest is added to the
 * common weight if nothing or a smaller weight follows, and subtracted from a high byte if a
 * greater weight follows.
 *
 * A mistake here would do no harm: sorts by collations are verified.
 */
#include "keys/collate_primaries.h"

#ifdef USE_ICU

#include <unicode/uiter.h>

#include "keys/codec_private.h"
#include "utils/memutils.h"

/*
 * Runs of common weights: how many weights a full run has, and the byte that stands for it; and the
 * byte that the rest is subtracted from if a greater weight follows.
 */
#define SECONDARY_RUN		0x21
#define SECONDARY_FULL		0x25
#define TERTIARY_RUN		0x61
#define TERTIARY_FULL		0x65
#define TERTIARY_HIGH		0xc5

/* What is written behind a stretch of weights that have the same first byte. */
#define LOWER_FOLLOWS		0x03
#define HIGHER_FOLLOWS		0xff

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

/*
 * Makes the word of a string whose first characters, up to one behind the word, have a single byte
 * of weight each (primaries->single).  Returns false if the string is not like that.
 */
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
		/* The word is full, and this character does not change the one before. */
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

uint32
gpusort_primaries_rest(const CollatePrimaries *primaries, const char *string, uint32 shared)
{
	const uint8 *p = (const uint8 *) string;

	for (; shared > 0; shared--)
	{
		uint32		c = p[shared - 1];

		if ((c & 0xc0) == 0x80 && shared > 1 && (p[shared - 2] & 0xe0) == 0xc0)
			c = (p[shared - 2] & 0x1f) << 6 | (c & 0x3f);
		else if (c >= 0x80)
			continue;			/* a part of a character, or a character not in the table */
		if (primaries->of[c].len > 0 &&
			(primaries->of[c].kind & (PRIMARY_OPENS | PRIMARY_CLOSES)) == 0)
			break;
	}
	return shared;
}

/* A string that is read character by character. */
typedef struct Reader
{
	const uint8 *at;
	const uint8 *end;
	bool		opens;			/* the last character may begin a contraction */
} Reader;

/*
 * Reads the next character and returns its entry of the table; NULL if it was not learned, or may
 * be in a contraction with the character before.
 */
static inline const CollatePrimary *
next_char(const CollatePrimaries *primaries, Reader *reader)
{
	uint32		c = *reader->at++;
	const CollatePrimary *primary;

	if (c >= 0x80)
	{
		if (c >= 0xe0 || reader->at == reader->end)
			return NULL;
		c = (c & 0x1f) << 6 | (*reader->at++ & 0x3f);
	}
	primary = &primaries->of[c];
	if (primary->len == 0 || (reader->opens && (primary->kind & PRIMARY_CLOSES)))
		return NULL;
	reader->opens = (primary->kind & PRIMARY_OPENS) != 0;
	return primary;
}

/*
 * Reads the next character and sets *weight to its primary weight, or to 0 behind the last
 * character.  Returns false if the weight is not known.
 */
static inline bool
next_weight(const CollatePrimaries *primaries, Reader *reader, uint32 *weight)
{
	const CollatePrimary *primary;

	*weight = 0;
	if (reader->at == reader->end)
		return true;
	primary = next_char(primaries, reader);
	if (primary == NULL)
		return false;
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

/* A key that is being written; put() moves `at` beyond `end` if there is no room. */
typedef struct Writer
{
	uint8	   *at;
	uint8	   *end;
} Writer;

static inline void
put(Writer *writer, uint8 byte)
{
	if (writer->at < writer->end)
		*writer->at = byte;
	writer->at++;
}

/*
 * Writes a byte `full` for each full run among `count` common weights.  Returns how many weights
 * are left for the last byte, which the caller writes, less one.
 */
static inline uint32
put_full_runs(Writer *writer, uint32 count, uint32 run, uint8 full)
{
	for (count--; count >= run; count -= run)
		put(writer, full);
	return count;
}

/*
 * Writes the level of primary weights and sets *nchars to the number of characters.  Returns false
 * if whole keys can't be made of one of them.
 */
static bool
put_primaries(const CollatePrimaries *primaries, const uint8 *string, uint32 len, Writer *writer,
			  uint32 *nchars)
{
	Reader		reader = {string, string + len, false};
	uint32		before = 0;		/* first byte of the last weight, if it is left out */

	for (*nchars = 0; reader.at < reader.end; ++*nchars)
	{
		const CollatePrimary *primary = next_char(primaries, &reader);
		int			first = 0;

		if (primary == NULL || primary->tertiary == 0)
			return false;
		if (primary->bytes[0] == before)
			first = 1;
		else
		{
			if (before != 0)
				put(writer, primary->bytes[0] < before ? LOWER_FOLLOWS : HIGHER_FOLLOWS);
			before = (primary->kind & PRIMARY_COMPRESSES) ? primary->bytes[0] : 0;
		}
		for (int i = first; i < primary->len; i++)
			put(writer, primary->bytes[i]);
	}
	return true;
}

/* Writes the level of tertiary weights of a string for which put_primaries() returned true. */
static void
put_tertiaries(const CollatePrimaries *primaries, const uint8 *string, uint32 len, Writer *writer)
{
	Reader		reader = {string, string + len, false};
	uint32		common = 0;

	while (reader.at < reader.end)
	{
		const CollatePrimary *primary = next_char(primaries, &reader);

		if (primary->tertiary == COMMON_WEIGHT)
		{
			common++;
			continue;
		}
		if (common > 0)
		{
			uint32		rest = put_full_runs(writer, common, TERTIARY_RUN, TERTIARY_FULL);

			put(writer, primary->tertiary < COMMON_WEIGHT ? COMMON_WEIGHT + rest
				: TERTIARY_HIGH - rest);
			common = 0;
		}
		put(writer, primary->tertiary);
	}
	if (common > 0)
		put(writer, COMMON_WEIGHT + put_full_runs(writer, common, TERTIARY_RUN, TERTIARY_FULL));
}

uint32
gpusort_primaries_key(const CollatePrimaries *primaries, const char *string, uint32 len,
					  uint8 *buffer, uint32 size)
{
	Writer		writer = {buffer, buffer + size};
	uint32		nchars;

	if (!primaries->makes_keys || len == 0 ||
		!put_primaries(primaries, (const uint8 *) string, len, &writer, &nchars))
		return 0;
	put(&writer, LEVEL_SEPARATOR);
	put(&writer, COMMON_WEIGHT + put_full_runs(&writer, nchars, SECONDARY_RUN, SECONDARY_FULL));
	put(&writer, LEVEL_SEPARATOR);
	put_tertiaries(primaries, (const uint8 *) string, len, &writer);
	put(&writer, 0);
	return writer.at <= writer.end ? writer.at - 1 - buffer : 0;
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

	/* The bytes of the other levels (accents and case) are no part of the word. */
	separator = memchr(part, LEVEL_SEPARATOR, sizeof(part));
	if (separator != NULL)
		memset(separator, 0, part + sizeof(part) - separator);
	*word = load_be64(part);
	return U_SUCCESS(status);
}

#endif							/* USE_ICU */
