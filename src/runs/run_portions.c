/*
 * run_portions.c
 *		Dividing sorted runs into portions; see runs.h.
 *
 * Splitters are chosen among samples.  A run is divided into strata of the same length, and gives a
 * sample from each: a tuple that stands for the whole stratum.  If runs are alike, samples at the
 * same places in all of them would have nearly the same places in the order, too, so that it could
 * be cut at few places only.  Therefore the place in a stratum is different in each run: from run
 * to run it moves on by the golden section, which spreads any number of places evenly.  A portion's
 * size is wrong by parts of strata, too much in some runs and too little in others, so that most of
 * the errors cancel each other.  Portions that are too large nevertheless are split, at once or
 * when they are loaded.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "runs/run_cuts_private.h"

/*
 * How many samples are taken of each run; or, if that is more, of all runs for each portion.  There
 * may be memory for fewer.
 */
#define RUN_SAMPLES		64
#define PORTION_SAMPLES	16

/* A sample is taken from the first bytes of a block, as many as BufFile reads at once. */
#define SAMPLE_BYTES	BLCKSZ

/*
 * A portion is split if it is so many times larger than it may be.  There is little memory beyond
 * the limit.
 */
#define MAX_EXCESS		1.25

/* The fractional part of the golden ratio. */
#define GOLDEN_SECTION	0.6180339887498949

/* Makes room for so many portions. */
static void
reserve_portions(GpuSortPortions *p, uint32 count)
{
	size_t		size;

	if (count <= p->size)
		return;
	size = Max(count, 2 * p->size);
	p->cuts = p->cuts == NULL
		? MemoryContextAllocHuge(p->context, (size + 1) * p->nruns * sizeof(GpuSortRunPlace))
		: repalloc_huge(p->cuts, (size + 1) * p->nruns * sizeof(GpuSortRunPlace));
	p->first = p->first == NULL ? MemoryContextAllocHuge(p->context, (size + 1) * sizeof(uint64))
		: repalloc_huge(p->first, (size + 1) * sizeof(uint64));
	p->size = (uint32) size;
}

static GpuSortRunPlace *
cuts_of(GpuSortPortions *p, uint32 number)
{
	return p->cuts + (size_t) number * p->nruns;
}

/*
 * Makes portion `number`, whose place in the arrays is free, begin at the splitter.  If `end` is
 * not NULL, it does not begin behind that.
 */
static void
set_cuts(GpuSortPortions *p, uint32 number, const GpuSortSplitter *splitter,
		 const GpuSortRunPlace *end)
{
	GpuSortRunPlace *cuts = cuts_of(p, number);

	gpusort_cut_runs(&p->search, p->nruns, splitter, cuts_of(p, number - 1), end, cuts);
	p->first[number] = 0;
	for (uint32 i = 0; i < p->nruns; i++)
		p->first[number] += cuts[i].row;
}

/* ---------- choosing splitters ---------- */

static int
compare_splitters(const void *a, const void *b, void *arg)
{
	const GpuSortSplitter *x = a;
	const GpuSortSplitter *y = b;
	GpuSortPortions *p = arg;
	int			cmp;

	CHECK_FOR_INTERRUPTS();
	gpusort_row_comparer_load(&p->search.comparer, 0, x->tuple);
	gpusort_row_comparer_load(&p->search.comparer, 1, y->tuple);
	cmp = gpusort_cut_compare_loaded(&p->search, x->run, y->run);
	if (cmp == 0)
		cmp = (x->place.row > y->place.row) - (x->place.row < y->place.row);
	return cmp;
}

static GpuSortSplitter
copy_splitter(GpuSortPortions *p, uint32 run, GpuSortRunPlace place, const void *tuple)
{
	size_t		bytes = gpusort_run_tuple_bytes(p->runs[run]->file->index_rows, tuple);
	GpuSortSplitter splitter = {.run = run, .place = place};

	splitter.tuple = MemoryContextAllocHuge(CurrentMemoryContext, bytes);
	memcpy(splitter.tuple, tuple, bytes);
	return splitter;
}

static GpuSortSplitter
make_splitter(GpuSortPortions *p, uint32 run, GpuSortRunPlace place)
{
	return copy_splitter(p, run, place,
						 gpusort_cut_read_tuple(&p->search, p->runs[run], place.offset));
}

