/*
 * run_portions.c
 *		Dividing sorted runs into portions; see run_portions.h.
 *
 * Splitters are chosen among samples, tuples at the beginning of blocks at regular distances, each
 * of which stands for the rows up to the next one of its run.  A portion's size is wrong by as
 * much as these stretches are long, which may go either way in each run, so that the errors mostly
 * cancel.  Who finds a portion too large nevertheless has it split.
 *
 * Cuts are found by looking at tuples in the runs: of some blocks the first, in steps that grow and
 * then are halved, and then within one block.  Splitters come in order, so each search begins where
 * the one before has ended.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "pg_compat.h"
#include "runs/run_portions.h"

/* Samples of a run, if there is memory for them. */
#define MAX_SAMPLES		64

/* A tuple that begins a portion, or might. */
typedef struct Splitter
{
	void	   *tuple;
	uint32		run;
	GpuSortRunPlace place;
	uint64		bytes;			/* that it stands for, as portions count them */
	int			group_columns;	/* the cut is before the first row that is equal in so many; 0: before
								 * the tuple itself */
} Splitter;

/* Have room for so many bytes in the buffer. */
static void
reserve_buffer(GpuSortPortions *p, size_t bytes)
{
	if (bytes <= p->buffer_size)
		return;
	if (p->buffer != NULL)
		pfree(p->buffer);
	p->buffer_size = 0;
	p->buffer = MemoryContextAllocHuge(p->context, bytes);
	p->buffer_size = bytes;
}

/* Read the tuple at a place into the buffer. */
static void *
read_tuple(GpuSortPortions *p, const GpuSortRun *run, uint64 offset)
{
	size_t		bytes;

	reserve_buffer(p, MAXIMUM_ALIGNOF);
	gpusort_run_file_read(run->file, offset, p->buffer, MAXIMUM_ALIGNOF);
	bytes = MAXALIGN(gpusort_run_tuple_bytes(run->file->index_rows, p->buffer));
	if (bytes > p->buffer_size)
	{
		reserve_buffer(p, bytes);
		gpusort_run_file_read(run->file, offset, p->buffer, bytes);
	}
	else
		gpusort_run_file_read(run->file, offset + MAXIMUM_ALIGNOF, p->buffer + MAXIMUM_ALIGNOF,
							  bytes - MAXIMUM_ALIGNOF);
	return p->buffer;
}

/* The order of all rows: rows that are equal by comparison come in the order of their runs. */
static int
compare_loaded(GpuSortPortions *p, uint32 run_a, uint32 run_b)
{
	int			cmp = gpusort_row_comparer_compare(&p->comparer);

	if (cmp != 0)
		return cmp;
	return (run_a > run_b) - (run_a < run_b);
}

/*
 * Is a tuple of a run before the splitter, which is loaded as row 1?  It is another run than the
 * splitter's, unless the splitter stands for the group that it is in.
 */
static bool
is_before(GpuSortPortions *p, uint32 run, const void *tuple, const Splitter *splitter)
{
	gpusort_row_comparer_load(&p->comparer, 0, tuple);
	if (splitter->group_columns > 0)
		return gpusort_row_comparer_compare_first(&p->comparer, splitter->group_columns) < 0;
	return compare_loaded(p, run, splitter->run) < 0;
}

static bool
block_is_before(GpuSortPortions *p, uint32 run, uint32 block, const Splitter *splitter)
{
	CHECK_FOR_INTERRUPTS();
	return is_before(p, run, read_tuple(p, p->runs[run], p->runs[run]->blocks[block].offset),
					 splitter);
}

