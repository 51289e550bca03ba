/*
 * sort_case.h
 *		One call of gs_sort() on generated planes, checked in every respect.
 */
#ifndef SORT_CASE_H
#define SORT_CASE_H

#include "engine/host/gs_sort.h"
#include "keys.h"

#define CASE_MAX_PLANES	GS_MAX_PLANES

typedef enum null_shape
{
	NULLS_ABSENT,				/* no bitmap */
	NULLS_EMPTY,				/* a bitmap without a bit set */
	NULLS_RARE,					/* one row in 200 */
	NULLS_HALF,
	NULLS_BLOCKS,				/* whole bitmap words, and half words */
	NULLS_ALMOST_ALL,			/* all but one row */
	NULLS_ALL,
	NULL_SHAPES
} null_shape;

typedef struct case_plane
{
	key_shape	keys;
	null_shape	nulls;
	gs_null_order order;
	bool		bytes;			/* words are to be numbered */
} case_plane;

typedef struct sort_case
{
	uint64_t	nrows;
	unsigned	nplanes;
	unsigned	id_bytes;
	bool		want_equal;
	unsigned	participants;	/* who sort it once more; 0: some, or none, by turns */
	uint64_t	seed;
	case_plane	planes[CASE_MAX_PLANES];
} sort_case;

/*
 * Generate, sort, and compare with the reference: ids, equal bitmap, inputs
 * untouched, nothing written outside of workspace and bitmap, progress that
 * rises to its end.  A failure is explained with tap_note().  result may be NULL.
 */
extern bool sort_case_passes(const sort_case *c, gs_sort_result *result);

/* How often the last one raised its progress to another value. */
extern unsigned sort_case_steps(void);

#endif							/* SORT_CASE_H */