/* Returns how many samples each run may give. */
static uint32
samples_a_run(const GpuSortPortions *p, uint64 rows, uint64 bytes, uint64 portions, size_t memory)
{
	double		sample_bytes = sizeof(GpuSortSplitter) + (double) bytes / rows;
	double		wanted = Max((double) portions * PORTION_SAMPLES / p->nruns, RUN_SAMPLES);

	return (uint32) Max(Min(memory / (sample_bytes * p->nruns), wanted), 1);
}

/* Takes a tuple near an offset, but not behind it, as a sample. */
static GpuSortSplitter
take_sample(GpuSortPortions *p, uint32 number, uint64 offset)
{
	const GpuSortRun *run = p->runs[number];
	const GpuSortRunPlace *block = &run->blocks[gpusort_run_block_at(run, offset)];
	size_t		block_bytes = block[1].offset - block[0].offset;
	double		part = (double) (offset - block->offset) / block_bytes;
	size_t		bytes = part * Min(block_bytes, SAMPLE_BYTES);
	uint32		last = gpusort_cut_read_piece(&p->search, run, block->offset,
											  MAXALIGN(bytes + 1)) - 1;
	size_t		at = p->search.offsets[last];

	return copy_splitter(p, number, (GpuSortRunPlace) {block->offset + at, block->row + last},
						 p->search.buffer + at);
}

/* Estimates how many bytes a run has before an offset, as portions count them. */
static double
bytes_before(const GpuSortRun *run, uint64 offset, size_t row_bytes)
{
	const GpuSortRunPlace *block = &run->blocks[gpusort_run_block_at(run, offset)];
	double		part = (double) (offset - block->offset) / (block[1].offset - block[0].offset);

	return offset - run->blocks[0].offset +
		(block[0].row + part * (block[1].row - block[0].row)) * row_bytes;
}

/* Takes samples of all runs, a_run of each, and sorts them. */
static GpuSortSplitter *
take_samples(GpuSortPortions *p, uint32 a_run, size_t row_bytes, uint32 *count)
{
	GpuSortSplitter *samples =
		MemoryContextAllocHuge(CurrentMemoryContext,
							   (size_t) a_run * p->nruns * sizeof(GpuSortSplitter));
	uint32		n = 0;
	double		phase = 0.5;

	for (uint32 i = 0; i < p->nruns; i++)
	{
		const GpuSortRun *run = p->runs[i];
		uint64		begin = run->blocks[0].offset;
		uint32		number = (uint32) Min(a_run, gpusort_run_rows(run));
		double		stratum = (double) gpusort_run_bytes(run) / number;
		double		before = 0;

		for (uint32 s = 0; s < number; s++)
		{
			uint64		end = begin + (uint64) ((s + 1) * stratum);
			double		behind = bytes_before(run, end, row_bytes);

			CHECK_FOR_INTERRUPTS();
			samples[n] = take_sample(p, i, begin + (uint64) ((s + phase) * stratum));
			samples[n].bytes = behind - before;
			before = behind;
			n++;
		}
		phase += GOLDEN_SECTION;
		phase -= (int) phase;
	}
	qsort_arg(samples, n, sizeof(GpuSortSplitter), compare_splitters, p);
	*count = n;
	return samples;
}

/*
 * Begins a new portion wherever the last one has its share of bytes.  If a portion gets more than
 * its share, the next one gets less, and the other way round.
 */
static void
choose_splitters(GpuSortPortions *p, GpuSortSplitter *samples, uint32 count, int64 share,
				 const GpuSortPortionLimits *limits)
{
	int64		bytes = 0;

	for (uint32 i = 0; i < count; i++)
	{
		int64		half = samples[i].bytes / 2;

		if (bytes > 0 && bytes + half > share)
		{
			reserve_portions(p, p->count + 1);
			samples[i].group_columns = limits->group_columns;
			set_cuts(p, p->count, &samples[i], NULL);
			if (p->first[p->count] >= p->first[p->count - 1] + Max(limits->min_rows, 1))
			{
				p->count++;
				bytes = Min(bytes - share, half);
			}
		}
		bytes += samples[i].bytes;
	}
}

/* Adds the last portion to the one before it if it has too few rows. */
static void
join_last(GpuSortPortions *p, uint64 rows, uint64 min_rows)
{
	if (p->count > 1 && rows - p->first[p->count - 1] < min_rows)
		p->count--;
}

/* Sets the end of the last portion. */
static void
set_ends(GpuSortPortions *p)
{
	GpuSortRunPlace *end = cuts_of(p, p->count);

	p->first[p->count] = 0;
	for (uint32 i = 0; i < p->nruns; i++)
	{
		end[i] = p->runs[i]->blocks[p->runs[i]->nblocks];
		p->first[p->count] += end[i].row;
	}
}