/* The last block that begins at or before an offset. */
static uint32
block_at(const GpuSortRun *run, uint64 offset)
{
	uint32		low = 0;
	uint32		high = run->nblocks;

	while (high - low > 1)
	{
		uint32		middle = low + (high - low) / 2;

		if (run->blocks[middle].offset <= offset)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* Read the tuples between two places into the buffer; returns how many there are. */
static uint32
read_stretch(GpuSortPortions *p, const GpuSortRun *run, GpuSortRunPlace from, GpuSortRunPlace to)
{
	size_t		bytes = to.offset - from.offset;
	uint32		count = (uint32) (to.row - from.row);
	size_t		at = 0;

	reserve_buffer(p, bytes);
	if (count > p->offsets_size)
	{
		if (p->offsets != NULL)
			pfree(p->offsets);
		p->offsets = MemoryContextAllocHuge(p->context, count * sizeof(uint32));
		p->offsets_size = count;
	}
	gpusort_run_file_read(run->file, from.offset, p->buffer, bytes);
	for (uint32 i = 0; i < count; i++)
	{
		p->offsets[i] = (uint32) at;
		at += MAXALIGN(gpusort_run_tuple_bytes(run->file->index_rows, p->buffer + at));
	}
	Assert(at == bytes);
	return count;
}

/* The first place between two, at most a block apart, that is not before the splitter. */
static GpuSortRunPlace
find_in_block(GpuSortPortions *p, uint32 run, const Splitter *splitter, GpuSortRunPlace from,
			  GpuSortRunPlace to)
{
	uint32		count = read_stretch(p, p->runs[run], from, to);
	uint32		low = 0;
	uint32		high = count;

	while (low < high)
	{
		uint32		middle = low + (high - low) / 2;

		if (is_before(p, run, p->buffer + p->offsets[middle], splitter))
			low = middle + 1;
		else
			high = middle;
	}
	if (low == count)
		return to;
	return (GpuSortRunPlace) {from.offset + p->offsets[low], from.row + low};
}

/* The first place of a run from `from` on that is not before the splitter. */
static GpuSortRunPlace
find_cut(GpuSortPortions *p, uint32 number, const Splitter *splitter, GpuSortRunPlace from)
{
	const GpuSortRun *run = p->runs[number];
	uint32		inside;
	uint32		outside = run->nblocks;

	if (number == splitter->run && splitter->group_columns == 0)
		return splitter->place;
	if (from.row == gpusort_run_rows(run))
		return from;
	inside = block_at(run, from.offset);
	for (uint32 step = 1; inside + step < run->nblocks; step *= 2)
	{
		if (!block_is_before(p, number, inside + step, splitter))
		{
			outside = inside + step;
			break;
		}
		inside += step;
	}
	while (outside - inside > 1)
	{
		uint32		middle = inside + (outside - inside) / 2;

		if (block_is_before(p, number, middle, splitter))
			inside = middle;
		else
			outside = middle;
	}
	return find_in_block(p, number, splitter,
						 run->blocks[inside].offset > from.offset ? run->blocks[inside] : from,
						 run->blocks[inside + 1]);
}

/* Have room for one more portion. */
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
 * Let portion `number`, whose place in the arrays is free, begin at the splitter, and not behind `end`,
 * if that is not NULL.  Cuts stay in order even if the comparison is none.
 */
static void
set_cuts(GpuSortPortions *p, uint32 number, const Splitter *splitter, const GpuSortRunPlace *end)
{
	GpuSortRunPlace *cuts = cuts_of(p, number);
	const GpuSortRunPlace *before = cuts_of(p, number - 1);
	void	   *tuple = splitter->tuple;

	gpusort_row_comparer_load(&p->comparer, 1, tuple);
	p->first[number] = 0;
	for (uint32 i = 0; i < p->nruns; i++)
	{
		cuts[i] = find_cut(p, i, splitter, before[i]);
		if (cuts[i].row < before[i].row)
			cuts[i] = before[i];
		if (end != NULL && cuts[i].row > end[i].row)
			cuts[i] = end[i];
		p->first[number] += cuts[i].row;
	}
	gpusort_row_comparer_clear(&p->comparer);
}

/* ---------- choosing splitters ---------- */

static int
compare_splitters(const void *a, const void *b, void *arg)
{
	const Splitter *x = a;
	const Splitter *y = b;
	GpuSortPortions *p = arg;
	int			cmp;

	CHECK_FOR_INTERRUPTS();
	gpusort_row_comparer_load(&p->comparer, 0, x->tuple);
	gpusort_row_comparer_load(&p->comparer, 1, y->tuple);
	cmp = compare_loaded(p, x->run, y->run);
	if (cmp == 0)
		cmp = (x->place.row > y->place.row) - (x->place.row < y->place.row);
	return cmp;
}

static Splitter
make_splitter(GpuSortPortions *p, uint32 run, GpuSortRunPlace place)
{
	const void *tuple = read_tuple(p, p->runs[run], place.offset);
	size_t		bytes = gpusort_run_tuple_bytes(p->runs[run]->file->index_rows, tuple);
	Splitter	splitter = {.run = run, .place = place};

	splitter.tuple = MemoryContextAllocHuge(CurrentMemoryContext, bytes);
	memcpy(splitter.tuple, tuple, bytes);
	return splitter;
}

/* How many samples each run may give. */
static uint32
samples_a_run(const GpuSortPortions *p, uint64 rows, uint64 bytes, size_t memory)
{
	double		sample_bytes = sizeof(Splitter) + (double) bytes / rows;
	double		number = memory / (sample_bytes * p->nruns);

	return number >= MAX_SAMPLES ? MAX_SAMPLES : Max((uint32) number, 1);
}

/* Take samples of all runs, and sort them. */
static Splitter *
take_samples(GpuSortPortions *p, uint32 a_run, size_t row_bytes, uint32 *count)
{
	Splitter   *samples = MemoryContextAllocHuge(CurrentMemoryContext,
												 (size_t) a_run * p->nruns * sizeof(Splitter));
	uint32		n = 0;

	for (uint32 i = 0; i < p->nruns; i++)
	{
		const GpuSortRun *run = p->runs[i];
		uint32		number = Min(a_run, run->nblocks);

		CHECK_FOR_INTERRUPTS();
		for (uint32 s = 0; s < number; s++)
		{
			GpuSortRunPlace from = run->blocks[(uint64) s * run->nblocks / number];
			GpuSortRunPlace to = run->blocks[(uint64) (s + 1) * run->nblocks / number];

			samples[n] = make_splitter(p, i, from);
			samples[n].bytes = to.offset - from.offset + (to.row - from.row) * row_bytes;
			n++;
		}
	}
	qsort_arg(samples, n, sizeof(Splitter), compare_splitters, p);
	*count = n;
	return samples;
}

/* Begin a new portion wherever one has its share. */
static void
choose_splitters(GpuSortPortions *p, Splitter *samples, uint32 count, uint64 share,
				 const GpuSortPortionLimits *limits)
{
	uint64		bytes = 0;

	for (uint32 i = 0; i < count; i++)
	{
		if (bytes > 0 && bytes + samples[i].bytes > share)
		{
			reserve_portions(p, p->count + 1);
			samples[i].group_columns = limits->group_columns;
			set_cuts(p, p->count, &samples[i], NULL);
			if (p->first[p->count] >= p->first[p->count - 1] + limits->min_rows)
			{
				p->count++;
				bytes = 0;
			}
		}
		bytes += samples[i].bytes;
	}
}

/* The last portion may have too few rows: they become the last but one's. */
static void
join_last(GpuSortPortions *p, uint64 rows, uint64 min_rows)
{
	if (p->count > 1 && rows - p->first[p->count - 1] < min_rows)
		p->count--;
}

/* Where all portions begin, and where they end. */
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

/* A portion without rows. */
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
	p->count = 1;
	gpusort_row_comparer_begin(&p->comparer, desc, keys, index_rows);
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
	uint32		count;
	Splitter   *samples;

	for (uint32 i = 0; i < nruns; i++)
	{
		p->cuts[i] = runs[i]->blocks[0];
		rows += gpusort_run_rows(runs[i]);
		bytes += gpusort_run_bytes(runs[i]);
	}
	p->first[0] = 0;

	samples_context = AllocSetContextCreate(p->context, "gpusort samples", ALLOCSET_DEFAULT_SIZES);
	old = MemoryContextSwitchTo(samples_context);
	samples = take_samples(p, samples_a_run(p, rows, bytes, limits->sample_bytes),
						   limits->row_bytes, &count);
	bytes += rows * limits->row_bytes;
	choose_splitters(p, samples, count, bytes / (bytes / Max(limits->bytes, 1) + 1) + 1, limits);
	join_last(p, rows, limits->min_rows);
	gpusort_row_comparer_clear(&p->comparer);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(samples_context);
	set_ends(p);
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

/* The run that has the most bytes of a portion, of those that have two rows of it; or -1. */
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

/* A tuple near the middle between two places, which is neither the first nor behind the last. */
static GpuSortRunPlace
middle_place(GpuSortPortions *p, const GpuSortRun *run, GpuSortRunPlace from, GpuSortRunPlace to)
{
	uint64		middle = from.offset + (to.offset - from.offset) / 2;
	uint32		block = block_at(run, middle);
	GpuSortRunPlace begin = run->blocks[block];
	GpuSortRunPlace end = run->blocks[block + 1];
	uint32		count;
	uint32		i;

	if (begin.offset > from.offset)
		return begin;
	if (end.offset < to.offset)
		return end;
	count = read_stretch(p, run, from, to);
	for (i = 1; i + 1 < count && from.offset + p->offsets[i] < middle; i++)
		;
	return (GpuSortRunPlace) {from.offset + p->offsets[i], from.row + i};
}

/* Find a tuple of a portion that has others of it before it; false if there is none. */
static bool
find_splitter(GpuSortPortions *p, uint32 number, Splitter *splitter)
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
	/* runs have a row each, or none: of two of them, the one that comes later */
	for (uint32 i = 0; i < p->nruns && found < 2; i++)
	{
		Splitter	other;

		if (to[i].row == from[i].row)
			continue;
		other = make_splitter(p, i, from[i]);
		if (found++ == 0 || compare_splitters(&other, splitter, p) > 0)
			*splitter = other;
	}
	gpusort_row_comparer_clear(&p->comparer);
	return found == 2;
}

bool
gpusort_portions_split(GpuSortPortions *p, uint32 number)
{
	Splitter	splitter;

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
	Splitter	least = {0};
	bool		found = false;
	void	   *tuple = NULL;

	for (uint32 i = 0; i < p->nruns; i++)
	{
		Splitter	other;

		if (places[i].row == gpusort_run_rows(p->runs[i]))
			continue;
		other = make_splitter(p, i, places[i]);
		if (!found || compare_splitters(&other, &least, p) < 0)
			least = other;
		found = true;
	}
	gpusort_row_comparer_clear(&p->comparer);
	MemoryContextSwitchTo(old);
	if (found)
	{
		size_t		bytes = gpusort_run_tuple_bytes(p->runs[0]->file->index_rows, least.tuple);

		reserve_buffer(p, bytes);
		tuple = memcpy(p->buffer, least.tuple, bytes);
	}
	MemoryContextDelete(context);
	return tuple;
}
