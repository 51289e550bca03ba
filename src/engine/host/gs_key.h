/*
 * gs_key.h
 *		The key of a sort on the host: the bits of its planes that vary.
 */
#ifndef GS_KEY_H
#define GS_KEY_H

#include <stdatomic.h>

#include "engine/gs_numbering.h"
#include "engine/host/gs_job.h"
#include "engine/host/gs_sort.h"

/* What reading a word of a plane costs, for the progress; see gs_sort.c. */
#define GS_KEY_COST	1.4

/* Folds over the words of a plane by several participants, and which bytes they have. */
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

/* May a plane's words be numbered?  Asked once, as a sample of them tells. */
typedef struct gs_numbered
{
	struct
	{
		bool		asked;
		bool		pays;
	}			planes[GS_MAX_PLANES];
} gs_numbered;

/* Read all planes; the layout keeps pointers into them.  GS_CANCELLED is possible. */
extern gs_status gs_key_build(gs_layout *layout, const gs_sort_args *args);

/* The same in two steps: some rows of all planes; and when all rows have been read, the layout. */
extern gs_status gs_key_fold(gs_merged_stats *stats, gs_numbered *numbered,
							 const gs_sort_args *args, gs_range rows);
extern void gs_key_read(gs_layout *layout, const gs_sort_args *args, gs_numbered *numbered,
						const gs_merged_stats *stats);

#endif							/* GS_KEY_H */