static double
portion_bytes(GpuSortPortions *p, uint32 number, size_t row_bytes)
{
	const GpuSortRunPlace *from = cuts_of(p, number);
	const GpuSortRunPlace *to = cuts_of(p, number + 1);
	uint64		bytes = (p->first[number + 1] - p->first[number]) * row_bytes;

	for (uint32 i = 0; i < p->nruns; i++)
		bytes += to[i].offset - from[i].offset;
	return bytes;
}

/*
 * Splits portions that are too large, since there may have been too few samples for portions of the
 * same size.
 */
static void
split_large(GpuSortPortions *p, const GpuSortPortionLimits *limits)
{
	for (uint32 i = 0; i < p->count; i++)
		while (portion_bytes(p, i, limits->row_bytes) > MAX_EXCESS * limits->bytes &&
			   gpusort_portions_split(p, i))
			;
}

/* Makes a struct with one portion, whose cuts are not set yet. */
static GpuSortPortions *
begin_portions(const GpuSortRun **runs, uint32 nruns, TupleDesc desc, const GpuSortRowKeys *keys,
			   bool index_rows)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "gpusort portions",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	GpuSortPortions *p = palloc0(sizeof(GpuSortPortions));

	p->context = context;
	p->nruns = nruns;
	p->runs = runs;
	p->search.context = context;
	p->search.runs = runs;
	p->count = 1;
	gpusort_row_comparer_begin(&p->search.comparer, desc, keys, index_rows);
	reserve_portions(p, 1);
	MemoryContextSwitchTo(old);
	return p;
}

GpuSortPortions *
gpusort_portions_make_one(const GpuSortRun **runs, uint32 nruns, const GpuSortRunPlace *from,
						  const GpuSortRunPlace *to, TupleDesc desc, const GpuSortRowKeys *keys,
						  bool index_rows)
{
	GpuSortPortions *p = begin_portions(runs, nruns, desc, keys, index_rows);

	p->first[0] = p->first[1] = 0;
	for (uint32 i = 0; i < nruns; i++)
	{
		cuts_of(p, 0)[i] = from[i];
		cuts_of(p, 1)[i] = to[i];
		p->first[0] += from[i].row;
		p->first[1] += to[i].row;
	}
	return p;
}

GpuSortPortions *
gpusort_portions_make(const GpuSortRun **runs, uint32 nruns, TupleDesc desc,
					  const GpuSortRowKeys *keys, bool index_rows,
					  const GpuSortPortionLimits *limits)
{
	GpuSortPortions *p = begin_portions(runs, nruns, desc, keys, index_rows);
	MemoryContext samples_context;
	MemoryContext old;
	uint64		rows = 0;
	uint64		bytes = 0;
	uint64		portions;
	uint64		share;
	uint32		count;
	GpuSortSplitter *samples;

	for (uint32 i = 0; i < nruns; i++)
	{
		p->cuts[i] = runs[i]->blocks[0];
		rows += gpusort_run_rows(runs[i]);
		bytes += gpusort_run_bytes(runs[i]);
	}
	p->first[0] = 0;

	samples_context = AllocSetContextCreate(p->context, "gpusort samples", ALLOCSET_DEFAULT_SIZES);
	old = MemoryContextSwitchTo(samples_context);
	share = bytes + rows * limits->row_bytes;
	portions = share / Max(limits->bytes, 1) + 1;
	share = share / portions + 1;
	samples = take_samples(p, samples_a_run(p, rows, bytes, portions, limits->sample_bytes),
						   limits->row_bytes, &count);
	choose_splitters(p, samples, count, share, limits);
	join_last(p, rows, limits->min_rows);
	gpusort_row_comparer_clear(&p->search.comparer);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(samples_context);
	set_ends(p);
	if (limits->group_columns == 0 && limits->min_rows == 0)
		split_large(p, limits);
	return p;
}

void
gpusort_portions_free(GpuSortPortions *p)
{
	MemoryContextDelete(p->context);
}

