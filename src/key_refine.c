/*
 * key_refine.c
 *		Ties on key prefixes (GPUTeraSort's wide keys, section 4.3).
 *
 * The engine sorts by fixed-width planes.  Where the strings of a column go on
 * beyond their first word, that word decides all but the rows that agree in it,
 * and nothing behind it may take part.  So the engine gets the planes up to and
 * including the first such prefix and marks which neighbours are equal in them;
 * here every run of equal rows is put in order by what follows: the next word
 * of the string, then the remaining columns, and so on, word by word, for the
 * rows that are still tied only.
 *
 * Three things keep that cheap.  Leading bytes that all strings of a column
 * share are left out of the prefix to begin with (key_planes.c).  A
 * word in which a whole run agrees is not sorted by: the run's common prefix is
 * skipped in one go.  And the words of a run are fetched once, with prefetching,
 * and sorted without touching the rows again: on the stack if the run is short,
 * by the engine if it is long.
 *
 * A sort step splits its run or moves the position forward, so it ends.  The
 * recursion enters all subruns of equal words but the largest, and the nulls of a
 * column with the columns behind it, so its depth is at most the number of
 * columns plus log2 of the number of rows.
 *
 * The order of equal rows is that of their ids, here as in the engine.  In an
 * index build it is that of their TIDs, which is another one if rows did not come
 * in that order: then TIDs are what is behind the last column.  And the runs
 * that get there are marked in the equal bitmap, in which only they are left.
 *
 * Strings of lazy codecs get their keys here, one run at a time, unless all
 * strings of the run are the same anyway.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "utils/memutils.h"

#include "sort_internal.h"

/* Runs up to this length are sorted on the stack, longer ones by the engine. */
#define SMALL_RUN		256

/* Rows looked ahead when fetching words: references, then the strings. */
#define REF_AHEAD		16
#define STRING_AHEAD	8

/* Interrupts are served every so many rows (a power of two, less one). */
#define CHECK_MASK		0x3fff

/* ... and words of the bitmap that are told as progress at a time. */
#define SWEEP_MASK		0xff

typedef struct WordAndId
{
	uint64		word;
	uint32		id;
} WordAndId;

#define ST_SORT sort_words
#define ST_ELEMENT_TYPE WordAndId
#define ST_COMPARE(a, b) \
	((a)->word < (b)->word ? -1 : (a)->word > (b)->word ? 1 : \
	 (a)->id < (b)->id ? -1 : (a)->id > (b)->id ? 1 : 0)
#define ST_SCOPE static
#define ST_DEFINE
#include "lib/sort_template.h"

/*
 * A place in the sort key: in a column, either at a byte of its string
 * (word < 0) or at one of its words, or behind the last column.
 */
typedef struct KeyPlace
{
	int			column;
	int			word;
	uint32		byte;
	bool		lazy;			/* the column's strings have no keys yet */
} KeyPlace;

/* What fetching the words of a run found. */
typedef struct RunWords
{
	uint64		first;			/* word of the first row */
	bool		same;			/* all rows have that word */
	bool		longer;			/* some string has bytes at or after the place */
} RunWords;

/* Where the key goes on behind the prefix words that the engine sorted by. */
static KeyPlace
place_behind_prefix(const GpuSort *sort, int column)
{
	const GpuSortColumn *c = &sort->columns[column];
	KeyPlace	place = {column, -1, c->base + bytes_per_word(c->bytes), c->lazy};

	return place;
}

static bool
place_is_string(const KeyPlace *place)
{
	return place->word < 0;
}

static bool
place_is_end(const GpuSort *sort, const KeyPlace *place)
{
	return place->column == sort->ncolumns;
}

/* Is there anything to be done for runs that get to the place? */
static bool
place_matters(const GpuSort *sort, const KeyPlace *place)
{
	return !place_is_end(sort, place) || sort->index_rows;
}

/* At the beginning of a column nulls are told from values. */
static bool
place_begins_column(const GpuSort *sort, const KeyPlace *place)
{
	if (place_is_string(place))
		return place->byte == 0;
	return place->word == 0 && sort->columns[place->column].bytes == GPUSORT_BYTES_NONE;
}

static void
begin_column_place(const GpuSort *sort, KeyPlace *place, int column)
{
	place->column = column;
	place->byte = 0;
	place->word = column < sort->ncolumns &&
		sort->columns[column].bytes == GPUSORT_BYTES_NONE ? 0 : -1;
	place->lazy = column < sort->ncolumns && sort->columns[column].lazy;
}

