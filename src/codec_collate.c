/*
 * codec_collate.c
 *		Codecs of strings that sort by a collation.
 *
 * The key is what the collation's library makes of the string for comparing
 * bytewise: ICU's sort key, or the result of libc's strxfrm().  Neither holds a
 * zero byte.  PostgreSQL breaks ties between strings that a deterministic
 * collation calls equal by their bytes; there, a zero byte and the string
 * follow.  (A key that is a prefix of another sorts before it that way, and
 * equal keys mean equal strings.)
 *
 * ICU promises that its sort keys order like its comparison, and PostgreSQL
 * relies on it for its abbreviated keys.  It does not rely on strxfrm(), which
 * has disagreed with strcoll() in released C libraries.  So our libc codecs ask
 * for the result to be verified.
 *
 * ICU can also make just the beginning of a key, in less than half the time (204
 * against 482 ns for 8 to 40 random characters), and that decides the order of
 * most strings.  So in UTF8 databases ICU's codecs are lazy (key_codec.h).  ICU
 * does not promise that the partial key is the beginning of the whole one, only
 * that it orders alike.
 *
 * Making a key costs some 200 ns for a string of 16 bytes, and columns of few
 * different values are common.  Therefore the keys of short strings are kept
 * in a small direct-mapped cache.  It costs nothing to speak of if no value
 * ever comes back: a key is made in the buffer of its cache entry and handed
 * out from there, and the copy of the string that identifies the entry is the
 * one that the key needs anyway.
 */
#include "postgres.h"

#include "catalog/pg_collation.h"
#include "catalog/pg_type.h"
#include "mb/pg_wchar.h"
#include "utils/memutils.h"

#include "codec_private.h"

#ifdef USE_ICU
#include <unicode/uiter.h>
#include <unicode/ustring.h>
#endif

/*
 * Longer strings are left to PostgreSQL's comparison, which seldom has to look
 * at more than their beginnings.  It also keeps all sizes far below what
 * overflows: strxfrm() results have been seen to be 8 times as long.
 */
#define MAX_STRING_BYTES (4 * 1024 * 1024)

/*
 * With 1024 entries, five of six lookups hit if a column has 200 different
 * values.  The buffers of strings of up to 64 bytes take 0.5 MB at the most.
 */
#define CACHE_ENTRIES 1024
#define CACHE_MAX_STRING_BYTES 64

/* A string's key. */
typedef struct CollatedKey
{
	char	   *buffer;			/* sort key, zero byte, string */
	uint32		size;			/* allocated bytes */
	uint32		sort_key_len;	/* without the zero byte */
	uint32		string_len;		/* PG_UINT32_MAX: no valid key here */
} CollatedKey;

/* The first word of a string's key. */
typedef struct CollatedPrefix
{
	uint64		word;
	uint32		string_len;		/* PG_UINT32_MAX: nothing here */
	char		string[CACHE_MAX_STRING_BYTES];
} CollatedPrefix;

typedef struct CollateState CollateState;

struct CollateState
{
	/*
	 * Put the library's key of a string into key->buffer, with a zero byte
	 * behind it, and set key->sort_key_len.
	 */
	bool		(*make_sort_key) (CollateState *state, CollatedKey *key,
								  const char *string, uint32 len);

	pg_locale_t locale;			/* NULL: libc's locale of the process */
	bool		deterministic;
	MemoryContext context;		/* for all buffers */

	char	   *scratch;		/* the string as the library wants it */
	Size		scratch_size;

	CollatedKey uncached;		/* for long strings */
	CollatedKey cache[CACHE_ENTRIES];
	CollatedPrefix *prefixes;	/* CACHE_ENTRIES of them, for lazy codecs */
};

static void
reserve_scratch(CollateState *state, Size size)
{
	if (size <= state->scratch_size)
		return;
	if (state->scratch)
		pfree(state->scratch);
	state->scratch = NULL;
	state->scratch_size = 0;
	state->scratch = MemoryContextAlloc(state->context, size * 2);
	state->scratch_size = size * 2;
}

/*
 * Make room for size bytes in a key's buffer, keeping its contents.  False if
 * that is more than memory contexts give.
 */
static bool
reserve_key(CollateState *state, CollatedKey *key, Size size)
{
	if (size <= key->size)
		return true;
	if (!AllocSizeIsValid(size))
		return false;
	size = Min(MAXALIGN(size + size / 4), MaxAllocSize);
	if (key->buffer)
		key->buffer = repalloc(key->buffer, size);
	else
		key->buffer = MemoryContextAlloc(state->context, size);
	key->size = size;
	return true;
}

