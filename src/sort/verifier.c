/*
 * verifier.c
 *		Comparing neighbouring rows; see order_private.h.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "interrupts.h"
#include "pg_compat/executor.h"
#include "prefetch.h"
#include "settings.h"
#include "sort/order_private.h"
#include "sort/rows_private.h"
#include "sort/state_private.h"

/* How many positions ahead rows are prefetched, and their references, which tell where rows are. */
#define ROW_AHEAD		16
#define REF_AHEAD		32

/* Most keys lie within so many bytes of a row, which may cross two cache lines. */
#define KEY_BYTES		48

/*
 * How many rows may be moved, counting those that they are moved across, for each row of the sort.
 * Moving a row costs a few ns, verifying it 200.
 */
#define MOVES			4

/* Returns an encoder of a column that may prove the order of two values, or NULL. */
static GpuSortEncoder *
begin_encoder(GpuSortVerifier *v, const GpuSortSpec *spec, int column)
{
	Oid			type = TupleDescAttr(v->desc, spec->attnos[column] - 1)->atttypid;
	Oid			collation = spec->collations[column];
	bool		reverse;
	const char *reason;
	const GpuSortCodec *codec = gpusort_codec_lookup(spec->sortops[column], type, collation,
													 &reverse, &reason);
	GpuSortEncoder *encoder;

	/* with gpusort.verify, it is the comparison that was asked for */
	if (gpusort_verify || codec == NULL || codec->proven_order == NULL)
		return NULL;
	encoder = palloc(sizeof(GpuSortEncoder));
	gpusort_codec_begin(encoder, codec, type, collation, &v->memory);
	return encoder;
}

static void
begin_verifier(GpuSortVerifier *v, TupleDesc desc, const GpuSortSpec *spec)
{
	memset(v, 0, sizeof(*v));
	v->ncolumns = spec->nkeys;
	v->desc = desc;
	v->keys = palloc0(spec->nkeys * sizeof(SortSupportData));
	v->encoders = palloc(spec->nkeys * sizeof(GpuSortEncoder *));
	/* these encoders make no keys */
	gpusort_begin_key_memory(&v->memory, 0);
	for (int i = 0; i < spec->nkeys; i++)
	{
		SortSupport key = &v->keys[i];

		key->ssup_cxt = CurrentMemoryContext;
		key->ssup_collation = spec->collations[i];
		key->ssup_nulls_first = spec->nulls_first[i];
		key->ssup_attno = spec->attnos[i];
		key->abbreviate = false;
		PrepareSortSupportFromOrderingOp(spec->sortops[i], key);
		v->encoders[i] = begin_encoder(v, spec, i);
	}
	for (int i = 0; i < 2; i++)
	{
		v->values[i] = palloc(spec->nkeys * sizeof(Datum));
		v->isnull[i] = palloc(spec->nkeys * sizeof(bool));
	}
	v->compare_context = AllocSetContextCreate(CurrentMemoryContext, "gpusort verify",
											   ALLOCSET_DEFAULT_SIZES);
}

void
gpusort_begin_own_verifier(GpuSortVerifier *v, GpuSort *sort)
{
	begin_verifier(v, sort->desc, &sort->spec);
	v->progress = sort->progress;
	v->moves_left = MOVES * sort->rows.count;
	if (sort->index_rows)
	{
		gpusort_view(sort, &v->view);
		return;
	}
	v->sort = sort;
	v->equal = sort->tells_equal ? RANGE_U64(sort->order.equal) : NULL;
	for (int i = 0; i < 2; i++)
		v->slots[i] = gpusort_make_slot(sort->desc, &TTSOpsMinimalTuple);
}

static inline const GpuSortRowPlaces *
places_of(const GpuSortVerifier *v)
{
	return v->sort != NULL ? &v->sort->rows.places : &v->view.places;
}

static inline uint32
id_at(const GpuSortVerifier *v, uint64 position)
{
	if (v->sort != NULL)
		return v->sort->order.ids[position];
	return v->view.order != NULL ? v->view.order[position] : (uint32) position;
}

static inline void *
row_at(const GpuSortVerifier *v, uint64 position)
{
	return gpusort_row_at(places_of(v), id_at(v, position));
}

/*
 * Prefetches a row and a reference ahead of `position`, since rows and references are read at
 * random.
 */
static inline void
prefetch_ahead(const GpuSortVerifier *v, uint64 position, uint64 nrows)
{
	const GpuSortRowPlaces *places = places_of(v);

	if (position + REF_AHEAD < nrows)
	{
		uint32		id = id_at(v, position + REF_AHEAD);

		if (!gpusort_place_is_known(places, id))
			prefetch_line(&places->refs[id]);
	}
	if (position + ROW_AHEAD < nrows)
	{
		const char *row = row_at(v, position + ROW_AHEAD);

		prefetch_line(row);
		prefetch_line(row + KEY_BYTES);
	}
}

