/*
 * sort_state.h
 *		What a sort consists of.
 *
 * A row exists in three places, all indexed by its row id, which is its place in the order
 * of arrival: its tuple lies in the row store (row_store.h), a table of references says where
 * (row_places.h), and every part of every sort column has a plane (key_columns.h).  After the
 * engine and the refinement, order.ids[position] is the row id.
 *
 * Private to src/sort.
 */
#ifndef GPUSORT_SORT_STATE_H
#define GPUSORT_SORT_STATE_H

#include "lib/ilist.h"

#include "engine/gs_layout.h"
#include "engine/gs_merged.h"
#include "service/service_client.h"
#include "settings.h"
#include "sort/key_columns.h"
#include "sort/row_store.h"
#include "sort/sort_team.h"
#include "sort/view_mapping.h"
#include "stats/activity.h"
#include "stats/tally.h"

/* What is known about the rows of an index build. */
typedef struct GpuSortIndexFacts
{
	bool		tids_ordered;	/* they arrived in the order of their TIDs */
	uint64		last_tid;
	bool		any_dead;		/* some are marked dead */
	bool		other_lengths;	/* some are not as long as the template */
} GpuSortIndexFacts;

/* What a sort may have of memory (sort_memory.h). */
typedef struct GpuSortMemory
{
	size_t		limit_bytes;	/* of private memory, */
	size_t		first_limit_bytes;	/* ... unless a single row was larger */
	size_t		beside_bytes;	/* ... of it that neither rows nor planes take: what
								 * the encoders were seen to hold, and what the sort's
								 * owner does (gpusort_charge) */
	size_t		charged_bytes;	/* the latter */
	size_t		encoders_bytes; /* of the former, what they will be let hold whatever rows take */
	size_t		spare_bytes;	/* of the row store, that rows leave for keys which are made when
								 * they are sorted */
	GpuSortPoolAccount pool_account;
	size_t		reserve_bytes;	/* reservation of each range */
	uint64		capacity;		/* rows that the planes have room for */
	uint64		expected_rows;	/* that there will be, if that is known; else 0 */

	/* if not all rows fit (spill_plan.h) */
	double		planned_rows;	/* the planner's estimate, of all processes that collect some */
	size_t		buffer_bytes;	/* for rows before they become a run; 0: all that there is */
	size_t		keep_bytes;		/* for runs that stay in memory */
	uint32		kept_extents;	/* of runs; of the pool's that the sort, or this part, has */

	pg_atomic_uint64 *claimed_rows; /* ... those of all parts; NULL: this is none */
	pg_atomic_uint32 *crowded;	/* of a part: not 0 if it may not have more than */
	uint32		shared_extents; /* ... its share of these */
	pg_atomic_uint32 *shares;	/* processes that divide the memory; NULL: it is alone */
} GpuSortMemory;

/* Processes that collect rows, or load portions, in memory that they divide. */
static inline uint32
gpusort_shares(const GpuSortMemory *memory)
{
	return memory->shares != NULL ? pg_atomic_read_u32(memory->shares) : 1;
}

/* How many rows are wanted, and which of those that came so far (sort_bound.h). */
typedef struct GpuSortBound
{
	uint64		rows;			/* no more than these; 0: all */
	uint64		trim_at;		/* when there are so many, they are trimmed; 0: never */
	bool		trimmed;		/* ... and have been: `last` is known */
	uint32		last;			/* id of the last one wanted */

	/* if the first key is an integer that is believed: what tells before a row is copied */
	bool		word_known;
	uint64		word;			/* no key word of a row that is wanted is greater */
	AttrNumber	attno;			/* where it lies in tuples on pages without nulls */
	int			offset;			/* -1: that varies */
	struct GpuSortVerifier *comparer;	/* has its keys loaded as number 1; made by the first trim */
	bool		verified;		/* words are not believed */
} GpuSortBound;

/* The result. */
typedef struct GpuSortOrder
{
	GpuSortRange *workspace;
	uint32	   *ids;			/* row ids by position: the engine's, in workspace,
								 * or a copy in refined, if there are ties to
								 * refine */
	const uint64 *keys;			/* NULL, or keys by position, in workspace: no ids */
	uint64		ready;			/* so many positions of ids are valid */
	GpuSortRange *refined;
	char	   *scratch;		/* of this process, for the engine to sort runs of ties, */
	size_t		scratch_bytes;	/* ... while these are refined */
	GpuSortRange *equal;		/* engine's bitmap, for the refinement; exact after it
								 * if the sort is to tell, */
	bool		knows_equal;	/* ... unless it was sorted by comparison */
	bool		performed;
} GpuSortOrder;

