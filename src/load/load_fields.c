/*
 * load_fields.c
 *		The fields of a record into values; see load_values_private.h.
 */
#include "postgres.h"

#include "mb/pg_wchar.h"
#include "utils/memutils.h"

#include "load/load_values_private.h"
#include "parse/gs_parse.h"

void
gpusort_load_fields_begin(GpuSortLoadFields *fields, const GpuSortLoadTask *task, TupleDesc desc,
						  GpuSortLoadComputer *computer, MemoryContext row_context)
{
	fields->task = task;
	fields->columns = gpusort_load_columns(task, desc);
	fields->values = palloc0(desc->natts * sizeof(GpuSortLoadValue));
	for (int i = 0; i < desc->natts; i++)
		fields->values[i].is_null = true;
	fields->computer = computer;
	fields->row_context = row_context;
	fields->plain = fields->plain_end = NULL;
	fields->plain_bytes = 0;
	initStringInfo(&fields->message);
	fields->in_function = false;
}

void
gpusort_load_fields_make_room(GpuSortLoadFields *fields, Size bytes)
{
	if (bytes <= fields->plain_bytes)
		return;
	if (fields->plain != NULL)
		pfree(fields->plain);
	fields->plain_bytes = bytes;
	fields->plain = MemoryContextAllocHuge(GetMemoryChunkContext(fields->values), bytes);
}

/* ---------- a field ---------- */

/*
 * Returns whether a field is quoted as a whole, and has no quotes or escapes in between: its value
 * is where it is.
 */
static inline bool
is_simply_quoted(const gs_dialect *dialect, const char *field, uint32 length)
{
	return dialect->csv && length >= 2 && field[0] == dialect->quote &&
		field[length - 1] == dialect->quote &&
		memchr(field + 1, dialect->quote, length - 2) == NULL &&
		(dialect->escape == dialect->quote ||
		 memchr(field + 1, dialect->escape, length - 2) == NULL);
}

/*
 * Makes *field and *length those of the field without its quotes and escapes.  Returns false if
 * PostgreSQL has to look at it.
 */
static bool
make_plain(GpuSortLoadFields *fields, const char **field, uint32 *length)
{
	const gs_dialect *dialect = &fields->task->dialect;
	bool		escaped_bytes;

	if (is_simply_quoted(dialect, *field, *length))
	{
		(*field)++;
		*length -= 2;
		return true;
	}
	*length = gs_field_value(dialect, *field, *length, fields->plain_end, &escaped_bytes);
	*field = fields->plain_end;
	fields->plain_end += *length;
	return !escaped_bytes;
}

static inline bool
is_null_marker(const GpuSortLoadTask *task, const char *field, uint32 length)
{
	return length == task->null_length && memcmp(field, task->null_print, length) == 0;
}

static inline bool
is_default_marker(const GpuSortLoadTask *task, const char *field, uint32 length)
{
	return task->default_length > 0 && length == task->default_length &&
		memcmp(field, task->default_print, length) == 0;
}

static Datum
call_input_function(GpuSortLoadColumn *column, const char *field, uint32 length)
{
	char	   *string = NULL;

	if (field != NULL)
	{
		string = palloc(length + 1);
		memcpy(string, field, length);
		string[length] = '\0';
	}
	return InputFunctionCall(&column->function, string, column->ioparam, column->typmod);
}

/* Sets *all to whether the function has read the whole field. */
static Datum
call_receive_function(StringInfo message, GpuSortLoadColumn *column, const char *field,
					  uint32 length, bool *all)
{
	Datum		value;

	if (field == NULL)
		return ReceiveFunctionCall(&column->function, NULL, column->ioparam, column->typmod);
	resetStringInfo(message);
	appendBinaryStringInfo(message, field, length);
	value = ReceiveFunctionCall(&column->function, message, column->ioparam, column->typmod);
	*all = message->cursor == message->len;
	return value;
}

/*
 * Calls the type's input or receive function for a field, or, if "field" is NULL, for a null.
 * Returns false if PostgreSQL has to look at the field.
 */
static bool
call_function(GpuSortLoadFields *fields, GpuSortLoadColumn *column, const char *field,
			  uint32 length, Datum *value)
{
	MemoryContext old = MemoryContextSwitchTo(fields->row_context);
	bool		all = true;

	fields->in_function = true;
	*value = fields->task->dialect.binary
		? call_receive_function(&fields->message, column, field, length, &all)
		: call_input_function(column, field, length);
	fields->in_function = false;
	MemoryContextSwitchTo(old);
	return all;
}

