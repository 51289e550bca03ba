/*
 * out_fields.c
 *		Gets the values of a row that are written, in its slot; see out_row_private.h.
 *
 * tts_nvalid is left as it was, so anyone else who asks the slot for values makes it deform the
 * tuple in the usual way.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/tupmacs.h"

#include "bulk/out_row_private.h"

/* How a field's value is stored. */
typedef enum FieldKind
{
	FIELD_8,					/* 8 bytes that are the value; likewise below */
	FIELD_4,
	FIELD_2,
	FIELD_1,
	FIELD_FIXED,				/* bytes that the value points to */
	FIELD_VARLENA,
	FIELD_STRING
} FieldKind;

typedef struct Field
{
	FieldKind	kind;
	int			length;
	uintptr_t	align;			/* alignment less 1 */
} Field;

struct GpuSortOutFields
{
	/*
	 * number of leading attributes that are described; all columns that are written are among them
	 */
	int			nfields;
	TupleDesc	desc;			/* descriptor that `fields` were made from */
	Field	   *fields;
};

GpuSortOutFields *
gpusort_out_begin_fields(int ncolumns, const GpuSortOutColumn *columns)
{
	GpuSortOutFields *fields = palloc0(sizeof(GpuSortOutFields));

	for (int i = 0; i < ncolumns; i++)
		fields->nfields = Max(fields->nfields, columns[i].attribute + 1);
	fields->fields = palloc0(Max(fields->nfields, 1) * sizeof(Field));
	return fields;
}

static FieldKind
kind_of(Form_pg_attribute attribute)
{
	if (attribute->attlen == -1)
		return FIELD_VARLENA;
	if (attribute->attlen < 0)
		return FIELD_STRING;
	if (!attribute->attbyval)
		return FIELD_FIXED;
	switch (attribute->attlen)
	{
		case 1:
			return FIELD_1;
		case 2:
			return FIELD_2;
		case 4:
			return FIELD_4;
		default:
			return FIELD_8;
	}
}

static void
describe_fields(GpuSortOutFields *fields, TupleDesc desc)
{
	for (int i = 0; i < fields->nfields; i++)
	{
		Form_pg_attribute attribute = TupleDescAttr(desc, i);

		fields->fields[i] = (Field) {
			.kind = kind_of(attribute),
			.length = attribute->attlen,
			.align = att_align_nominal(1, attribute->attalign) - 1
		};
	}
	fields->desc = desc;
}

/*
 * Returns the stored tuple that a slot shows, or NULL if it shows none, or if the slot has deformed
 * some of it already.
 */
static inline HeapTupleHeader
stored_tuple(TupleTableSlot *slot)
{
	if (slot->tts_nvalid > 0)
		return NULL;
	if (slot->tts_ops == &TTSOpsMinimalTuple)
		return ((MinimalTupleTableSlot *) slot)->minhdr.t_data;
	if (slot->tts_ops == &TTSOpsBufferHeapTuple && ((HeapTupleTableSlot *) slot)->tuple != NULL)
		return ((HeapTupleTableSlot *) slot)->tuple->t_data;
	return NULL;
}

/* Get the Datums of the first nfields attributes, none of which is null. */
static void
read_fields(const GpuSortOutFields *fields, const char *data, Datum *values)
{
	uintptr_t	at = 0;

	for (int i = 0; i < fields->nfields; i++)
	{
		const Field *field = &fields->fields[i];
		const char *place = data + ((at + field->align) & ~field->align);

		switch (field->kind)
		{
			case FIELD_8:
				values[i] = fetch_att(place, true, sizeof(int64));
				break;
			case FIELD_4:
				values[i] = fetch_att(place, true, sizeof(int32));
				break;
			case FIELD_2:
				values[i] = fetch_att(place, true, sizeof(int16));
				break;
			case FIELD_1:
				values[i] = fetch_att(place, true, sizeof(char));
				break;
			case FIELD_FIXED:
				values[i] = PointerGetDatum(place);
				break;
			case FIELD_VARLENA:
				/*
				 * a varlena with a short header is not aligned, so if there is no padding byte it
				 * begins here
				 */
				if (VARATT_NOT_PAD_BYTE(data + at))
					place = data + at;
				values[i] = PointerGetDatum(place);
				at = place + VARSIZE_ANY(place) - data;
				continue;
			case FIELD_STRING:
				place = data + at;
				values[i] = PointerGetDatum(place);
				at += strlen(place) + 1;
				continue;
		}
		at = place + field->length - data;
	}
}

void
gpusort_out_get_fields(GpuSortOutFields *fields, TupleTableSlot *slot)
{
	HeapTupleHeader tuple = stored_tuple(slot);

	if (tuple == NULL || (tuple->t_infomask & HEAP_HASNULL) != 0 ||
		HeapTupleHeaderGetNatts(tuple) < fields->nfields)
	{
		slot_getallattrs(slot);
		return;
	}
	if (unlikely(fields->desc != slot->tts_tupleDescriptor))
		describe_fields(fields, slot->tts_tupleDescriptor);
	read_fields(fields, (char *) tuple + tuple->t_hoff, slot->tts_values);
	memset(slot->tts_isnull, 0, fields->nfields * sizeof(bool));
}
