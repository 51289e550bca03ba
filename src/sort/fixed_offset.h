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
 * Where the attribute begins in the data of a tuple without nulls, before the
 * alignment that a varlena may need or not; -1 if that varies.
 */
extern int	gpusort_fixed_offset(TupleDesc desc, AttrNumber attno);

#endif							/* GPUSORT_FIXED_OFFSET_H */
