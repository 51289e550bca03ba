/*
 * run_cuts.c
 *		Where sorted runs are cut by a row; see run_cuts.h.
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

#include "runs/run_cuts.h"

/*
 * Bytes that are read at first for a tuple, and of tuples behind a predicted cut.  The file reads
 * more at once, so to read on costs little, and more would be copied and walked through in vain.
 */
#define TUPLE_BYTES		512
#define PIECE_BYTES		2048
#define FIRST_OFFSETS	256

/* Have room for so many bytes in the buffer. */
void
gpusort_cut_reserve(GpuSortCutSearch *s, size_t bytes)
{
	if (bytes <= s->buffer_size)
		return;
	if (s->buffer != NULL)
		pfree(s->buffer);
	s->buffer_size = 0;
	s->buffer = MemoryContextAllocHuge(s->context, bytes);
	s->buffer_size = bytes;
}

/* Read the tuple at a place into the buffer. */
void *
gpusort_cut_read_tuple(GpuSortCutSearch *s, const GpuSortRun *run, uint64 offset)
{
	size_t		read = Min(run->blocks[run->nblocks].offset - offset, TUPLE_BYTES);
	size_t		bytes;

	gpusort_cut_reserve(s, read);
	gpusort_run_file_read(run->file, offset, s->buffer, read);
	bytes = MAXALIGN(gpusort_run_tuple_bytes(run->file->index_rows, s->buffer));
	if (bytes > read)
	{
		gpusort_cut_reserve(s, bytes);
		gpusort_run_file_read(run->file, offset, s->buffer, bytes);
	}
	return s->buffer;
}

/* The order of all rows: rows that are equal by comparison come in the order of their runs. */
int
gpusort_cut_compare_loaded(GpuSortCutSearch *s, uint32 run_a, uint32 run_b)
{
	int			cmp = gpusort_row_comparer_compare(&s->comparer);

	if (cmp != 0)
		return cmp;
	return (run_a > run_b) - (run_a < run_b);
}

/*
 * Is a tuple of a run before the splitter, which is loaded as row 1?  It is another run than the
 * splitter's, unless the splitter stands for the group that it is in.
 */
static bool
is_before(GpuSortCutSearch *s, uint32 run, const void *tuple, const GpuSortSplitter *splitter)
{
	gpusort_row_comparer_load(&s->comparer, 0, tuple);
	if (splitter->group_columns > 0)
		return gpusort_row_comparer_compare_first(&s->comparer, splitter->group_columns) < 0;
	return gpusort_cut_compare_loaded(s, run, splitter->run) < 0;
}

static bool
place_is_before(GpuSortCutSearch *s, uint32 run, GpuSortRunPlace place, const GpuSortSplitter *splitter)
{
	CHECK_FOR_INTERRUPTS();
	return is_before(s, run, gpusort_cut_read_tuple(s, s->runs[run], place.offset), splitter);
}

/* The last block that begins at or before an offset. */
uint32
gpusort_run_block_at(const GpuSortRun *run, uint64 offset)
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
add_offset(GpuSortCutSearch *s, uint32 number, size_t offset)
{
	if (number == s->offsets_size)
	{
		size_t		size = Max(2 * (size_t) s->offsets_size, FIRST_OFFSETS);

		s->offsets = s->offsets == NULL ? MemoryContextAllocHuge(s->context, size * sizeof(uint32))
			: repalloc_huge(s->offsets, size * sizeof(uint32));
		s->offsets_size = (uint32) size;
	}
	s->offsets[number] = (uint32) offset;
}

/*
 * Read the tuples from a place on that lie within so many bytes, or at least one, into the buffer;
 * returns how many there are.  There are bytes of the run, as many as are asked for.
 */
uint32
gpusort_cut_read_piece(GpuSortCutSearch *s, const GpuSortRun *run, uint64 offset, size_t bytes)
{
	bool		index_rows = run->file->index_rows;
	uint32		count = 0;
	size_t		at;

	gpusort_cut_reserve(s, bytes);
	gpusort_run_file_read(run->file, offset, s->buffer, bytes);
	at = MAXALIGN(gpusort_run_tuple_bytes(index_rows, s->buffer));
	if (at > bytes)
	{
		bytes = at;
		gpusort_cut_reserve(s, bytes);
		gpusort_run_file_read(run->file, offset, s->buffer, bytes);
	}
	add_offset(s, 0, 0);
	for (;;)
	{
		add_offset(s, ++count, at);
		if (at == bytes)
			return count;
		at += MAXALIGN(gpusort_run_tuple_bytes(index_rows, s->buffer + at));
		if (at > bytes)
			return count;
	}
}

/*
 * The first place between two, at most a block apart, that is not before the splitter.  Read so
 * many bytes at first.
 */
