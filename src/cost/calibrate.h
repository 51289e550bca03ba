/*
 * calibrate.h
 *		Timing sorts of synthetic rows, for gpusort_calibrate().
 */
#ifndef GPUSORT_CALIBRATE_H
#define GPUSORT_CALIBRATE_H

#include "postgres.h"

/* Which rows are sorted by what: columns of 8 bytes, or one of text, and padding. */
typedef struct CalibrateRows
{
	uint64		rows;
	int			nkeys;			/* of the integer columns */
	Oid			text_collation; /* sort by text instead; InvalidOid: do not */
	int			pad_bytes;
} CalibrateRows;

/* Integer columns that all rows have, whether they are sorted by them or not. */
#define CALIBRATE_COLUMNS 4

/* Nanoseconds a row. */
typedef struct CalibrateTimes
{
	double		collect;
	double		sort;			/* by the engine */
	double		refine;			/* and verify */
	double		emit;
	double		total;			/* beginning and end of the sort included */
	double		row_bytes;		/* in the row store */
	bool		as_wanted;		/* not handed over, and sorted by the engine asked for */
} CalibrateTimes;

/*
 * Sort by gpusort, as gpusort.engine says, so many times.  *least, zeros at first,
 * becomes the least of what it is and what was measured.
 */
extern void calibrate_gpusort(const CalibrateRows *what, int repeat, CalibrateTimes *least);

/* The same for PostgreSQL's sort; nanoseconds a row. */
extern void calibrate_core_sort(const CalibrateRows *what, int repeat, double *least);

/*
 * Nanoseconds a row of counting the rows of a catalog that is in the cache, for which
 * the planner charges cpu_tuple_cost and cpu_operator_cost.
 */
extern double calibrate_scan(int repeat);

/* Nanoseconds for touching a byte of memory for the first time. */
extern double calibrate_fresh_memory(void);

/*
 * Nanoseconds for as many parallel workers as a Gather has, which do nothing, from the call for
 * the first to the end of the last; NAN if they are not to be had.
 */
extern double calibrate_workers(int repeat);

#endif							/* GPUSORT_CALIBRATE_H */
