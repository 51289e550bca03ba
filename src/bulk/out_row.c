/*
 * out_row.c
 *		Formats rows as bytes; see out_row_private.h.
 *
 * A value's bytes come from one of four sources:
 *
 * - A writer (out_values.c) writes them into place, for types whose text is letters, digits and
 *   "+-.: ".  They need no look for special characters, unless one of these is a delimiter or
 *   quote.
 * - Text and similar types, names, and labels of enums are taken as they are stored, where no
 *   conversion is needed.  They are copied into place and searched for special characters at once;
 *   if there are any, the value is written once more with care.
 * - The hexadecimal digits of a bytea are written into place.
 * - All other values come from the type's function.
 *
 * Then the style puts the bytes into the row: escaped, quoted, or behind their length.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "mb/pg_wchar.h"
#include "port/pg_bswap.h"
#include "utils/builtins.h"
#include "utils/bytea.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "bulk/out_digits.h"
#include "bulk/out_row_private.h"
#include "pg_compat.h"

/* What functions allocate is freed when it may have so many bytes, or after so many values. */
#define FREE_BYTES (64 * 1024)
#define FREE_VALUES 64

typedef struct OutColumn
{
	GpuSortOutColumn column;
	GpuSortOutWriter writer;	/* writer of the type's values, or NULL */
	bool		plain;			/* what the writer writes never needs escapes or quotes */
	bool		stored;			/* the value's bytes are those stored, as of text */
	bool		name;			/* the value is a name */
	GpuSortOutLabels *labels;	/* labels of an enum, or NULL */
	/* stored, name or labels is set, and the bytes are mostly written unchanged */
	bool		copied;
	bool		hex;			/* a bytea whose digits, and the \x before them, need no quotes */
	FunctionCallInfo call;		/* call of the output or send function */
} OutColumn;

struct GpuSortOutRows
{
	GpuSortOutFormat format;
	GpuSortOutText *text;		/* escapes and quotes; NULL if the style has none */
	GpuSortOutFields *fields;
	bool		convert;		/* text is converted to another encoding */
	/* a value of so many bytes may look like a null; -1 if no value does */
	int			null_length;
	MemoryContext values;		/* memory that functions allocate */
	Size		value_bytes;	/* bytes allocated since the context was reset, at least */
	int			value_count;
	OutColumn	columns[FLEXIBLE_ARRAY_MEMBER];
};

/* The bytes of a value, wherever they lie. */
typedef struct OutBytes
{
	const char *start;
	int			length;
} OutBytes;

/* ---------- beginning ---------- */

/* Returns whether pg_server_to_any() returns the string that it is given. */
static bool
is_own_encoding(int encoding)
{
	return encoding == GetDatabaseEncoding() || encoding == PG_SQL_ASCII;
}

/* Returns whether the function's result has the bytes that are stored. */
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
			/* send functions convert to the client's encoding themselves */
			return is_own_encoding(pg_get_client_encoding());
		default:
			return false;
	}
}

/*
 * Returns whether a value that consists of a backslash, letters and digits is written without
 * quotes.
 */
