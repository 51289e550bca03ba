/*
 * codec_collate.c
 *		Codecs of strings that sort by a collation.
 *
 * The key is what the collation's library makes of the string for comparing
 * bytewise: ICU's sort key, or the result of libc's strxfrm().  Neither holds a
 * zero byte.  PostgreSQL orders strings that a deterministic collation calls
 * equal by their bytes; so under such collations a zero byte and the string
 * itself are appended to the key.  (Thus a sort key that is a prefix of another
 * sorts before it, and equal keys mean equal strings.)
 *
 * Neither library's keys are trusted: strxfrm() has disagreed with strcoll() in released
 * C libraries, and ICU's keys with ucol_strcollUTF8() where punctuation is ignored or
 * combining marks come in an unusual order.  So these codecs ask for the result to be
 * verified with the comparison that PostgreSQL uses.
 *
 * The beginning of a key, which costs much less than the whole of it, decides the order
 * of most strings.  So an encoder is lazy (key_codec.h) where the library makes words:
 * under ICU in UTF8 databases, and wherever we know how libc's keys are made
 * (collate_private.h).
 *
 * Making a key costs some 200 ns for a string of 16 bytes, and columns of few
 * different values are common.  Therefore the keys of short strings are kept
 * in a small direct-mapped cache.  It costs nothing to speak of if no value
 * ever comes back: a key is made in the buffer of its cache entry and handed
 * out from there, and the copy of the string that identifies the entry is the
 * copy that the key ends with anyway.
 */
#include "postgres.h"

#include "catalog/pg_collation.h"
#include "catalog/pg_type.h"
#include "mb/pg_wchar.h"

#include "keys/codec_private.h"
#include "keys/collate_private.h"

/*
 * Longer strings are left to PostgreSQL's comparison, which seldom has to look
 * at more than their beginnings.  The limit also keeps sizes of keys far below
 * what overflows: strxfrm() results have been seen to be 8 times as long as the
 * string.
 */
#define MAX_STRING_BYTES (4 * 1024 * 1024)

/*
 * With 1024 entries, five of six lookups hit if a column has 200 different
 * values.  The buffers of strings of up to 64 bytes take 1.3 MB at the most, and no
 * more than half of what encoders may hold; the entries themselves take an eighth.
 * Where that is little memory there are fewer entries.
 */
#define CACHE_MAX_BITS	10
#define CACHE_ENTRIES_PART	8
#define CACHE_BUFFERS_PART	2
#define CACHE_MAX_STRING_BYTES 64

/* A short string's key, with the string behind its zero byte. */
typedef struct CachedKey
{
	CollatedKey key;
	uint32		string_len;		/* PG_UINT32_MAX: the entry is empty */
} CachedKey;

/* A short string's first word. */
typedef struct CachedWord
{
	uint64		word;
	uint32		string_len;		/* PG_UINT32_MAX: the entry is empty */
	char		string[CACHE_MAX_STRING_BYTES];
} CachedWord;

/* A string whose key is wanted. */
typedef struct Source
{
	const char *string;
	uint32		len;
} Source;

typedef Source (*SourceFunction) (Datum value);

typedef struct CollateState
{
	CollateLibrary library;
	SourceFunction source;
	CachedKey	uncached;		/* the last key of a string that is long, or whose cache entry
								 * may not get a buffer */
	CachedKey  *keys;			/* cache of keys; NULL: not made yet */
	int			keys_shift;		/* a hash shifted right by this is an index into keys */
	CachedWord *words;			/* cache of words, for lazy encoders; NULL: not made yet */
	int			words_shift;
} CollateState;

/*
 * Returns the index of a short string's cache entry, given the shift of the
 * cache.  Only the string's ends are hashed; strings that differ elsewhere
 * compete for one entry, which costs time but nothing else.
 */
static inline uint32
cache_entry(const char *string, uint32 len, int shift)
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
	return (first * UINT64CONST(0x9E3779B185EBCA87)) >> shift;
}