static bool
make_sort_key_libc(CollateState *state, CollatedKey *key, const char *string, uint32 len)
{
	reserve_scratch(state, len + 1);
	memcpy(state->scratch, string, len);
	state->scratch[len] = '\0';

	for (;;)
	{
		Size		needed;

		if (state->locale)
			needed = strxfrm_l(key->buffer, state->scratch, key->size, state->locale->info.lt);
		else
			needed = strxfrm(key->buffer, state->scratch, key->size);
		if (needed < key->size)
		{
			key->sort_key_len = needed;
			return true;
		}
		if (needed >= MaxAllocSize || !reserve_key(state, key, needed + 1))
			return false;
	}
}

#ifdef USE_ICU

static bool
make_sort_key_icu_utf8(CollateState *state, CollatedKey *key, const char *string, uint32 len)
{
	UErrorCode	status = U_ZERO_ERROR;
	int32_t		length_utf16;

	/* UTF-16 has at most as many units as UTF-8 has bytes. */
	reserve_scratch(state, len * sizeof(UChar));
	u_strFromUTF8((UChar *) state->scratch, len, &length_utf16, string, len, &status);
	if (U_FAILURE(status))
		return false;

	for (;;)
	{
		int32_t		needed = ucol_getSortKey(state->locale->info.icu.ucol,
											 (UChar *) state->scratch, length_utf16,
											 (uint8_t *) key->buffer, key->size);

		if (needed <= 0)
			return false;
		if (needed <= key->size)
		{
			key->sort_key_len = needed - 1;		/* without its zero byte */
			return true;
		}
		if (!reserve_key(state, key, needed))
			return false;
	}
}

/* Same for the other server encodings, through PostgreSQL's conversion. */
static bool
make_sort_key_icu(CollateState *state, CollatedKey *key, const char *string, uint32 len)
{
	for (;;)
	{
		Size		needed = gpusort_icu_sort_key(key->buffer, key->size, string, len,
												  state->locale);

		if (needed < key->size)
		{
			key->sort_key_len = needed;
			return true;
		}
		if (!reserve_key(state, key, needed + 1))
			return false;
	}
}

#endif							/* USE_ICU */

static void
begin_collated(GpuSortEncoder *encoder)
{
	CollateState *state = palloc0(sizeof(CollateState));

	state->context = CurrentMemoryContext;
	state->locale = pg_newlocale_from_collation(encoder->collation);
	state->deterministic = state->locale == NULL || state->locale->deterministic;
	state->make_sort_key = make_sort_key_libc;
#ifdef USE_ICU
	if (state->locale && state->locale->provider == COLLPROVIDER_ICU)
		state->make_sort_key = GetDatabaseEncoding() == PG_UTF8 ?
			make_sort_key_icu_utf8 : make_sort_key_icu;
#endif

	state->uncached.string_len = PG_UINT32_MAX;
	for (int i = 0; i < CACHE_ENTRIES; i++)
		state->cache[i].string_len = PG_UINT32_MAX;
	if (encoder->codec->complete)
	{
		state->prefixes = palloc(CACHE_ENTRIES * sizeof(CollatedPrefix));
		for (int i = 0; i < CACHE_ENTRIES; i++)
			state->prefixes[i].string_len = PG_UINT32_MAX;
	}
	encoder->private_data = state;
}

/*
 * The cache entry of a short string.  Only its ends are hashed; strings that
 * differ elsewhere compete for one entry, which costs time but nothing else.
 */
static inline uint32
cache_entry(const char *string, uint32 len)
{
	uint64		first = 0;
	uint64		last = 0;

	if (len >= sizeof(uint64))
	{
		memcpy(&first, string, sizeof(first));
		memcpy(&last, string + len - sizeof(last), sizeof(last));
	}
	else
		memcpy(&first, string, len);

	/* Multiplicative hashing; the factors are the xxHash primes. */
	first = (first + len) * UINT64CONST(0x9E3779B185EBCA87) ^
		last * UINT64CONST(0xC2B2AE3D27D4EB4F);
	first ^= first >> 32;
	return (first * UINT64CONST(0x9E3779B185EBCA87)) >> 54;
}

StaticAssertDecl(CACHE_ENTRIES == 1 << (64 - 54), "hash must cover the cache");

static bool
encode_collated(CollateState *state, const char *string, uint32 len, GpuSortKey *key)
{
	CollatedKey *collated;

	if (likely(len <= CACHE_MAX_STRING_BYTES))
		collated = &state->cache[cache_entry(string, len)];
	else if (len <= MAX_STRING_BYTES)
		collated = &state->uncached;
	else
		return false;

	if (collated->string_len != len ||
		memcmp(collated->buffer + collated->sort_key_len + 1, string, len) != 0)
	{
		collated->string_len = PG_UINT32_MAX;
		if (!reserve_key(state, collated, 4 * len + 32) ||
			!state->make_sort_key(state, collated, string, len) ||
			!reserve_key(state, collated, collated->sort_key_len + 1 + len))
			return false;
		memcpy(collated->buffer + collated->sort_key_len + 1, string, len);
		collated->string_len = len;
	}

	key->data = collated->buffer;
	key->len = collated->sort_key_len;
	if (state->deterministic)
		key->len += 1 + len;
	return true;
}

