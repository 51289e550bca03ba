/*
 * state_private.h
 *		What a sort consists of.
 *
 * A row exists in three places, all indexed by its row id, which is its place in the order
 * of arrival: its tuple lies in the row store (row_store.c), a table of references says where
 * (sort_view.h), and every part of every sort column has a plane (key_columns.c).  After the
 * engine and the refinement, order.ids[position] is the row id.
 */
#ifndef GPUSORT_STATE_PRIVATE_H
#define GPUSORT_STATE_PRIVATE_H

#include "lib/ilist.h"

#include "engine/gs_layout.h"
#include "engine/gs_merged.h"
#include "service/service.h"
#include "settings.h"
#include "sort/keys_private.h"
#include "sort/rows_private.h"
#include "sort/sort.h"
#include "sort/sort_team.h"
#include "sort/sort_view.h"
#include "stats/stats.h"

/* ---------- the state ---------- */

#define EXTENT_BYTES	((size_t) GSD_EXTENT_BYTES)

/* What is known about the rows of an index build. */
typedef struct GpuSortIndexFacts
{
	bool		tids_ordered;	/* rows arrived in the order of their TIDs */
	uint64		last_tid;
	bool		any_dead;		/* some rows are marked dead */
	bool		other_lengths;	/* some tuples are not as long as the template */
} GpuSortIndexFacts;

/* How much memory a sort may have (sort_memory.c). */
typedef struct GpuSortMemory
{
	size_t		limit_bytes;	/* limit of private memory */
	/* the limit that the sort began with; a single large row may raise it */
	size_t		first_limit_bytes;
	/*
	 * private memory that neither rows nor planes take: what encoders were seen to hold, and
	 * charged_bytes
	 */
	size_t		other_private_bytes;
	/* what the sort's owner takes of private memory (gpusort_charge()) */
	size_t		charged_bytes;
	size_t		encoders_bytes; /* what encoders will be let hold whatever rows take */
	/* bytes of the row store that rows leave to keys which are made when rows are sorted */
	size_t		spare_bytes;
	GpuSortPoolAccount pool_account;
	size_t		reserve_bytes;	/* address space that each range reserves */
	uint64		capacity;		/* number of rows that the planes have room for */
	uint64		expected_rows;	/* rows that there will be, if that is known, else 0 */

	/* if not all rows fit (spill_plan.c) */
	double		planned_rows;	/* the planner's estimate of the rows of all participants */
	/* memory for rows before they become a run; 0: memory is not divided */
	size_t		buffer_bytes;
	size_t		keep_bytes;		/* memory for runs that stay in memory */
	/* extents of the pool that hold runs of this sort, or of this part */
	uint32		kept_extents;

	/* rows that the planes of all parts have room for; NULL: this sort is no part */
	pg_atomic_uint64 *claimed_rows;
	/* of a part: not 0 if each part may have no more than its share */
	pg_atomic_uint32 *shares_enforced;
	uint32		shared_extents; /* extents of which a part has its share */
	pg_atomic_uint32 *shares;	/* processes that divide the memory; NULL: this one has it alone */
} GpuSortMemory;

/* Returns how many processes divide the memory to collect rows or to load portions. */
static inline uint32
gpusort_shares(const GpuSortMemory *memory)
{
	return memory->shares != NULL ? pg_atomic_read_u32(memory->shares) : 1;
}

/* How many rows are wanted, and which of those that came so far (sort_bound.c). */
typedef struct GpuSortBound
{
	uint64		rows;			/* how many rows are wanted at most; 0: all */
	uint64		trim_at;		/* rows are trimmed when there are so many; 0: never */
	bool		trimmed;		/* rows have been trimmed, so `last` is known */
	uint32		last;			/* row id of the last row wanted */

	/* if the first key is an integer whose words are trusted: it decides before a row is copied */
	bool		word_known;
	uint64		word;			/* rows whose first word is greater are not wanted */
	AttrNumber	attno;			/* the key's attribute in tuples on pages */
	int			offset;			/* its offset in tuples without nulls; -1: it varies */
	/* has the keys of the last row wanted as number 1; made by the first trim */
	struct GpuSortVerifier *comparer;
	bool		verified;		/* words are not trusted, PostgreSQL's comparison decides */
} GpuSortBound;

