/*
 * gs_records.c
 *		Where the records and fields of a buffer lie.
 */
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
	char		line = gs_line_byte(dialect);
	uint64_t	lines = 0;

	if (dialect->binary)
		return gs_binary_records(dialect, data, bytes);
	for (size_t i = 0; i < bytes; i++)
		lines += data[i] == line;
	return lines;
}
