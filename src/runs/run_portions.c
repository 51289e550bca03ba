/*
 * run_portions.c
 *		Dividing sorted runs into portions; see run_portions.h.
 *
 * Splitters are chosen among samples.  A run is divided into strata of the same length, and gives
 * a tuple of each, which stands for all of it.  If runs are alike, samples at the same places in
 * all of them would have nearly the same places in the order, too, and it could be cut at few
 * places only.  So the place in a stratum is another one in each run: it moves on by the golden
 * section, which spreads any number of them evenly.  A portion's size is wrong by parts of strata, which may
 * go either way in each run, so that the errors mostly cancel.  Portions that are too large
 * nevertheless are split, at once or when they are loaded.
 *
 * Cuts are found by looking at tuples in the runs.  Splitters come in order, so a run is searched
 * from its last cut on.  Where the next one is, is predicted: as much further, in proportion, as in
 * other runs.  The block that it should be in is read up to there, and if need be to its end.  If
 * the cut is not in it, blocks on that side of it are looked at, in steps that grow and then are
 * halved.  So a good prediction costs one read, and a wrong one logarithmically many, whatever the
 * runs are like.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "pg_compat.h"
#include "runs/run_portions.h"

/* Samples of each run; so many for each portion, if that is more.  If there is memory for them. */
#define RUN_SAMPLES		64
#define PORTION_SAMPLES	16

/* A sample is taken from the beginning of a block: what the file reads at once. */
#define SAMPLE_BYTES	BLCKSZ

/*
 * Bytes that are read at first for a tuple, and of tuples behind a predicted cut.  The file reads
 * more at once, so to read on costs little, and more would be copied and walked through in vain.
 */
#define TUPLE_BYTES		512
#define PIECE_BYTES		2048
#define FIRST_OFFSETS	256

/* Portions that are so much larger than they may be are split: there is little memory beside. */
#define MAX_EXCESS		1.25