/* The result of a sort: the order of its rows. */
typedef struct GpuSortOrder
{
	GpuSortRange *workspace;
	/*
	 * row ids by position: the engine's, in workspace, or a copy in refined if there were ties to
	 * refine
	 */
	uint32	   *ids;
	/* keys by position, in workspace, if the engine has sorted keys without row ids; else NULL */
	const uint64 *keys;
	uint64		ready;			/* so many first positions of ids are valid */
	GpuSortRange *refined;
	char	   *scratch;		/* this process's memory for the engine to sort runs of ties in */
	size_t		scratch_bytes;
	/*
	 * bitmap of rows equal to the one before: the engine's, for the refinement; exact after it if
	 * the sort is to tell
	 */
	GpuSortRange *equal;
	bool		knows_equal;	/* `equal` can be believed; set by whoever has made the order */
	bool		performed;
} GpuSortOrder;

/* A column of rows that are made of their keys. */
typedef struct GpuSortKeyRowColumn
{
	GpuSortColumn *column;
	GpuSortInverse inverse;
	int			bytes;			/* length of its value */
	uint32		offset;			/* where the value lies in a row without nulls */
	int			page_offset;	/* where it lies in tuples on pages of page_natts attributes */
	gs_unpacking unpacking;		/* how to get its word back out of order.keys */
	bool		always_null;
} GpuSortKeyRowColumn;

/* Rows that are made of their keys (key_rows.c). */
typedef struct GpuSortKeyRows
{
	bool		possible;
	bool		used;			/* no rows are stored */
	/*
	 * tuples on pages that have so many attributes and no nulls have the values at fixed places; 0:
	 * none do
	 */
	AttrNumber	page_natts;
	GpuSortKeyRowColumn columns[GPUSORT_KEY_ROW_COLUMNS];	/* indexed by attribute number - 1 */
} GpuSortKeyRows;

/* The portion of the runs whose rows are at hand. */
typedef struct GpuSortWindow
{
	uint64		first;			/* position of its first row */
	uint64		nrows;			/* number of its rows; 0: there is no window */
	/* another process has loaded it, and view shows it; else it is the rows in memory */
	bool		mapped;
	GpuSortView view;
	GpuSortViewMapping mapping;
} GpuSortWindow;

/* A sort's job for gpusortd (sort_service.c). */
typedef struct GpuSortJobState
{
	GpuSortJob	job;
	GpuSortRange *descriptor;	/* memory in which an open job is described */
	instr_time	run_at;
	dlist_node	node;			/* link in the list of sorts with an open job */
} GpuSortJobState;

/* Rows that gpusortd brings into sorted order (sort_reorder.c). */
typedef struct GpuSortReordered
{
	bool		running;		/* the job goes on with bringing rows into order */
	uint64		count;			/* so many first positions are valid */
	/* except those of ties: of rows that order.equal marks, and of the rows before them */
	bool		but_ties;
	GpuSortRange *rows;			/* the rows in order; NULL: there are none */
	GpuSortRange *refs;			/* where in `rows` they begin; NULL: all are equally long */
	/* the two as places, where a position takes the place of a row id */
	GpuSortRowPlaces places;
} GpuSortReordered;

/* Two sorts that gpusortd puts in one order (sort.h). */
typedef struct GpuSortMerge
{
	bool		failed;			/* gpusortd has failed to do that, and is not asked again */
	bool		merged;			/* the order is that of the rows of both sorts */
	bool		holds_order;	/* this sort has it, in order.workspace and order.equal */
	bool		any_nulls;		/* some row of either sort has a null in its key */
	gs_sides	sides;
	GpuSortRange *rest;	/* during the merge: words of both sorts that don't fill an extent */
	GpuSortRange *nulls;		/* during the merge: bitmaps of nulls of both sorts */
} GpuSortMerge;

