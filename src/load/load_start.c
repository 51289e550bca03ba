/*
 * load_start.c
 *		The beginning of an input; see load_input_private.h.
 */
#include "postgres.h"

#include "load/load_input_private.h"
#include "parse/gs_parse.h"

/*
 * Returns how many lines the server counts for a record that is not the first one of its input.
 * Those of the first record may be counted otherwise.
 */
static uint64
count_lines(const gs_dialect *dialect, const char *data, Size bytes)
{
	char		line = gs_line_byte(dialect);
	uint64		lines = 0;

	if (!dialect->csv)
		return 1;
	for (Size i = 0; i < bytes; i++)
		lines += data[i] == line;
	/* the input may end without a newline */
	return Max(lines, 1);
}

/* ---------- the names of columns ---------- */

/* Returns whether a field is certainly the name of a column. */
static bool
is_name(const GpuSortLoadTask *task, const char *field, uint32 end, uint32 length, const char *name)
{
	bool		special = (end & GS_FIELD_SPECIAL) != 0;
	bool		escaped_bytes = false;
	char	   *value;

	/* a field that is a marker is a mistake */
	if ((length == task->null_length && memcmp(field, task->null_print, length) == 0) ||
		(length == task->default_length && memcmp(field, task->default_print, length) == 0))
		return false;
	value = palloc(length + 1);
	if (special)
		length = gs_field_value(&task->dialect, field, length, value, &escaped_bytes);
	else
		memcpy(value, field, length);
	return !escaped_bytes && length == strlen(name) && memcmp(value, name, length) == 0;
}

/* Returns whether a record has the names of the columns that are copied, and nothing else. */
static bool
has_names(const GpuSortLoadTask *task, TupleDesc columns, const char *data, Size bytes)
{
	uint32_t	record_fields[1 + GS_RECORDS_SLACK + 1];
	gs_records	records =
		{.max_fields = task->nfields + GS_RECORDS_SLACK + 1,.max_records = 1 + GS_RECORDS_SLACK};
	const char *field = data;

	records.field_ends = palloc(records.max_fields * sizeof(uint32_t));
	records.record_fields = record_fields;
	gs_records_find(&task->dialect, data, bytes, true, &records);
	if (records.nrecords != 1 || records.nfields != task->nfields)
		return false;
	for (int i = 0; i < task->nfields; i++)
	{
		const char *name = NameStr(TupleDescAttr(columns, task->fields[i].attnum - 1)->attname);
		const char *end = data + GS_FIELD_END(records.field_ends[i]);

		if (!is_name(task, field, records.field_ends[i], end - field, name))
			return false;
		field = end + 1;
	}
	return true;
}

/* ---------- the header ---------- */

/* Skips "count" records behind the first one; returns false if they are not all there. */
static bool
skip_records(const GpuSortLoadTask *task, int count, const char *data, GpuSortLoadInput *input)
{
	gs_records	records = {.max_fields = 16384,.max_records = count + GS_RECORDS_SLACK};

	if (count == 0)
		return true;
	records.field_ends = palloc(records.max_fields * sizeof(uint32_t));
	records.record_fields = palloc(records.max_records * sizeof(uint32_t));
	gs_records_find(&task->dialect, data + input->consumed, input->bytes - input->consumed,
					input->at_end, &records);
	if (records.nrecords <= count)
		return false;
	input->counts.lines += gs_records_lines(&records, &task->dialect, data + input->consumed,
											count - 1);
	input->consumed += gs_record_begin(&records, &task->dialect, count);
	return true;
}

static bool
is_good(GpuSortLoadEncoding *encoding, const char *data, Size bytes)
{
	GpuSortLoadText text = gpusort_encoding_text(encoding, data, bytes);

	return text.is_whole && text.valid == text.bytes;
}

static bool
read_header(const GpuSortLoadTask *task, GpuSortLoadEncoding *encoding,
			const GpuSortLoadHeader *header, const char *data, GpuSortLoadInput *input)
{
	if (header->columns != NULL)
	{
		GpuSortLoadText text = gpusort_encoding_text(encoding, input->data, input->consumed);

		if (!has_names(task, header->columns, text.data, text.bytes))
			return false;
	}
	return skip_records(task, header->records - 1, data, input) &&
		is_good(encoding, input->data, input->consumed);
}

bool
gpusort_load_start(GpuSortLoadTask *task, GpuSortLoadEncoding *encoding,
				   const GpuSortLoadHeader *header, GpuSortLoadInput *input)
{
	gs_dialect *dialect = &task->dialect;
	const char *data = gpusort_encoding_mask_nonascii(encoding, input->data, input->bytes);
	gs_first_record first;

	/* PostgreSQL has read the header of the binary format */
	if (dialect->binary)
		return true;
	if (gs_first_record_find(dialect, data, input->bytes, input->at_end, &first) != GS_FIRST_FOUND)
		return false;
	/* behind a carriage return the server looks at one more byte, which may not be valid */
	if (dialect->csv && first.newline == GS_NEWLINE_CR)
		return false;
	if (!is_good(encoding, input->data, first.bytes))
		return false;
	dialect->newline = first.newline;
	if (header->records == 0)
	{
		input->consumed = 0;
		input->counts.lines = first.lines - count_lines(dialect, data, first.bytes);
		return true;
	}
	input->consumed = first.bytes;
	input->counts.lines = first.lines;
	return read_header(task, encoding, header, data, input);
}
