/*
 * key_codec.c
 *		Finds the codec of a sort column.
 *
 * What decides is the btree operator family that the ordering operator belongs
 * to, the input type it is declared for and the family's comparison of that type (support
 * function 1), which the codec has to reproduce.  The type of the column itself matters only
 * to polymorphic families; it may be a domain, or a type such as regclass or
 * varchar that is sorted by another type's operators.
 */
#include "postgres.h"

#include "access/nbtree.h"
#include "catalog/pg_opfamily.h"
#include "catalog/pg_type.h"
#include "utils/fmgroids.h"
#include "utils/inval.h"
#include "utils/memutils.h"
#include "utils/syscache.h"

#include "keys/codec_private.h"
#include "pg_compat/keys.h"

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
	Oid			compare;		/* support function 1, which the codec reproduces */
	const GpuSortCodec *codec;	/* NULL: a string type's, which depends on the collation */
} FamilyCodec;

static const FamilyCodec family_codecs[] = {
	{BIT_BTREE_FAM_OID, BITOID, F_BITCMP, &gpusort_codec_bit},
	{BOOL_BTREE_FAM_OID, BOOLOID, F_BTBOOLCMP, &gpusort_codec_bool},
	{BPCHAR_PATTERN_BTREE_FAM_OID, BPCHAROID, F_BTBPCHAR_PATTERN_CMP, &gpusort_codec_bpchar_c},
	{BPCHAR_BTREE_FAM_OID, BPCHAROID, F_BPCHARCMP, NULL},
	{BYTEA_BTREE_FAM_OID, BYTEAOID, F_BYTEACMP, &gpusort_codec_bytea},
	{CHAR_BTREE_FAM_OID, CHAROID, F_BTCHARCMP, &gpusort_codec_char},
	{DATETIME_BTREE_FAM_OID, DATEOID, F_DATE_CMP, &gpusort_codec_int4},
	{DATETIME_BTREE_FAM_OID, TIMESTAMPOID, F_TIMESTAMP_CMP, &gpusort_codec_int8},
	{DATETIME_BTREE_FAM_OID, TIMESTAMPTZOID, F_TIMESTAMPTZ_CMP, &gpusort_codec_int8},
	{ENUM_BTREE_FAM_OID, ANYENUMOID, F_ENUM_CMP, &gpusort_codec_enum},
	{FLOAT_BTREE_FAM_OID, FLOAT4OID, F_BTFLOAT4CMP, &gpusort_codec_float4},
	{FLOAT_BTREE_FAM_OID, FLOAT8OID, F_BTFLOAT8CMP, &gpusort_codec_float8},
	{INTEGER_BTREE_FAM_OID, INT2OID, F_BTINT2CMP, &gpusort_codec_int2},
	{INTEGER_BTREE_FAM_OID, INT4OID, F_BTINT4CMP, &gpusort_codec_int4},
	{INTEGER_BTREE_FAM_OID, INT8OID, F_BTINT8CMP, &gpusort_codec_int8},
	{INTERVAL_BTREE_FAM_OID, INTERVALOID, F_INTERVAL_CMP, &gpusort_codec_interval},
	{MACADDR_BTREE_FAM_OID, MACADDROID, F_MACADDR_CMP, &gpusort_codec_macaddr},
	{MACADDR8_BTREE_FAM_OID, MACADDR8OID, F_MACADDR8_CMP, &gpusort_codec_macaddr8},
	{MONEY_BTREE_FAM_OID, MONEYOID, F_CASH_CMP, &gpusort_codec_int8},
	{NETWORK_BTREE_FAM_OID, INETOID, F_NETWORK_CMP, &gpusort_codec_inet},
	{NUMERIC_BTREE_FAM_OID, NUMERICOID, F_NUMERIC_CMP, &gpusort_codec_numeric},
	{OID_BTREE_FAM_OID, OIDOID, F_BTOIDCMP, &gpusort_codec_oid},
	{PG_LSN_BTREE_FAM_OID, PG_LSNOID, F_PG_LSN_CMP, &gpusort_codec_uint8},
	{TEXT_BTREE_FAM_OID, NAMEOID, F_BTNAMECMP, NULL},
	{TEXT_BTREE_FAM_OID, TEXTOID, F_BTTEXTCMP, NULL},
	{TEXT_PATTERN_BTREE_FAM_OID, TEXTOID, F_BTTEXT_PATTERN_CMP, &gpusort_codec_text_c},
	{TID_BTREE_FAM_OID, TIDOID, F_BTTIDCMP, &gpusort_codec_tid},
	{TIME_BTREE_FAM_OID, TIMEOID, F_TIME_CMP, &gpusort_codec_int8},
	{TIMETZ_BTREE_FAM_OID, TIMETZOID, F_TIMETZ_CMP, &gpusort_codec_timetz},
	{UUID_BTREE_FAM_OID, UUIDOID, F_UUID_CMP, &gpusort_codec_uuid},
	{VARBIT_BTREE_FAM_OID, VARBITOID, F_VARBITCMP, &gpusort_codec_bit},
	{XID8_BTREE_FAM_OID, XID8OID, F_XID8CMP, &gpusort_codec_uint8},
};

