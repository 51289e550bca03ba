/*
 * collate_primaries.c
 *		ICU's sort keys and their beginnings, made without calling ICU.
 *
 * See collate_primaries.h.  What is known of sort keys and used here: within the primary
 * level ICU leaves out a weight's first byte if the weight before has the same and
 * that byte is one of those that are shared by a whole script; where such a stretch ends and another
 * weight follows, a byte says whether that is less (03) or greater (ff).  Whether a first byte is one of
 * those shows in the key of the character doubled.  In the levels behind, weights that are common to
 * most characters are counted instead of written: a byte for each full run, and one for the rest,
 * which is counted from below at the end and in front of smaller weights, from above in front
 * of greater ones.
 *
 * Nothing has to be believed: sorts by collations are verified.
 */
#include "keys/collate_primaries.h"

#ifdef USE_ICU

#include <unicode/uiter.h>

#include "keys/codec_private.h"
#include "utils/memutils.h"

/* Bytes that stand for runs of common weights: full ones, and the ends of the range of others. */
#define SECONDARY_RUN		0x21
#define SECONDARY_FULL		0x25
#define TERTIARY_RUN		0x61
#define TERTIARY_FULL		0x65
#define TERTIARY_HIGH		0xc5

/* Behind weights without their first bytes. */
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
			continue;			/* a part of a character, or one that was not learned */
		if (primaries->of[c].len > 0 &&
			(primaries->of[c].kind & (PRIMARY_OPENS | PRIMARY_CLOSES)) == 0)
			break;
	}
	return shared;
}

/* A string, read by characters. */
typedef struct Reader
{
	const uint8 *at;
	const uint8 *end;
	bool		opens;			/* the last character may begin a contraction */
} Reader;

/* What is known of the next character; NULL if nothing is, or not by itself. */
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

/* The primary weight of the next character, 0 behind the last one.  False if it is not known. */
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

/* A key in the making. */
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

/* A run of common weights, but for its last byte: returns how many that stands for, less one. */
static inline uint32
put_full_runs(Writer *writer, uint32 count, uint32 run, uint8 full)
{
	for (count--; count >= run; count -= run)
		put(writer, full);
	return count;
}

/* The level of primary weights; *nchars is how many there are.  False if one is not known. */
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

/* The level of tertiary weights of a string that put_primaries() knew. */
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

	/* accents and case are no part of the word */
	separator = memchr(part, LEVEL_SEPARATOR, sizeof(part));
	if (separator != NULL)
		memset(separator, 0, part + sizeof(part) - separator);
	*word = load_be64(part);
	return U_SUCCESS(status);
}

#endif							/* USE_ICU */