/* Move to the next part of the key; false if there is nothing to be done. */
static bool
next_part(const GpuSort *sort, KeyPlace *place)
{
	const GpuSortColumn *column = &sort->columns[place->column];

	place->word++;
	if (place->word >= column->nwords)
		begin_column_place(sort, place, place->column + 1);
	return place_matters(sort, place);
}

/* Skip the rest of the column (its values are all null); false as above. */
static bool
next_column(const GpuSort *sort, KeyPlace *place)
{
	begin_column_place(sort, place, place->column + 1);
	return place_matters(sort, place);
}

/* A word of a string, from byte `from` on, ascending or descending. */
static inline uint64
string_word(const GpuSort *sort, const GpuSortColumn *column, uint32 id, uint32 from,
			bool *longer)
{
	uint64		ref = RANGE_U64(column->refs)[id];
	uint32		len = KEY_REF_LENGTH(ref);

	/* a string that its first word holds completely is stored nowhere else */
	if (from == 0)
	{
		*longer |= len > 0;
		return RANGE_U64(column->prefix)[id];
	}
	if (len <= from)
		return column->flip;
	*longer = true;
	return bytes_word(column->bytes, string_by_ref(sort, ref), len, from) ^ column->flip;
}

/* Fetch the words at `place` of the rows ids[0 .. n-1] into words[]. */
static RunWords
fetch_words(const GpuSort *sort, const KeyPlace *place, const uint32 *ids, uint32 n,
			uint64 *words, size_t stride)
{
	const GpuSortColumn *column = &sort->columns[place->column];
	RunWords	found = {0, true, false};
	bool		tids = place_is_end(sort, place);

	for (uint32 i = 0; i < n; i++)
	{
		uint64		word;

		if ((i & CHECK_MASK) == CHECK_MASK)
		{
			CHECK_FOR_INTERRUPTS();
			gs_progress_advance(sort->progress, (CHECK_MASK + 1) * GPUSORT_TIED_COST);
		}
		if (tids)
		{
			if (i + STRING_AHEAD < n)
				prefetch_line(row_by_id(sort, ids[i + STRING_AHEAD]));
			word = tid_word(&((IndexTuple) row_by_id(sort, ids[i]))->t_tid);
		}
		else if (place_is_string(place))
		{
			const uint64 *refs = RANGE_U64(column->refs);

			if (i + REF_AHEAD < n)
				prefetch_line(&refs[ids[i + REF_AHEAD]]);
			if (i + STRING_AHEAD < n)
				prefetch_line(string_by_ref(sort, refs[ids[i + STRING_AHEAD]]) + place->byte);
			word = string_word(sort, column, ids[i], place->byte, &found.longer);
		}
		else
		{
			word = RANGE_U64(column->words[place->word])[ids[i]];
			if (i + REF_AHEAD < n)
				prefetch_line(&RANGE_U64(column->words[place->word])[ids[i + REF_AHEAD]]);
		}
		if (i == 0)
			found.first = word;
		found.same &= word == found.first;
		*words = word;
		words = (uint64 *) ((char *) words + stride);
	}
	gs_progress_advance(sort->progress, (n & CHECK_MASK) * GPUSORT_TIED_COST);
	return found;
}

/* Bytes from `from` on that the strings of all rows of a run have in common. */
static uint32
common_length(const GpuSort *sort, const GpuSortColumn *column, const uint32 *ids, uint32 n,
			  uint32 from)
{
	uint64		first_ref = RANGE_U64(column->refs)[ids[0]];
	const char *first = string_by_ref(sort, first_ref);
	uint32		end = KEY_REF_LENGTH(first_ref);

	for (uint32 i = 1; i < n && end > from; i++)
	{
		uint64		ref = RANGE_U64(column->refs)[ids[i]];
		const char *data = string_by_ref(sort, ref);
		uint32		len = Min(end, KEY_REF_LENGTH(ref));
		uint32		at = from;

		if ((i & CHECK_MASK) == CHECK_MASK)
		{
			CHECK_FOR_INTERRUPTS();
			gs_progress_advance(sort->progress, (CHECK_MASK + 1) * GPUSORT_TIED_COST);
		}
		if (i + STRING_AHEAD < n)
			prefetch_line(string_by_ref(sort, RANGE_U64(column->refs)[ids[i + STRING_AHEAD]]) +
						  from);
		while (at < len && first[at] == data[at])
			at++;
		end = at;
	}
	return end > from ? end - from : 0;
}

/*
 * Order a run by the words at `place`, and set bit i of equal where the word at
 * position i is that of position i - 1.  Not if all words are the same: then
 * nothing is done.  This one is for short runs: (word, id) pairs on the stack.
 */
