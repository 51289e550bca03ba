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
 * The beginning of a key, which costs much less than the whole of it, decides the order
 * of most strings.  So the codecs are lazy (key_codec.h) where the library lets them:
 * under ICU in UTF8 databases, and wherever we know how libc's keys are made
 * (collate_library.h).
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

#include "keys/codec_private.h"
#include "keys/collate_library.h"

/*
 * Longer strings are left to PostgreSQL's comparison, which seldom has to look
 * at more than their beginnings.  It also keeps all sizes far below what
 * overflows: strxfrm() results have been seen to be 8 times as long.
 */
#define MAX_STRING_BYTES (4 * 1024 * 1024)

/*
 * With 1024 entries, five of six lookups hit if a column has 200 different
 * values.  The buffers of strings of up to 64 bytes take 1.3 MB at the most.
 */
#define CACHE_ENTRIES 1024
#define CACHE_MAX_STRING_BYTES 64

/* A short string's key, with the string behind its zero byte. */
typedef struct CachedKey
{
	CollatedKey key;
	uint32		string_len;		/* PG_UINT32_MAX: nothing here */
} CachedKey;

/* A short string's first word. */
typedef struct CachedWord
{
	uint64		word;
	uint32		string_len;		/* PG_UINT32_MAX: nothing here */
	char		string[CACHE_MAX_STRING_BYTES];
} CachedWord;

typedef struct CollateState
{
	CollateLibrary library;
	CachedKey	uncached;		/* for long strings */
	CachedKey	keys[CACHE_ENTRIES];
	CachedWord *words;			/* CACHE_ENTRIES of them, for lazy codecs */
} CollateState;

static void
begin_collated(GpuSortEncoder *encoder)
{
	CollateState *state = palloc0(sizeof(CollateState));

	gpusort_collate_begin(&state->library, encoder->collation);
	state->uncached.string_len = PG_UINT32_MAX;
	for (int i = 0; i < CACHE_ENTRIES; i++)
		state->keys[i].string_len = PG_UINT32_MAX;
	if (encoder->codec->complete)
	{
		state->words = palloc(CACHE_ENTRIES * sizeof(CachedWord));
		for (int i = 0; i < CACHE_ENTRIES; i++)
			state->words[i].string_len = PG_UINT32_MAX;
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
	CollateLibrary *library = &state->library;
	CachedKey  *cached;
	CollatedKey *collated;

	if (likely(len <= CACHE_MAX_STRING_BYTES))
		cached = &state->keys[cache_entry(string, len)];
	else if (len <= MAX_STRING_BYTES)
		cached = &state->uncached;
	else
		return false;

	collated = &cached->key;
	if (cached->string_len != len ||
		memcmp(collated->buffer + collated->sort_key_len + 1, string, len) != 0)
	{
		cached->string_len = PG_UINT32_MAX;
		if (!gpusort_collate_reserve(library, collated, 4 * len + 32) ||
			!library->make_key(library, collated, string, len) ||
			!gpusort_collate_reserve(library, collated, collated->sort_key_len + 1 + len))
			return false;
		memcpy(collated->buffer + collated->sort_key_len + 1, string, len);
		cached->string_len = len;
	}

	key->data = collated->buffer;
	key->len = collated->sort_key_len;
	if (library->deterministic)
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

static bool
encode_lazily(CollateState *state, Source source, GpuSortKey *key)
{
	CollateLibrary *library = &state->library;
	CachedWord *cached;

	key->data = source.string;
	key->len = source.len;
	if (source.len > MAX_STRING_BYTES)
		return false;
	/* quicker than looking for it */
	if (library->weights != NULL &&
		collate_word(library->weights, source.string, source.len, &key->prefix))
		return true;
	if (source.len > CACHE_MAX_STRING_BYTES)
		return library->make_word(library, source.string, source.len, &key->prefix);

	cached = &state->words[cache_entry(source.string, source.len)];
	if (cached->string_len != source.len ||
		memcmp(cached->string, source.string, source.len) != 0)
	{
		cached->string_len = PG_UINT32_MAX;
		if (!library->make_word(library, source.string, source.len, &cached->word))
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

/* ICU, in other encodings than UTF-8. */
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

/* ICU, in UTF-8. */
static const GpuSortCodec codec_text_icu_lazy = {
	.name = "text, ICU sort key",
	.bytes = GPUSORT_BYTES_PADDED,
	.collated = true,
	.begin = begin_collated,
	.encode = encode_text_lazily,
	.complete = complete_collated,
	.extra_bytes = extra_bytes_lazy,
};

static const GpuSortCodec codec_bpchar_icu_lazy = {
	.name = "bpchar, ICU sort key",
	.bytes = GPUSORT_BYTES_PADDED,
	.collated = true,
	.begin = begin_collated,
	.encode = encode_bpchar_lazily,
	.complete = complete_collated,
	.extra_bytes = extra_bytes_lazy,
};

static const GpuSortCodec codec_name_icu_lazy = {
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

static const GpuSortCodec codec_text_libc_lazy = {
	.name = "text, strxfrm",
	.bytes = GPUSORT_BYTES_PADDED,
	.verify = true,
	.collated = true,
	.begin = begin_collated,
	.encode = encode_text_lazily,
	.complete = complete_collated,
	.extra_bytes = extra_bytes_lazy,
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

static const GpuSortCodec codec_bpchar_libc_lazy = {
	.name = "bpchar, strxfrm",
	.bytes = GPUSORT_BYTES_PADDED,
	.verify = true,
	.collated = true,
	.begin = begin_collated,
	.encode = encode_bpchar_lazily,
	.complete = complete_collated,
	.extra_bytes = extra_bytes_lazy,
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

static const GpuSortCodec codec_name_libc_lazy = {
	.name = "name, strxfrm",
	.bytes = GPUSORT_BYTES_PADDED,
	.verify = true,
	.collated = true,
	.begin = begin_collated,
	.encode = encode_name_lazily,
	.complete = complete_collated,
	.extra_bytes = extra_bytes_lazy,
};

typedef struct StringCodecs
{
	Oid			opcintype;
	const GpuSortCodec *c;
	const GpuSortCodec *libc;
	const GpuSortCodec *libc_lazy;
#ifdef USE_ICU
	const GpuSortCodec *icu;
	const GpuSortCodec *icu_lazy;
#endif
} StringCodecs;

#ifdef USE_ICU
#define ICU_CODECS(whole, lazy) , whole, lazy
#else
#define ICU_CODECS(whole, lazy)
#endif

static const StringCodecs string_codecs[] = {
	{TEXTOID, &gpusort_codec_text_c, &codec_text_libc, &codec_text_libc_lazy
	ICU_CODECS(&codec_text_icu, &codec_text_icu_lazy)},
	{BPCHAROID, &gpusort_codec_bpchar_c, &codec_bpchar_libc, &codec_bpchar_libc_lazy
	ICU_CODECS(&codec_bpchar_icu, &codec_bpchar_icu_lazy)},
	{NAMEOID, &gpusort_codec_name_c, &codec_name_libc, &codec_name_libc_lazy
	ICU_CODECS(&codec_name_icu, &codec_name_icu_lazy)},
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
		return gpusort_collate_has_words(locale) ? codecs->libc_lazy : codecs->libc;
#ifdef USE_ICU
	if (locale->provider == COLLPROVIDER_ICU)
		return gpusort_collate_has_words(locale) ? codecs->icu_lazy : codecs->icu;
#endif
	*reason = "collation provider has no key encoding";
	return NULL;
}
