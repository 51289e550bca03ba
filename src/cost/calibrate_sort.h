/*
 * calibrate_sort.h
 *		Timing sorts of synthetic rows, for gpusort_calibrate().
 */
#ifndef GPUSORT_CALIBRATE_SORT_H
#define GPUSORT_CALIBRATE_SORT_H

/*
 * The rows of a timed sort, and what they are sorted by.  Each row has integer columns of 8 bytes,
 * a column of text, and padding.
 */
typedef struct GpuSortTimedRows
{
	uint64		rows;
	int			nkeys;			/* number of integer columns to sort by */
	Oid			text_collation; /* sort by the text column instead, unless InvalidOid */
	int			pad_bytes;
} GpuSortTimedRows;

/* Number of integer columns of each row, whether it is sorted by them or not. */
#define GPUSORT_TIMED_COLUMNS 4

/* The times that a sort takes, in nanoseconds a row. */
typedef struct GpuSortTimes
{
	double		collect;
	double		sort;			/* sorting keys by the engine */
	double		refine;			/* refining and verifying */
	double		emit;
	double		total;			/* all of it, with beginning and ending the sort */
	double		row_bytes;		/* no time: bytes a row in the row store */
	bool		as_wanted;		/* not handed over, and sorted by the engine asked for */
} GpuSortTimes;

/*
 * Sorts the rows `repeat` times by gpusort, with the engine that gpusort.engine names.  *least must
 * be zeros at first; each of its times becomes the least of what it was and what is measured.
 */
extern void gpusort_time_sort(const GpuSortTimedRows *what, int repeat, GpuSortTimes *least);

/* Does the same by PostgreSQL's sort; *least is nanoseconds a row. */
extern void gpusort_time_core_sort(const GpuSortTimedRows *what, int repeat, double *least);

#endif							/* GPUSORT_CALIBRATE_SORT_H */
