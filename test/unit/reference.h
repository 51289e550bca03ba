/*
 * reference.h
 *		The sorted order by an independent method: merge sort by comparison.
 */
#ifndef REFERENCE_H
#define REFERENCE_H

#include "engine/gs_engine.h"

/* What the planes are ordered by, in the words of gs_engine.h. */
extern int	reference_compare(const gs_plane *planes, unsigned nplanes,
							  const uint64_t *null_words, uint64_t a, uint64_t b);

/*
 * Fill ids[nrows] with the stable order of the rows, and equal with the bitmap
 * of rows that equal their predecessor ((nrows + 63) / 64 words).
 */
extern void reference_sort(uint64_t *ids, uint64_t *equal, const gs_plane *planes,
						   unsigned nplanes, uint64_t nrows);

#endif							/* REFERENCE_H */
