/*
 * index_forecast.c
 *		Whether the rows of a table will find room; see index_forecast.h.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "index/index_forecast.h"
#include "settings.h"

/* Pages that the leader has to have read, as a part of its likely share, and in number. */
#define MIN_PART			16
#define MIN_PAGES			32

/* Pages that are left may hold so much less than those that were read. */
#define DOUBT				0.25

bool
gpusort_forecast_no_room(const GpuSortIndexReader *reader)
{
	const GpuSortIndexBlocks *blocks = &reader->blocks;
	const GpuSortIndexRows *rows = &reader->rows;
	BlockNumber read = gpusort_blocks_read(blocks);
	GpuSort    *sort = rows->part != NULL ? rows->part : rows->sort;
	double		rows_a_page;

	/* rows that have left the part are among those of workers */
	if (gpusort_enable_spill || gpusort_force || rows->part_full || (rows->part == NULL && blocks->shared != NULL))
		return false;
	if (read < Max(blocks->total / MIN_PART, MIN_PAGES) || blocks->read < MIN_PAGES)
		return false;
	rows_a_page = (double) gpusort_rows(sort) / blocks->read;
	return !gpusort_would_fit(sort, rows_a_page * (read + (1 - DOUBT) * (blocks->total - read)),
							  (size_t) maintenance_work_mem * 1024);
}
