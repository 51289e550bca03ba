/*
 * portion_file.c
 *		A file that says where the portions of runs lie; see runs.h.
 *
 * The file has a header, the number of each run, and then, as in GpuSortPortions, the places where
 * each portion begins in each run.
 */
#include "postgres.h"

#include <fcntl.h>

#include "runs/runs.h"

typedef struct Header
{
	uint32		count;
	uint32		nruns;
} Header;

/* A run: the number of its file, and the run's own number in that file. */
typedef struct RunNumber
{
	uint32		file;
	uint32		run;
} RunNumber;

static void
file_name(char *name, uint32 number)
{
	snprintf(name, MAXPGPATH, "gpusort.%u.portions", number);
}

static size_t
cuts_offset(uint32 nruns)
{
	return MAXALIGN(sizeof(Header) + nruns * sizeof(RunNumber));
}

void
gpusort_portion_file_write(const GpuSortPortions *portions, FileSet *files, uint32 number)
{
	Header		header = {portions->count, portions->nruns};
	size_t		head_bytes = cuts_offset(portions->nruns);
	char	   *head = palloc0(head_bytes);
	RunNumber  *numbers = (RunNumber *) (head + sizeof(Header));
	char		name[MAXPGPATH];
	BufFile    *file;

	memcpy(head, &header, sizeof(header));
	for (uint32 i = 0; i < portions->nruns; i++)
	{
		GpuSortRunFile *run_file = portions->runs[i]->file;

		numbers[i] = (RunNumber) {run_file->number, (uint32) (portions->runs[i] - run_file->runs)};
		gpusort_run_file_share(run_file, files);
	}
	file_name(name, number);
	file = BufFileCreateFileSet(files, name);
	BufFileWrite(file, head, head_bytes);
	BufFileWrite(file, portions->cuts,
				 ((size_t) portions->count + 1) * portions->nruns * sizeof(GpuSortRunPlace));
	BufFileExportFileSet(file);
	BufFileClose(file);
	pfree(head);
}

/*
 * Returns the file of a run, which is opened if no run before has opened it.  Neighbouring runs are
 * mostly in the same file.
 */
static GpuSortRunFile *
open_run_file(GpuSortPortionFile *file, uint32 nruns, FileSet *files, uint32 number,
			  bool index_rows)
{
	for (uint32 i = nruns; i-- > 0;)
		if (file->runs[i]->file->number == number)
			return file->runs[i]->file;
	return gpusort_run_file_open(files, number, index_rows);
}

GpuSortPortionFile *
gpusort_portion_file_open(FileSet *files, uint32 number, bool index_rows)
{
	GpuSortPortionFile *file = palloc0(sizeof(GpuSortPortionFile));
	char		name[MAXPGPATH];
	Header		header;
	RunNumber  *numbers;

	file_name(name, number);
	file->file = BufFileOpenFileSet(files, name, O_RDONLY, false);
	gpusort_read_file(file->file, 0, &header, sizeof(header));
	file->count = header.count;
	numbers = palloc(header.nruns * sizeof(RunNumber));
	gpusort_read_file(file->file, sizeof(header), numbers, header.nruns * sizeof(RunNumber));
	file->runs = palloc(header.nruns * sizeof(GpuSortRun *));
	for (uint32 i = 0; i < header.nruns; i++)
	{
		GpuSortRunFile *run_file = open_run_file(file, i, files, numbers[i].file, index_rows);

		file->runs[i] = &run_file->runs[numbers[i].run];
	}
	file->nruns = header.nruns;
	file->from = palloc(2 * header.nruns * sizeof(GpuSortRunPlace));
	file->to = file->from + header.nruns;
	pfree(numbers);
	return file;
}

void
gpusort_portion_file_read(GpuSortPortionFile *file, uint32 number)
{
	size_t		bytes = file->nruns * sizeof(GpuSortRunPlace);

	Assert(number < file->count);
	gpusort_read_file(file->file, cuts_offset(file->nruns) + number * (uint64) bytes, file->from,
					  2 * bytes);
}

void
gpusort_portion_file_close(GpuSortPortionFile *file)
{
	BufFileClose(file->file);
	for (uint32 i = 0; i < file->nruns; i++)
		gpusort_run_file_close(file->runs[i]->file);
}
