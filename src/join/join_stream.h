/*
 * join_stream.h
 *		Ranges of rows of two sides that are read through their children: forward, and again from
 *		marks.
 *
 * Both sides have their mark at the beginning of the range, so its rows can be read forward from
 * there any number of times.
 */
#ifndef GPUSORT_JOIN_STREAM_H
#define GPUSORT_JOIN_STREAM_H

#include "join/join_keys.h"
#include "join/join_range.h"

typedef struct GpuSortJoinStream
{
	GpuSortJoinSide *sides;		/* two */
	GpuSortJoinKeys *keys;
	uint64		at[2];			/* positions of the next rows to be looked at, by side */
} GpuSortJoinStream;

/* Begins with two sides that have been opened; each may still be a view. */
extern void gpusort_begin_join_stream(GpuSortJoinStream *stream, GpuSortJoinSide *sides,
									  GpuSortJoinKeys *keys);

/* Returns the next range in order, whether it is wanted or not; false if there are no more. */
extern bool gpusort_next_join_stream_range(GpuSortJoinStream *stream, GpuSortJoinRange *range);

#endif							/* GPUSORT_JOIN_STREAM_H */