/* Several processes that put a sort's rows in order (sort_team.h). */
typedef struct GpuSortTeamUse
{
	GpuSortTeam *team;	/* processes that wait for the result, and help; NULL: there are none */
	int			participants;	/* most processes that may take part, this one included */
	GpuSortRange *job;			/* what they share, in extents of the sort */
	struct TeamStretches *stretches;	/* the job that this process helps with, while it does */
	void	   *memory;			/* memory of this process while it runs the engine */
	bool		running;		/* other processes may have the sort's memory mapped */
	/* workers that were started as the team (sort_workers.c), or NULL */
	struct ParallelContext *workers;
	bool		not_started;	/* no workers were to be had */
} GpuSortTeamUse;

/*
 * What a sort is asked for before it has rows.  All that it consists of follows from that and from
 * its spec.  A part of a shared sort is asked for the same as that sort (sort_parts.c).
 */
typedef struct GpuSortRequest
{
	bool		equal_rows;		/* find which rows are equal to the one before */
	bool		key_rows;		/* make rows of their keys, if that can be done (key_rows.c) */
	uint64		bound;			/* how many rows are wanted at most; 0: all */
} GpuSortRequest;

struct GpuSort
{
	MemoryContext context;
	MemoryContext scratch;		/* memory for detoasted values, reset for each row */
	MemoryContextCallback on_reset;
	TupleDesc	desc;
	GpuSortSpec spec;
	bool		index_rows;		/* rows are IndexTuples, else MinimalTuples */
	/* the sort is another process's, whose rows this one looks at (sort_lent.c) */
	bool		is_borrowed;
	bool		optional;		/* never handed over: the caller is told that it has failed */
	bool		tells_equal;	/* the sort is to find which rows are equal to the one before */

	/* in a sort whose rows several processes collect (sort_parts.h) */
	bool		is_part;
	bool		is_joined;	/* parts are joined in this sort, whose extents are the shared sort's */

	GpuSortKeys keys;
	GpuSortRows rows;
	GpuSortRows aside;			/* rows put into the sort itself, while parts are joined to it */
	GpuSortIndexFacts index;
	GpuSortMemory memory;
	GpuSortBound bound;
	GpuSortKeyRows key_rows;
	GpuSortOrder order;
	struct GpuSortParts *parts;	/* parts that were joined to it; NULL: none */
	/* rows that are equal in so many first columns are not divided among processes */
	int			group_columns;
	/* processes that divide the rows take at least so many at a time */
	uint64		min_portion_rows;
	struct GpuSortSpill *spill;	/* runs in files (spill_files.c); NULL: there are none */
	GpuSortWindow window;		/* positions whose rows are at hand, if there are runs */
	GpuSortJobState service;
	GpuSortReordered reorder;
	GpuSortMerge merge;
	GpuSortTeamUse team;

	gs_progress *progress;		/* where gpusort_perform() shows how far it is, or NULL */

	/* a slot of the row descriptor, to look into stored rows; made by gpusort_row_slot() */
	TupleTableSlot *row_slot;

	/* the tuplesort, if the sort is handed over, must allow random access */
	bool		random_access;
	struct Tuplesortstate *tuplesort;	/* tuplesort that the sort was handed over to, or NULL */
	GpuSortStats stats;

	/* what other sessions see of the sort */
	GpuSortActivity *activity;	/* NULL: they see nothing */
	GpuSortPhase phase;
	instr_time	phase_start;	/* when the phase began, if the sort is traced */
	bool		is_traced;
	bool		is_noted;		/* the sort was counted, as `noted` */
	GpuSortTally noted;
};

/* Returns whether it matters which rows the engine finds equal. */
static inline bool
needs_equal_rows(const GpuSort *sort)
{
	return sort->keys.refine_column >= 0 || sort->tells_equal;
}

/* Returns whether rows that are equal to the engine have an order among them. */
static inline bool
needs_refinement(const GpuSort *sort)
{
	return sort->keys.refine_column >= 0 || (sort->index_rows && !sort->index.tids_ordered);
}

/*
 * Mark the rows at positions from .. end - 1 as equal to the row before each, or as not equal.
 * Other processes may be marking rows beside these at the same time, so words are changed
 * atomically.
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

/* Returns whether the order is to be checked by PostgreSQL's comparison. */
static inline bool
needs_verification(const GpuSort *sort)
{
	return (gpusort_verify || sort->keys.untrusted) && sort->rows.count >= 2 &&
		!sort->key_rows.used;
}

/*
 * Returns a new sort without memory for its rows.  It lives in the current memory context, and
 * releases what palloc did not provide when that context is reset or deleted.
 */
