/*
 * portion_file.h
 *		A file that says where the portions of runs lie, for other processes that read them.
 *
 * The file lies beside the files of the runs, in their FileSet.  The process that has divided the
 * runs writes it once; other processes read from it where the portion that they want lies.
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
	uint32		count;			/* number of portions */
	uint32		nruns;
	const GpuSortRun **runs;

	/* where the portion that was read last begins and ends, in each run */
	GpuSortRunPlace *from;
	GpuSortRunPlace *to;
} GpuSortPortionFile;

/*
 * Writes the file with this number in the set.  Lets other processes open the runs' files as well.
 */
extern void gpusort_portion_file_write(const GpuSortPortions *portions, FileSet *files,
									   uint32 number);

/*
 * Opens the file and the files of its runs.  The result is palloc'd; all files are closed with the
 * resource owner.
 */
extern GpuSortPortionFile *gpusort_portion_file_open(FileSet *files, uint32 number,
													 bool index_rows);

/* Reads where a portion lies into `from` and `to`. */
extern void gpusort_portion_file_read(GpuSortPortionFile *file, uint32 number);

extern void gpusort_portion_file_close(GpuSortPortionFile *file);

#endif							/* GPUSORT_PORTION_FILE_H */
