/*
 * key_codec.c
 *		Finds the codec of a sort column.
 *
 * What decides is the btree operator family that the ordering operator belongs
 * to, and the input type it is declared for: together they name the comparison
 * that the codec has to reproduce.  The type of the column itself matters only
 * to polymorphic families; it may be a domain, or a type such as regclass or
 * varchar that is sorted by another type's operators.
 */
#include "postgres.h"

#include "catalog/pg_opfamily.h"
#include "catalog/pg_type.h"

#include "keys/codec_private.h"

/*
 * Families that pg_opfamily.dat gives no symbol.  Their OIDs are pinned all
 * the same.
 */
#define BIT_BTREE_FAM_OID 423
#define CHAR_BTREE_FAM_OID 429
#define DATETIME_BTREE_FAM_OID 434
#define ENUM_BTREE_FAM_OID 3522
#define FLOAT_BTREE_FAM_OID 1970
#define MACADDR_BTREE_FAM_OID 1984
#define MACADDR8_BTREE_FAM_OID 3371
#define MONEY_BTREE_FAM_OID 2099
#define NUMERIC_BTREE_FAM_OID 1988
#define PG_LSN_BTREE_FAM_OID 3253
#define TID_BTREE_FAM_OID 2789
#define TIME_BTREE_FAM_OID 1996
#define TIMETZ_BTREE_FAM_OID 2000
#define UUID_BTREE_FAM_OID 2968
#define VARBIT_BTREE_FAM_OID 2002
#define XID8_BTREE_FAM_OID 5067

typedef struct FamilyCodec
{
	Oid			opfamily;
	Oid			opcintype;
	const GpuSortCodec *codec;
} FamilyCodec;

static const FamilyCodec family_codecs[] = {
	{BIT_BTREE_FAM_OID, BITOID, &gpusort_codec_bit},
	{BOOL_BTREE_FAM_OID, BOOLOID, &gpusort_codec_bool},
	{BPCHAR_PATTERN_BTREE_FAM_OID, BPCHAROID, &gpusort_codec_bpchar_c},
	{BYTEA_BTREE_FAM_OID, BYTEAOID, &gpusort_codec_bytea},
	{CHAR_BTREE_FAM_OID, CHAROID, &gpusort_codec_char},
	{DATETIME_BTREE_FAM_OID, DATEOID, &gpusort_codec_int4},
	{DATETIME_BTREE_FAM_OID, TIMESTAMPOID, &gpusort_codec_int8},
	{DATETIME_BTREE_FAM_OID, TIMESTAMPTZOID, &gpusort_codec_int8},
	{ENUM_BTREE_FAM_OID, ANYENUMOID, &gpusort_codec_enum},
	{FLOAT_BTREE_FAM_OID, FLOAT4OID, &gpusort_codec_float4},
	{FLOAT_BTREE_FAM_OID, FLOAT8OID, &gpusort_codec_float8},
	{INTEGER_BTREE_FAM_OID, INT2OID, &gpusort_codec_int2},
	{INTEGER_BTREE_FAM_OID, INT4OID, &gpusort_codec_int4},
	{INTEGER_BTREE_FAM_OID, INT8OID, &gpusort_codec_int8},
	{INTERVAL_BTREE_FAM_OID, INTERVALOID, &gpusort_codec_interval},
	{MACADDR_BTREE_FAM_OID, MACADDROID, &gpusort_codec_macaddr},
	{MACADDR8_BTREE_FAM_OID, MACADDR8OID, &gpusort_codec_macaddr8},
	{MONEY_BTREE_FAM_OID, MONEYOID, &gpusort_codec_int8},
	{NETWORK_BTREE_FAM_OID, INETOID, &gpusort_codec_inet},
	{NUMERIC_BTREE_FAM_OID, NUMERICOID, &gpusort_codec_numeric},
	{OID_BTREE_FAM_OID, OIDOID, &gpusort_codec_oid},
	{PG_LSN_BTREE_FAM_OID, PG_LSNOID, &gpusort_codec_uint8},
	{TEXT_PATTERN_BTREE_FAM_OID, TEXTOID, &gpusort_codec_text_c},
	{TID_BTREE_FAM_OID, TIDOID, &gpusort_codec_tid},
	{TIME_BTREE_FAM_OID, TIMEOID, &gpusort_codec_int8},
	{TIMETZ_BTREE_FAM_OID, TIMETZOID, &gpusort_codec_timetz},
	{UUID_BTREE_FAM_OID, UUIDOID, &gpusort_codec_uuid},
	{VARBIT_BTREE_FAM_OID, VARBITOID, &gpusort_codec_bit},
	{XID8_BTREE_FAM_OID, XID8OID, &gpusort_codec_uint8},
};

const GpuSortCodec *
gpusort_codec_lookup(Oid sortop, Oid type, Oid collation, bool *reverse, const char **reason)
{
	Oid			opfamily;
	Oid			opcintype;

	*reason = NULL;
	if (!gpusort_ordering_op(sortop, &opfamily, &opcintype, reverse))
	{
		*reason = "operator is not a btree ordering operator";
		return NULL;
	}

	/* Strings take their codec from the collation. */
	if (opfamily == TEXT_BTREE_FAM_OID || opfamily == BPCHAR_BTREE_FAM_OID)
		return gpusort_codec_for_string(opcintype, collation, reason);

	for (int i = 0; i < lengthof(family_codecs); i++)
	{
		if (family_codecs[i].opfamily == opfamily && family_codecs[i].opcintype == opcintype)
			return family_codecs[i].codec;
	}

	*reason = "operator family has no key encoding";
	return NULL;
}

void
gpusort_codec_begin(GpuSortEncoder *encoder, const GpuSortCodec *codec, Oid type, Oid collation)
{
	encoder->codec = codec;
	encoder->type = type;
	encoder->collation = collation;
	encoder->private_data = NULL;
	if (codec->begin)
		codec->begin(encoder);
}

double
gpusort_codec_extra_bytes(const GpuSortCodec *codec, double width)
{
	return codec->extra_bytes ? codec->extra_bytes(width) : 0;
}
