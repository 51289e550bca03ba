/*
 * gs_scatter.c
 *		Distributing items over many buckets that lie all over memory.
 *
 * An item that is stored by itself has its line read from memory first and written back later, and
 * its page looked up in the translation cache.  So the items of each bucket are gathered in a line.
 * All these lines together fit the second-level cache, and full ones are written past the caches.
 *
 * Measured on a Xeon (2 MB of second-level cache), with 5*10^7 random items and huge pages.  The
 * first number is ns an item on one core that works alone, the second on one of 13 that work at
 * once:
 *
 *		bits				8			9			10			11
 *		plain stores		8.9 10.7	8.4 10.5	8.7 10.5	9.3 11.3
 *		lines, by caches	9.5 10.1	6.7 9.5		8.0 9.2		7.1 10.1
 *		lines, past them	4.3 4.4		3.3 4.2		4.3 4.7		4.8 5.1
 *
 * Lines are aligned, while a bucket begins anywhere.  So the first and the last line of a bucket
 * are written item by item: other participants write the rest of these lines.
 */
#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "engine/gs_engine.h"
#include "engine/host/gs_sort_private.h"

size_t
gs_scatter_bytes(unsigned bits)
{
	return (sizeof(gs_line) + 2 * sizeof(uint64_t)) << bits;
}

void
gs_scatter_make(gs_scatter *scatter, void *memory, unsigned bits)
{
	scatter->lines = memory;
	scatter->begins = (uint64_t *) (scatter->lines + (UINT64_C(1) << bits));
	scatter->ends = scatter->begins + (UINT64_C(1) << bits);
}

static inline void
stream_line(uint64_t *to, const uint64_t *from)
{
#ifdef __SSE2__
	for (unsigned i = 0; i < GS_LINE_BYTES / sizeof(__m128i); i++)
		_mm_stream_si128((__m128i *) to + i, _mm_load_si128((const __m128i *) from + i));
#else
	memcpy(to, from, GS_LINE_BYTES);
#endif
}

/* Ends stores past the caches: others see these only after this, whatever they wait for. */
void
gs_stream_end(void)
{
#ifdef __SSE2__
	_mm_sfence();
#endif
}

void
gs_stream_lines(uint64_t *to, const uint64_t *from, size_t lines)
{
	for (size_t i = 0; i < lines; i++)
		stream_line(to + i * GS_LINE_ITEMS, from + i * GS_LINE_ITEMS);
}

void
gs_scatter_begin(gs_scatter *scatter, const uint64_t *positions, unsigned bits)
{
	memcpy(scatter->begins, positions, sizeof(uint64_t) << bits);
	memcpy(scatter->ends, positions, sizeof(uint64_t) << bits);
}

/*
 * Writes the items of a bucket's line up to position `end`, except positions before the bucket's
 * first item of this call.
 */
static void
write_line(const gs_scatter *scatter, uint64_t *to, uint64_t bucket, uint64_t end)
{
	uint64_t	position = (end - 1) / GS_LINE_ITEMS * GS_LINE_ITEMS;

	if (position < scatter->begins[bucket])
		position = scatter->begins[bucket];
	for (; position < end; position++)
		to[position] = scatter->lines[bucket].items[position % GS_LINE_ITEMS];
}

/* Puts an item into its bucket's line, and writes that if it is full. */
static inline __attribute__((always_inline)) void
put_item(const gs_scatter *scatter, uint64_t *to, uint64_t item, uint64_t bucket)
{
	gs_line    *lines = scatter->lines;
	uint64_t	position = scatter->ends[bucket]++;

	lines[bucket].items[position % GS_LINE_ITEMS] = item;
	if (position % GS_LINE_ITEMS == GS_LINE_ITEMS - 1)
	{
		if (position - scatter->begins[bucket] >= GS_LINE_ITEMS - 1)
			stream_line(to + position - (GS_LINE_ITEMS - 1), lines[bucket].items);
		else
			write_line(scatter, to, bucket, position + 1);
	}
}

/* These are not inlined, since their loops need all registers. */

__attribute__((noinline)) void
gs_scatter_items(gs_scatter *scatter, uint64_t *to, const uint64_t *items, uint64_t count,
				 unsigned shift, unsigned bits)
{
	const gs_scatter s = *scatter;
	const uint64_t mask = gs_low_mask(bits);

	for (uint64_t i = 0; i < count; i++)
		put_item(&s, to, items[i], items[i] >> shift & mask);
}

__attribute__((noinline)) void
gs_scatter_to(gs_scatter *scatter, uint64_t *to, const uint64_t *items, const uint16_t *buckets,
			  uint64_t count)
{
	const gs_scatter s = *scatter;

	for (uint64_t i = 0; i < count; i++)
		put_item(&s, to, items[i], buckets[i]);
}

void
gs_scatter_end(gs_scatter *scatter, uint64_t *to, unsigned bits)
{
	for (uint64_t bucket = 0; bucket < UINT64_C(1) << bits; bucket++)
	{
		uint64_t	end = scatter->ends[bucket];

		if (end > scatter->begins[bucket] && end % GS_LINE_ITEMS != 0)
			write_line(scatter, to, bucket, end);
	}
	gs_stream_end();
}
