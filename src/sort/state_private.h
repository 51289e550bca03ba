/*
 * state_private.h
 *		What a sort consists of.
 *
 * A sort is made of the structs of its rooms, each of which a header declares beside the functions
 * that work on it: keys, rows, memory, service (what gpusortd does) and spill (runs).  Those of the
 * order, of the team and of parts, which functions of several rooms look at, are declared here.
 *
 * A row exists in three places, all indexed by its row id, which is its place in the order
 * of arrival: its tuple lies in the row store (row_store.c), a table of references says where
 * (sort_view.h), and every part of every sort column has a plane (key_columns.c).  After the
 * engine and the refinement, order.ids[position] is the row id.
 */
#ifndef GPUSORT_STATE_PRIVATE_H
#define GPUSORT_STATE_PRIVATE_H

#include "settings.h"
#include "sort/keys_private.h"
#include "sort/memory_private.h"
#include "sort/rows_private.h"
#include "sort/service_private.h"
#include "sort/sort.h"
#include "sort/spill_private.h"
#include "stats/stats.h"

/* ---------- the state ---------- */

#define EXTENT_BYTES	((size_t) GSD_EXTENT_BYTES)

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

/* Several processes that put a sort's rows in order (sort.h). */
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
 * its spec.  A part of a shared sort is asked for the same as that sort (parts_collect.c).
 */
typedef struct GpuSortRequest
{
	bool		equal_rows;		/* find which rows are equal to the one before */
	bool		key_rows;		/* make rows of their keys, if that can be done (key_rows.c) */
	uint64		bound;			/* how many rows are wanted at most; 0: all */
} GpuSortRequest;

/* A sort whose rows several processes collect (sort_parts.h), and the parts of it. */
typedef struct GpuSortPartsUse
{
	bool		is_part;
	bool		is_joined;	/* parts are joined in this sort, whose extents are the shared sort's */
	struct GpuSortParts *joined;	/* parts that were joined to it; NULL: none */
	GpuSortRows aside;			/* rows put into the sort itself, while parts are joined to it */
} GpuSortPartsUse;

/* What other sessions see of a sort (sort_progress.c). */
typedef struct GpuSortShown
{
	GpuSortActivity *activity;	/* NULL: they see nothing */
	bool		is_borrowed;	/* the entry is that of the sort which this one is a part of */
	/* how much of the whole, in parts of GPUSORT_ACTIVITY_WHOLE, is done by then */
	double		collected;		/* when all rows are there */
	double		ordered;		/* when they are in order */
	/* gpusort_perform()'s progress, if nobody has given it one */
	gs_progress progress;
	volatile int64_t word;
	GpuSortPhase phase;
	instr_time	phase_start;	/* when the phase began, if the sort is traced */
	bool		is_traced;
} GpuSortShown;

struct GpuSort
{
	MemoryContext context;
	MemoryContext scratch;		/* memory for detoasted values, reset for each row */
	MemoryContextCallback on_reset;

	/* what is asked for */
	TupleDesc	desc;
	GpuSortSpec spec;
	bool		index_rows;		/* rows are IndexTuples, else MinimalTuples */
	/* the sort is another process's, whose rows this one looks at (sort_lent.c) */
	bool		is_borrowed;
	bool		optional;		/* never handed over: the caller is told that it has failed */
	bool		tells_equal;	/* the sort is to find which rows are equal to the one before */
	/* the tuplesort, if the sort is handed over, must allow random access */
	bool		random_access;

	/* its rows, their keys, and the memory for them */
	GpuSortKeys keys;
	GpuSortRows rows;
	GpuSortIndexFacts index;
	GpuSortKeyRows key_rows;
	/* a slot of the row descriptor, to look into stored rows; made by gpusort_row_slot() */
	TupleTableSlot *row_slot;
	GpuSortMemory memory;
	GpuSortBound bound;

	/* the order, and who else has to do with it */
	GpuSortOrder order;
	GpuSortTeamUse team;
	GpuSortDeviceUse device;
	GpuSortPartsUse parts;
	GpuSortRuns runs;
	struct Tuplesortstate *tuplesort;	/* tuplesort that the sort was handed over to, or NULL */

	/* what is known of the sort elsewhere */
	gs_progress *progress;		/* where gpusort_perform() shows how far it is, or NULL */
	GpuSortShown shown;
	GpuSortStats stats;
	bool		is_noted;		/* the sort was counted, as `noted` */
	GpuSortTally noted;
};

/* Returns whether encoders hold no more memory than they may, to be asked when a key was made. */
static inline bool
gpusort_encoders_fit(GpuSort *sort)
{
	return likely(gpusort_key_memory_bytes(&sort->keys.memory) + sort->memory.charged_bytes ==
				  sort->memory.other_private_bytes) ||
		gpusort_note_encoders(sort);
}

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
	if (!sort->runs.window.mapped)
		return;
	gpusort_detach_view(&sort->runs.window.mapping);
	sort->runs.window.mapped = false;
	sort->runs.window.nrows = 0;
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
	double		rows = (double) sort->stats.rows * gpusort_shares(&sort->memory);

	if (sort->shown.activity == NULL)
		return;
	if (sort->spec.expected_rows > 0 && !sort->order.performed)
		gpusort_raise_activity(sort->shown.activity, sort->shown.collected *
							   Min(rows / sort->spec.expected_rows, 1));
	sort->shown.activity->rows = (int64) sort->stats.rows;
	sort->shown.activity->bytes = (int64) (sort->key_rows.used
										   ? sort->rows.count * sort->keys.ncolumns * sizeof(uint64)
										   : sort->rows.used);
}

/*
 * Have gpusort_perform() show how far it is, between these calls, of which the second one says that
 * the rows are in order.
 */
extern void gpusort_show_order_begin(GpuSort *sort);
extern void gpusort_show_order_end(GpuSort *sort);

/* ---------- progress: the steps of a sort, each in proportion to what it costs ---------- */

/*
 * Whoever wants to see a sort advance gives it a gs_progress (engine/gs_engine.h).  Engine,
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
