/*
 * sort_bound.c
 *		Sorts of which only the first rows are wanted; see order_private.h.
 *
 * Which rows are kept is decided by the sort itself, refinement and verification included, so the
 * choice is as right as the result.  If the order can't be found (no memory, or keys that the
 * verification rejects), all rows are kept, and no other trim is tried.
 *
 * Rows that come later are compared with the last row kept before anything is made of them, as most
 * are dropped.  PostgreSQL's comparison decides, unless the first key is an integer, whose word
 * usually tells.  Tuples on pages of which columns are copied may have values in pieces that no
 * slot holds: they are stored first, and compared by the words of their keys.  If the sort's order
 * would be verified, such a row is dropped only if PostgreSQL's comparison agrees; and where words
 * don't decide, as with the strings of lazy encoders, which have only their first word so far, the
 * comparison decides alone.
 *
 * Kept rows stay in their order of arrival, and of equal rows those that came first are kept.  So
 * the result is that of the sort without a bound.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "utils/memutils.h"

#include "interrupts.h"
#include "sort/keys_private.h"
#include "sort/memory_private.h"
#include "sort/order_private.h"
#include "sort/rows_private.h"
#include "sort/state_private.h"
#include "sort/team_private.h"

void
gpusort_keep_first(GpuSort *sort, uint64 rows)
{
	if (rows > PG_UINT32_MAX / TRIM_FACTOR || sort->index_rows)
		rows = 0;
	sort->bound.rows = rows;
	sort->bound.trim_at = rows > 0 ? Max(rows * TRIM_FACTOR, TRIM_MIN_ROWS) : 0;
}

/* ---------- trimming ---------- */

/* Returns a bitmap of the row ids of the first rows in order, as many as the bound. */
static uint64 *
mark_kept(const GpuSort *sort)
{
	Size		bytes = (sort->rows.count + 63) / 64 * sizeof(uint64);
	uint64	   *kept = MemoryContextAllocExtended(sort->context, bytes,
												  MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);

	for (uint64 i = 0; i < sort->bound.rows; i++)
	{
		uint32		id = sort->order.ids[i];

		if (i % GPUSORT_INTERRUPT_ROWS == 0)
			CHECK_FOR_INTERRUPTS();
		kept[id / 64] |= UINT64CONST(1) << (id % 64);
	}
	return kept;
}

void
gpusort_begin_trim(GpuSort *sort, GpuSortTrim *trim)
{
	*trim = (GpuSortTrim) {.nrows = sort->rows.count};
	gpusort_forget_trim(sort);
	if (gpusort_order_rows(sort, false) && gpusort_order_is_right(sort))
	{
		trim->kept = mark_kept(sort);
		trim->last = sort->order.ids[sort->bound.rows - 1];
	}
	gpusort_end_sort_workers(sort);
	gpusort_forget_encoders(sort);
	trim->places = sort->rows.places;
	gpusort_empty_rows(&sort->rows);
	gpusort_forget_values(&sort->keys);
	sort->order.ready = 0;
}

/* Moves trim->next to the next row that is kept.  Returns false if there is none. */
static bool
find_kept(GpuSortTrim *trim)
{
	while (trim->kept != NULL && trim->next < trim->nrows)
	{
		uint64		word = trim->kept[trim->next / 64] >> (trim->next % 64);

		if (word != 0)
		{
			trim->next += pg_rightmost_one_pos64(word);
			break;
		}
		trim->next = (trim->next / 64 + 1) * 64;
	}
	return trim->next < trim->nrows;
}

/*
 * No row and no reference is overwritten before it is read: each row moves to the front, or stays
 * where it was, and so do the bytes of its key behind it.
 */
bool
gpusort_move_kept_row(GpuSort *sort, GpuSortTrim *trim, GpuSortStoredRow *row)
{
	GpuSortRows *rows = &sort->rows;
	MinimalTuple tuple;
	uint32		id;
	uint32		length;

	if (!find_kept(trim))
		return false;
	id = (uint32) trim->next++;
	if (rows->count % GPUSORT_INTERRUPT_ROWS == 0)
		CHECK_FOR_INTERRUPTS();
	tuple = gpusort_row_at(&trim->places, id);
	length = tuple->t_len;
	row->offset = TYPEALIGN(rows->places.unit, rows->used);
	if (rows->places.base + row->offset > (char *) tuple)
		elog(ERROR, "gpusort: a row to be kept was overwritten");
	memmove(rows->places.base + row->offset, tuple, length);
	rows->used = row->offset + length;
	if (trim->kept != NULL && id == trim->last)
		sort->bound.last = (uint32) rows->count;
	return true;
}

/*
 * Loads the keys of the last row wanted for PostgreSQL's comparison.  Once rows have been verified
 * by that comparison, later ones are too, although gpusort.verify may be off by then.
 */
static void
load_last(GpuSort *sort)
{
	GpuSortBound *bound = &sort->bound;

	bound->verified |= gpusort_verify || sort->keys.untrusted;
	if (bound->comparer == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(sort->context);

		bound->comparer = palloc(sizeof(GpuSortVerifier));
		gpusort_begin_own_verifier(bound->comparer, sort);
		MemoryContextSwitchTo(old);
	}
	gpusort_verifier_load_row(bound->comparer, 1,
							  gpusort_row_at(&sort->rows.places, bound->last));
}

/* Notes the first key's word of the last row wanted, if that word alone may decide. */
static void
note_word(GpuSort *sort)
{
	GpuSortBound *bound = &sort->bound;
	const GpuSortColumn *column = &sort->keys.columns[0];

	if (bound->verified || column->integer_bytes == 0 || column_is_null(column, bound->last))
		return;
	bound->word = RANGE_U64(column->words[0])[bound->last];
	bound->word_known = true;
	gpusort_place_bound(sort);
}

