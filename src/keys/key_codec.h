/*
 * key_codec.h
 *		Order-preserving encodings of the types PostgreSQL can sort.
 *
 * A codec turns a non-null Datum of one btree operator family (and collation)
 * into a normalised key whose plain unsigned comparison equals the operator
 * class's comparison in ascending order: same order, and equal keys exactly
 * for values that the operator class calls equal.  Direction and NULLs are not
 * its business.
 *
 * A normalised key has up to two parts, compared in this order:
 *
 * 1. a byte string (codec->bytes != GPUSORT_BYTES_NONE), compared as
 *    GPUSORT_BYTES_PADDED: as if followed by infinitely many zero bytes; two
 *      different keys must differ under that rule (text has no zero bytes), or
 *    GPUSORT_BYTES_BINARY: bytewise, and if one is a prefix of the other, the
 *      shorter one first (bytea);
 * 2. codec->nwords unsigned 64-bit words, most significant first.
 *
 * Codecs are chosen by operator family and collation, never by type name.
 *
 * Where the byte string costs much more to make than its beginning (ICU's sort
 * keys), an encoder may be lazy: encode() gives a first word and the string
 * that the key is made of, and complete() makes the key for those rows that tie
 * on the first word with rows of another string.
 */
#ifndef GPUSORT_KEY_CODEC_H
#define GPUSORT_KEY_CODEC_H

#include "nodes/memnodes.h"
#include "postgres.h"

/* ---------- codecs ---------- */

#define GPUSORT_CODEC_MAX_WORDS 2

typedef enum GpuSortBytesKind
{
	GPUSORT_BYTES_NONE,
	GPUSORT_BYTES_PADDED,
	GPUSORT_BYTES_BINARY
} GpuSortBytesKind;

/* Libraries of collations. */
typedef enum GpuSortCollatedBy
{
	GPUSORT_COLLATED_BY_NONE,
	GPUSORT_COLLATED_BY_LIBC,
	GPUSORT_COLLATED_BY_ICU
} GpuSortCollatedBy;

/* How a codec's word is turned back into the value that it was made of. */
typedef enum GpuSortInverse
{
	GPUSORT_INVERSE_NONE,		/* not at all, or a key is more than one word */
	GPUSORT_INVERSE_SIGNED,		/* the word was made by word_from_int64() */
	GPUSORT_INVERSE_UNSIGNED,	/* the word is the value */
	GPUSORT_INVERSE_FLOAT4,
	GPUSORT_INVERSE_FLOAT8
} GpuSortInverse;

/* One normalised key, filled by encode(). */
typedef struct GpuSortKey
{
	const char *data;			/* byte part: inside the datum, or in memory of
								 * the codec that stays valid until its next
								 * encode() or until the reset of the context
								 * that was current in encode() */
	uint32		len;
	uint64		words[GPUSORT_CODEC_MAX_WORDS];
	uint64		prefix;			/* lazy encoders only: a word that decides the order
								 * of keys that differ in it */
} GpuSortKey;

/*
 * The memory in which the encoders of a sort make keys: caches, and buffers that grow with the
 * longest string.  A value whose key would take it beyond limit_bytes has no encoding.
 */
typedef struct GpuSortKeyMemory
{
	MemoryContext context;
	size_t		empty_bytes;	/* size of the context when nothing is in it */
	size_t		limit_bytes;	/* most that encoders may hold, beyond empty_bytes */
	bool		exceeded;		/* has a key needed more than limit_bytes? */
} GpuSortKeyMemory;

typedef struct GpuSortCodec GpuSortCodec;

/* A codec at work on one sort column; made by gpusort_codec_begin(). */
typedef struct GpuSortEncoder
{
	const GpuSortCodec *codec;
	Oid			type;			/* type of the column */
	Oid			collation;
	bool		lazy;			/* encode() gives a first word and the string; complete() makes
								 * the key */
	void	   *private_data;	/* codec's own, in the context current at begin */
	GpuSortKeyMemory *memory;	/* for whatever grows as values come */
} GpuSortEncoder;

struct GpuSortCodec
{
	const char *name;			/* for EXPLAIN and messages */
	GpuSortBytesKind bytes;
	uint8		nwords;
	uint8		integer_bytes;	/* if not 0, values are signed integers of so many bytes,
								 * and word_from_int64() makes their words */
	GpuSortInverse inverse;

