/*
 * gs_items.h
 *		Sorting a range of items by the bits they carry.
 */
#ifndef GS_ITEMS_H
#define GS_ITEMS_H

#include "engine/host/gs_job.h"

/* Returns whether item i ties with the one before on the bits from `shift` up. */
static inline bool
gs_item_ties(const gs_job *job, uint64_t i, unsigned shift)
{
	return (job->items[i] ^ job->items[i - 1]) >> shift == 0;
}

/*
 * Returns the first run in `range` of at least two items that tie on the bits from `shift` up.  If
 * none begins within the next GS_POLL_ROWS items, the run is empty, and lies where the search is to
 * go on, or at the end of the range.
 */
static inline gs_range
gs_next_ties(const gs_job *job, gs_range range, unsigned shift)
{
	bool		all = gs_range_rows(range) <= GS_POLL_ROWS;
	uint64_t	limit = all ? range.end : range.begin + GS_POLL_ROWS;
	uint64_t	i = range.begin + 1;
	uint64_t	begin;

	while (i < limit && !gs_item_ties(job, i, shift))
		i++;
	if (i >= limit)
		return all ? (gs_range) {range.end, range.end} : (gs_range) {limit - 1, limit - 1};
	begin = i - 1;
	while (i < range.end && gs_item_ties(job, i, shift))
		i++;
	return (gs_range) {begin, i};
}

/* Orders that items may be found in; both are set if all items tie. */
typedef struct gs_order
{
	bool		ascending;
	bool		descending;		/* no item's section is greater than that of the item before */
} gs_order;

/* Returns which of the wanted orders `count` items are in. */
extern gs_order gs_items_order(const uint64_t *items, uint64_t count, unsigned id_bits,
							   gs_order wanted);

extern bool gs_items_sort(gs_job *job, gs_range range);
extern bool gs_items_sort_ties(gs_job *job, gs_range range, unsigned shift);

#endif							/* GS_ITEMS_H */
