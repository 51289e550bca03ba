/*
 * out_row.c
 *		Rows into bytes; see out_row.h.
 *
 * A value comes in one of three ways:
 *
 *	- written into place (out_values.h), of types whose text is letters, digits and "+-.: ".  It needs
 *	  no look at its bytes, unless one of these is a delimiter or quote;
 *	- as it is stored: text and its like, where no conversion is needed;
 *	- from the type's function.
 *
 * Then the style puts it into the row: escaped, quoted, or behind its length.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "mb/pg_wchar.h"
#include "port/pg_bswap.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "bulk/out_row.h"
#include "bulk/out_text.h"
#include "bulk/out_values.h"
#include "pg_compat.h"

/* What functions allocate is freed when it may be so much, or after so many values. */
#define FREE_BYTES (64 * 1024)
#define FREE_VALUES 64

typedef struct OutColumn
{
	GpuSortOutColumn column;
	GpuSortOutWriter writer;	/* or NULL */
	bool		plain;			/* what it writes never needs escapes or quotes */
	bool		stored;			/* text: its bytes are those stored */
	FunctionCallInfo call;		/* of the output or send function */
} OutColumn;

struct GpuSortOutRows
{
	GpuSortOutFormat format;
	GpuSortOutText *text;		/* escapes and quotes; NULL: none in this style */
	bool		convert;		/* to another encoding */
	MemoryContext values;		/* what functions allocate */
	Size		value_bytes;	/* ... since it was reset, at least */
	int			value_count;
	OutColumn	columns[FLEXIBLE_ARRAY_MEMBER];
};

/* A value's bytes, wherever they are. */
typedef struct OutBytes
{
	const char *start;
	int			length;
} OutBytes;

/* ---------- beginning ---------- */

/* Does pg_server_to_any() return the string that it was given? */
static bool
is_own_encoding(int encoding)
{
	return encoding == GetDatabaseEncoding() || encoding == PG_SQL_ASCII;
}

/* Is the function's result what is stored? */
static bool
returns_stored(Oid function)
{
	switch (function)
	{
		case F_TEXTOUT:
		case F_VARCHAROUT:
		case F_BPCHAROUT:
		case F_JSON_OUT:
		case F_BYTEASEND:
			return true;
		case F_TEXTSEND:
		case F_VARCHARSEND:
		case F_BPCHARSEND:
		case F_JSON_SEND:
			/* converted by the function itself */
			return is_own_encoding(pg_get_client_encoding());
		default:
			return false;
	}
}

static void
begin_column(GpuSortOutRows *rows, OutColumn *column)
{
	FmgrInfo   *flinfo = palloc(sizeof(FmgrInfo));
	bool		binary = column->column.binary;
	Oid			function;
	bool		is_varlena;

	if (binary)
		getTypeBinaryOutputInfo(column->column.type, &function, &is_varlena);
	else
		getTypeOutputInfo(column->column.type, &function, &is_varlena);
	fmgr_info(function, flinfo);
	column->call = palloc0(SizeForFunctionCallInfo(1));
	InitFunctionCallInfoData(*column->call, flinfo, 1, InvalidOid, NULL, NULL);
	column->writer = gpusort_out_writer(function);
	column->plain = rows->text == NULL || gpusort_out_values_are_plain(rows->text);
	column->stored = returns_stored(function);
}

GpuSortOutRows *
gpusort_out_begin_rows(const GpuSortOutFormat *format, const GpuSortOutColumn *columns)
{
	GpuSortOutRows *rows = palloc0(offsetof(GpuSortOutRows, columns) +
								   format->ncolumns * sizeof(OutColumn));

	rows->format = *format;
	rows->convert = !is_own_encoding(format->encoding);
	if (format->style == GPUSORT_OUT_TEXT || format->style == GPUSORT_OUT_CSV)
		rows->text = gpusort_out_begin_text(format);
	rows->values = AllocSetContextCreate(CurrentMemoryContext, "gpusort values",
										 ALLOCSET_DEFAULT_SIZES);
	for (int i = 0; i < format->ncolumns; i++)
	{
		rows->columns[i].column = columns[i];
		begin_column(rows, &rows->columns[i]);
	}
	return rows;
}

/* ---------- a value's bytes ---------- */

/* Something was allocated for a value of about so many bytes. */
static void
count_value(GpuSortOutRows *rows, Size bytes)
{
	rows->value_bytes += bytes;
	rows->value_count++;
}

