/*
 * key_strings.h
 *		The byte strings of keys: where they lie, and their words.
 *
 * Private to src/sort.
 */
#ifndef GPUSORT_KEY_STRINGS_H
#define GPUSORT_KEY_STRINGS_H

#include "port/pg_bswap.h"

#include "keys/key_codec.h"

/*
 * Where a key's byte string lies: offset from the row store's base in the upper
 * 40 bits, length in the lower 24.  Longer strings have no encoding.
 */
#define KEY_REF_LENGTH_BITS 24
#define KEY_REF_MAX_LENGTH	((1 << KEY_REF_LENGTH_BITS) - 1)
#define KEY_REF(offset, len) (((uint64) (offset) << KEY_REF_LENGTH_BITS) | (len))
#define KEY_REF_OFFSET(ref) ((ref) >> KEY_REF_LENGTH_BITS)
#define KEY_REF_LENGTH(ref) ((uint32) ((ref) & KEY_REF_MAX_LENGTH))

/* A row store must be smaller than this, or KEY_REF could not tell an offset in it. */
#define ROW_STORE_MAX_BYTES ((size_t) 1 << (64 - KEY_REF_LENGTH_BITS))

/*
 * Bytes of a string that one key word covers.  The last byte of a binary string's word is not a
 * byte of the string, but the number of bytes that are left, at most 8, so that "a" sorts before
 * "a\0".
 */
#define PADDED_WORD_BYTES	8
#define BINARY_WORD_BYTES	7

/* Returns the string that a reference points to.  base is the row store's. */
static inline const char *
string_by_ref(const char *base, uint64 ref)
{
	return base + KEY_REF_OFFSET(ref);
}

/* Returns the first 8 of len bytes as a big-endian word, zero-padded on the right. */
static inline uint64
load_padded_word(const char *data, uint32 len)
{
	uint64		word = 0;

	if (likely(len >= 8))
		memcpy(&word, data, 8);
	else if (len >= 4)
	{
		uint32		head,
					tail;

		memcpy(&head, data, 4);
		memcpy(&tail, data + len - 4, 4);
		return ((uint64) pg_ntoh32(head) << 32) |
			((uint64) pg_ntoh32(tail) << (64 - 8 * len));
	}
	else
	{
		for (uint32 i = 0; i < len; i++)
			word |= (uint64) (unsigned char) data[i] << (56 - 8 * i);
		return word;
	}
	return pg_ntoh64(word);
}

/* Returns the key word that begins at byte `from` of a string of len bytes. */
static inline uint64
bytes_word(GpuSortBytesKind kind, const char *data, uint32 len, uint32 from)
{
	uint32		left = len > from ? len - from : 0;

	if (kind == GPUSORT_BYTES_PADDED)
		return load_padded_word(data + from, left);
	return (load_padded_word(data + from, Min(left, BINARY_WORD_BYTES)) & ~UINT64CONST(0xff)) |
		Min(left, 8);
}

/* Returns whether a string of len bytes goes on behind the key word that begins at byte `from`. */
static inline bool
bytes_continue(GpuSortBytesKind kind, uint32 len, uint32 from)
{
	return len > from + (kind == GPUSORT_BYTES_PADDED ? PADDED_WORD_BYTES : BINARY_WORD_BYTES);
}

static inline uint32
bytes_per_word(GpuSortBytesKind kind)
{
	return kind == GPUSORT_BYTES_PADDED ? PADDED_WORD_BYTES : BINARY_WORD_BYTES;
}

#endif							/* GPUSORT_KEY_STRINGS_H */