/* A string whose key is wanted. */
typedef struct Source
{
	const char *string;
	uint32		len;
} Source;

static inline Source
source_text(Datum value)
{
	struct varlena *text = detoast_packed(value);

	return (Source) {VARDATA_ANY(text), VARSIZE_ANY_EXHDR(text)};
}

static inline Source
source_bpchar(Datum value)
{
	Source		source = source_text(value);

	source.len = length_without_blanks(source.string, source.len);
	return source;
}

static inline Source
source_name(Datum value)
{
	const char *string = DatumGetCString(value);

	return (Source) {string, strnlen(string, NAMEDATALEN)};
}

static bool
encode_text(GpuSortEncoder *encoder, Datum value, GpuSortKey *key)
{
	Source		source = source_text(value);

	return encode_collated(encoder->private_data, source.string, source.len, key);
}

static bool
encode_bpchar(GpuSortEncoder *encoder, Datum value, GpuSortKey *key)
{
	Source		source = source_bpchar(value);

	return encode_collated(encoder->private_data, source.string, source.len, key);
}

static bool
encode_name(GpuSortEncoder *encoder, Datum value, GpuSortKey *key)
{
	Source		source = source_name(value);

	return encode_collated(encoder->private_data, source.string, source.len, key);
}

#ifdef USE_ICU

/* The first word of ICU's partial sort key of a UTF-8 string. */
static bool
make_prefix_icu(CollateState *state, const char *string, uint32 len, uint64 *word)
{
	UErrorCode	status = U_ZERO_ERROR;
	UCharIterator iterator;
	uint32_t	position[2] = {0, 0};
	uint8_t		part[sizeof(uint64)] = {0};

	uiter_setUTF8(&iterator, string, len);
	ucol_nextSortKeyPart(state->locale->info.icu.ucol, &iterator, position, part,
						 sizeof(part), &status);
	*word = load_be64(part);
	return U_SUCCESS(status);
}

static bool
encode_lazily(CollateState *state, Source source, GpuSortKey *key)
{
	CollatedPrefix *cached;

	key->data = source.string;
	key->len = source.len;
	if (source.len > MAX_STRING_BYTES)
		return false;
	if (source.len > CACHE_MAX_STRING_BYTES)
		return make_prefix_icu(state, source.string, source.len, &key->prefix);

	cached = &state->prefixes[cache_entry(source.string, source.len)];
	if (cached->string_len != source.len ||
		memcmp(cached->string, source.string, source.len) != 0)
	{
		cached->string_len = PG_UINT32_MAX;
		if (!make_prefix_icu(state, source.string, source.len, &cached->word))
			return false;
		memcpy(cached->string, source.string, source.len);
		cached->string_len = source.len;
	}
	key->prefix = cached->word;
	return true;
}

static bool
encode_text_lazily(GpuSortEncoder *encoder, Datum value, GpuSortKey *key)
{
	return encode_lazily(encoder->private_data, source_text(value), key);
}

static bool
encode_bpchar_lazily(GpuSortEncoder *encoder, Datum value, GpuSortKey *key)
{
	return encode_lazily(encoder->private_data, source_bpchar(value), key);
}

static bool
encode_name_lazily(GpuSortEncoder *encoder, Datum value, GpuSortKey *key)
{
	return encode_lazily(encoder->private_data, source_name(value), key);
}

static bool
complete_collated(GpuSortEncoder *encoder, const char *string, uint32 len, GpuSortKey *key)
{
	return encode_collated(encoder->private_data, string, len, key);
}

#endif							/* USE_ICU */

/*
 * Measured on strings of 16 bytes, mostly Latin letters and digits: ICU's sort
 * keys have 20 to 30 bytes, strxfrm() of glibc 2.36 makes 108 to 118.
 */
static double
extra_bytes_icu(double width)
{
	return 3 * width;
}

/* ... of which a lazy codec makes those of some rows. */
static double
extra_bytes_lazy(double width)
{
	return width;
}

static double
extra_bytes_libc(double width)
{
	return 8 * width;
}

#ifdef USE_ICU

/* Other encodings than UTF-8. */
static const GpuSortCodec codec_text_icu = {
	.name = "text, ICU sort key",
	.bytes = GPUSORT_BYTES_PADDED,
	.collated = true,
	.begin = begin_collated,
	.encode = encode_text,
	.extra_bytes = extra_bytes_icu,
};

