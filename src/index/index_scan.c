/*
 * index_scan.c
 *		Reads the table of an index build; see index_scan.h.
 */
#include "postgres.h"

#include "index/index_pages.h"
#include "index/index_scan.h"
#include "pg_compat/tables.h"

static double
scan_by_server(GpuSortIndexReader *reader)
{
	const GpuSortIndexTarget *target = &reader->target;
	TableScanDesc scan = NULL;

	if (reader->scan != NULL)
		scan = gpusort_beginscan_parallel(target->heap, reader->scan);
	return table_index_build_scan(target->heap, target->index, target->info, true,
								  reader->blocks.reports, gpusort_reader_put_row, reader, scan);
}

double
gpusort_index_scan(GpuSortIndexReader *reader)
{
	double		live;

	gpusort_index_begin_part(&reader->rows, reader->target.index);
	live = reader->by_pages ? gpusort_index_read_pages(reader) : scan_by_server(reader);
	gpusort_index_finish_part(&reader->rows);
	return live;
}
