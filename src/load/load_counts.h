/*
 * load_counts.h
 *		What has become of the records of a COPY's input.
 */
#ifndef GPUSORT_LOAD_COUNTS_H
#define GPUSORT_LOAD_COUNTS_H

typedef struct GpuSortLoadCounts
{
	uint64		rows;
	uint64		excluded;		/* records that WHERE has left out */
	uint64		lines;			/* of all these records, as the server counts lines */
} GpuSortLoadCounts;

static inline void
gpusort_load_add_counts(GpuSortLoadCounts *sum, const GpuSortLoadCounts *counts)
{
	sum->rows += counts->rows;
	sum->excluded += counts->excluded;
	sum->lines += counts->lines;
}

#endif							/* GPUSORT_LOAD_COUNTS_H */
