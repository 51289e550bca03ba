/*
 * gs_key.h
 *		The key of a sort on the host: the bits of its planes that vary.
 */
#ifndef GS_KEY_H
#define GS_KEY_H

#include <stdatomic.h>

#include "engine/gs_layout.h"
#include "engine/host/gs_job.h"
#include "engine/host/gs_sort.h"

/* The cost of reading a word of a plane, for the progress; see gs_sort.c. */
#define GS_KEY_COST	1.4

/*
 * Statistics of the words of a plane, and which bytes occur in them, as several participants find
 * them.
 */
typedef struct gs_merged_stats
{
	_Atomic uint64_t min;
	_Atomic uint64_t max;
	_Atomic uint64_t all_and;
	_Atomic uint64_t all_or;
	_Atomic uint64_t nulls;
	_Atomic uint64_t seen[GS_WORD_BYTES][GS_BYTE_VALUES / 64];
} gs_merged_stats;

#define GS_MERGED_STATS_INIT	{.min = UINT64_MAX, .all_and = UINT64_MAX}

/*
 * Which planes may be numbered.  That is found out once for each plane, from a sample of its words.
 */
typedef struct gs_numbered
{
	struct
	{
		bool		asked;
		bool		pays;
	}			planes[GS_MAX_PLANES];
} gs_numbered;

/*
 * Reads all planes and makes the layout, which keeps pointers into them.  May return GS_CANCELLED.
 */
extern gs_status gs_key_build(gs_layout *layout, const gs_sort_args *args);

/*
 * Do the same in two steps.  gs_key_fold() reads some rows of all planes, and may return
 * GS_CANCELLED; gs_key_read() makes the layout when all rows have been read.
 */
extern gs_status gs_key_fold(gs_merged_stats *stats, gs_numbered *numbered,
							 const gs_sort_args *args, gs_range rows);
extern void gs_key_read(gs_layout *layout, const gs_sort_args *args, gs_numbered *numbered,
						const gs_merged_stats *stats);

#endif							/* GS_KEY_H */