static bool
is_hex_plain(const GpuSortOutRows *rows, const OutColumn *column)
{
	const GpuSortOutFormat *format = &rows->format;

	return column->plain &&
		(format->style != GPUSORT_OUT_CSV ||
		 (format->delimiter != '\\' && format->quote != '\\'));
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
	column->plain = rows->text == NULL ||
		(gpusort_out_values_are_plain(rows->text) && !column->column.force_quote);
	column->stored = returns_stored(function);
	column->name = function == F_NAMEOUT;
	if (function == F_ENUM_OUT)
		column->labels = gpusort_out_begin_labels();
	column->copied = (column->stored || column->name || column->labels != NULL) &&
		!rows->convert && !column->column.force_quote;
	column->hex = function == F_BYTEAOUT && is_hex_plain(rows, column);
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
	rows->null_length = format->style == GPUSORT_OUT_CSV ? format->null_length : -1;
	rows->fields = gpusort_out_begin_fields(format->ncolumns, columns);
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

/* Count a value for which about so many bytes were allocated. */
static void
count_value(GpuSortOutRows *rows, Size bytes)
{
	rows->value_bytes += bytes;
	rows->value_count++;
}

/* Free what functions have allocated, if it has become much. */
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
label_bytes(const OutColumn *column, Datum value)
{
	OutBytes	bytes;

	bytes.start = gpusort_out_label(column->labels, DatumGetObjectId(value), &bytes.length);
	return bytes;
}

static OutBytes
name_bytes(Datum value)
{
	const char *name = NameStr(*DatumGetName(value));

	return (OutBytes) {name, strlen(name)};
}

/* Returns the bytes of any value, in the server's encoding. */
static OutBytes
value_bytes(GpuSortOutRows *rows, const OutColumn *column, Datum value)
{
	OutBytes	bytes;

	if (column->stored)
		return stored_bytes(rows, value);
	if (column->name)
		return name_bytes(value);
	if (column->labels != NULL)
		return label_bytes(column, value);
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

/* Convert a value's bytes to the encoding that is written. */
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

/* Returns room for so many bytes, and one more, at the end of `out`. */
static inline char *
reserve(StringInfo out, int bytes)
{
	if (unlikely(bytes >= out->maxlen - out->len))
		enlargeStringInfo(out, bytes);
	return out->data + out->len;
}

int
gpusort_out_begin_message(const GpuSortOutFormat *format, StringInfo out)
{
	int			begin = out->len;

	if (format->messages)
	{
		*reserve(out, GPUSORT_OUT_MESSAGE_BYTES) =
			format->style == GPUSORT_OUT_DATA_ROW ? 'D' : 'd';
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

static inline void
put_char(StringInfo out, char c)
{
	*reserve(out, 1) = c;
	out->len++;
}

/*
 * Write a value into place by its writer.  Returns false if the writer can't write it, or it may
 * need escapes or quotes.
 */
static inline bool
put_plain_value(GpuSortOutRows *rows, const OutColumn *column, Datum value, StringInfo out)
{
	char	   *at = reserve(out, GPUSORT_OUT_VALUE_BYTES);
	char	   *end = column->writer(at, value);

	if (end == NULL || !column->plain ||
		(unlikely(end - at == rows->null_length) &&
		 gpusort_out_looks_null(rows->text, at, end - at)))
		return false;
	out->len = end - out->data;
	return true;
}

/*
 * Write a value's stored bytes into place.  Returns false if they are compressed or out of line, or
 * may need escapes or quotes.
 */
static inline bool
put_stored_value(GpuSortOutRows *rows, const OutColumn *column, Datum value, StringInfo out)
{
	OutBytes	bytes;

	if (column->stored)
	{
		struct varlena *stored = (struct varlena *) DatumGetPointer(value);

		if (VARATT_IS_COMPRESSED(stored) || VARATT_IS_EXTERNAL(stored))
			return false;
		bytes = (OutBytes) {VARDATA_ANY(stored), VARSIZE_ANY_EXHDR(stored)};
	}
	else
		bytes = column->name ? name_bytes(value) : label_bytes(column, value);
	if (!gpusort_out_copy_plain(rows->text, reserve(out, bytes.length), bytes.start, bytes.length))
		return false;
	out->len += bytes.length;
	return true;
}

/* A longer bytea is left to the type's function, which may raise an error for its length. */
#define HEX_BYTES (1024 * 1024)

/* Returns whether this value is a bytea whose digits are written here, and sets *bytes if so. */
static bool
get_hex_value(GpuSortOutRows *rows, const OutColumn *column, Datum value, OutBytes *bytes)
{
	if (!column->hex || bytea_output != BYTEA_OUTPUT_HEX)
		return false;
	*bytes = stored_bytes(rows, value);
	return bytes->length <= HEX_BYTES;
}

/* Append a bytea's hexadecimal digits, behind the bytes that are to precede them. */
static void
put_hex_value(StringInfo out, const char *begin, int begin_bytes, OutBytes bytes)
{
	char	   *at = reserve(out, begin_bytes + 2 * bytes.length);

	memcpy(at, begin, begin_bytes);
	out->len = gpusort_out_put_hex(at + begin_bytes, bytes.start, bytes.length) - out->data;
}

/*
 * Append a bytea in text or CSV; in text the backslash is escaped.  Returns false if the value is
 * not written here, or would be taken for a null.
 */
static bool
put_hex_text(GpuSortOutRows *rows, const OutColumn *column, Datum value, StringInfo out)
{
	OutBytes	bytes;

	if (!get_hex_value(rows, column, value, &bytes) || 2 + 2 * bytes.length == rows->null_length)
		return false;
	if (rows->format.style == GPUSORT_OUT_CSV)
		put_hex_value(out, "\\x", 2, bytes);
	else
		put_hex_value(out, "\\\\x", 3, bytes);
	return true;
}

/* Append a value of any kind, with escapes or quotes if need be. */
static void
put_text_value(GpuSortOutRows *rows, const OutColumn *column, Datum value, StringInfo out)
{
	bool		force_quote = column->column.force_quote;
	OutBytes	bytes = {NULL, 0};
	OutBytes	converted;
	char		copy[GPUSORT_OUT_VALUE_BYTES];

	if (column->writer != NULL)
	{
		char	   *end = column->writer(copy, value);

		if (end != NULL)
			bytes = (OutBytes) {copy, end - copy};
	}
	if (bytes.start != NULL)
		converted = bytes;
	else
	{
		bytes = value_bytes(rows, column, value);
		converted = rows->convert ? convert_bytes(rows, bytes) : bytes;
	}
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
			put_char(out, rows->format.delimiter);
		if (slot->tts_isnull[attribute])
			gpusort_out_put_null(rows->text, out);
		else if (!(column->writer != NULL &&
				   put_plain_value(rows, column, slot->tts_values[attribute], out)) &&
				 !(column->copied &&
				   put_stored_value(rows, column, slot->tts_values[attribute], out)) &&
				 !(column->hex && put_hex_text(rows, column, slot->tts_values[attribute], out)))
			put_text_value(rows, column, slot->tts_values[attribute], out);
	}
	put_char(out, '\n');
}

static inline void
write_number(char *at, int32 number)
{
	uint32		n = pg_hton32((uint32) number);

	memcpy(at, &n, sizeof(n));
}

static inline void
put_number(StringInfo out, int32 number)
{
	write_number(reserve(out, sizeof(number)), number);
	out->len += sizeof(number);
}

/* Append a value behind its length. */
static void
put_counted_value(GpuSortOutRows *rows, const OutColumn *column, Datum value, StringInfo out)
{
	char	   *at;
	OutBytes	bytes;

	if (column->writer != NULL)
	{
		char	   *end;

		at = reserve(out, sizeof(int32) + GPUSORT_OUT_VALUE_BYTES);
		end = column->writer(at + sizeof(int32), value);
		if (end != NULL)
		{
			write_number(at, end - (at + sizeof(int32)));
			out->len = end - out->data;
			return;
		}
	}
	if (column->hex && get_hex_value(rows, column, value, &bytes))
	{
		put_number(out, 2 + 2 * bytes.length);
		put_hex_value(out, "\\x", 2, bytes);
		return;
	}
	bytes = value_bytes(rows, column, value);
	if (rows->convert && !column->column.binary)
		bytes = convert_bytes(rows, bytes);
	put_number(out, bytes.length);
	memcpy(reserve(out, bytes.length), bytes.start, bytes.length);
	out->len += bytes.length;
}

static void
put_counted_row(GpuSortOutRows *rows, TupleTableSlot *slot, StringInfo out)
{
	uint16		ncolumns = pg_hton16((uint16) rows->format.ncolumns);

	memcpy(reserve(out, sizeof(ncolumns)), &ncolumns, sizeof(ncolumns));
	out->len += sizeof(ncolumns);
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
gpusort_out_get_values(GpuSortOutRows *rows, TupleTableSlot *slot)
{
	gpusort_out_get_fields(rows->fields, slot);
}

void
gpusort_out_put_values(GpuSortOutRows *rows, TupleTableSlot *slot, StringInfo out)
{
	int			begin = gpusort_out_begin_message(&rows->format, out);

	if (rows->text != NULL)
		put_text_row(rows, slot, out);
	else
		put_counted_row(rows, slot, out);
	gpusort_out_end_message(&rows->format, out, begin);
	free_values(rows);
}

void
gpusort_out_put_row(GpuSortOutRows *rows, TupleTableSlot *slot, StringInfo out)
{
	gpusort_out_get_values(rows, slot);
	gpusort_out_put_values(rows, slot, out);
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
