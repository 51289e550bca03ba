/*
 * calibrate_sort.h
 *		Timing sorts of synthetic rows, for gpusort_calibrate().
 */
#ifndef GPUSORT_CALIBRATE_SORT_H
#define GPUSORT_CALIBRATE_SORT_H

/* Which rows are sorted by what: columns of 8 bytes, or one of text, and padding. */
typedef struct GpuSortTimedRows
{
	uint64		rows;
	int			nkeys;			/* of the integer columns */
	Oid			text_collation; /* sort by text instead; InvalidOid: do not */
	int			pad_bytes;
} GpuSortTimedRows;

/* Integer columns that all rows have, whether they are sorted by them or not. */
#define GPUSORT_TIMED_COLUMNS 4

/* Nanoseconds a row. */
typedef struct GpuSortTimes
{
	double		collect;
	double		sort;			/* by the engine */
	double		refine;			/* and verify */
	double		emit;
	double		total;			/* beginning and end of the sort included */
	double		row_bytes;		/* in the row store */
	bool		as_wanted;		/* not handed over, and sorted by the engine asked for */
} GpuSortTimes;

/*
 * Sort by gpusort, as gpusort.engine says, so many times.  *least, zeros at first,
 * becomes the least of what it is and what was measured.
 */
extern void gpusort_time_sort(const GpuSortTimedRows *what, int repeat, GpuSortTimes *least);

/* The same for PostgreSQL's sort; nanoseconds a row. */
extern void gpusort_time_core_sort(const GpuSortTimedRows *what, int repeat, double *least);

#endif							/* GPUSORT_CALIBRATE_SORT_H */