/* Returns the shift of a cache whose entries have entry_bytes each; there are at least two. */
static int
cache_shift(const GpuSortKeyMemory *memory, size_t entry_bytes)
{
	size_t		held = gpusort_key_memory_bytes(memory);
	size_t		left = memory->limit_bytes - Min(held, memory->limit_bytes);
	int			bits = CACHE_MAX_BITS;

	while (bits > 1 && (entry_bytes << bits) > left / CACHE_ENTRIES_PART)
		bits--;
	return 64 - bits;
}

static pg_noinline void
make_key_cache(CollateState *state)
{
	GpuSortKeyMemory *memory = state->library.memory;

	state->keys_shift = cache_shift(memory, sizeof(CachedKey));
	state->keys = MemoryContextAllocZero(memory->context,
										 sizeof(CachedKey) << (64 - state->keys_shift));
	for (int i = 0; i < 1 << (64 - state->keys_shift); i++)
		state->keys[i].string_len = PG_UINT32_MAX;
}

static pg_noinline void
make_word_cache(CollateState *state)
{
	GpuSortKeyMemory *memory = state->library.memory;

	state->words_shift = cache_shift(memory, sizeof(CachedWord));
	state->words = MemoryContextAlloc(memory->context,
									  sizeof(CachedWord) << (64 - state->words_shift));
	for (int i = 0; i < 1 << (64 - state->words_shift); i++)
		state->words[i].string_len = PG_UINT32_MAX;
}

/* Returns whether a cache entry holds the key of this string. */
static inline bool
is_key_of(const CachedKey *cached, const char *string, uint32 len)
{
	return cached->string_len == len &&
		memcmp(cached->key.buffer + cached->key.sort_key_len + 1, string, len) == 0;
}

/* Returns where the key of a string is, or is to be made; NULL if the string is too long. */
static inline CachedKey *
find_key(CollateState *state, const char *string, uint32 len)
{
	const GpuSortKeyMemory *memory = state->library.memory;
	CachedKey  *cached;

	if (unlikely(len > CACHE_MAX_STRING_BYTES))
		return len <= MAX_STRING_BYTES ? &state->uncached : NULL;
	if (unlikely(state->keys == NULL))
		make_key_cache(state);
	cached = &state->keys[cache_entry(string, len, state->keys_shift)];
	if (unlikely(cached->key.buffer == NULL) &&
		gpusort_key_memory_bytes(memory) > memory->limit_bytes / CACHE_BUFFERS_PART)
		return &state->uncached;
	return cached;
}

/*
 * Returns how much room a key is given at first: enough for nearly all short strings, so that
 * they need no second attempt, but not too much for long ones.
 */
static inline Size
expected_bytes(uint32 len)
{
	return len <= CACHE_MAX_STRING_BYTES ? 4 * len + 32 : 2 * len;
}