static void
free_values(GpuSortOutRows *rows)
{
	if (rows->value_bytes < FREE_BYTES && rows->value_count < FREE_VALUES)
		return;
	MemoryContextReset(rows->values);
	rows->value_bytes = 0;
	rows->value_count = 0;
}

static Datum
call_function(GpuSortOutRows *rows, const OutColumn *column, Datum value)
{
	FunctionCallInfo call = column->call;
	MemoryContext old = MemoryContextSwitchTo(rows->values);
	Datum		result;

	call->args[0].value = value;
	call->args[0].isnull = false;
	call->isnull = false;
	result = FunctionCallInvoke(call);
	if (call->isnull)
		elog(ERROR, "function %u returned NULL", call->flinfo->fn_oid);
	if (column->column.binary)
		result = PointerGetDatum(DatumGetByteaP(result));
	MemoryContextSwitchTo(old);
	return result;
}

static OutBytes
stored_bytes(GpuSortOutRows *rows, Datum value)
{
	struct varlena *stored = (struct varlena *) DatumGetPointer(value);

	if (VARATT_IS_COMPRESSED(stored) || VARATT_IS_EXTERNAL(stored))
	{
		MemoryContext old = MemoryContextSwitchTo(rows->values);

		stored = pg_detoast_datum_packed(stored);
		MemoryContextSwitchTo(old);
		count_value(rows, VARSIZE_ANY(stored));
	}
	return (OutBytes) {VARDATA_ANY(stored), VARSIZE_ANY_EXHDR(stored)};
}

static OutBytes
value_bytes(GpuSortOutRows *rows, const OutColumn *column, Datum value)
{
	OutBytes	bytes;

	if (column->stored)
		return stored_bytes(rows, value);
	value = call_function(rows, column, value);
	if (column->column.binary)
	{
		bytea	   *sent = (bytea *) DatumGetPointer(value);

		bytes = (OutBytes) {VARDATA(sent), VARSIZE(sent) - VARHDRSZ};
	}
	else
	{
		char	   *string = DatumGetCString(value);

		bytes = (OutBytes) {string, strlen(string)};
	}
	count_value(rows, bytes.length);
	return bytes;
}

/* ... in the encoding that is written. */
static OutBytes
convert_bytes(GpuSortOutRows *rows, OutBytes bytes)
{
	MemoryContext old;
	char	   *converted;

	old = MemoryContextSwitchTo(rows->values);
	converted = pg_server_to_any(bytes.start, bytes.length, rows->format.encoding);
	MemoryContextSwitchTo(old);
	if (converted == bytes.start)
		return bytes;
	bytes = (OutBytes) {converted, strlen(converted)};
	count_value(rows, bytes.length);
	return bytes;
}

/* ---------- rows ---------- */

int
gpusort_out_begin_message(const GpuSortOutFormat *format, StringInfo out)
{
	int			begin = out->len;

	if (format->messages)
	{
		enlargeStringInfo(out, GPUSORT_OUT_MESSAGE_BYTES);
		out->data[begin] = format->style == GPUSORT_OUT_DATA_ROW ? 'D' : 'd';
		out->len += GPUSORT_OUT_MESSAGE_BYTES;
	}
	return begin;
}

void
gpusort_out_end_message(const GpuSortOutFormat *format, StringInfo out, int begin)
{
	uint32		length = pg_hton32((uint32) (out->len - begin - 1));

	if (format->messages)
		memcpy(out->data + begin + 1, &length, sizeof(length));
}

/* The value at the end of what is written; NULL if it could not be written there. */
static inline char *
write_value(const OutColumn *column, Datum value, StringInfo out)
{
	if (column->writer == NULL)
		return NULL;
	enlargeStringInfo(out, GPUSORT_OUT_VALUE_BYTES + sizeof(int32));
	return column->writer(out->data + out->len, value);
}