	/*
	 * Optional: a codec of the same order that has an inverse, and whose words tell values apart
	 * that the operator class calls equal.
	 */
	const GpuSortCodec *distinct;

	/*
	 * The library that makes the keys, if any.  Such keys cost far more than others, and their
	 * order is not trusted to be that of the library's comparison: the result is to be verified.
	 */
	GpuSortCollatedBy collated_by;

	/* Optional: sets encoder->private_data and encoder->lazy.  May ereport. */
	void		(*begin) (GpuSortEncoder *encoder);

	/*
	 * Encode a non-null value.  The datum may be TOASTed: the codec detoasts
	 * in CurrentMemoryContext, which the caller resets.  Returns false if this
	 * very value cannot be encoded (longer than the key format can hold, an
	 * enum label that begin() did not know): the sort is then done by
	 * PostgreSQL's comparison instead.  May ereport only where the operator
	 * class's comparison would too.
	 */
	bool		(*encode) (GpuSortEncoder *encoder, Datum value, GpuSortKey *key);

	/*
	 * Optional, for lazy encoders of kind GPUSORT_BYTES_PADDED: makes the whole
	 * key of a string that encode() has given out.  Equal strings have equal
	 * keys.  The key need not begin with the prefix word.  Returns false where
	 * encode() would.
	 */
	bool		(*complete) (GpuSortEncoder *encoder, const char *string, uint32 len,
							 GpuSortKey *key);

	/*
	 * Every codec that has complete() has these two as well.
	 *
	 * rest_begins() is asked about strings that all begin with the same `shared` bytes.  It returns
	 * at which byte a rest begins that decides their order by itself: at `shared` or before; 0 if
	 * that is not known.
	 *
	 * known_word() makes a word of a string, or of such a rest: strings, or rests, that differ in
	 * their words are ordered by them.  It returns false if making the word would cost about as
	 * much as the whole key.
	 */
	uint32		(*rest_begins) (GpuSortEncoder *encoder, const char *string, uint32 shared);
	bool		(*known_word) (GpuSortEncoder *encoder, const char *string, uint32 len,
							   uint64 *word);

	/*
	 * Optional, for codecs that are not trusted: sets *cmp to what the operator class's comparison
	 * says of two values, without calling it.  Returns false where that can't be proven.
	 */
	bool		(*proven_order) (GpuSortEncoder *encoder, Datum a, Datum b, int *cmp);

	/*
	 * Optional: drops all pointers into encoder->memory, whose context is about to be reset.
	 */
	void		(*forget) (GpuSortEncoder *encoder);

	/* Optional: computes gpusort_codec_extra_bytes(), which is 0 without it. */
	double		(*extra_bytes) (double width, bool lazy);
};

/*
 * Returns the codec for sorting a column of type `type` by ordering operator
 * `sortop` under `collation`, and sets *reverse if the operator is the family's
 * ">".  Returns NULL if there is no such codec; *reason, a constant string,
 * then says why.  Opens no collation, so the planner may ask.
 */
extern const GpuSortCodec *gpusort_codec_lookup(Oid sortop, Oid type, Oid collation,
												bool *reverse, const char **reason);

/*
 * Returns whether the codec that gpusort_codec_lookup() finds for `sortop` compares as a btree
 * operator class does that has this family, input type and support function 1.  If not, *reason
 * says why.
 */
extern bool gpusort_codec_fits_class(Oid sortop, Oid opfamily, Oid opcintype, Oid compare,
									 const char **reason);

/*
 * Prepares a codec for one sort.  What it needs from the start is allocated in
 * CurrentMemoryContext; what grows as values come, in *memory, which several encoders may share.
 * Raises an error if the collation can't be opened, as PostgreSQL's sort does.
 */
extern void gpusort_codec_begin(GpuSortEncoder *encoder, const GpuSortCodec *codec,
								Oid type, Oid collation, GpuSortKeyMemory *memory);

/* Lets encoders hold up to limit_bytes, in a new context below the current one. */
extern void gpusort_begin_key_memory(GpuSortKeyMemory *memory, size_t limit_bytes);