/*
 * Returns the entry of the family and input type that an ordering operator belongs to; NULL, and
 * sets *reason, if there is none.  A user's operator class may have the operators of a built-in
 * type and a comparison of its own.  Its family is not in the table, and an operator that is in
 * several families is taken for a member of the oldest one, as PostgreSQL's sorts take it.
 */
static const FamilyCodec *
find_family(Oid sortop, bool *reverse, const char **reason)
{
	Oid			opfamily;
	Oid			opcintype;

	if (!gpusort_ordering_op(sortop, &opfamily, &opcintype, reverse))
	{
		*reason = "operator is not a btree ordering operator";
		return NULL;
	}
	for (int i = 0; i < lengthof(family_codecs); i++)
	{
		if (family_codecs[i].opfamily == opfamily && family_codecs[i].opcintype == opcintype)
			return &family_codecs[i];
	}
	*reason = "operator family has no key encoding";
	return NULL;
}

/* Does the work of gpusort_codec_lookup(), without a cache. */
static const GpuSortCodec *
look_up(Oid sortop, Oid collation, bool *reverse, const char **reason)
{
	const FamilyCodec *found;

	*reason = NULL;
	found = find_family(sortop, reverse, reason);
	if (found == NULL)
		return NULL;
	if (get_opfamily_proc(found->opfamily, found->opcintype, found->opcintype,
						  BTORDER_PROC) != found->compare)
	{
		*reason = "operator family has a comparison of its own";
		return NULL;
	}
	if (found->codec == NULL)
		return gpusort_codec_for_string(found->opcintype, collation, reason);
	return found->codec;
}

/* A cache of what look_up() has found; the planner asks for the same few codecs again and again. */
typedef struct KnownCodec
{
	Oid			sortop;			/* InvalidOid: an empty entry */
	Oid			collation;
	const GpuSortCodec *codec;
	const char *reason;
	bool		reverse;
} KnownCodec;

static KnownCodec known_codecs[16];
static uint64 changes = 0;

static void
forget_codecs(Datum arg, GpuSortSysCache cache, uint32 hash)
{
	memset(known_codecs, 0, sizeof(known_codecs));
	changes++;
}

/* Has the cache emptied whenever operator families or collations change. */
static void
begin_to_know(void)
{
	static bool begun = false;

	if (begun)
		return;
	CacheRegisterSyscacheCallback(AMOPOPID, forget_codecs, (Datum) 0);
	CacheRegisterSyscacheCallback(AMPROCNUM, forget_codecs, (Datum) 0);
	CacheRegisterSyscacheCallback(COLLOID, forget_codecs, (Datum) 0);
	begun = true;
}

const GpuSortCodec *
gpusort_codec_lookup(Oid sortop, Oid type, Oid collation, bool *reverse, const char **reason)
{
	KnownCodec *known = &known_codecs[(sortop ^ collation) % lengthof(known_codecs)];

	if (known->sortop != sortop || known->collation != collation || !OidIsValid(sortop))
	{
		KnownCodec	found = {.sortop = sortop, .collation = collation};
		uint64		before = changes;

		begin_to_know();
		found.codec = look_up(sortop, collation, &found.reverse, &found.reason);
		*reverse = found.reverse;
		*reason = found.reason;
		if (changes == before)
			*known = found;
		return found.codec;
	}
	*reverse = known->reverse;
	*reason = known->reason;
	return known->codec;
}

bool
gpusort_codec_fits_class(Oid sortop, Oid opfamily, Oid opcintype, Oid compare,
						 const char **reason)
{
	bool		reverse;
	const FamilyCodec *found = find_family(sortop, &reverse, reason);

	if (found == NULL)
		return false;
	if (found->opfamily == opfamily && found->opcintype == opcintype &&
		found->compare == compare)
		return true;
	*reason = "operator class has a comparison of its own";
	return false;
}

void
gpusort_begin_key_memory(GpuSortKeyMemory *memory, size_t limit_bytes)
{
	memory->context = AllocSetContextCreate(CurrentMemoryContext, "gpusort encoders",
											ALLOCSET_SMALL_SIZES);
	memory->empty_bytes = memory->context->mem_allocated;
	memory->limit_bytes = limit_bytes;
	memory->exceeded = false;
}

void
gpusort_codec_begin(GpuSortEncoder *encoder, const GpuSortCodec *codec, Oid type, Oid collation,
					GpuSortKeyMemory *memory)
{
	encoder->codec = codec;
	encoder->memory = memory;
	encoder->type = type;
	encoder->collation = collation;
	encoder->lazy = false;
	encoder->private_data = NULL;
	if (codec->begin)
		codec->begin(encoder);
}

double
gpusort_codec_extra_bytes(const GpuSortCodec *codec, Oid collation, double width)
{
	if (codec->extra_bytes == NULL)
		return 0;
	return codec->extra_bytes(width, gpusort_codec_is_lazy(codec, collation));
}