static void
load_slot(GpuSortVerifier *v, int which, TupleTableSlot *slot)
{
	for (int i = 0; i < v->ncolumns; i++)
		v->values[which][i] = slot_getattr(slot, v->keys[i].ssup_attno, &v->isnull[which][i]);
}

void
gpusort_verifier_load_row(GpuSortVerifier *v, int which, void *row)
{
	TupleTableSlot *slot = v->slots[which];

	if (slot != NULL)
	{
		ExecStoreMinimalTuple(row, slot, false);
		load_slot(v, which, slot);
		return;
	}
	for (int i = 0; i < v->ncolumns; i++)
		v->values[which][i] = index_getattr((IndexTuple) row, v->keys[i].ssup_attno, v->desc,
											&v->isnull[which][i]);
}

void
gpusort_verifier_load_keys(GpuSortVerifier *v, int which, uint64 position)
{
	gpusort_verifier_load_row(v, which, row_at(v, position));
}

/*
 * Compares two values of a column if the encoder can prove their order.  Returns false if it can't.
 */
static inline bool
find_proven_order(const GpuSortVerifier *v, int column, int a, int b, int *cmp)
{
	GpuSortEncoder *encoder = v->encoders[column];

	if (encoder == NULL || v->isnull[a][column] || v->isnull[b][column] ||
		!encoder->codec->proven_order(encoder, v->values[a][column], v->values[b][column], cmp))
		return false;
	if (v->keys[column].ssup_reverse)
		*cmp = -*cmp;
	return true;
}

/* Compares two values of a column, which are loaded as numbers a and b. */
static inline int
compare_column(const GpuSortVerifier *v, int column, int a, int b)
{
	int			cmp = 0;

	if (!find_proven_order(v, column, a, b, &cmp))
		cmp = ApplySortComparator(v->values[a][column], v->isnull[a][column],
								  v->values[b][column], v->isnull[b][column],
								  &v->keys[column]);
	return cmp;
}

int
gpusort_verifier_compare_keys(GpuSortVerifier *v, int a, int b)
{
	int			cmp = 0;

	for (int i = 0; i < v->ncolumns && cmp == 0; i++)
		cmp = compare_column(v, i, a, b);
	return cmp;
}

int
gpusort_verifier_compare_tuple(GpuSortVerifier *v, HeapTuple tuple)
{
	int			cmp = 0;

	for (int i = 0; i < v->ncolumns && cmp == 0; i++)
	{
		v->values[0][i] = heap_getattr(tuple, v->keys[i].ssup_attno, v->desc, &v->isnull[0][i]);
		cmp = compare_column(v, i, 0, 1);
	}
	return cmp;
}

int
gpusort_verifier_compare_slot(GpuSortVerifier *v, TupleTableSlot *slot)
{
	int			cmp = 0;

	for (int i = 0; i < v->ncolumns && cmp == 0; i++)
	{
		v->values[0][i] = slot_getattr(slot, v->keys[i].ssup_attno, &v->isnull[0][i]);
		cmp = compare_column(v, i, 0, 1);
	}
	return cmp;
}

bool
gpusort_neighbours_are_right(const GpuSortVerifier *v, uint64 position, int cmp)
{
	IndexTuple	before;
	IndexTuple	now;

	if (v->sort != NULL || cmp > 0)
		return cmp <= 0;
	if (gpusort_view_is_equal(&v->view, position) != (cmp == 0))
		return false;
	before = row_at(v, position - 1);
	now = row_at(v, position);
	return cmp != 0 || tid_word(&before->t_tid) < tid_word(&now->t_tid);
}

void
gpusort_note_equal(uint64 *equal, uint64 position, bool is_equal)
{
	uint64		bit = UINT64CONST(1) << (position % 64);
	uint64	   *word = &equal[position / 64];

	*word = is_equal ? *word | bit : *word & ~bit;
}

uint64
gpusort_verifier_find_wrong(GpuSortVerifier *v, uint64 from, uint64 to, int *cmp)
{
	MemoryContext old = MemoryContextSwitchTo(v->compare_context);
	uint64		nrows = v->sort != NULL ? v->sort->rows.count : v->view.nrows;
	uint64		i;

	gpusort_verifier_load_keys(v, (from - 1) & 1, from - 1);
	for (i = from; i < to; i++)
	{
		int			now = i & 1;

		if (i % GPUSORT_INTERRUPT_ROWS == 0)
		{
			CHECK_FOR_INTERRUPTS();
			gs_progress_advance(v->progress, GPUSORT_INTERRUPT_ROWS);
			MemoryContextReset(v->compare_context);
		}
		prefetch_ahead(v, i, nrows);
		gpusort_verifier_load_keys(v, now, i);
		*cmp = gpusort_verifier_compare_keys(v, now ^ 1, now);
		if (!gpusort_neighbours_are_right(v, i, *cmp))
			break;
		if (v->equal != NULL)
			gpusort_note_equal(v->equal, i, *cmp == 0);
	}
	MemoryContextSwitchTo(old);
	return i;
}