static void
read_null(GpuSortLoadFields *fields, GpuSortLoadColumn *column, GpuSortLoadValue *value)
{
	value->is_null = true;
	if (column->checks_null)
		call_function(fields, column, NULL, 0, &value->datum);
}

/* Reads a field that is neither a null nor a default; returns as call_function() does. */
static inline bool
read_value(GpuSortLoadFields *fields, GpuSortLoadColumn *column, const char *field, uint32 length,
		   GpuSortLoadValue *value)
{
	value->is_null = false;
	value->text = NULL;
	if (column->is_text && length <= column->max_bytes)
	{
		value->text = field;
		value->length = length;
		return !column->checks_text ||
			pg_encoding_verifymbstr(GetDatabaseEncoding(), field, length) == length;
	}
	return (column->reader != NULL && column->reader(field, length, column->room, &value->datum)) ||
		call_function(fields, column, field, length, &value->datum);
}

/* Reads the default of a column whose field has asked for it; returns false if there is none. */
static bool
read_default(GpuSortLoadFields *fields, const GpuSortLoadColumn *column, GpuSortLoadValue *value)
{
	bool		found;

	fields->in_function = true;
	found = fields->computer != NULL &&
		gpusort_compute_default(fields->computer, column->field.attnum - 1, value);
	fields->in_function = false;
	return found;
}

static inline bool
read_field(GpuSortLoadFields *fields, GpuSortLoadColumn *column, const char *field, uint32 length,
		   bool special)
{
	const GpuSortLoadTask *task = fields->task;
	const gs_dialect *dialect = &task->dialect;
	GpuSortLoadValue *value = &fields->values[column->field.attnum - 1];

	/*
	 * in the text format, the null marker is compared with the field as it stands; in CSV, only
	 * with a field that is not quoted
	 */
	if (is_null_marker(task, field, length) && !(special && dialect->csv) &&
		!column->field.force_not_null)
	{
		read_null(fields, column, value);
		return true;
	}
	if (is_default_marker(task, field, length) && !(special && dialect->csv))
		return read_default(fields, column, value);
	if (special)
	{
		if (!make_plain(fields, &field, &length))
			return false;
		if (column->field.force_null && is_null_marker(task, field, length))
		{
			read_null(fields, column, value);
			return true;
		}
	}
	return read_value(fields, column, field, length, value);
}

/* ---------- all fields of a record ---------- */

static bool
read_binary(GpuSortLoadFields *fields, const gs_records *records, const char *data, size_t record)
{
	const uint32_t *ends = records->field_ends + gs_record_first_field(records, record);
	const char *field = data + gs_record_begin(records, &fields->task->dialect, record) +
		GS_BINARY_COUNT_BYTES;

	for (int i = 0; i < fields->task->nfields; i++)
	{
		GpuSortLoadColumn *column = &fields->columns[i];
		GpuSortLoadValue *value = &fields->values[column->field.attnum - 1];
		const char *field_end = data + GS_FIELD_END(ends[i]);

		field += GS_BINARY_LENGTH_BYTES;
		if ((ends[i] & GS_FIELD_SPECIAL) != 0)
			read_null(fields, column, value);
		else if (!read_value(fields, column, field, field_end - field, value))
			return false;
		field = field_end;
	}
	return true;
}

static bool
read_delimited(GpuSortLoadFields *fields, const gs_records *records, const char *data,
			   size_t record)
{
	size_t		first = gs_record_first_field(records, record);
	const char *field = data + gs_record_begin(records, &fields->task->dialect, record);

	if (records->record_fields[record] - first != fields->task->nfields)
		return false;
	fields->plain_end = fields->plain;
	for (int i = 0; i < fields->task->nfields; i++)
	{
		uint32		end = records->field_ends[first + i];
		const char *field_end = data + GS_FIELD_END(end);

		if (!read_field(fields, &fields->columns[i], field, field_end - field,
						(end & GS_FIELD_SPECIAL) != 0))
			return false;
		field = field_end + 1;
	}
	return true;
}

bool
gpusort_load_read_fields(GpuSortLoadFields *fields, const gs_records *records, const char *data,
						 size_t record)
{
	return fields->task->dialect.binary ? read_binary(fields, records, data, record)
		: read_delimited(fields, records, data, record);
}
