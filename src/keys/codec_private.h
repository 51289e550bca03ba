/*
 * codec_private.h
 *		What the key codecs share among themselves.
 *
 * Every codec_*.c file holds the codecs of one group of types and nothing
 * else; key_codec.c has the table that leads from operator families to them.
 *
 * An encode() function runs once per row and sort column.  It allocates
 * nothing in the common case, looks up no catalog, and keeps what it needs in
 * encoder->private_data, which lives as long as the sort.
 */
#ifndef GPUSORT_CODEC_PRIVATE_H
#define GPUSORT_CODEC_PRIVATE_H

#include "fmgr.h"

#include "big_endian.h"
#include "keys/key_codec.h"
#include "pg_compat.h"

/* codec_scalar.c */
extern const GpuSortCodec gpusort_codec_bool;
extern const GpuSortCodec gpusort_codec_char;
extern const GpuSortCodec gpusort_codec_int2;
extern const GpuSortCodec gpusort_codec_int4;
extern const GpuSortCodec gpusort_codec_int8;
extern const GpuSortCodec gpusort_codec_uint8;
extern const GpuSortCodec gpusort_codec_oid;
extern const GpuSortCodec gpusort_codec_tid;
extern const GpuSortCodec gpusort_codec_float4;
extern const GpuSortCodec gpusort_codec_float8;

extern const GpuSortCodec gpusort_codec_timetz;
extern const GpuSortCodec gpusort_codec_interval;

/* codec_network.c */
extern const GpuSortCodec gpusort_codec_inet;
extern const GpuSortCodec gpusort_codec_macaddr;
extern const GpuSortCodec gpusort_codec_macaddr8;
extern const GpuSortCodec gpusort_codec_uuid;

/* codec_numeric.c */
extern const GpuSortCodec gpusort_codec_numeric;

/* codec_bytes.c */
extern const GpuSortCodec gpusort_codec_text_c;
extern const GpuSortCodec gpusort_codec_bpchar_c;
extern const GpuSortCodec gpusort_codec_name_c;
extern const GpuSortCodec gpusort_codec_bytea;
extern const GpuSortCodec gpusort_codec_bit;

/*
 * codec_collate.c: returns the codec of a string type, which the operator class's input type names,
 * under a collation; NULL, and sets *reason, if there is none.
 */
extern const GpuSortCodec *gpusort_codec_for_string(Oid opcintype, Oid collation,
													const char **reason);

/* codec_enum.c */
extern const GpuSortCodec gpusort_codec_enum;

/* Returns a varlena datum in a form that can be read with the VARxxx_ANY macros. */
static inline struct varlena *
detoast_packed(Datum value)
{
	struct varlena *p = (struct varlena *) DatumGetPointer(value);

	if (unlikely(VARATT_IS_COMPRESSED(p) || VARATT_IS_EXTERNAL(p)))
		p = pg_detoast_datum_packed(p);
	return p;
}

/* Returns the length of a character(n) value without its insignificant trailing blanks. */
static inline uint32
length_without_blanks(const char *data, uint32 len)
{
	while (len > 0 && data[len - 1] == ' ')
		len--;
	return len;
}

#endif							/* GPUSORT_CODEC_PRIVATE_H */
