/*
 * portion_file.h
 *		Where the portions of runs lie, for other processes that read them.
 *
 * A file beside those of the runs, in their FileSet: the process that has divided the runs writes
 * it once, others read of it the portion that they want.
 *
 * Errors of the file system are reported as BufFile reports them.
 *
 * Public: sort includes it.
 */
#ifndef GPUSORT_PORTION_FILE_H
#define GPUSORT_PORTION_FILE_H

#include "runs/run_portions.h"

typedef struct GpuSortPortionFile
{
	BufFile    *file;
	uint32		count;			/* of portions */
	uint32		nruns;
	const GpuSortRun **runs;

	/* the portion that was read last: where it begins in each run, and ends */
	GpuSortRunPlace *from;
	GpuSortRunPlace *to;
} GpuSortPortionFile;

/* Write number `number` of the set.  The runs' files are opened to others as well. */
extern void gpusort_portion_file_write(const GpuSortPortions *portions, FileSet *files,
									   uint32 number);

/* Palloc'd; all files are closed with the resource owner. */
extern GpuSortPortionFile *gpusort_portion_file_open(FileSet *files, uint32 number, bool index_rows);

/* Find out where a portion lies. */
extern void gpusort_portion_file_read(GpuSortPortionFile *file, uint32 number);

extern void gpusort_portion_file_close(GpuSortPortionFile *file);

#endif							/* GPUSORT_PORTION_FILE_H */