/* Returns how many bytes encoders hold. */
static inline size_t
gpusort_key_memory_bytes(const GpuSortKeyMemory *memory)
{
	return memory->context->mem_allocated - memory->empty_bytes;
}

/* Returns whether the result is to be verified with PostgreSQL's comparison (sort_verify.c). */
static inline bool
gpusort_codec_is_untrusted(const GpuSortCodec *codec)
{
	return codec->collated_by != GPUSORT_COLLATED_BY_NONE;
}

/*
 * The planner's questions, answered without opening the collation.
 *
 * Returns whether keys under this collation cost as little as a lazy encoder's: it will be lazy, as
 * far as the catalog tells, or strxfrm() only copies strings.
 */
extern bool gpusort_codec_is_lazy(const GpuSortCodec *codec, Oid collation);

/*
 * Returns whether keys are the strings themselves, which libc compares with memcmp()'s speed
 * however much they have in common.
 */
extern bool gpusort_codec_copies(const GpuSortCodec *codec, Oid collation);

/*
 * Returns the average bytes of normalised key, beyond its words, that a value of `width` bytes
 * needs in memory of its own (sort keys of a collation, for example).  0 where keys are used in
 * place.
 */
extern double gpusort_codec_extra_bytes(const GpuSortCodec *codec, Oid collation, double width);

/* Maps a signed to an unsigned integer, preserving the order. */
static inline uint64
word_from_int64(int64 value)
{
	return (uint64) value ^ (UINT64CONST(1) << 63);
}

/* ---------- inverses: words turned back into the values that they were made of ---------- */

/*
 * The words of some codecs tell the value, bit by bit, and a sort that returns nothing but such
 * values need not keep them beside the words.  All such values are of types passed by value.
 *
 * Floats that compare as equal may have different bits: -0 and 0, and the many NaNs.  The codecs
 * that others name as `distinct` give these different words, in an order of no meaning.  So they
 * can encode only the last sort column, where any order of equal values is right.
 */

/*
 * The functions below turn the bits of a float, a sign and a magnitude, into an unsigned integer of
 * the same order.  NaNs with a sign would come first that way.  Since -Infinity's integer is
 * subtracted, theirs wrap around and follow all others, as NaNs do for PostgreSQL.
 */
#define GPUSORT_FLOAT8_LEAST	UINT64CONST(0x000FFFFFFFFFFFFF)	/* -Infinity */
#define GPUSORT_FLOAT4_LEAST	UINT64CONST(0x007FFFFF)

static inline uint64
gpusort_word_of_float8_bits(uint64 bits)
{
	bits ^= (uint64) ((int64) bits >> 63) | (UINT64CONST(1) << 63);
	return bits - GPUSORT_FLOAT8_LEAST;
}

static inline uint64
gpusort_float8_bits_of_word(uint64 word)
{
	word += GPUSORT_FLOAT8_LEAST;
	return word ^ ((uint64) ((int64) ~word >> 63) | (UINT64CONST(1) << 63));
}

static inline uint64
gpusort_word_of_float4_bits(uint32 bits)
{
	bits ^= (uint32) ((int32) bits >> 31) | (UINT32_C(1) << 31);
	return (uint32) (bits - GPUSORT_FLOAT4_LEAST);
}

static inline uint64
gpusort_float4_bits_of_word(uint64 word)
{
	uint32		bits = (uint32) (word + GPUSORT_FLOAT4_LEAST);

	return bits ^ ((uint32) ((int32) ~bits >> 31) | (UINT32_C(1) << 31));
}

/* Returns the value that a word was made of, in the low bytes, as many as its type has. */
static inline uint64
gpusort_value_of_word(GpuSortInverse inverse, uint64 word)
{
	switch (inverse)
	{
		case GPUSORT_INVERSE_SIGNED:
			return word ^ (UINT64CONST(1) << 63);
		case GPUSORT_INVERSE_FLOAT4:
			return gpusort_float4_bits_of_word(word);
		case GPUSORT_INVERSE_FLOAT8:
			return gpusort_float8_bits_of_word(word);
		default:
			return word;
	}
}

#endif							/* GPUSORT_KEY_CODEC_H */