/* Makes the whole key of a string, or takes it from the cache. */
static bool
encode_collated(CollateState *state, const char *string, uint32 len, GpuSortKey *key)
{
	CollateLibrary *library = &state->library;
	CachedKey  *cached = find_key(state, string, len);
	CollatedKey *collated = &cached->key;

	if (unlikely(cached == NULL))
		return false;
	if (!is_key_of(cached, string, len))
	{
		cached->string_len = PG_UINT32_MAX;
		if (!gpusort_collate_reserve(library, collated, expected_bytes(len)) ||
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

static Source
source_text(Datum value)
{
	struct varlena *text = detoast_packed(value);

	return (Source) {VARDATA_ANY(text), VARSIZE_ANY_EXHDR(text)};
}

static Source
source_bpchar(Datum value)
{
	Source		source = source_text(value);

	source.len = length_without_blanks(source.string, source.len);
	return source;
}

static Source
source_name(Datum value)
{
	const char *string = DatumGetCString(value);

	return (Source) {string, strnlen(string, NAMEDATALEN)};
}

/* Gives out the string itself, with the first word of its key as the prefix. */
static bool
encode_lazily(CollateState *state, Source source, GpuSortKey *key)
{
	CollateLibrary *library = &state->library;
	CachedWord *cached;

	key->data = source.string;
	key->len = source.len;
	if (source.len > MAX_STRING_BYTES)
		return false;
	if (library->make_known_word(library, source.string, source.len, &key->prefix))
		return true;
	if (source.len > CACHE_MAX_STRING_BYTES)
		return library->make_word(library, source.string, source.len, &key->prefix);

	if (unlikely(state->words == NULL))
		make_word_cache(state);
	cached = &state->words[cache_entry(source.string, source.len, state->words_shift)];
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
encode(GpuSortEncoder *encoder, Datum value, GpuSortKey *key)
{
	CollateState *state = encoder->private_data;
	Source		source;

	if (unlikely(state->library.has_no_order))
		return false;
	source = state->source(value);
	if (encoder->lazy)
		return encode_lazily(state, source, key);
	return encode_collated(state, source.string, source.len, key);
}

static bool
complete(GpuSortEncoder *encoder, const char *string, uint32 len, GpuSortKey *key)
{
	return encode_collated(encoder->private_data, string, len, key);
}

static uint32
rest_begins(GpuSortEncoder *encoder, const char *string, uint32 shared)
{
	CollateLibrary *library = &((CollateState *) encoder->private_data)->library;

	return library->rest_begins(library, string, shared);
}

static bool
known_word(GpuSortEncoder *encoder, const char *string, uint32 len, uint64 *word)
{
	CollateLibrary *library = &((CollateState *) encoder->private_data)->library;

	return library->make_known_word(library, string, len, word);
}

/* Returns whether a value must be fetched from TOAST or decompressed before it can be read. */
static inline bool
is_packed(const CollateState *state, Datum value)
{
	return state->source != source_name &&
		(VARATT_IS_COMPRESSED(DatumGetPointer(value)) ||
		 VARATT_IS_EXTERNAL(DatumGetPointer(value)));
}

/* Proves nothing of packed values: to compare them takes no longer than to unpack them here. */
static bool
proven_order(GpuSortEncoder *encoder, Datum a, Datum b, int *cmp)
{
	CollateState *state = encoder->private_data;
	CollateLibrary *library = &state->library;
	Source		x;
	Source		y;

	if (library->proven_order == NULL || is_packed(state, a) || is_packed(state, b))
		return false;
	x = state->source(a);
	y = state->source(b);
	if (x.len == y.len && memcmp(x.string, y.string, x.len) == 0)
	{
		*cmp = 0;
		return true;
	}
	return library->proven_order(library, x.string, x.len, y.string, y.len, cmp);
}

/*
 * Opens a collation and fills in *library, whose buffers will lie in *memory.  Raises an error if
 * the collation can't be opened.
 */
static void
gpusort_collate_open(CollateLibrary *library, Oid collation, GpuSortKeyMemory *memory)
{
	pg_locale_t locale = pg_newlocale_from_collation(collation);

	memset(library, 0, sizeof(*library));
	library->memory = memory;
	library->locale = locale;
	library->deterministic = locale == NULL || locale->deterministic;
#ifdef USE_ICU
	if (gpusort_collation_provider(collation) == COLLPROVIDER_ICU)
	{
		gpusort_collate_begin_icu(library);
		return;
	}
#endif
	gpusort_collate_begin_libc(library);
}

static void
begin(GpuSortEncoder *encoder, SourceFunction source)
{
	CollateState *state = palloc0(sizeof(CollateState));

	gpusort_collate_open(&state->library, encoder->collation, encoder->memory);
	state->source = source;
	state->uncached.string_len = PG_UINT32_MAX;
	encoder->lazy = state->library.make_word != NULL;
	encoder->private_data = state;
}

static void
forget(GpuSortEncoder *encoder)
{
	CollateState *state = encoder->private_data;

	state->keys = NULL;
	state->words = NULL;
	memset(&state->uncached, 0, sizeof(state->uncached));
	state->uncached.string_len = PG_UINT32_MAX;
	memset(&state->library.whole, 0, sizeof(state->library.whole));
	state->library.scratch = NULL;
	state->library.scratch_size = 0;
}

static void
begin_text(GpuSortEncoder *encoder)
{
	begin(encoder, source_text);
}

static void
begin_bpchar(GpuSortEncoder *encoder)
{
	begin(encoder, source_bpchar);
}

static void
begin_name(GpuSortEncoder *encoder)
{
	begin(encoder, source_name);
}

/*
 * Measured on strings of 16 bytes, mostly Latin letters and digits: ICU's sort
 * keys have 20 to 30 bytes, strxfrm() of glibc 2.36 makes 108 to 118.  Lazy encoders
 * make the keys of some rows only.
 */
static double
extra_bytes_icu(double width, bool lazy)
{
	return lazy ? width : 3 * width;
}

static double
extra_bytes_libc(double width, bool lazy)
{
	return lazy ? width : 8 * width;
}

#define COLLATED_CODEC(type, library_name, its_provider, its_extra_bytes) \
	{ \
		.name = CppAsString(type) ", " library_name, \
		.bytes = GPUSORT_BYTES_PADDED, \
		.collated_by = its_provider, \
		.begin = begin_##type, \
		.encode = encode, \
		.complete = complete, \
		.rest_begins = rest_begins, \
		.known_word = known_word, \
		.proven_order = proven_order, \
		.forget = forget, \
		.extra_bytes = its_extra_bytes, \
	}
#define LIBC_CODEC(type) \
	COLLATED_CODEC(type, "strxfrm", GPUSORT_COLLATED_BY_LIBC, extra_bytes_libc)
#define ICU_CODEC(type) \
	COLLATED_CODEC(type, "ICU sort key", GPUSORT_COLLATED_BY_ICU, extra_bytes_icu)

/* The codecs of a string type: under collations that compare bytes, those of libc and of ICU. */
typedef struct StringCodecs
{
	Oid			opcintype;
	const GpuSortCodec *bytes;
	GpuSortCodec libc;
	GpuSortCodec icu;
} StringCodecs;

static const StringCodecs string_codecs[] = {
	{TEXTOID, &gpusort_codec_text_c, LIBC_CODEC(text), ICU_CODEC(text)},
	{BPCHAROID, &gpusort_codec_bpchar_c, LIBC_CODEC(bpchar), ICU_CODEC(bpchar)},
	{NAMEOID, &gpusort_codec_name_c, LIBC_CODEC(name), ICU_CODEC(name)},
};

const GpuSortCodec *
gpusort_codec_for_string(Oid opcintype, Oid collation, const char **reason)
{
	const StringCodecs *codecs = string_codecs;

	while (codecs->opcintype != opcintype)
	{
		if (++codecs == string_codecs + lengthof(string_codecs))
		{
			*reason = "operator class has no key encoding";
			return NULL;
		}
	}

	switch (gpusort_collation_kind(collation))
	{
		case GPUSORT_COLLATION_BYTES:
			return codecs->bytes;
		case GPUSORT_COLLATION_LIBC:
			return &codecs->libc;
		case GPUSORT_COLLATION_ICU:
			return &codecs->icu;
		case GPUSORT_COLLATION_NONE:
			*reason = "collation could not be determined";
			break;
		case GPUSORT_COLLATION_OTHER:
			*reason = "collation provider has no key encoding";
			break;
	}
	return NULL;
}

static GpuSortLibcKeys
libc_keys(Oid collation)
{
	char	   *name;

	if (collation == DEFAULT_COLLATION_OID)
		return gpusort_collate_libc_default_keys();
	name = gpusort_collation_libc_name(collation);
	return name != NULL ? gpusort_collate_libc_keys(name) : GPUSORT_LIBC_WHOLE;
}

bool
gpusort_codec_is_lazy(const GpuSortCodec *codec, Oid collation)
{
	switch (codec->collated_by)
	{
		case GPUSORT_COLLATED_BY_NONE:
			break;
		case GPUSORT_COLLATED_BY_ICU:
			return GetDatabaseEncoding() == PG_UTF8;
		case GPUSORT_COLLATED_BY_LIBC:
			return libc_keys(collation) != GPUSORT_LIBC_WHOLE;
	}
	return false;
}

bool
gpusort_codec_copies(const GpuSortCodec *codec, Oid collation)
{
	return codec->collated_by == GPUSORT_COLLATED_BY_LIBC &&
		libc_keys(collation) == GPUSORT_LIBC_COPIES;
}