static void
put_text_value(GpuSortOutRows *rows, const OutColumn *column, Datum value, StringInfo out)
{
	bool		force_quote = column->column.force_quote;
	char	   *end = write_value(column, value, out);
	OutBytes	bytes;
	OutBytes	converted;

	if (end != NULL && column->plain && !force_quote &&
		!gpusort_out_looks_null(rows->text, out->data + out->len, end - (out->data + out->len)))
	{
		out->len = end - out->data;
		return;
	}
	if (end != NULL)
	{
		char		copy[GPUSORT_OUT_VALUE_BYTES];
		int			length = end - (out->data + out->len);

		memcpy(copy, out->data + out->len, length);
		gpusort_out_put_text(rows->text, out, copy, length,
							 force_quote || gpusort_out_looks_null(rows->text, copy, length));
		return;
	}
	bytes = value_bytes(rows, column, value);
	converted = rows->convert ? convert_bytes(rows, bytes) : bytes;
	gpusort_out_put_text(rows->text, out, converted.start, converted.length,
						 force_quote ||
						 gpusort_out_looks_null(rows->text, bytes.start, bytes.length));
}

static void
put_text_row(GpuSortOutRows *rows, TupleTableSlot *slot, StringInfo out)
{
	for (int i = 0; i < rows->format.ncolumns; i++)
	{
		const OutColumn *column = &rows->columns[i];
		int			attribute = column->column.attribute;

		if (i > 0)
			appendStringInfoCharMacro(out, rows->format.delimiter);
		if (slot->tts_isnull[attribute])
			gpusort_out_put_null(rows->text, out);
		else
			put_text_value(rows, column, slot->tts_values[attribute], out);
	}
	appendStringInfoCharMacro(out, '\n');
}

static void
put_number(StringInfo out, int32 number)
{
	uint32		n = pg_hton32((uint32) number);

	appendBinaryStringInfoNT(out, (char *) &n, sizeof(n));
}

/* A value behind its length. */
static void
put_counted_value(GpuSortOutRows *rows, const OutColumn *column, Datum value, StringInfo out)
{
	char	   *end;
	OutBytes	bytes;

	if (column->writer != NULL)
	{
		enlargeStringInfo(out, GPUSORT_OUT_VALUE_BYTES + sizeof(int32));
		end = column->writer(out->data + out->len + sizeof(int32), value);
		if (end != NULL)
		{
			int			length = end - (out->data + out->len + sizeof(int32));

			put_number(out, length);
			out->len += length;
			return;
		}
	}
	bytes = value_bytes(rows, column, value);
	if (rows->convert && !column->column.binary)
		bytes = convert_bytes(rows, bytes);
	put_number(out, bytes.length);
	appendBinaryStringInfoNT(out, bytes.start, bytes.length);
}

static void
put_counted_row(GpuSortOutRows *rows, TupleTableSlot *slot, StringInfo out)
{
	uint16		ncolumns = pg_hton16((uint16) rows->format.ncolumns);

	appendBinaryStringInfoNT(out, (char *) &ncolumns, sizeof(ncolumns));
	for (int i = 0; i < rows->format.ncolumns; i++)
	{
		const OutColumn *column = &rows->columns[i];
		int			attribute = column->column.attribute;

		if (slot->tts_isnull[attribute])
			put_number(out, -1);
		else
			put_counted_value(rows, column, slot->tts_values[attribute], out);
	}
}

void
gpusort_out_put_row(GpuSortOutRows *rows, TupleTableSlot *slot, StringInfo out)
{
	int			begin = gpusort_out_begin_message(&rows->format, out);

	slot_getallattrs(slot);
	if (rows->text != NULL)
		put_text_row(rows, slot, out);
	else
		put_counted_row(rows, slot, out);
	gpusort_out_end_message(&rows->format, out, begin);
	free_values(rows);
}

void
gpusort_out_put_header(GpuSortOutRows *rows, TupleDesc desc, StringInfo out)
{
	int			begin = gpusort_out_begin_message(&rows->format, out);

	for (int i = 0; i < rows->format.ncolumns; i++)
	{
		char	   *name = NameStr(TupleDescAttr(desc, rows->columns[i].column.attribute)->attname);
		OutBytes	bytes = {name, strlen(name)};
		bool		looks_null = gpusort_out_looks_null(rows->text, name, bytes.length);

		if (i > 0)
			appendStringInfoCharMacro(out, rows->format.delimiter);
		if (rows->convert)
			bytes = convert_bytes(rows, bytes);
		gpusort_out_put_text(rows->text, out, bytes.start, bytes.length, looks_null);
	}
	appendStringInfoCharMacro(out, '\n');
	gpusort_out_end_message(&rows->format, out, begin);
	free_values(rows);
}
