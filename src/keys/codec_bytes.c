/*
 * codec_bytes.c
 *		Codecs of values that compare bytewise: strings in C-like collations and
 *		under the pattern operators, bytea, bit strings.
 *
 * The bytes are used where they are, in the datum; nothing is copied.  Text
 * holds no zero bytes in any server encoding, which is what makes its padded
 * comparison exact.  bytea may, and bit strings do.
 */
#include "postgres.h"

#include "utils/varbit.h"

#include "keys/codec_private.h"

static bool
encode_text(GpuSortEncoder *encoder, Datum value, GpuSortKey *key)
{
	struct varlena *text = detoast_packed(value);

	key->data = VARDATA_ANY(text);
	key->len = VARSIZE_ANY_EXHDR(text);
	return true;
}

static bool
encode_bpchar(GpuSortEncoder *encoder, Datum value, GpuSortKey *key)
{
	struct varlena *text = detoast_packed(value);

	key->data = VARDATA_ANY(text);
	key->len = length_without_blanks(key->data, VARSIZE_ANY_EXHDR(text));
	return true;
}

/* Encodes a name, or the cstring that an index stores for it. */
static bool
encode_name(GpuSortEncoder *encoder, Datum value, GpuSortKey *key)
{
	key->data = DatumGetCString(value);
	key->len = strnlen(key->data, NAMEDATALEN);
	return true;
}

/*
 * bit_cmp() compares the bytes as far as both values have some, then the
 * lengths in bits.  The unused bits of the last byte are zero.
 */
static bool
encode_bit(GpuSortEncoder *encoder, Datum value, GpuSortKey *key)
{
	struct varlena *bits = detoast_packed(value);
	int32		nbits;

	memcpy(&nbits, VARDATA_ANY(bits), sizeof(nbits));	/* may be unaligned */
	key->data = VARDATA_ANY(bits) + sizeof(nbits);
	key->len = VARSIZE_ANY_EXHDR(bits) - sizeof(nbits);
	key->words[0] = nbits;
	return true;
}

const GpuSortCodec gpusort_codec_text_c = {
	.name = "text bytes",
	.bytes = GPUSORT_BYTES_PADDED,
	.encode = encode_text,
};

const GpuSortCodec gpusort_codec_bpchar_c = {
	.name = "bpchar bytes",
	.bytes = GPUSORT_BYTES_PADDED,
	.encode = encode_bpchar,
};

const GpuSortCodec gpusort_codec_name_c = {
	.name = "name bytes",
	.bytes = GPUSORT_BYTES_PADDED,
	.encode = encode_name,
};

const GpuSortCodec gpusort_codec_bytea = {
	.name = "bytea",
	.bytes = GPUSORT_BYTES_BINARY,
	.encode = encode_text,
};

const GpuSortCodec gpusort_codec_bit = {
	.name = "bit",
	.bytes = GPUSORT_BYTES_BINARY,
	.nwords = 1,
	.encode = encode_bit,
};