static RunWords
sort_small_run(const GpuSort *sort, const KeyPlace *place, uint32 *ids, uint32 n, uint64 *equal)
{
	WordAndId	items[SMALL_RUN];
	RunWords	found;

	found = fetch_words(sort, place, ids, n, &items[0].word, sizeof(WordAndId));
	if (found.same)
		return found;

	for (uint32 i = 0; i < n; i++)
		items[i].id = ids[i];
	sort_words(items, n);
	memset(equal, 0, SMALL_RUN / 8);
	for (uint32 i = 0; i < n; i++)
	{
		ids[i] = items[i].id;
		if (i > 0 && items[i].word == items[i - 1].word)
			equal[i / 64] |= UINT64CONST(1) << (i % 64);
	}
	return found;
}

/* A plane that the engine has already sorted by. */
static uint64 *
scratch_plane(const GpuSort *sort)
{
	const GpuSortColumn *column = &sort->columns[Max(sort->refine_column, 0)];

	return RANGE_U64(column->prefix != NULL ? column->prefix : column->words[0]);
}

/*
 * The same for long runs, by the engine.  The words, and then the sorted ids,
 * lie in a plane that the engine has already sorted by.
 */
static RunWords
sort_large_run(const GpuSort *sort, const KeyPlace *place, uint32 *ids, uint32 n, uint64 *equal)
{
	uint64	   *words = scratch_plane(sort);
	uint32	   *sorted = (uint32 *) words;
	RunWords	found = fetch_words(sort, place, ids, n, words, sizeof(uint64));
	gs_plane	plane = {.words = words};
	gs_sort_args args = {
		.nrows = n,
		.nplanes = 1,
		.planes = &plane,
		.id_bytes = sizeof(uint32),
		.workspace = sort->workspace->base,
		.workspace_bytes = sort->workspace->usable,
		.equal = equal,
		.progress = sort->progress,
	};
	gs_sort_result result;
	gs_progress outer;

	if (found.same)
		return found;
	outer = gs_progress_enter(sort->progress, n * GPUSORT_TIED_COST);
	gpusort_run_engine(&args, &result);
	gs_progress_leave(sort->progress, &outer);
	for (uint32 i = 0; i < n; i++)
		sorted[i] = ids[((const uint32 *) result.ids)[i]];
	memcpy(ids, sorted, n * sizeof(uint32));
	return found;
}

/*
 * Move the nulls of the column to the side where they belong, keeping the order
 * within both groups.  Returns how many there are.
 */
static uint32
split_nulls(const GpuSort *sort, const GpuSortColumn *column, uint32 *ids, uint32 n)
{
	uint32	   *sorted = (uint32 *) scratch_plane(sort);
	uint32		nnulls = 0;
	uint32		null_at;
	uint32		value_at;

	for (uint32 i = 0; i < n; i++)
		nnulls += column_is_null(column, ids[i]);
	if (nnulls == 0)
		return 0;
	null_at = column->nulls_first ? 0 : n - nnulls;
	value_at = column->nulls_first ? nnulls : 0;
	for (uint32 i = 0; i < n; i++)
		sorted[column_is_null(column, ids[i]) ? null_at++ : value_at++] = ids[i];
	memcpy(ids, sorted, n * sizeof(uint32));
	return nnulls;
}

/* Where the key goes on for rows that agree in their words at `place`. */
static bool
next_place(const GpuSort *sort, KeyPlace *place)
{
	if (!place_is_string(place))
		return next_part(sort, place);
	place->byte += bytes_per_word(sort->columns[place->column].bytes);
	return true;
}

/* ... and for a run that was found to agree. */
static bool
skip_same(const GpuSort *sort, const RunWords *found, const uint32 *ids, uint32 n,
		  KeyPlace *place)
{
	if (place_is_string(place) && found->longer)
	{
		const GpuSortColumn *column = &sort->columns[place->column];
		uint32		common = place->byte == 0 ? 0	/* lies in the prefix plane */
			: common_length(sort, column, ids, n, place->byte);

		place->byte += Max(common, bytes_per_word(column->bytes));
		return true;
	}
	return next_part(sort, place);
}

/* Do all rows of the run have the same string? */
static bool
same_strings(const GpuSort *sort, const GpuSortColumn *column, const uint32 *ids, uint32 n)
{
	const uint64 *refs = RANGE_U64(column->refs);
	uint32		len = KEY_REF_LENGTH(refs[ids[0]]);
	const char *string = string_by_ref(sort, refs[ids[0]]);

	for (uint32 i = 1; i < n; i++)
	{
		uint64		ref = refs[ids[i]];

		if ((i & CHECK_MASK) == CHECK_MASK)
		{
			CHECK_FOR_INTERRUPTS();
			gs_progress_advance(sort->progress, (CHECK_MASK + 1) * GPUSORT_TIED_COST);
		}
		if (i + STRING_AHEAD < n)
			prefetch_line(string_by_ref(sort, refs[ids[i + STRING_AHEAD]]));
		if (KEY_REF_LENGTH(ref) != len || memcmp(string_by_ref(sort, ref), string, len) != 0)
			return false;
	}
	return true;
}

