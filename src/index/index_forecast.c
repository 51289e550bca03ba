/*
 * index_forecast.c
 *		Forecasts whether the rows of a table will fit into memory; see index_forecast.h.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "index/index_forecast.h"
#include "settings.h"

/*
 * There is no forecast before all processes together have read 1/MIN_PART of the table and at least
 * MIN_PAGES pages, and the leader itself MIN_PAGES.
 */
#define MIN_PART			16
#define MIN_PAGES			32

/*
 * The pages that are left are assumed to hold fewer rows than those read so far, by this fraction.
 */
#define DOUBT				0.25

bool
gpusort_forecast_no_room(const GpuSortIndexReader *reader)
{
	const GpuSortIndexBlocks *blocks = &reader->blocks;
	const GpuSortIndexRows *rows = &reader->rows;
	BlockNumber read = gpusort_blocks_read(blocks);
	GpuSort    *sort = rows->part != NULL ? rows->part : rows->sort;
	double		rows_a_page;

	/*
	 * we can count the leader's own rows only while the leader's sort does not mix them with
	 * workers' rows
	 */
	if (gpusort_enable_spill || gpusort_force || rows->part_full ||
		(rows->part == NULL && blocks->shared != NULL))
		return false;
	if (read < Max(blocks->total / MIN_PART, MIN_PAGES) || blocks->read < MIN_PAGES)
		return false;
	rows_a_page = (double) gpusort_rows(sort) / blocks->read;
	return !gpusort_would_fit(sort, rows_a_page * (read + (1 - DOUBT) * (blocks->total - read)),
							  (size_t) maintenance_work_mem * 1024);
}