/* A column of rows that are made of their keys. */
typedef struct GpuSortKeyRowColumn
{
	GpuSortColumn *column;
	GpuSortInverse inverse;
	int			bytes;			/* of its value, */
	uint32		offset;			/* ... at this place in a row without nulls */
	int			page_offset;	/* in tuples on pages: see page_natts */
	gs_unpacking unpacking;		/* of order.keys */
	bool		always_null;
} GpuSortKeyRowColumn;

/* Rows that are made of their keys (key_rows.h). */
typedef struct GpuSortKeyRows
{
	bool		possible;
	bool		used;			/* there are no stored rows */
	AttrNumber	page_natts;		/* tuples on pages that have so many attributes, and no nulls, have
								 * the values at fixed places; 0: they have not */
	GpuSortKeyRowColumn columns[GPUSORT_KEY_ROW_COLUMNS];	/* by attribute */
} GpuSortKeyRows;

/* A portion of the runs. */
typedef struct GpuSortWindow
{
	uint64		first;			/* position of its first row */
	uint64		nrows;			/* 0: there is none */
	bool		mapped;			/* another process has loaded it, else it is the rows in memory: */
	GpuSortView view;
	GpuSortViewMapping mapping;
} GpuSortWindow;

/* Having it done by gpusortd (sort_service.h). */
typedef struct GpuSortJobState
{
	GpuSortJob	job;
	GpuSortRange *descriptor;	/* of an open job */
	instr_time	run_at;
	dlist_node	node;			/* in the list of sorts with an open job */
} GpuSortJobState;

/* Having rows brought into order there (sort_reorder.h). */
typedef struct GpuSortReordered
{
	bool		running;		/* the job goes on with that */
	uint64		count;			/* so many positions are valid, */
	bool		but_ties;		/* but for rows that order.equal shows as equal, and those before them */
	GpuSortRange *rows;			/* NULL: there are none */
	GpuSortRange *refs;			/* NULL: all rows are as long */
	GpuSortRowPlaces places;	/* in these ranges; an id is a position here */
} GpuSortReordered;

/* Being sorted together with another sort (sort_merged.h). */
typedef struct GpuSortMerge
{
	bool		failed;			/* gpusortd has failed at it, and is not asked again */
	bool		merged;			/* the order is that of both: */
	bool		holds_order;	/* this one has it, in order.workspace and order.equal */
	bool		any_nulls;		/* some row of either has a null in its key */
	gs_sides	sides;
	GpuSortRange *rest;			/* while it is done: words of rows behind whole extents, */
	GpuSortRange *nulls;		/* and bitmaps of nulls, of both */
} GpuSortMerge;

/* Being put in order by several processes (sort_team.h). */
typedef struct GpuSortTeamUse
{
	GpuSortTeam *team;			/* others who wait for the result, and help; NULL: nobody */
	int			participants;	/* that there may be */
	GpuSortRange *job;			/* what they share */
	struct TeamStretches *stretches;	/* that this process helps with, while it does */
	void	   *memory;			/* of this process, while it runs the engine */
	bool		running;		/* others may have the sort's memory mapped */
	struct ParallelContext *workers;	/* the team, if they were started for it (sort_workers.h) */
	bool		not_started;	/* there were none to be had */
} GpuSortTeamUse;

/*
 * What a sort is asked for before it has rows; all that it consists of follows from that and from
 * its spec.  Parts of a shared sort are asked for what it is (sort_parts.c).
 */
typedef struct GpuSortRequest
{
	bool		equal_rows;		/* find which rows are equal to the one before */
	bool		key_rows;		/* make rows of their keys, if that can be done (key_rows.h) */
	uint64		bound;			/* no more rows than these are wanted; 0: all */
} GpuSortRequest;

struct GpuSort
{
	MemoryContext context;
	MemoryContext scratch;		/* detoasted values; reset for each row */
	MemoryContextCallback on_reset;
	TupleDesc	desc;
	GpuSortSpec spec;
	bool		index_rows;		/* rows are IndexTuples, else MinimalTuples */
	bool		is_borrowed;	/* another process's, whose rows are looked at here (sort_lent.h) */
	bool		optional;		/* never handed over: the caller is told that it has failed */
	bool		tells_equal;	/* it is to find which rows are equal to the one before */

	/* in a sort whose rows several processes collect (sort_parts.h) */
	bool		is_part;
	bool		is_joined;		/* to be joined by another process than the leader */