/*
 * Make the key of a row's string, and put it into the row store in place of
 * the string: behind a word of zeros, which stands for the prefix that was
 * sorted by, so that positions in the key count on from there.
 */
static bool
complete_key(GpuSort *sort, GpuSortColumn *column, uint32 id)
{
	uint64	   *ref = &RANGE_U64(column->refs)[id];
	GpuSortKey	key;
	size_t		offset;

	if (!column->encoder.codec->complete(&column->encoder, string_by_ref(sort, *ref),
										 KEY_REF_LENGTH(*ref), &key) ||
		key.len > KEY_REF_MAX_LENGTH - PADDED_WORD_BYTES)
	{
		sort->value_refused = true;
		return false;
	}
	if (!gpusort_row_store_reserve(sort, PADDED_WORD_BYTES + key.len, &offset))
	{
		sort->out_of_room = true;
		return false;
	}
	memset(sort->rows->base + offset, 0, PADDED_WORD_BYTES);
	memcpy(sort->rows->base + offset + PADDED_WORD_BYTES, key.data, key.len);
	*ref = KEY_REF(offset, PADDED_WORD_BYTES + key.len);
	return true;
}

/* The same for a run of rows. */
static bool
complete_keys(GpuSort *sort, GpuSortColumn *column, const uint32 *ids, uint32 n)
{
	MemoryContext old = MemoryContextSwitchTo(sort->scratch);
	bool		complete = true;

	for (uint32 i = 0; i < n && complete; i++)
	{
		if ((i & CHECK_MASK) == CHECK_MASK)
			CHECK_FOR_INTERRUPTS();
		complete = complete_key(sort, column, ids[i]);
		gs_progress_advance(sort->progress, GPUSORT_COMPLETE_COST);
		MemoryContextReset(sort->scratch);
	}
	MemoryContextSwitchTo(old);
	return complete;
}

/*
 * Mark the rows of a run, which have equal keys, as equal to their predecessors,
 * and order them by TID.
 */
static void
finish_equal_run(GpuSort *sort, const KeyPlace *end, uint32 *ids, uint32 n)
{
	uint64	   *equal = RANGE_U64(sort->equal);
	uint64		first = ids - sort->order;
	uint64		small_equal[SMALL_RUN / 64];

	for (uint64 i = first + 1; i < first + n; i++)
		equal[i / 64] |= UINT64CONST(1) << (i % 64);
	if (sort->tids_ordered)
		return;
	if (n <= SMALL_RUN)
		sort_small_run(sort, end, ids, n, small_equal);
	else
		sort_large_run(sort, end, ids, n, NULL);
}

static void refine_run(GpuSort *sort, uint32 *ids, uint32 n, KeyPlace place);

/*
 * Refine the subruns of equal words, all but the largest, which is left to the
 * caller.  Returns its length, and its start in *largest.
 */
static uint32
refine_subruns(GpuSort *sort, uint32 *ids, uint32 n, const uint64 *equal, KeyPlace place,
			   uint32 *largest)
{
	uint32		largest_n = 0;

	for (uint32 start = 0, end; start < n; start = end)
	{
		uint32		len;

		for (end = start + 1; end < n && (equal[end / 64] >> (end % 64) & 1) != 0;)
			end++;
		len = end - start;
		if (len > largest_n && len > 1)
		{
			uint32		previous = *largest;
			uint32		previous_n = largest_n;

			*largest = start;
			largest_n = len;
			start = previous;
			len = previous_n;
		}
		if (len > 1)
			refine_run(sort, ids + start, len, place);
	}
	return largest_n;
}

/*
 * Order a run of rows that agree in everything before `place`.  Does nothing
 * useful any more once a key could not be completed.
 */
