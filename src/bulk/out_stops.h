/*
 * out_stops.h
 *		Finding the bytes of a string that can't be written as they are.
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
	bool		stops[256];		/* is it one of these bytes? */
	uint8		bytes[GPUSORT_OUT_STOPS];	/* those that are no control characters */
	uint8		controls;		/* bytes up to this one may be others; 0: there are none */
} GpuSortOutStops;

/* No byte yet. */
extern void gpusort_out_clear_stops(GpuSortOutStops *stops);

/* At most GPUSORT_OUT_STOPS bytes that are no control characters, and any of these. */
extern void gpusort_out_add_stop(GpuSortOutStops *stops, char c);

/* The first of the bytes, or end. */
static inline const char *
gpusort_out_find_stop(const GpuSortOutStops *stops, const char *p, const char *end)
{
#ifdef __SSE2__
	const __m128i a = _mm_set1_epi8((char) stops->bytes[0]);
	const __m128i b = _mm_set1_epi8((char) stops->bytes[1]);
	const __m128i c = _mm_set1_epi8((char) stops->bytes[2]);
	const __m128i d = _mm_set1_epi8((char) stops->bytes[3]);
	const __m128i controls = _mm_set1_epi8((char) stops->controls);

	while (end - p >= 16)
	{
		__m128i		v = _mm_loadu_si128((const __m128i *) p);
		__m128i		hits = _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(v, a), _mm_cmpeq_epi8(v, b)),
										_mm_or_si128(_mm_cmpeq_epi8(v, c), _mm_cmpeq_epi8(v, d)));
		int			mask;

		hits = _mm_or_si128(hits, _mm_cmpeq_epi8(_mm_min_epu8(v, controls), v));
		mask = _mm_movemask_epi8(hits);
		for (; mask != 0; mask &= mask - 1)
		{
			const char *hit = p + __builtin_ctz(mask);

			if (stops->stops[(uint8) *hit])
				return hit;
		}
		p += 16;
	}
#endif
	while (p < end && !stops->stops[(uint8) *p])
		p++;
	return p;
}

#endif							/* GPUSORT_OUT_STOPS_H */
