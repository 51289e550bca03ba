/*
 * load_start.c
 *		The beginning of an input; see load_start.h.
 */
#include "postgres.h"

#include "mb/pg_wchar.h"

#include "load/load_start.h"

/* The lines of a record as those of any but the first one are counted. */
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

bool
gpusort_load_start(GpuSortLoadTask *task, bool has_header, GpuSortLoadInput *input)
{
	gs_dialect *dialect = &task->dialect;
	gs_first_record first;

	if (gs_first_record_find(dialect, input->data, input->bytes, input->at_end, &first) != GS_FIRST_FOUND)
		return false;
	/* behind a carriage return the server looks a byte further, which it may find fault with */
	if (dialect->csv && first.newline == GS_NEWLINE_CR)
		return false;
	if (pg_encoding_verifymbstr(GetDatabaseEncoding(), input->data, first.bytes) != first.bytes)
		return false;
	dialect->newline = first.newline;
	input->consumed = has_header ? first.bytes : 0;
	input->counts.lines = has_header ? first.lines
		: first.lines - count_lines(dialect, input->data, first.bytes);
	return true;
}