static GpuSortRunPlace
find_in_block(GpuSortCutSearch *s, uint32 run, const GpuSortSplitter *splitter, GpuSortRunPlace from,
			  GpuSortRunPlace to, size_t bytes)
{
	while (from.row < to.row)
	{
		uint32		count = gpusort_cut_read_piece(s, s->runs[run], from.offset,
									   Min(bytes, to.offset - from.offset));
		uint32		low = 0;
		uint32		high = count - 1;

		if (is_before(s, run, s->buffer + s->offsets[high], splitter))
			low = ++high;
		while (low < high)
		{
			uint32		middle = low + (high - low) / 2;

			if (is_before(s, run, s->buffer + s->offsets[middle], splitter))
				low = middle + 1;
			else
				high = middle;
		}
		from.offset += s->offsets[low];
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
gallop_up(GpuSortCutSearch *s, uint32 number, const GpuSortSplitter *splitter, BlockRange *range)
{
	const GpuSortRun *run = s->runs[number];

	for (uint32 step = 1; range->outside - range->inside > step; step *= 2)
	{
		if (!place_is_before(s, number, run->blocks[range->inside + step], splitter))
		{
			range->outside = range->inside + step;
			break;
		}
		range->inside += step;
	}
}

/* ... from one that doesn't. */
static void
gallop_down(GpuSortCutSearch *s, uint32 number, const GpuSortSplitter *splitter, BlockRange *range)
{
	const GpuSortRun *run = s->runs[number];

	for (uint32 step = 1; range->outside - range->inside > step; step *= 2)
	{
		if (place_is_before(s, number, run->blocks[range->outside - step], splitter))
		{
			range->inside = range->outside - step;
			break;
		}
		range->outside -= step;
	}
}

/* Find it between the two. */
static void
halve(GpuSortCutSearch *s, uint32 number, const GpuSortSplitter *splitter, BlockRange *range)
{
	const GpuSortRun *run = s->runs[number];

	while (range->outside - range->inside > 1)
	{
		uint32		middle = range->inside + (range->outside - range->inside) / 2;

		if (place_is_before(s, number, run->blocks[middle], splitter))
			range->inside = middle;
		else
			range->outside = middle;
	}
}

/*
 * The first place of a run from `from` on that is not before the splitter.  It is expected near an
 * offset, which is not before `from`.
 */
static GpuSortRunPlace
find_cut(GpuSortCutSearch *s, uint32 number, const GpuSortSplitter *splitter, GpuSortRunPlace from,
		 uint64 expected)
{
	const GpuSortRun *run = s->runs[number];
	uint32		least;
	uint32		block;
	GpuSortRunPlace begin;
	BlockRange	range;

	if (number == splitter->run && splitter->group_columns == 0)
		return splitter->place;
	if (from.row == gpusort_run_rows(run))
		return from;
	least = gpusort_run_block_at(run, from.offset);
	block = gpusort_run_block_at(run, expected);
	begin = gpusort_later_place(from, run->blocks[block]);
	if (place_is_before(s, number, begin, splitter))
	{
		from = find_in_block(s, number, splitter, begin, run->blocks[block + 1],
							 expected - begin.offset + PIECE_BYTES);
		if (from.row < run->blocks[block + 1].row)
			return from;
		range = (BlockRange) {block, run->nblocks};
		gallop_up(s, number, splitter, &range);
	}
	else if (block == least)
		return from;
	else
	{
		range = (BlockRange) {least, block};
		gallop_down(s, number, splitter, &range);
	}
	halve(s, number, splitter, &range);
	return find_in_block(s, number, splitter, gpusort_later_place(from, run->blocks[range.inside]),
						 run->blocks[range.inside + 1], PIECE_BYTES);
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

void
gpusort_cut_runs(GpuSortCutSearch *s, uint32 nruns, const GpuSortSplitter *splitter,
				 const GpuSortRunPlace *from, const GpuSortRunPlace *end, GpuSortRunPlace *cuts)
{
	Advances	advances = {0};

	gpusort_row_comparer_load(&s->comparer, 1, splitter->tuple);
	for (size_t i = 0; i < lengthof(advances.last); i++)
		add_advance(&advances, s->runs[splitter->run], from[splitter->run],
					gpusort_later_place(from[splitter->run], splitter->place));
	for (uint32 i = 0; i < nruns; i++)
	{
		const GpuSortRun *run = s->runs[i];

		cuts[i] = find_cut(s, i, splitter, from[i], expect_cut(&advances, run, from[i]));
		if (cuts[i].row < from[i].row)
			cuts[i] = from[i];
		if (end != NULL && cuts[i].row > end[i].row)
			cuts[i] = end[i];
		if (from[i].row < gpusort_run_rows(run))
			add_advance(&advances, run, from[i], cuts[i]);
	}
	gpusort_row_comparer_clear(&s->comparer);
}
