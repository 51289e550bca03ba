/*
 * fixed_offset.h
 *		Attributes that lie at the same place in every tuple.
 *
 * Public: other folders include it.
 */
#ifndef GPUSORT_FIXED_OFFSET_H
#define GPUSORT_FIXED_OFFSET_H

#include "access/tupdesc.h"

/*
 * Returns where attribute attno (from 1) begins in the data of a tuple without nulls, or -1 if that
 * differs between tuples.  A varlena may or may not be aligned, so its offset is that before
 * alignment.
 */
extern int	gpusort_fixed_offset(TupleDesc desc, AttrNumber attno);

#endif							/* GPUSORT_FIXED_OFFSET_H */
