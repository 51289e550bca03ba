/*
 * key_columns.c
 *		The columns that a sort is by; see keys_private.h.
 */
#include "postgres.h"

#include "access/tupmacs.h"
#include "lib/stringinfo.h"
#include "utils/memutils.h"

#include "sort/keys_private.h"
#include "sort/sort.h"

#define PLANES_PER_COLUMN (1 + GPUSORT_CODEC_MAX_WORDS)

StaticAssertDecl(GPUSORT_MAX_KEYS * PLANES_PER_COLUMN <= GS_MAX_PLANES,
				 "the engine must take all planes");

/*
 * The codec of a column whose own codec is gone since the plan was made: a collation can be dropped
 * while a prepared statement uses it.  lost_codec encodes no value, so the first value hands the
 * sort over to PostgreSQL, whose comparison still works, or says what is wrong.
 */
static bool
refuse(GpuSortEncoder *encoder, Datum value, GpuSortKey *key)
{
	return false;
}

static const GpuSortCodec lost_codec = {
	.name = "none",
	.nwords = 1,
	.encode = refuse,
};

static void
begin_column(GpuSortKeys *keys, int i, TupleDesc desc, const GpuSortSpec *spec)
{
	GpuSortColumn *column = &keys->columns[i];
	Form_pg_attribute att = TupleDescAttr(desc, spec->attnos[i] - 1);
	Oid			type = att->atttypid;
	const GpuSortCodec *codec;
	const char *reason;
	bool		reverse = false;

	codec = gpusort_codec_lookup(spec->sortops[i], type, spec->collations[i], &reverse, &reason);
	if (codec == NULL)
		codec = &lost_codec;

	column->attno = spec->attnos[i];
	column->nulls_first = spec->nulls_first[i];
	column->fixed_offset = gpusort_fixed_offset(desc, column->attno);
	column->attlen = att->attlen;
	column->attbyval = att->attbyval;
	column->attalign = att->attalign;
	column->flip = reverse ? PG_UINT64_MAX : 0;
	gpusort_codec_begin(&column->encoder, codec, type, spec->collations[i], &keys->memory);
	column->bytes = codec->bytes;
	if (column->bytes != GPUSORT_BYTES_NONE)
		column->numbering = palloc(sizeof(gs_numbering));
	column->lazy = column->encoder.lazy;
	column->nwords = codec->nwords;
	column->integer_bytes = codec->integer_bytes;

	keys->max_attno = Max(keys->max_attno, column->attno);
	keys->any_bytes |= column->bytes != GPUSORT_BYTES_NONE;
	keys->fixed &= column->fixed_offset >= 0;
	keys->untrusted |= gpusort_codec_is_untrusted(codec);
	keys->not_repaired |= codec->collated_by == GPUSORT_COLLATED_BY_ICU;
}

void
gpusort_begin_columns(GpuSortKeys *keys, TupleDesc desc, const GpuSortSpec *spec,
					  size_t encoders_bytes)
{
	memset(keys, 0, sizeof(*keys));
	gpusort_begin_key_memory(&keys->memory, encoders_bytes);
	keys->ncolumns = spec->nkeys;
	keys->columns = palloc0(spec->nkeys * sizeof(GpuSortColumn));
	keys->planes = palloc(spec->nkeys * PLANES_PER_COLUMN * sizeof(gs_plane));
	keys->fixed = true;
	for (int i = 0; i < spec->nkeys; i++)
		begin_column(keys, i, desc, spec);
}

void
gpusort_forget_keys(GpuSortKeys *keys)
{
	if (gpusort_key_memory_bytes(&keys->memory) == 0)
		return;
	for (int i = 0; i < keys->ncolumns; i++)
	{
		GpuSortEncoder *encoder = &keys->columns[i].encoder;

		if (encoder->codec->forget)
			encoder->codec->forget(encoder);
	}
	MemoryContextReset(keys->memory.context);
}

void
gpusort_forget_values(GpuSortKeys *keys)
{
	keys->memory.exceeded = false;
	keys->value_refused = false;
	for (int i = 0; i < keys->ncolumns; i++)
	{
		GpuSortColumn *column = &keys->columns[i];

		column->facts = (GpuSortStringFacts) {.common_len = PG_UINT32_MAX};
		column->base = 0;
	}
}

void
gpusort_note_common_prefix(GpuSortStringFacts *facts, const char *base, uint64 ref,
						   const char *data, uint32 len)
{
	const char *first;
	uint32		common = 0;

	if (facts->common_ref == 0)
	{
		facts->common_ref = ref;
		facts->common_len = len;
		return;
	}
	first = string_by_ref(base, facts->common_ref);
	len = Min(len, facts->common_len);
	while (common < len && first[common] == data[common])
		common++;
	facts->common_len = common;
}

char *
gpusort_describe_columns(const GpuSortKeys *keys)
{
	StringInfoData buf;

	initStringInfo(&buf);
	for (int i = 0; i < keys->ncolumns; i++)
		appendStringInfo(&buf, "%s%s", i > 0 ? ", " : "", keys->columns[i].encoder.codec->name);
	return buf.data;
}

/* ---------- attributes that lie at the same place in every tuple ---------- */

int
gpusort_fixed_offset(TupleDesc desc, AttrNumber attno)
{
	int			offset = 0;

	for (int i = 0; i < attno; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);

		if (i == attno - 1 && att->attlen == -1)
			return offset;
		offset = att_align_nominal(offset, att->attalign);
		if (i == attno - 1)
			return offset;
		if (att->attlen < 0)
			break;
		offset += att->attlen;
	}
	return -1;
}
