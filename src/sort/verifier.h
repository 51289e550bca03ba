/*
 * verifier.h
 *		Comparing neighbouring rows with the operator class's own comparison.
 *
 * Private to src/sort.
 */
#ifndef GPUSORT_VERIFIER_H
#define GPUSORT_VERIFIER_H

#include "utils/sortsupport.h"

#include "keys/key_codec.h"
#include "sort/sort_view.h"

typedef struct GpuSortVerifier
{
	int			ncolumns;
	SortSupport keys;
	GpuSortKeyMemory memory;	/* memory of the encoders */
	/*
	 * encoders of columns whose codecs may prove the order of two values (key_codec.h); NULL for
	 * others
	 */
	GpuSortEncoder **encoders;
	TupleDesc	desc;
	const GpuSort *sort;	/* the sort, if rows are minimal tuples; NULL: they are index tuples */
	/* for minimal tuples: bitmap to be filled with which rows are equal; or NULL */
	uint64	   *equal;
	GpuSortView view;			/* the sort's view, if rows are index tuples */
	gs_progress *progress;
	MemoryContext compare_context;
	TupleTableSlot *slots[2];	/* for minimal tuples */
	/* keys of two rows: while neighbours are compared, the row at position i is number i % 2 */
	Datum	   *values[2];
	bool	   *isnull[2];
	uint64		moves_left;
} GpuSortVerifier;

/*
 * Begin to compare rows, in the current context: those of a view (index tuples), or
 * (gpusort_begin_own_verifier()) those of a sort of this process.
 */
extern void gpusort_begin_verifier(GpuSortVerifier *v, TupleDesc desc, const GpuSortSpec *spec);
extern void gpusort_begin_own_verifier(GpuSortVerifier *v, GpuSort *sort);

/* Load the keys of a row, or of the row at a position, as number `which` of the two. */
extern void gpusort_verifier_load_row(GpuSortVerifier *v, int which, void *row);
extern void gpusort_verifier_load_keys(GpuSortVerifier *v, int which, uint64 position);

/* Compare the keys loaded as number a with those loaded as number b. */
extern int	gpusort_verifier_compare_keys(GpuSortVerifier *v, int a, int b);

/*
 * Compare the keys of a row in a slot, or of a row as it lies on a page, with those loaded as
 * number 1.  Keys that the comparison does not need are not looked up.
 */
extern int	gpusort_verifier_compare_slot(GpuSortVerifier *v, TupleTableSlot *slot);
extern int	gpusort_verifier_compare_tuple(GpuSortVerifier *v, HeapTuple tuple);

/*
 * Returns whether the row at a position is in the right relation to the row before, given the
 * result of comparing that row with it.  For index tuples this includes the equal bitmap and the
 * TIDs.
 */
extern bool gpusort_neighbours_are_right(const GpuSortVerifier *v, uint64 position, int cmp);

/* Note in a bitmap whether the row at a position is equal to the row before. */
extern void gpusort_note_equal(uint64 *equal, uint64 position, bool is_equal);

/*
 * Compare the rows from position `from`, which is not 0, up to `to`, each with the row before.
 * Returns the position of the first row that is wrong, whose keys are then loaded, with its
 * comparison in *cmp; or `to` if there is none.  Notes which rows are equal, if the sort is to
 * tell.
 */
extern uint64 gpusort_verifier_find_wrong(GpuSortVerifier *v, uint64 from, uint64 to, int *cmp);

#endif							/* GPUSORT_VERIFIER_H */
