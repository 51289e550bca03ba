/*
 * run_cuts.c
 *		Where sorted runs are cut by a row; see run_cuts_private.h.
 *
 * Cuts are found by looking at tuples in the runs.  Splitters come in order, so a run is searched
 * from its last cut on.  We predict that the next cut lies as much further, in proportion, as in
 * other runs.  The block that the cut should be in is read from its beginning to a bit behind the
 * predicted place, and if need be to its end.  If the cut is not in that block, we look at the
 * beginnings of further blocks on the side of the cut, in steps that double, and then halve the
 * range that is left.  So a good prediction costs one read, and a wrong one logarithmically many,
 * whatever the runs are like.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "runs/run_cuts_private.h"

/*
 * How many bytes are read at first for a tuple, and how many of tuples behind a predicted cut.
 * Both are small: BufFile reads more at once anyway, so reading on costs little, whereas more bytes
 * would often be copied and walked through in vain.
 */
#define TUPLE_BYTES		512
#define PIECE_BYTES		2048
#define FIRST_OFFSETS	256

/* Makes room for so many bytes in the buffer. */
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

/* Reads the tuple at an offset into the buffer. */
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

/*
 * Compares the loaded tuples in the order of all rows: rows that are equal by comparison come in
 * the order of their runs.
 */
int
gpusort_cut_compare_loaded(GpuSortCutSearch *s, uint32 run_a, uint32 run_b)
{
	int			cmp = gpusort_row_comparer_compare(&s->comparer);

	if (cmp != 0)
		return cmp;
	return (run_a > run_b) - (run_a < run_b);
}

/*
 * Returns whether a tuple of a run comes before the splitter, which is loaded as row 1.  The run
 * must not be the splitter's own, unless the splitter stands for a group of rows.
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
place_is_before(GpuSortCutSearch *s, uint32 run, GpuSortRunPlace place,
				const GpuSortSplitter *splitter)
{
	CHECK_FOR_INTERRUPTS();
	return is_before(s, run, gpusort_cut_read_tuple(s, s->runs[run], place.offset), splitter);
}

/* Returns the last block that begins at or before an offset. */
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

/* Notes where a tuple in the buffer begins, or where the last one ends. */
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
 * Reads tuples from an offset on into the buffer: as many as lie within so many bytes, but at least
 * one.  Returns how many there are.  The run must have as many bytes as are asked for.
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
 * Returns the first place between `from` and `to`, which are at most a block apart, that is not
 * before the splitter.  `bytes` are read at first.
 */
static GpuSortRunPlace
find_in_block(GpuSortCutSearch *s, uint32 run, const GpuSortSplitter *splitter,
			  GpuSortRunPlace from, GpuSortRunPlace to, size_t bytes)
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

/*
 * Two blocks of a run, between which the cut is searched.  `inside` begins before the splitter, or
 * is the first block that may; `outside` does not begin before the splitter, or is behind the last
 * block.
 */
typedef struct BlockRange
{
	uint32		inside;
	uint32		outside;
} BlockRange;

/*
 * Comes near the last block that begins before the splitter, searching upward from `inside` in
 * steps that double.
 */
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

/*
 * Comes near the last block that begins before the splitter, searching downward from `outside` in
 * steps that double.
 */
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

/* Finds the last block that begins before the splitter, by halving the range. */
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
 * Returns the first place of a run, from `from` on, that is not before the splitter.  The place is
 * expected near the offset `expected`, which is not before `from`.
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

/*
 * How far cuts have moved on in the three runs that were cut last, in proportion to the runs'
 * lengths.
 */
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
 * Returns the offset where the next run is expected to be cut: further than its last cut by the
 * median of the last advances.  The median makes one run of another kind do no harm.  If several
 * runs are different, as when rows come in order, the advances before them are forgotten soon.
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
