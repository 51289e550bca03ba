/*
 * verifier.c
 *		Comparing neighbouring rows; see verifier.h.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "interrupts.h"
#include "pg_compat.h"
#include "prefetch.h"
#include "settings.h"
#include "sort/row_store_index.h"
#include "sort/sort_state.h"
#include "sort/verifier.h"

/* Rows looked ahead, for prefetching. */
#define VERIFY_AHEAD	16

/*
 * Rows that may be moved, and rows that they are moved across, for each row of the sort.
 * They cost a few ns, where the verification takes 200.
 */
#define MOVES			4

/* Words are no proof to somebody who has asked for the comparison. */
static void
begin_encoder(GpuSortVerifier *v, const GpuSortSpec *spec)
{
	Oid			type = TupleDescAttr(v->desc, spec->attnos[0] - 1)->atttypid;
	bool		reverse;
	const char *reason;
	const GpuSortCodec *codec = gpusort_codec_lookup(spec->sortops[0], type,
													 spec->collations[0], &reverse, &reason);

	if (gpusort_verify || codec == NULL || codec->proven_word == NULL)
		return;
	v->encoder = palloc(sizeof(GpuSortEncoder));
	/* it is asked for no keys */
	gpusort_begin_key_memory(&v->memory, 0);
	gpusort_codec_begin(v->encoder, codec, type, spec->collations[0], &v->memory);
}

void
gpusort_begin_verifier(GpuSortVerifier *v, TupleDesc desc, const GpuSortSpec *spec)
{
	memset(v, 0, sizeof(*v));
	v->ncolumns = spec->nkeys;
	v->desc = desc;
	v->keys = palloc0(spec->nkeys * sizeof(SortSupportData));
	for (int i = 0; i < spec->nkeys; i++)
	{
		SortSupport key = &v->keys[i];

		key->ssup_cxt = CurrentMemoryContext;
		key->ssup_collation = spec->collations[i];
		key->ssup_nulls_first = spec->nulls_first[i];
		key->ssup_attno = spec->attnos[i];
		key->abbreviate = false;
		PrepareSortSupportFromOrderingOp(spec->sortops[i], key);
	}
	begin_encoder(v, spec);
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
	gpusort_begin_verifier(v, sort->desc, &sort->spec);
	v->progress = sort->progress;
	v->moves_left = MOVES * sort->rows.count;
	if (sort->index_rows)
	{
		gpusort_view(sort, &v->view);
		return;
	}
	v->sort = sort;
	for (int i = 0; i < 2; i++)
		v->slots[i] = gpusort_make_slot(sort->desc, &TTSOpsMinimalTuple);
}

static inline void *
row_at(const GpuSortVerifier *v, uint64 position)
{
	return v->sort != NULL ? gpusort_row_at(&v->sort->rows.places, v->sort->order.ids[position])
		: gpusort_view_row(&v->view, position);
}

void
gpusort_verifier_load_keys(GpuSortVerifier *v, int which, uint64 position)
{
	TupleTableSlot *slot = v->slots[which];
	void	   *row = row_at(v, position);

	if (slot != NULL)
		ExecStoreMinimalTuple(row, slot, false);
	for (int i = 0; i < v->ncolumns; i++)
	{
		bool	   *isnull = &v->isnull[which][i];
		AttrNumber	attno = v->keys[i].ssup_attno;

		v->values[which][i] = slot != NULL
			? slot_getattr(slot, attno, isnull)
			: index_getattr((IndexTuple) row, attno, v->desc, isnull);
	}
	v->proves[which] = v->encoder != NULL && !v->isnull[which][0] &&
		v->encoder->codec->proven_word(v->encoder, v->values[which][0], &v->word[which]);
}

int
gpusort_verifier_compare_keys(GpuSortVerifier *v, int a, int b)
{
	int			cmp = 0;

	if (v->proves[a] && v->proves[b] && v->word[a] != v->word[b])
		return (v->word[a] < v->word[b]) != v->keys[0].ssup_reverse ? -1 : 1;
	for (int i = 0; i < v->ncolumns && cmp == 0; i++)
		cmp = ApplySortComparator(v->values[a][i], v->isnull[a][i],
								  v->values[b][i], v->isnull[b][i], &v->keys[i]);
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
		if (i + VERIFY_AHEAD < nrows)
			prefetch_line(row_at(v, i + VERIFY_AHEAD));
		gpusort_verifier_load_keys(v, now, i);
		*cmp = gpusort_verifier_compare_keys(v, now ^ 1, now);
		if (!gpusort_neighbours_are_right(v, i, *cmp))
			break;
	}
	MemoryContextSwitchTo(old);
	return i;
}