static void
refine_run(GpuSort *sort, uint32 *ids, uint32 n, KeyPlace place)
{
	while (n > 1 && !sort->value_refused && !sort->out_of_room)
	{
		GpuSortColumn *column = &sort->columns[place.column];
		uint64		small_equal[SMALL_RUN / 64];
		uint64	   *equal = small_equal;
		uint32		largest = 0;
		RunWords	found;

		CHECK_FOR_INTERRUPTS();
		check_stack_depth();

		if (place_is_end(sort, &place))
		{
			finish_equal_run(sort, &place, ids, n);
			return;
		}

		if (column->nulls != NULL && place_begins_column(sort, &place))
		{
			uint32		nnulls = split_nulls(sort, column, ids, n);
			uint32	   *nulls = column->nulls_first ? ids : ids + (n - nnulls);
			KeyPlace	behind = place;

			if (nnulls > 1 && next_column(sort, &behind))
				refine_run(sort, nulls, nnulls, behind);
			n -= nnulls;
			if (column->nulls_first)
				ids += nnulls;
			if (n < 2)
				return;
		}

		if (place.lazy && place.byte > 0)
		{
			if (same_strings(sort, column, ids, n))
			{
				if (!next_part(sort, &place))
					return;
			}
			else if (complete_keys(sort, column, ids, n))
				place.lazy = false;
			continue;
		}

		if (n <= SMALL_RUN)
			found = sort_small_run(sort, &place, ids, n, equal);
		else
		{
			equal = palloc_extended((n + 63) / 64 * sizeof(uint64), MCXT_ALLOC_HUGE);
			found = sort_large_run(sort, &place, ids, n, equal);
		}

		if (found.same)
		{
			if (!skip_same(sort, &found, ids, n, &place))
				n = 0;
		}
		else if (next_place(sort, &place))
		{
			n = refine_subruns(sort, ids, n, equal, place, &largest);
			ids += largest;
		}
		else
			n = 0;
		if (equal != small_equal)
			pfree(equal);
	}
}

/*
 * Prefetch what refining the tied rows among positions from .. from + 63 needs.
 */
static void
prefetch_tied(const GpuSort *sort, uint64 from, uint64 tied, bool strings)
{
	const uint32 *order = sort->order + from;

	/* a run's first row has no bit of its own */
	for (tied |= tied >> 1; tied != 0; tied &= tied - 1)
	{
		uint32		id = order[pg_rightmost_one_pos64(tied)];

		if (sort->refine_column < 0)
		{
			if (strings)
				prefetch_line(row_by_id(sort, id));
			else if (!row_place_is_known(sort, id))
				prefetch_line(&RANGE_U32(sort->row_refs)[id]);
		}
		else
		{
			const GpuSortColumn *column = &sort->columns[sort->refine_column];
			const uint64 *ref = &RANGE_U64(column->refs)[id];

			prefetch_line(strings ? (const void *) (string_by_ref(sort, *ref) + column->base)
						  : ref);
		}
	}
}

/* Where the key goes on behind what the engine has sorted by. */
static KeyPlace
first_place(const GpuSort *sort)
{
	KeyPlace	place;

	if (sort->refine_column >= 0)
		return place_behind_prefix(sort, sort->refine_column);
	begin_column_place(sort, &place, sort->ncolumns);
	return place;
}

static void
clear_bits(uint64 *bits, uint64 from, uint64 end)
{
	for (uint64 i = from; i < end; i++)
		bits[i / 64] &= ~(UINT64CONST(1) << (i % 64));
}

/*
 * Put rows in order that tie on the engine's planes, which end with those of
 * sort->refine_column or are all.  False if a key could not be completed.
 */
bool
gpusort_refine(GpuSort *sort)
{
	uint64	   *equal = RANGE_U64(sort->equal);
	uint64		nwords = (sort->nrows + 63) / 64;
	uint64		end = 0;
	KeyPlace	place = first_place(sort);

	for (uint64 w = 0; w < nwords && !sort->value_refused && !sort->out_of_room; w++)
	{
		if ((w & SWEEP_MASK) == SWEEP_MASK)
			gs_progress_advance(sort->progress, (SWEEP_MASK + 1) * 64 * GPUSORT_SWEEP_COST);
		if (w + 2 < nwords)
			prefetch_tied(sort, (w + 2) * 64, equal[w + 2], false);
		if (w + 1 < nwords)
			prefetch_tied(sort, (w + 1) * 64, equal[w + 1], true);

		for (uint64 tied = equal[w]; tied != 0; tied &= tied - 1)
		{
			uint64		start = w * 64 + pg_rightmost_one_pos64(tied) - 1;

			if (start + 1 < end)
				continue;		/* inside the run that was last refined */
			for (end = start + 2; end < sort->nrows &&
				 (equal[end / 64] >> (end % 64) & 1) != 0;)
				end++;
			if (sort->index_rows)
				clear_bits(equal, start + 1, end);
			sort->stats.refined_rows += end - start;
			refine_run(sort, sort->order + start, (uint32) (end - start), place);
		}
	}
	return !sort->value_refused && !sort->out_of_room;
}