void
gpusort_place_bound(GpuSort *sort)
{
	GpuSortBound *bound = &sort->bound;
	const GpuSortColumn *column = &sort->keys.columns[0];

	if (!bound->word_known)
		return;
	bound->attno = column->attno;
	bound->offset = column->fixed_offset;
	if (sort->rows.selection != NULL)
		bound->attno = gpusort_row_store_selected(sort, column->attno, &bound->offset);
}

void
gpusort_end_trim(GpuSort *sort, GpuSortTrim *trim)
{
	if (trim->kept == NULL)
	{
		sort->bound.trim_at = 0;
		return;
	}
	pfree(trim->kept);
	sort->stats.trims++;
	sort->stats.dropped_rows += trim->nrows - sort->rows.count;
	load_last(sort);
	note_word(sort);
	sort->bound.trimmed = true;
}

/* ---------- comparing ---------- */

/* Compares two strings, whose first words are equal, by the words that follow. */
static int
compare_strings(const GpuSortColumn *column, const char *base, uint32 a, uint32 b)
{
	uint64		refs[] = {RANGE_U64(column->refs)[a], RANGE_U64(column->refs)[b]};
	uint32		step = bytes_per_word(column->bytes);
	uint32		end = Max(KEY_REF_LENGTH(refs[0]), KEY_REF_LENGTH(refs[1]));

	for (uint32 from = step; from < end; from += step)
	{
		uint64		words[2] = {0, 0};

		for (int i = 0; i < 2; i++)
			if (KEY_REF_LENGTH(refs[i]) > from)
				words[i] = bytes_word(column->bytes, string_by_ref(base, refs[i]),
									  KEY_REF_LENGTH(refs[i]), from);
		if (words[0] != words[1])
			return (words[0] < words[1]) == (column->flip == 0) ? -1 : 1;
	}
	return 0;
}

/*
 * Compares two rows by a column.  Sets *undecided if their words are equal but don't tell
 * everything.
 */
static int
compare_column(const GpuSort *sort, const GpuSortColumn *column, uint32 a, uint32 b,
			   bool *undecided)
{
	if (column->nulls != NULL && (column_is_null(column, a) || column_is_null(column, b)))
		return column_is_null(column, a) == column_is_null(column, b) ? 0
			: column_is_null(column, a) == column->nulls_first ? -1 : 1;
	if (column->bytes != GPUSORT_BYTES_NONE)
	{
		const uint64 *prefix = RANGE_U64(column->prefix);
		int			cmp;

		if (prefix[a] != prefix[b])
			return prefix[a] < prefix[b] ? -1 : 1;
		*undecided = column->lazy;
		cmp = column->lazy ? 0 : compare_strings(column, sort->rows.places.base, a, b);
		if (cmp != 0 || *undecided)
			return cmp;
	}
	for (int w = 0; w < column->nwords; w++)
	{
		const uint64 *words = RANGE_U64(column->words[w]);

		if (words[a] != words[b])
			return words[a] < words[b] ? -1 : 1;
	}
	return 0;
}

/*
 * Ends the comparison of a row with the last row wanted, which was made in the comparer's context.
 * Returns whether the row is beyond the bound.
 */
static inline bool
end_comparison(GpuSortVerifier *comparer, MemoryContext old, int cmp)
{
	MemoryContextSwitchTo(old);
	MemoryContextReset(comparer->compare_context);
	return cmp >= 0;
}

bool
gpusort_is_beyond_bound(GpuSort *sort, uint32 id)
{
	GpuSortVerifier *comparer = sort->bound.comparer;
	MemoryContext old;
	bool		undecided = false;
	int			cmp = 0;

	for (int i = 0; i < sort->keys.ncolumns && cmp == 0 && !undecided; i++)
		cmp = compare_column(sort, &sort->keys.columns[i], id, sort->bound.last, &undecided);
	if (cmp < 0)
		return false;
	if (!sort->bound.verified)
		return !undecided;
	gpusort_verifier_load_row(comparer, 0, gpusort_row_at(&sort->rows.places, id));
	old = MemoryContextSwitchTo(comparer->compare_context);
	return end_comparison(comparer, old, gpusort_verifier_compare_keys(comparer, 0, 1));
}

bool
gpusort_slot_is_beyond_bound(GpuSort *sort, TupleTableSlot *slot)
{
	const GpuSortBound *bound = &sort->bound;
	MemoryContext old;

	if (bound->word_known)
	{
		const GpuSortColumn *column = &sort->keys.columns[0];
		bool		isnull;
		Datum		value = slot_getattr(slot, column->attno, &isnull);
		uint64		word;

		word = word_from_int64(column->integer_bytes == sizeof(int64) ? DatumGetInt64(value)
							   : DatumGetInt32(value)) ^ column->flip;
		if (!isnull && word != bound->word)
			return word > bound->word;
	}
	old = MemoryContextSwitchTo(bound->comparer->compare_context);
	return end_comparison(bound->comparer, old,
						  gpusort_verifier_compare_slot(bound->comparer, slot));
}

bool
gpusort_tuple_is_beyond_bound(GpuSort *sort, HeapTuple tuple)
{
	GpuSortVerifier *comparer = sort->bound.comparer;
	MemoryContext old = MemoryContextSwitchTo(comparer->compare_context);
	int			cmp = gpusort_verifier_compare_tuple(comparer, tuple);

	return end_comparison(comparer, old, cmp);
}