/* A fractional part of the golden section. */
#define GOLDEN_SECTION	0.6180339887498949

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
	size_t		read = Min(run->blocks[run->nblocks].offset - offset, TUPLE_BYTES);
	size_t		bytes;

	reserve_buffer(p, read);
	gpusort_run_file_read(run->file, offset, p->buffer, read);
	bytes = MAXALIGN(gpusort_run_tuple_bytes(run->file->index_rows, p->buffer));
	if (bytes > read)
	{
		reserve_buffer(p, bytes);
		gpusort_run_file_read(run->file, offset, p->buffer, bytes);
	}
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
place_is_before(GpuSortPortions *p, uint32 run, GpuSortRunPlace place, const Splitter *splitter)
{
	CHECK_FOR_INTERRUPTS();
	return is_before(p, run, read_tuple(p, p->runs[run], place.offset), splitter);
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

/* Note where a tuple in the buffer begins, or the last one ends. */
static inline void
add_offset(GpuSortPortions *p, uint32 number, size_t offset)
{
	if (number == p->offsets_size)
	{
		size_t		size = Max(2 * (size_t) p->offsets_size, FIRST_OFFSETS);

		p->offsets = p->offsets == NULL ? MemoryContextAllocHuge(p->context, size * sizeof(uint32))
			: repalloc_huge(p->offsets, size * sizeof(uint32));
		p->offsets_size = (uint32) size;
	}
	p->offsets[number] = (uint32) offset;
}

/*
 * Read the tuples from a place on that lie within so many bytes, or at least one, into the buffer;
 * returns how many there are.  There are bytes of the run, as many as are asked for.
 */
static uint32
read_piece(GpuSortPortions *p, const GpuSortRun *run, uint64 offset, size_t bytes)
{
	bool		index_rows = run->file->index_rows;
	uint32		count = 0;
	size_t		at;

	reserve_buffer(p, bytes);
	gpusort_run_file_read(run->file, offset, p->buffer, bytes);
	at = MAXALIGN(gpusort_run_tuple_bytes(index_rows, p->buffer));
	if (at > bytes)
	{
		bytes = at;
		reserve_buffer(p, bytes);
		gpusort_run_file_read(run->file, offset, p->buffer, bytes);
	}
	add_offset(p, 0, 0);
	for (;;)
	{
		add_offset(p, ++count, at);
		if (at == bytes)
			return count;
		at += MAXALIGN(gpusort_run_tuple_bytes(index_rows, p->buffer + at));
		if (at > bytes)
			return count;
	}
}

/*
 * The first place between two, at most a block apart, that is not before the splitter.  Read so
 * many bytes at first.
 */
static GpuSortRunPlace
find_in_block(GpuSortPortions *p, uint32 run, const Splitter *splitter, GpuSortRunPlace from,
			  GpuSortRunPlace to, size_t bytes)
{
	while (from.row < to.row)
	{
		uint32		count = read_piece(p, p->runs[run], from.offset,
									   Min(bytes, to.offset - from.offset));
		uint32		low = 0;
		uint32		high = count - 1;

		if (is_before(p, run, p->buffer + p->offsets[high], splitter))
			low = ++high;
		while (low < high)
		{
			uint32		middle = low + (high - low) / 2;

			if (is_before(p, run, p->buffer + p->offsets[middle], splitter))
				low = middle + 1;
			else
				high = middle;
		}
		from.offset += p->offsets[low];
		from.row += low;
		if (low < count)
			return from;
		bytes *= 2;
	}
	return from;
}

/* Two blocks of a run: the first begins before the splitter, or is the least; the other doesn't. */
typedef struct BlockRange
{
	uint32		inside;
	uint32		outside;
} BlockRange;

/* Come near the last block that begins before the splitter, from one that does. */
static void
gallop_up(GpuSortPortions *p, uint32 number, const Splitter *splitter, BlockRange *range)
{
	const GpuSortRun *run = p->runs[number];

	for (uint32 step = 1; range->outside - range->inside > step; step *= 2)
	{
		if (!place_is_before(p, number, run->blocks[range->inside + step], splitter))
		{
			range->outside = range->inside + step;
			break;
		}
		range->inside += step;
	}
}

/* ... from one that doesn't. */
static void
gallop_down(GpuSortPortions *p, uint32 number, const Splitter *splitter, BlockRange *range)
{
	const GpuSortRun *run = p->runs[number];

	for (uint32 step = 1; range->outside - range->inside > step; step *= 2)
	{
		if (place_is_before(p, number, run->blocks[range->outside - step], splitter))
		{
			range->inside = range->outside - step;
			break;
		}
		range->outside -= step;
	}
}

/* Find it between the two. */
static void
halve(GpuSortPortions *p, uint32 number, const Splitter *splitter, BlockRange *range)
{
	const GpuSortRun *run = p->runs[number];

	while (range->outside - range->inside > 1)
	{
		uint32		middle = range->inside + (range->outside - range->inside) / 2;

		if (place_is_before(p, number, run->blocks[middle], splitter))
			range->inside = middle;
		else
			range->outside = middle;
	}
}

static GpuSortRunPlace
later_place(GpuSortRunPlace a, GpuSortRunPlace b)
{
	return a.row > b.row ? a : b;
}

/*
 * The first place of a run from `from` on that is not before the splitter.  It is expected near an
 * offset, which is not before `from`.
 */
static GpuSortRunPlace
find_cut(GpuSortPortions *p, uint32 number, const Splitter *splitter, GpuSortRunPlace from,
		 uint64 expected)
{
	const GpuSortRun *run = p->runs[number];
	uint32		least;
	uint32		block;
	GpuSortRunPlace begin;
	BlockRange	range;

	if (number == splitter->run && splitter->group_columns == 0)
		return splitter->place;
	if (from.row == gpusort_run_rows(run))
		return from;
	least = block_at(run, from.offset);
	block = block_at(run, expected);
	begin = later_place(from, run->blocks[block]);
	if (place_is_before(p, number, begin, splitter))
	{
		from = find_in_block(p, number, splitter, begin, run->blocks[block + 1],
							 expected - begin.offset + PIECE_BYTES);
		if (from.row < run->blocks[block + 1].row)
			return from;
		range = (BlockRange) {block, run->nblocks};
		gallop_up(p, number, splitter, &range);
	}
	else if (block == least)
		return from;
	else
	{
		range = (BlockRange) {least, block};
		gallop_down(p, number, splitter, &range);
	}
	halve(p, number, splitter, &range);
	return find_in_block(p, number, splitter, later_place(from, run->blocks[range.inside]),
						 run->blocks[range.inside + 1], PIECE_BYTES);
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

/* How far cuts have moved on in the runs that were cut last, in proportion to the runs' lengths. */
typedef struct Advances
{
	double		last[3];
	uint32		next;
} Advances;

static void
add_advance(Advances *advances, const GpuSortRun *run, GpuSortRunPlace from, GpuSortRunPlace to)
{
	advances->last[advances->next] = (double) (to.offset - from.offset) / gpusort_run_bytes(run);
	advances->next = (advances->next + 1) % lengthof(advances->last);
}

/*
 * Where the next run is cut: their median further.  So one run of another kind does no harm, and if
 * there are more, as in rows that come in order, those before are forgotten at once.
 */
static uint64
expect_cut(const Advances *advances, const GpuSortRun *run, GpuSortRunPlace from)
{
	const double *last = advances->last;
	double		median = Max(Min(last[0], last[1]), Min(Max(last[0], last[1]), last[2]));
	uint64		bytes = run->blocks[run->nblocks].offset - from.offset;
	double		advance = median * gpusort_run_bytes(run);

	return from.offset + TYPEALIGN_DOWN(MAXIMUM_ALIGNOF, (uint64) Min(advance, bytes));
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
	Advances	advances = {0};

	gpusort_row_comparer_load(&p->comparer, 1, tuple);
	p->first[number] = 0;
	for (size_t i = 0; i < lengthof(advances.last); i++)
		add_advance(&advances, p->runs[splitter->run], before[splitter->run],
					later_place(before[splitter->run], splitter->place));
	for (uint32 i = 0; i < p->nruns; i++)
	{
		const GpuSortRun *run = p->runs[i];

		cuts[i] = find_cut(p, i, splitter, before[i], expect_cut(&advances, run, before[i]));
		if (cuts[i].row < before[i].row)
			cuts[i] = before[i];
		if (end != NULL && cuts[i].row > end[i].row)
			cuts[i] = end[i];
		if (before[i].row < gpusort_run_rows(run))
			add_advance(&advances, run, before[i], cuts[i]);
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
copy_splitter(GpuSortPortions *p, uint32 run, GpuSortRunPlace place, const void *tuple)
{
	size_t		bytes = gpusort_run_tuple_bytes(p->runs[run]->file->index_rows, tuple);
	Splitter	splitter = {.run = run, .place = place};

	splitter.tuple = MemoryContextAllocHuge(CurrentMemoryContext, bytes);
	memcpy(splitter.tuple, tuple, bytes);
	return splitter;
}

static Splitter
make_splitter(GpuSortPortions *p, uint32 run, GpuSortRunPlace place)
{
	return copy_splitter(p, run, place, read_tuple(p, p->runs[run], place.offset));
}

/* How many samples each run may give. */
static uint32
samples_a_run(const GpuSortPortions *p, uint64 rows, uint64 bytes, uint64 portions, size_t memory)
{
	double		sample_bytes = sizeof(Splitter) + (double) bytes / rows;
	double		wanted = Max((double) portions * PORTION_SAMPLES / p->nruns, RUN_SAMPLES);

	return (uint32) Max(Min(memory / (sample_bytes * p->nruns), wanted), 1);
}

/* A tuple near an offset, not behind it. */
static Splitter
take_sample(GpuSortPortions *p, uint32 number, uint64 offset)
{
	const GpuSortRun *run = p->runs[number];
	const GpuSortRunPlace *block = &run->blocks[block_at(run, offset)];
	size_t		block_bytes = block[1].offset - block[0].offset;
	double		part = (double) (offset - block->offset) / block_bytes;
	size_t		bytes = part * Min(block_bytes, SAMPLE_BYTES);
	uint32		last = read_piece(p, run, block->offset, MAXALIGN(bytes + 1)) - 1;
	size_t		at = p->offsets[last];

	return copy_splitter(p, number, (GpuSortRunPlace) {block->offset + at, block->row + last},
						 p->buffer + at);
}

/* So many bytes has a run before an offset, as portions count them. */
static double
bytes_before(const GpuSortRun *run, uint64 offset, size_t row_bytes)
{
	const GpuSortRunPlace *block = &run->blocks[block_at(run, offset)];
	double		part = (double) (offset - block->offset) / (block[1].offset - block[0].offset);

	return offset - run->blocks[0].offset +
		(block[0].row + part * (block[1].row - block[0].row)) * row_bytes;
}

/* Take samples of all runs, and sort them. */
static Splitter *
take_samples(GpuSortPortions *p, uint32 a_run, size_t row_bytes, uint32 *count)
{
	Splitter   *samples = MemoryContextAllocHuge(CurrentMemoryContext,
												 (size_t) a_run * p->nruns * sizeof(Splitter));
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
	qsort_arg(samples, n, sizeof(Splitter), compare_splitters, p);
	*count = n;
	return samples;
}

/*
 * Begin a new portion wherever one has its share.  What it has more than that, or less, the next
 * has less or more.
 */
static void
choose_splitters(GpuSortPortions *p, Splitter *samples, uint32 count, int64 share,
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

/* Samples may be too few for portions of the same size. */
static void
split_large(GpuSortPortions *p, const GpuSortPortionLimits *limits)
{
	for (uint32 i = 0; i < p->count; i++)
		while (portion_bytes(p, i, limits->row_bytes) > MAX_EXCESS * limits->bytes &&
			   gpusort_portions_split(p, i))
			;
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
	uint64		portions;
	uint64		share;
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
	share = bytes + rows * limits->row_bytes;
	portions = share / Max(limits->bytes, 1) + 1;
	share = share / portions + 1;
	samples = take_samples(p, samples_a_run(p, rows, bytes, portions, limits->sample_bytes),
						   limits->row_bytes, &count);
	choose_splitters(p, samples, count, share, limits);
	join_last(p, rows, limits->min_rows);
	gpusort_row_comparer_clear(&p->comparer);
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
	count = read_piece(p, run, from.offset, to.offset - from.offset);
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