extern GpuSort *gpusort_make_state(TupleDesc desc, const GpuSortSpec *spec, size_t limit_bytes);

/*
 * The most rows that any estimate is taken for: the planner expects up to 1e100 rows of some joins.
 */
#define GPUSORT_MOST_ROWS	(UINT64CONST(1) << 48)

/*
 * Returns how many rows the sort will have, as far as anybody knows: no fewer than it has now, and
 * no more than any engine can sort.
 */
static inline uint64
gpusort_rows_in_the_end(const GpuSort *sort)
{
	return Max((uint64) Min(sort->spec.expected_rows, (double) GPUSORT_MOST_ROWS),
			   sort->rows.count);
}

/*
 * Forget the rows, and keep the memory.  If gpusortd may still write to some of it, get other
 * memory.
 */
extern void gpusort_forget_rows(GpuSort *sort);

/* Release everything that palloc did not provide. */
extern void gpusort_release_state(GpuSort *sort);

/* Forget what the last trim has found: any row that comes may be wanted again. */
static inline void
gpusort_forget_trim(GpuSort *sort)
{
	sort->bound.trimmed = false;
	sort->bound.word_known = false;
}

/* Give up the window, if another process has loaded it. */
static inline void
gpusort_unmap_window(GpuSort *sort)
{
	if (!sort->window.mapped)
		return;
	gpusort_detach_view(&sort->window.mapping);
	sort->window.mapped = false;
	sort->window.nrows = 0;
}

/*
 * Returns a slot of the row descriptor, to look into stored rows, which is made on the first call.
 */
extern TupleTableSlot *gpusort_row_slot(GpuSort *sort);

/* ---------- what other sessions see of a sort while it runs (stats/activity.c) ---------- */

/*
 * Show the sort, which is going to have rows put into it, for the first or another time; or, with
 * gpusort_show_end(), show it no more.
 */
extern void gpusort_show_begin(GpuSort *sort);
extern void gpusort_show_end(GpuSort *sort);

/* Show that the sort has come to a phase.  Returns the phase that it leaves. */
extern GpuSortPhase gpusort_show_enter(GpuSort *sort, GpuSortPhase phase);

/* Show that the sort's memory or its temporary files have grown. */
extern void gpusort_show_memory(GpuSort *sort);

/*
 * Show how many rows the sort has by now.  This is cheap enough to be called for every page of
 * input.
 */
static inline void
gpusort_show_rows(GpuSort *sort)
{
	if (sort->activity == NULL)
		return;
	sort->activity->rows = (int64) sort->stats.rows;
	sort->activity->bytes = (int64) (sort->key_rows.used
									 ? sort->rows.count * sort->keys.ncolumns * sizeof(uint64)
									 : sort->rows.used);
}

/* ---------- progress: the steps of a sort, each in proportion to what it costs ---------- */

/*
 * Whoever wants to see a sort advance gives it a gs_progress (engine/gs_progress.h).  Engine,
 * refinement and verification are one stage each; how long the latter two will take is planned anew
 * when a step is done and more is known.  Touching memory for the first time is a stage within the
 * engine's.
 */

/*
 * Units of work in the refinement, in nanoseconds: looking at a row that does not tie, and at one
 * word of a row that does.  Verification counts rows.
 */
#define GPUSORT_SWEEP_COST		0.3
#define GPUSORT_TIED_COST		130.0

/*
 * Plan what is left of a sort that is being performed, and enter its next step.  Returns the
 * progress as it was before, which gs_progress_leave(sort->progress, ...) takes when the step is
 * done.
 */
extern gs_progress gpusort_enter_engine(GpuSort *sort);
extern gs_progress gpusort_enter_growth(GpuSort *sort, size_t bytes, size_t fresh_bytes);
extern gs_progress gpusort_enter_refinement(GpuSort *sort);
extern gs_progress gpusort_enter_verification(GpuSort *sort);

/* ---------- notes: counting what sorts do ---------- */

/* Count what a sort has done since gpusort_note_sort(), when it is reset or ended. */
extern void gpusort_note_rest(GpuSort *sort);

#endif							/* GPUSORT_STATE_PRIVATE_H */
