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

#include "postgres.h"

#include "nodes/memnodes.h"

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

/* How a word tells the value that it was made of (key_inverse.h). */
typedef enum GpuSortInverse
{
	GPUSORT_INVERSE_NONE,		/* it does not, or there is more than a word */
	GPUSORT_INVERSE_SIGNED,		/* word_from_int64() */
	GPUSORT_INVERSE_UNSIGNED,	/* it is the value */
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
 * What the encoders of a sort hold for making keys: caches, and buffers that grow with the
 * longest string.  Keys that would take more have no encoding.
 */
typedef struct GpuSortKeyMemory
{
	MemoryContext context;
	size_t		empty_bytes;	/* that the context has when nothing is in it */
	size_t		limit_bytes;	/* beyond these */
	bool		exceeded;		/* a key would have taken more */
} GpuSortKeyMemory;

typedef struct GpuSortCodec GpuSortCodec;

/* A codec at work on one sort column; made by gpusort_codec_begin(). */
typedef struct GpuSortEncoder
{
	const GpuSortCodec *codec;
	Oid			type;			/* type of the column */
	Oid			collation;
	bool		lazy;			/* encode() gives strings that complete() makes keys of */
	void	   *private_data;	/* codec's own, in the context current at begin */
	GpuSortKeyMemory *memory;	/* what grows lies here */
} GpuSortEncoder;

struct GpuSortCodec
{
	const char *name;			/* for EXPLAIN and messages */
	GpuSortBytesKind bytes;
	uint8		nwords;
	uint8		integer_bytes;	/* not 0: the word is that of a signed integer of
								 * so many bytes, as the value itself is */
	GpuSortInverse inverse;

	/* Optional: a codec that has an inverse, and tells equal values apart. */
	const GpuSortCodec *distinct;

	/*
	 * Whose library makes the keys, if any.  They cost far more than others, and their order
	 * is not trusted to be that of the library's comparison: the result is to be verified.
	 */
	GpuSortCollatedBy collated_by;

	/* Optional: set encoder->private_data, and lazy.  May ereport. */
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
	 * Optional, for lazy encoders of kind GPUSORT_BYTES_PADDED: the whole key of
	 * a string that encode() has given out.  Equal strings have equal keys.
	 * The key need not begin with the prefix word.  False as for encode().
	 */
	bool		(*complete) (GpuSortEncoder *encoder, const char *string, uint32 len,
							 GpuSortKey *key);

	/*
	 * Of every codec with complete(), that is: strings begin with the same `shared` bytes; where
	 * does the rest of them begin that decides their order by itself?  Not behind these; 0 if that
	 * is not known.  And a word that decides the order of strings, or of such rests, which differ in
	 * it; false if there is none for much less than the whole key.
	 */
	uint32		(*rest_begins) (GpuSortEncoder *encoder, const char *string, uint32 shared);
	bool		(*known_word) (GpuSortEncoder *encoder, const char *string, uint32 len,
							   uint64 *word);

	/*
	 * Optional, for codecs that are not trusted: what the operator class's comparison says of two
	 * values, without calling it.  False where that isn't proven.
	 */
	bool		(*proven_order) (GpuSortEncoder *encoder, Datum a, Datum b, int *cmp);

	/* Optional: all that was allocated in encoder->memory will be gone. */
	void		(*forget) (GpuSortEncoder *encoder);

	/* Optional: what gpusort_codec_extra_bytes() answers; 0 without it. */
	double		(*extra_bytes) (double width, bool lazy);
};

/*
 * Codec for sorting a column of type `type` by ordering operator `sortop`
 * under `collation`.  *reverse tells that the operator is the family's ">".
 * NULL if there is none, and *reason then says why (constant string).  Opens no
 * collation, so the planner may ask.
 */
extern const GpuSortCodec *gpusort_codec_lookup(Oid sortop, Oid type, Oid collation,
												bool *reverse, const char **reason);

/*
 * Does the codec that gpusort_codec_lookup() finds for an operator compare as this operator
 * class of btrees does, given its family, input type and support function 1?  If not,
 * *reason says why.
 */
extern bool gpusort_codec_fits_class(Oid sortop, Oid opfamily, Oid opcintype, Oid compare,
									 const char **reason);

/*
 * Prepare a codec for one sort; memory from CurrentMemoryContext.  What it will need more as
 * values come is taken from *memory, which several encoders may share.  Raises an error if the
 * collation can't be opened, as PostgreSQL's sort does.
 */
extern void gpusort_codec_begin(GpuSortEncoder *encoder, const GpuSortCodec *codec,
								Oid type, Oid collation, GpuSortKeyMemory *memory);

/* Let encoders hold so many bytes, in a new context below the current one. */
extern void gpusort_begin_key_memory(GpuSortKeyMemory *memory, size_t limit_bytes);

/* Bytes that encoders hold. */
static inline size_t
gpusort_key_memory_bytes(const GpuSortKeyMemory *memory)
{
	return memory->context->mem_allocated - memory->empty_bytes;
}

/* Is the result to be verified with PostgreSQL's comparison (sort_verify.c)? */
static inline bool
gpusort_codec_is_untrusted(const GpuSortCodec *codec)
{
	return codec->collated_by != GPUSORT_COLLATED_BY_NONE;
}

/*
 * For the planner: will encoders under this collation be lazy, as far as that can be told
 * without opening it?
 */
extern bool gpusort_codec_is_lazy(const GpuSortCodec *codec, Oid collation);

/* ... and are keys the strings themselves, which libc compares as fast whatever they have in common? */
extern bool gpusort_codec_copies(const GpuSortCodec *codec, Oid collation);

/*
 * ... and the average bytes of normalised key, beyond its words, that a value of `width`
 * bytes needs in memory of its own (sort keys of a collation, for example).  0 where
 * keys are used in place.
 */
extern double gpusort_codec_extra_bytes(const GpuSortCodec *codec, Oid collation, double width);

/* Order-preserving map of signed to unsigned integers. */
static inline uint64
word_from_int64(int64 value)
{
	return (uint64) value ^ (UINT64CONST(1) << 63);
}

#endif							/* GPUSORT_KEY_CODEC_H */
