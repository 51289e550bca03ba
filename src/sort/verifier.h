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
	GpuSortKeyMemory memory;	/* of encoders */
	GpuSortEncoder **encoders;	/* of columns whose codecs may prove the order of two
								 * values (key_codec.h), NULL for others */
	TupleDesc	desc;
	const GpuSort *sort;		/* minimal tuples; NULL: index tuples */
	uint64	   *equal;			/* of these, to be told which are equal; or NULL */
	GpuSortView view;			/* index tuples */
	gs_progress *progress;
	MemoryContext compare_context;
	TupleTableSlot *slots[2];	/* of minimal tuples */
	Datum	   *values[2];		/* keys of a row and the one before: that of position
								 * i is number i % 2 */
	bool	   *isnull[2];
	uint64		moves_left;
} GpuSortVerifier;

/* Verify rows of a view; of a sort of this process.  In the current context. */
extern void gpusort_begin_verifier(GpuSortVerifier *v, TupleDesc desc, const GpuSortSpec *spec);
extern void gpusort_begin_own_verifier(GpuSortVerifier *v, GpuSort *sort);

/* Get the keys of a row, or of the row at a position, as number `which` of the two. */
extern void gpusort_verifier_load_row(GpuSortVerifier *v, int which, void *row);
extern void gpusort_verifier_load_keys(GpuSortVerifier *v, int which, uint64 position);

/* Compare the keys loaded as number a with those loaded as number b. */
extern int	gpusort_verifier_compare_keys(GpuSortVerifier *v, int a, int b);

/*
 * Compare the keys of a row in a slot, or of one as it lies on a page, with those loaded as number 1.
 * No more of them are looked for than decide.
 */
extern int	gpusort_verifier_compare_slot(GpuSortVerifier *v, TupleTableSlot *slot);
extern int	gpusort_verifier_compare_tuple(GpuSortVerifier *v, HeapTuple tuple);

/*
 * Is the row at a position in the right relation to the one before, given the
 * comparison of that one with it?
 */
extern bool gpusort_neighbours_are_right(const GpuSortVerifier *v, uint64 position, int cmp);

/* Note whether the row at a position is equal to the one before. */
extern void gpusort_note_equal(uint64 *equal, uint64 position, bool is_equal);

/*
 * Compare the rows from position `from`, which is not 0, up to `to` each with the
 * one before.  Returns the position of the first one that is wrong, of which the keys
 * are loaded and *cmp is the comparison; or `to`.  Which rows are equal by it is noted, if the
 * sort is to tell.
 */
extern uint64 gpusort_verifier_find_wrong(GpuSortVerifier *v, uint64 from, uint64 to, int *cmp);

#endif							/* GPUSORT_VERIFIER_H */
