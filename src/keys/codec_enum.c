/*
 * codec_enum.c
 *		Codec of enum types.
 *
 * A label's key is its rank among the labels of its type.  begin() reads the
 * type's labels once and puts them into a small hash table by OID.
 *
 * Several processes may encode for the same sort, and their ranks must agree
 * even if labels are being added meanwhile.  Therefore pg_enum is read with the
 * active snapshot, which parallel workers share with their leader, and not with
 * a catalog snapshot of each process's own.  A label that the snapshot does not
 * see has no rank, and its value cannot be encoded.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/indexing.h"
#include "catalog/pg_enum.h"
#include "common/hashfn.h"
#include "port/pg_bitutils.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "keys/codec_private.h"

typedef struct EnumLabel
{
	Oid			oid;
	float4		sort_order;
} EnumLabel;

typedef struct RankSlot
{
	Oid			oid;			/* InvalidOid in an unused slot */
	uint32		rank;
} RankSlot;

/* Open addressing with linear probing; at least half of the slots are unused. */
typedef struct EnumState
{
	uint32		mask;			/* number of slots, a power of 2, minus 1 */
	RankSlot	slots[FLEXIBLE_ARRAY_MEMBER];
} EnumState;

static int
compare_labels(const void *a, const void *b)
{
	float4		order_a = ((const EnumLabel *) a)->sort_order;
	float4		order_b = ((const EnumLabel *) b)->sort_order;

	return (order_a > order_b) - (order_a < order_b);
}

/* Reads all labels of an enum type into a palloc'd array, in their order; returns their number. */
static int
read_labels(Oid type, EnumLabel **labels)
{
	int			nlabels = 0;
	int			size = 64;
	Relation	pg_enum;
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;

	*labels = palloc(size * sizeof(EnumLabel));

	ScanKeyInit(&key, Anum_pg_enum_enumtypid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(type));
	pg_enum = table_open(EnumRelationId, AccessShareLock);
	scan = systable_beginscan(pg_enum, EnumTypIdLabelIndexId, true,
							  ActiveSnapshotSet() ? GetActiveSnapshot() : NULL, 1, &key);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Form_pg_enum form = (Form_pg_enum) GETSTRUCT(tuple);

		if (nlabels == size)
		{
			size *= 2;
			*labels = repalloc(*labels, size * sizeof(EnumLabel));
		}
		(*labels)[nlabels].oid = form->oid;
		(*labels)[nlabels].sort_order = form->enumsortorder;
		nlabels++;
	}
	systable_endscan(scan);
	table_close(pg_enum, AccessShareLock);

	qsort(*labels, nlabels, sizeof(EnumLabel), compare_labels);
	return nlabels;
}

/* Returns the slot that holds a label, or the unused slot where it belongs. */
static inline RankSlot *
find_slot(EnumState *state, Oid oid)
{
	uint32		i = murmurhash32(oid) & state->mask;

	while (state->slots[i].oid != oid && OidIsValid(state->slots[i].oid))
		i = (i + 1) & state->mask;
	return &state->slots[i];
}

static void
begin_enum(GpuSortEncoder *encoder)
{
	EnumLabel  *labels;
	int			nlabels = read_labels(getBaseType(encoder->type), &labels);
	uint32		nslots = pg_nextpower2_32(2 * nlabels + 1);
	EnumState  *state = palloc0(offsetof(EnumState, slots) + nslots * sizeof(RankSlot));

	state->mask = nslots - 1;
	for (int i = 0; i < nlabels; i++)
	{
		RankSlot   *slot = find_slot(state, labels[i].oid);

		slot->oid = labels[i].oid;
		slot->rank = i;
	}
	pfree(labels);

	encoder->private_data = state;
}

static bool
encode_enum(GpuSortEncoder *encoder, Datum value, GpuSortKey *key)
{
	RankSlot   *slot = find_slot(encoder->private_data, DatumGetObjectId(value));

	key->words[0] = slot->rank;
	return OidIsValid(slot->oid);
}

const GpuSortCodec gpusort_codec_enum = {
	.name = "enum",
	.nwords = 1,
	.begin = begin_enum,
	.encode = encode_enum,
};