uint32
gpusort_find_portion(const uint64 *first, uint32 count, uint64 position)
{
	uint32		low = 0;
	uint32		high = count;

	while (high - low > 1)
	{
		uint32		middle = low + (high - low) / 2;

		if (first[middle] <= position)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* ---------- splitting ---------- */

/*
 * Returns which run has the most bytes of a portion, among the runs that have at least two of its
 * rows; or -1 if there is none.
 */
static int
largest_stretch(GpuSortPortions *p, uint32 number)
{
	const GpuSortRunPlace *from = cuts_of(p, number);
	const GpuSortRunPlace *to = cuts_of(p, number + 1);
	uint64		most = 0;
	int			largest = -1;

	for (uint32 i = 0; i < p->nruns; i++)
		if (to[i].row - from[i].row >= 2 && to[i].offset - from[i].offset > most)
		{
			most = to[i].offset - from[i].offset;
			largest = (int) i;
		}
	return largest;
}

/*
 * Returns the place of a tuple near the middle between two places, behind `from` and before `to`.
 */
static GpuSortRunPlace
middle_place(GpuSortPortions *p, const GpuSortRun *run, GpuSortRunPlace from, GpuSortRunPlace to)
{
	uint64		middle = from.offset + (to.offset - from.offset) / 2;
	uint32		block = gpusort_run_block_at(run, middle);
	GpuSortRunPlace begin = run->blocks[block];
	GpuSortRunPlace end = run->blocks[block + 1];
	uint32		count;
	uint32		i;

	if (begin.offset > from.offset)
		return begin;
	if (end.offset < to.offset)
		return end;
	count = gpusort_cut_read_piece(&p->search, run, from.offset, to.offset - from.offset);
	for (i = 1; i + 1 < count && from.offset + p->search.offsets[i] < middle; i++)
		;
	return (GpuSortRunPlace) {from.offset + p->search.offsets[i], from.row + i};
}

/*
 * Finds a tuple of a portion that has other rows of the portion before it.  Returns false if there
 * is none.
 */
static bool
find_splitter(GpuSortPortions *p, uint32 number, GpuSortSplitter *splitter)
{
	const GpuSortRunPlace *from = cuts_of(p, number);
	const GpuSortRunPlace *to = cuts_of(p, number + 1);
	int			run = largest_stretch(p, number);
	uint32		found = 0;

	if (run >= 0)
	{
		*splitter = make_splitter(p, (uint32) run,
								  middle_place(p, p->runs[run], from[run], to[run]));
		return true;
	}
	/* each run has at most one row: take two of these, and of the two the one that comes later */
	for (uint32 i = 0; i < p->nruns && found < 2; i++)
	{
		GpuSortSplitter other;

		if (to[i].row == from[i].row)
			continue;
		other = make_splitter(p, i, from[i]);
		if (found++ == 0 || compare_splitters(&other, splitter, p) > 0)
			*splitter = other;
	}
	gpusort_row_comparer_clear(&p->search.comparer);
	return found == 2;
}

bool
gpusort_portions_split(GpuSortPortions *p, uint32 number)
{
	GpuSortSplitter splitter;

	if (!find_splitter(p, number, &splitter))
		return false;
	reserve_portions(p, p->count + 1);
	memmove(cuts_of(p, number + 2), cuts_of(p, number + 1),
			(size_t) (p->count - number) * p->nruns * sizeof(GpuSortRunPlace));
	memmove(p->first + number + 2, p->first + number + 1, (p->count - number) * sizeof(uint64));
	p->count++;
	set_cuts(p, number + 1, &splitter, cuts_of(p, number + 2));
	pfree(splitter.tuple);
	return true;
}

/* ---------- behind a portion ---------- */

void *
gpusort_portions_tuple_behind(GpuSortPortions *p, uint32 number)
{
	const GpuSortRunPlace *places = cuts_of(p, number + 1);
	MemoryContext context = AllocSetContextCreate(p->context, "gpusort tuples",
												  ALLOCSET_SMALL_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	GpuSortSplitter least = {0};
	bool		found = false;
	void	   *tuple = NULL;

	for (uint32 i = 0; i < p->nruns; i++)
	{
		GpuSortSplitter other;

		if (places[i].row == gpusort_run_rows(p->runs[i]))
			continue;
		other = make_splitter(p, i, places[i]);
		if (!found || compare_splitters(&other, &least, p) < 0)
			least = other;
		found = true;
	}
	gpusort_row_comparer_clear(&p->search.comparer);
	MemoryContextSwitchTo(old);
	if (found)
	{
		size_t		bytes = gpusort_run_tuple_bytes(p->runs[0]->file->index_rows, least.tuple);

		gpusort_cut_reserve(&p->search, bytes);
		tuple = memcpy(p->search.buffer, least.tuple, bytes);
	}
	MemoryContextDelete(context);
	return tuple;
}