	GpuSortKeys keys;
	GpuSortRows rows;
	GpuSortRows aside;			/* rows that were put into the sort itself, while
								 * parts are joined to it */
	GpuSortIndexFacts index;
	GpuSortMemory memory;
	GpuSortBound bound;
	GpuSortKeyRows key_rows;
	GpuSortOrder order;
	struct GpuSortParts *parts;	/* that were joined to it; NULL: none */
	int			group_columns;	/* rows that are equal in so many are not divided among processes */
	uint64		min_portion_rows;	/* ... which take so many at a time at least */
	struct GpuSortSpill *spill;	/* runs in files (spill_files.h); NULL: there are none */
	GpuSortWindow window;		/* of positions whose rows are at hand, if there are runs */
	GpuSortJobState service;
	GpuSortReordered reorder;
	GpuSortMerge merge;
	GpuSortTeamUse team;

	gs_progress *progress;		/* of gpusort_perform(), or NULL */

	/* a slot of the row descriptor, to look into stored rows; made on demand */
	TupleTableSlot *row_slot;

	bool		random_access;	/* what the tuplesort must be able to do */
	struct Tuplesortstate *tuplesort;	/* that the sort was handed over to */
	GpuSortStats stats;

	/* what others see of it */
	GpuSortActivity *activity;	/* NULL: nothing */
	GpuSortPhase phase;
	instr_time	phase_start;	/* if it is traced: */
	bool		is_traced;
	bool		is_noted;		/* it was counted: */
	GpuSortTally noted;
};

/* Is it of interest which rows are equal to the engine? */
static inline bool
needs_equal_rows(const GpuSort *sort)
{
	return sort->keys.refine_column >= 0 || sort->tells_equal;
}

/* Is there an order among rows that are equal to the engine? */
static inline bool
needs_refinement(const GpuSort *sort)
{
	return sort->keys.refine_column >= 0 || (sort->index_rows && !sort->index.tids_ordered);
}

/*
 * Mark the rows at positions from .. end - 1 as equal to the ones before, or not.  Others may be marking
 * their neighbours.
 */
static inline void
gpusort_mark_equal(uint64 *equal, uint64 from, uint64 end, bool is_equal)
{
	for (uint64 w = from / 64; w * 64 < end; w++)
	{
		pg_atomic_uint64 *word = (pg_atomic_uint64 *) &equal[w];
		uint64		bits = PG_UINT64_MAX;

		if (w * 64 < from)
			bits <<= from % 64;
		if (end - w * 64 < 64)
			bits &= (UINT64CONST(1) << (end % 64)) - 1;
		if (is_equal)
			pg_atomic_fetch_or_u64(word, bits);
		else
			pg_atomic_fetch_and_u64(word, ~bits);
	}
}

/* Is the order to be checked by PostgreSQL's comparison? */
static inline bool
needs_verification(const GpuSort *sort)
{
	return (gpusort_verify || sort->keys.untrusted) && sort->rows.count >= 2 &&
		!sort->key_rows.used;
}

/*
 * A sort without memory for its rows, in the current context, which releases what palloc
 * did not provide when it is reset or deleted.
 */
extern GpuSort *gpusort_make_state(TupleDesc desc, const GpuSortSpec *spec, size_t limit_bytes);

/* The planner expects up to 1e100 rows of some joins; engines sort up to so many. */
#define GPUSORT_MOST_ROWS	(UINT64CONST(1) << 48)

/* How many rows there will be, as far as anybody knows: no fewer than there are, and no more than anything can sort. */
static inline uint64
gpusort_rows_in_the_end(const GpuSort *sort)
{
	return Max((uint64) Min(sort->spec.expected_rows, (double) GPUSORT_MOST_ROWS), sort->rows.count);
}

/* Forget the rows, keep the memory, but for what gpusortd may still write to. */
extern void gpusort_forget_rows(GpuSort *sort);

/* Release everything that palloc did not provide. */
extern void gpusort_release_state(GpuSort *sort);

/* Rows that come may be wanted whatever they are. */
static inline void
gpusort_forget_trim(GpuSort *sort)
{
	sort->bound.trimmed = false;
	sort->bound.word_known = false;
}

/* Have no window, if it is one that another process has loaded. */
static inline void
gpusort_unmap_window(GpuSort *sort)
{
	if (!sort->window.mapped)
		return;
	gpusort_detach_view(&sort->window.mapping);
	sort->window.mapped = false;
	sort->window.nrows = 0;
}

extern TupleTableSlot *gpusort_row_slot(GpuSort *sort);

#endif							/* GPUSORT_SORT_STATE_H */
