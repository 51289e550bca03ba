/*
 * gs_records.c
 *		Where the records and fields of a buffer lie, and whether they lie where a device says.
 */
#include <string.h>

#include "parse/gs_parse.h"

#include "parse/gs_kernels.h"

/* Both kinds of kernels are compiled from gs_kernels_body.h. */
const gs_kernels *
gs_kernels_choose(void)
{
#ifdef GS_KERNELS_AVX2
	if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
		__builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt") &&
		__builtin_cpu_supports("pclmul"))
		return &gs_kernels_avx2;
#endif
	return &gs_kernels_portable;
}

void
gs_records_find(const gs_dialect *dialect, const char *data, size_t bytes, bool at_end,
				gs_records *records)
{
	gs_parse_state open;

	if (dialect->binary)
	{
		gs_binary_find(dialect, data, bytes, at_end, records);
		return;
	}
	gs_kernels_choose()->find(dialect, data, bytes, at_end, records, &open);
	if (records->stop != GS_STOP_END || !at_end || records->consumed == bytes)
		return;

	/* a record without a newline at the end */
	if (open == GS_STATE_PLAIN)
	{
		records->nfields = records->record_fields[records->nrecords++];
		records->consumed = bytes;
		return;
	}
	records->stop = GS_STOP_ODD;
	records->odd = GS_ODD_END;
	records->odd_at = bytes;
}

uint64_t
gs_records_lines(const gs_records *records, const gs_dialect *dialect, const char *data,
				 size_t record)
{
	if (!dialect->csv)
		return record + 1;
	return gs_lines_count(dialect, data, gs_record_end(records, record)) + 1;
}

uint64_t
gs_lines_count(const gs_dialect *dialect, const char *data, size_t bytes)
{
	if (dialect->binary)
		return gs_binary_records(dialect, data, bytes);
	return gs_kernels_choose()->count_equal(data, bytes, gs_line_byte(dialect));
}

/* ---------- whether a record and its fields lie where a device says that they do ---------- */

void
gs_check_begin(gs_check *check, const gs_dialect *dialect)
{
	memset(check, 0, sizeof(*check));
	check->dialect = *dialect;
	check->special = dialect->csv ? dialect->quote : '\\';
	check->ends_plain['\0'] = check->ends_plain['\n'] = check->ends_plain['\r'] = true;
	check->ends_plain[(unsigned char) dialect->delimiter] = true;
	check->ends_plain[(unsigned char) check->special] = true;
}

static bool
is_plain_field(const gs_check *check, const char *field, const char *end)
{
	bool		ends = false;

	while (field < end)
		ends |= check->ends_plain[(unsigned char) *field++];
	return !ends;
}

/* Checks a field with quotes or backslashes, byte by byte. */
static bool
is_special_field(const gs_check *check, const char *field, const char *end)
{
	const gs_dialect *dialect = &check->dialect;
	gs_parse_state state = GS_STATE_PLAIN;
	bool		special = false;

	for (; field < end; field++)
	{
		bool		marker = !dialect->csv && *field == '\\' && field[1] == '.';

		special |= *field == check->special;
		if (*field == '\0')
			return false;
		if (state == GS_STATE_PLAIN &&
			(marker || (*field != check->special && check->ends_plain[(unsigned char) *field])))
			return false;
		state = gs_state_after(dialect, state, *field);
	}
	return special && state == GS_STATE_PLAIN;
}

/* Returns whether a record ends with the newline at an offset. */
static bool
is_newline(const gs_dialect *dialect, const char *data, size_t bytes, size_t at)
{
	if (dialect->newline == GS_NEWLINE_CRLF)
		return at + 1 < bytes && data[at] == '\r' && data[at + 1] == '\n';
	return data[at] == gs_record_byte(dialect);
}

bool
gs_check_record(const gs_check *check, const char *data, size_t bytes, size_t begin,
				const uint32_t *field_ends, size_t nfields)
{
	const gs_dialect *dialect = &check->dialect;

	if (nfields == 0 || begin >= bytes)
		return false;
	if (dialect->csv && dialect->csv_end_marker && data[begin] == '\\')
		return false;
	for (size_t i = 0; i < nfields; i++)
	{
		size_t		end = GS_FIELD_END(field_ends[i]);

		if (end < begin || end >= bytes)
			return false;
		if (i + 1 < nfields ? data[end] != dialect->delimiter
			: !is_newline(dialect, data, bytes, end))
			return false;
		if ((field_ends[i] & GS_FIELD_SPECIAL) != 0
			? !is_special_field(check, data + begin, data + end)
			: !is_plain_field(check, data + begin, data + end))
			return false;
		begin = end + 1;
	}
	return true;
}
