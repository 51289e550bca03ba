/*
 * out_stops.h
 *		Finds the bytes of a string that can't be written as they are, called stops here.
 */
#ifndef GPUSORT_OUT_STOPS_H
#define GPUSORT_OUT_STOPS_H

#include "postgres.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define GPUSORT_OUT_STOPS 4

typedef struct GpuSortOutStops
{
	bool		stops[256];		/* whether each byte is a stop */
	uint8		bytes[GPUSORT_OUT_STOPS];	/* stops other than control characters */
	/* bytes up to this one may be stops, too; 0 if no control characters are */
	uint8		controls;
	/* `bytes`, and then `controls`, each 16 times */
	uint8		wide[GPUSORT_OUT_STOPS + 1][16];
} GpuSortOutStops;

/* Begin with no stops. */
extern void gpusort_out_clear_stops(GpuSortOutStops *stops);

/*
 * Add a stop.  There can be GPUSORT_OUT_STOPS stops that are not control characters, and any number
 * of those that are.
 */
extern void gpusort_out_add_stop(GpuSortOutStops *stops, char c);

#ifdef __SSE2__
/* Returns a bit for each of 16 bytes, set if the byte may be a stop. */
static inline int
gpusort_out_stop_mask(const GpuSortOutStops *stops, __m128i v)
{
	const __m128i *wide = (const __m128i *) stops->wide;
	__m128i		hits = _mm_cmpeq_epi8(_mm_min_epu8(v, _mm_loadu_si128(wide + GPUSORT_OUT_STOPS)),
									  v);

	for (int i = 0; i < GPUSORT_OUT_STOPS; i++)
		hits = _mm_or_si128(hits, _mm_cmpeq_epi8(v, _mm_loadu_si128(wide + i)));
	return _mm_movemask_epi8(hits);
}
#endif

/* Returns the first stop in a string, or its end. */
static inline const char *
gpusort_out_find_stop(const GpuSortOutStops *stops, const char *p, const char *end)
{
#ifdef __SSE2__
	for (; end - p >= 16; p += 16)
	{
		int			mask = gpusort_out_stop_mask(stops, _mm_loadu_si128((const __m128i *) p));

		for (; mask != 0; mask &= mask - 1)
		{
			const char *hit = p + __builtin_ctz(mask);

			if (stops->stops[(uint8) *hit])
				return hit;
		}
	}
#endif
	while (p < end && !stops->stops[(uint8) *p])
		p++;
	return p;
}

/* Copy a string.  Returns false if it may have stops; some of it may be copied by then. */
static inline bool
gpusort_out_copy_unstopped(const GpuSortOutStops *stops, char *at, const char *p, int length)
{
#ifdef __SSE2__
	if (length >= 16)
	{
		int			last = length - 16;

		for (int i = 0;; i = Min(i + 16, last))
		{
			__m128i		v = _mm_loadu_si128((const __m128i *) (p + i));

			if (gpusort_out_stop_mask(stops, v) != 0)
				return false;
			_mm_storeu_si128((__m128i *) (at + i), v);
			if (i == last)
				return true;
		}
	}
	if (length >= 8)
	{
		uint64		head;
		uint64		tail;

		memcpy(&head, p, sizeof(head));
		memcpy(&tail, p + length - sizeof(tail), sizeof(tail));
		if (gpusort_out_stop_mask(stops, _mm_set_epi64x((int64) tail, (int64) head)) != 0)
			return false;
		memcpy(at, &head, sizeof(head));
		memcpy(at + length - sizeof(tail), &tail, sizeof(tail));
		return true;
	}
	if (length >= 4)
	{
		uint32		head;
		uint32		tail;

		memcpy(&head, p, sizeof(head));
		memcpy(&tail, p + length - sizeof(tail), sizeof(tail));
		if (gpusort_out_stop_mask(stops,
								  _mm_set1_epi64x((int64) ((uint64) tail << 32 | head))) != 0)
			return false;
		memcpy(at, &head, sizeof(head));
		memcpy(at + length - sizeof(tail), &tail, sizeof(tail));
		return true;
	}
#endif
	for (int i = 0; i < length; i++)
	{
		if (stops->stops[(uint8) p[i]])
			return false;
		at[i] = p[i];
	}
	return true;
}

#endif							/* GPUSORT_OUT_STOPS_H */