static const GpuSortCodec codec_bpchar_icu = {
	.name = "bpchar, ICU sort key",
	.bytes = GPUSORT_BYTES_PADDED,
	.collated = true,
	.begin = begin_collated,
	.encode = encode_bpchar,
	.extra_bytes = extra_bytes_icu,
};

static const GpuSortCodec codec_name_icu = {
	.name = "name, ICU sort key",
	.bytes = GPUSORT_BYTES_PADDED,
	.collated = true,
	.begin = begin_collated,
	.encode = encode_name,
	.extra_bytes = extra_bytes_icu,
};

/* UTF-8. */
static const GpuSortCodec codec_text_lazy = {
	.name = "text, ICU sort key",
	.bytes = GPUSORT_BYTES_PADDED,
	.collated = true,
	.begin = begin_collated,
	.encode = encode_text_lazily,
	.complete = complete_collated,
	.extra_bytes = extra_bytes_lazy,
};

static const GpuSortCodec codec_bpchar_lazy = {
	.name = "bpchar, ICU sort key",
	.bytes = GPUSORT_BYTES_PADDED,
	.collated = true,
	.begin = begin_collated,
	.encode = encode_bpchar_lazily,
	.complete = complete_collated,
	.extra_bytes = extra_bytes_lazy,
};

static const GpuSortCodec codec_name_lazy = {
	.name = "name, ICU sort key",
	.bytes = GPUSORT_BYTES_PADDED,
	.collated = true,
	.begin = begin_collated,
	.encode = encode_name_lazily,
	.complete = complete_collated,
	.extra_bytes = extra_bytes_lazy,
};

#endif							/* USE_ICU */

static const GpuSortCodec codec_text_libc = {
	.name = "text, strxfrm",
	.bytes = GPUSORT_BYTES_PADDED,
	.verify = true,
	.collated = true,
	.begin = begin_collated,
	.encode = encode_text,
	.extra_bytes = extra_bytes_libc,
};

static const GpuSortCodec codec_bpchar_libc = {
	.name = "bpchar, strxfrm",
	.bytes = GPUSORT_BYTES_PADDED,
	.verify = true,
	.collated = true,
	.begin = begin_collated,
	.encode = encode_bpchar,
	.extra_bytes = extra_bytes_libc,
};

static const GpuSortCodec codec_name_libc = {
	.name = "name, strxfrm",
	.bytes = GPUSORT_BYTES_PADDED,
	.verify = true,
	.collated = true,
	.begin = begin_collated,
	.encode = encode_name,
	.extra_bytes = extra_bytes_libc,
};

typedef struct StringCodecs
{
	Oid			opcintype;
	const GpuSortCodec *c;
	const GpuSortCodec *libc;
#ifdef USE_ICU
	const GpuSortCodec *icu;
	const GpuSortCodec *icu_utf8;
#endif
} StringCodecs;

#ifdef USE_ICU
#define ICU_CODECS(whole, lazy) , whole, lazy
#else
#define ICU_CODECS(whole, lazy)
#endif

static const StringCodecs string_codecs[] = {
	{TEXTOID, &gpusort_codec_text_c, &codec_text_libc
	ICU_CODECS(&codec_text_icu, &codec_text_lazy)},
	{BPCHAROID, &gpusort_codec_bpchar_c, &codec_bpchar_libc
	ICU_CODECS(&codec_bpchar_icu, &codec_bpchar_lazy)},
	{NAMEOID, &gpusort_codec_name_c, &codec_name_libc
	ICU_CODECS(&codec_name_icu, &codec_name_lazy)},
};

/*
 * The codec of a string type, by the operator class's input type, under a
 * collation; NULL with a reason if there is none.  May ereport if the collation
 * cannot be used.
 */
const GpuSortCodec *
gpusort_codec_for_string(Oid opcintype, Oid collation, const char **reason)
{
	const StringCodecs *codecs = string_codecs;
	pg_locale_t locale;

	while (codecs->opcintype != opcintype)
	{
		if (++codecs == string_codecs + lengthof(string_codecs))
		{
			*reason = "operator class has no key encoding";
			return NULL;
		}
	}

	if (!OidIsValid(collation))
	{
		*reason = "collation could not be determined";
		return NULL;
	}
	if (gpusort_collation_is_c(collation))
		return codecs->c;

	locale = pg_newlocale_from_collation(collation);
	if (locale == NULL || locale->provider == COLLPROVIDER_LIBC)
		return codecs->libc;
#ifdef USE_ICU
	if (locale->provider == COLLPROVIDER_ICU)
		return GetDatabaseEncoding() == PG_UTF8 ? codecs->icu_utf8 : codecs->icu;
#endif
	*reason = "collation provider has no key encoding";
	return NULL;
}
