/*
 * gs_sort_private.h
 *		The steps of a sort on the host.
 */
#ifndef GS_SORT_PRIVATE_H
#define GS_SORT_PRIVATE_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/gs_engine.h"
#include "engine/gs_layout.h"
#include "engine/host/gs_sort.h"

/* ---------- job: what all steps have in common ---------- */

/*
 * An *item* is one word per row: the bits of the section in front, the row id in the low id_bits.
 * Ids make all items different, so sorting items as plain integers is stable by construction.  In a
 * sort that returns keys only, items are keys, and may be the same.
 */

/*
 * The widest digit, see gs_radix.c, and the most digits that are counted at once.  gs_radix_bits()
 * returns log2(rows) + 3 bits, rounded up to whole digits, or the 64 - log2(rows) that an item has
 * if these are fewer.  That is never more than 40 bits in digits of 10, or 16 in the narrower
 * digits that few rows take.
 */
#define GS_DIGIT_MAX_BITS	10
#define GS_MAX_DIGITS		4

/* Tables that are too large for a backend's stack; they lie in front of the items. */
typedef struct gs_scratch
{
	uint64_t	counts[GS_MAX_DIGITS][1 << GS_DIGIT_MAX_BITS];
	gs_layout	layout;
	gs_section	section;
} gs_scratch;

/* The items, or rows, [begin, end). */
typedef struct gs_range
{
	uint64_t	begin;
	uint64_t	end;
} gs_range;

static inline uint64_t
gs_range_rows(gs_range range)
{
	return range.end - range.begin;
}

typedef struct gs_job
{
	/* constant while the sort goes on */
	const gs_layout *layout;
	gs_scratch *scratch;
	uint64_t	nrows;
	uint64_t   *equal;			/* may be NULL */
	const volatile int *cancel;
	const volatile int *also_cancel;
	gs_progress *progress;		/* may be NULL */
	unsigned	id_bits;
	bool		keys_only;		/* items are whole keys, without ids */
	uint64_t	bits_behind_first;	/* bits of the key behind its first section */

	/* the items, and as much memory to move them to */
	uint64_t   *items;
	uint64_t   *spare;
	gs_range	positions;		/* where the items belong, among all rows in order */

	/* how far the sort has come */
	uint64_t	work;			/* rows handled since the last look at *cancel */
	double		row_cost;		/* planned cost of a row in the present step */
	uint64_t	refined_rows;
	unsigned	passes;
	bool		moved;
} gs_job;

/* A sort of more rows is refused, so that all sizes stay far from overflowing. */
#define GS_MAX_ROWS	(UINT64_C(1) << 48)

/*
 * So many rows, at least 2, are handled between two looks at *cancel: less than a millisecond of
 * work.
 */
#define GS_POLL_ROWS	(UINT64_C(1) << 16)

/* Tells the progress of the work that was accounted for; returns true if the job must stop. */
static inline bool
gs_job_look(gs_job *job)
{
	gs_progress_advance(job->progress, (double) job->work * job->row_cost);
	job->work = 0;
	return gs_cancelled(job->cancel) || gs_cancelled(job->also_cancel);
}

/* Accounts for `rows` rows of work; returns true if the job must stop. */
static inline bool
gs_job_cancelled(gs_job *job, uint64_t rows)
{
	job->work += rows;
	return job->work >= GS_POLL_ROWS && gs_job_look(job);
}

/*
 * Returns the width of the next section, if bits_left bits of the key are left: as many of them as
 * fit an item.
 */
static inline unsigned
gs_section_bits(uint64_t bits_left, unsigned id_bits)
{
	return bits_left < 64 - id_bits ? (unsigned) bits_left : 64 - id_bits;
}

static inline unsigned
gs_job_section_bits(const gs_job *job, gs_cursor cursor)
{
	return gs_section_bits(cursor.bits_left, job->id_bits);
}

static inline void
gs_job_swap_halves(gs_job *job)
{
	uint64_t   *items = job->items;

	job->items = job->spare;
	job->spare = items;
}

/* ---------- key: which bits vary makes it up ---------- */

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

/* ---------- items: neighbours that tie on their leading bits ---------- */

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

/* ---------- radix: sorting items by as many leading bits as pay ---------- */

/* How the section's bits of an item are cut into digits of one width. */
typedef struct gs_digits
{
	unsigned	count;			/* 0 .. GS_MAX_DIGITS */
	unsigned	width;
	unsigned	low_bit;		/* lowest bit of the least significant digit */
} gs_digits;

extern unsigned gs_radix_bits(uint64_t rows, unsigned available);
extern unsigned gs_radix_most_bits(uint64_t rows, unsigned available);
extern gs_digits gs_radix_digits(uint64_t rows, unsigned low_bit, unsigned bits);
extern void gs_radix_clear(gs_job *job, gs_digits digits);
extern void gs_radix_count(gs_job *job, gs_digits digits, const uint64_t *items, uint64_t count);
extern uint64_t *gs_radix_partition(gs_job *job, gs_digits digits, uint64_t *items,
									uint64_t *spare, uint64_t count);

/* ---------- scan: few rows, one item a row ---------- */

extern bool gs_scan_rows(gs_job *job, const gs_section *section, gs_digits digits, gs_order *order);
extern bool gs_scan_reverse(gs_job *job);

/* ---------- refine: rows that tie on the whole item ---------- */

extern void gs_mark_all(gs_job *job, bool first_too);
extern bool gs_refine(gs_job *job, gs_range range, gs_cursor cursor);

/* ---------- scatter: items over many buckets, by lines past the caches ---------- */

#define GS_LINE_ITEMS	(GS_LINE_BYTES / sizeof(uint64_t))

/* The widest digit that items are distributed by: the 2^11 buckets take 144 kB. */
#define GS_SCATTER_MAX_BITS	11

typedef struct gs_line
{
	uint64_t	items[GS_LINE_ITEMS];
} gs_line;

/* Each bucket's line that is not full yet, and where it goes: arrays of 2^bits elements. */
typedef struct gs_scatter
{
	gs_line    *lines;
	uint64_t   *begins;			/* position of a bucket's first item of this call */
	uint64_t   *ends;			/* position behind the last item of this call */
} gs_scatter;

extern size_t gs_scatter_bytes(unsigned bits);

/* Makes the arrays in this memory, which is aligned to a line and has gs_scatter_bytes(bits). */
extern void gs_scatter_make(gs_scatter *scatter, void *memory, unsigned bits);

/* Begins with buckets whose next items go to these positions. */
extern void gs_scatter_begin(gs_scatter *scatter, const uint64_t *positions, unsigned bits);

/*
 * Distributes items over the buckets in `to`, by so many bits from `shift` up; `to` is aligned to a
 * line.
 */
extern void gs_scatter_items(gs_scatter *scatter, uint64_t *to, const uint64_t *items,
							 uint64_t count, unsigned shift, unsigned bits);

/* Writes the items that are left in lines. */
extern void gs_scatter_end(gs_scatter *scatter, uint64_t *to, unsigned bits);

/* Does the same with items whose buckets are told. */
extern void gs_scatter_to(gs_scatter *scatter, uint64_t *to, const uint64_t *items,
						  const uint16_t *buckets, uint64_t count);

/*
 * gs_stream_lines() does the same as memcpy() of whole lines, for memory that is not going to be
 * read soon.  Other participants may see the lines only after gs_stream_end(), whatever else they
 * wait for.
 */
extern void gs_stream_lines(uint64_t *to, const uint64_t *from, size_t lines);
extern void gs_stream_end(void);

/* ---------- splitters: buckets that are cut by a sample of the keys ---------- */

/*
 * 2^bits buckets of keys, of which the leading key_bits are looked at: at most 64.  The arrays have
 * an element for each bucket.  An item of a bucket is a key without its lowest bits, `shift` of
 * them, less the bucket's least key.
 */
typedef struct gs_splitters
{
	unsigned	bits;
	unsigned	key_bits;
	uint64_t   *tree;			/* the splitters as they are searched */
	uint64_t   *least;
	uint8_t    *shifts;
} gs_splitters;

static inline size_t
gs_splitters_bytes(unsigned bits)
{
	return gs_round_to_line((2 * sizeof(uint64_t) + sizeof(uint8_t)) << bits);
}

/*
 * Makes splitters from a sample of the rows, if that pays; returns false if not, or when cancelled.
 * The layout is known, and nothing is in the workspace yet.
 */
extern bool gs_splitters_make(const gs_splitters *splitters, gs_participant *participant);

/* Sets the buckets of `count` keys. */
extern void gs_splitters_find(const gs_splitters *splitters, uint16_t *buckets,
							  const uint64_t *keys, unsigned count);

/* Returns the bits of a key by which rows of its bucket are sorted, as those of an item. */
static inline uint64_t
gs_splitters_item(const gs_splitters *splitters, uint16_t bucket, uint64_t key)
{
	return (key - splitters->least[bucket]) >> splitters->shifts[bucket];
}

/* ---------- shared: what participants have in common ---------- */

/* Nodes are divided so often at most; each node that is left then is sorted by one participant. */
#define GS_MAX_ROUNDS	8

/* What participants do in a phase, and what a piece of it is. */
typedef enum gs_step
{
	GS_STEP_KEY,				/* a stretch of rows: find what their words have in common */
	GS_STEP_SCAN,				/* a stretch of rows: pack items, count a digit of them */
	GS_STEP_SCATTER,			/* a stretch of rows: distribute items over buckets */
	GS_STEP_LOOK,				/* a stretch of a node: find which bits vary */
	GS_STEP_COUNT,				/* a stretch of a node: count a digit */
	GS_STEP_MOVE,				/* a stretch of a node: distribute items over buckets */
	GS_STEP_COPY,				/* a stretch of a node: copy items back to where they were */
	GS_STEP_ALONE,				/* a node: sort it as a whole */
	GS_STEP_FINISH,				/* a task: sort, mark equal rows, write row ids */
	GS_STEP_DONE
} gs_step;

/*
 * A node: rows that are too many for one participant.  They lie in the half of the workspace that
 * is the items' home.  They are in order by the bits of the key before those of their items, but
 * not yet by the bits of their items.
 */
typedef struct gs_node
{
	gs_range	rows;
	gs_cursor	cursor;			/* where the key goes on behind the bits that its items have */
	bool		repack;			/* the section at the cursor is to be put into the items first */
	bool		refined;		/* it was so before */
	unsigned	digit_bits;		/* width of this round's digit; 0: none */
	unsigned	digit_shift;
	uint64_t	first_piece;
	uint64_t	npieces;
	uint64_t	table;			/* where its counters begin: npieces times 2^digit_bits */
	_Atomic uint64_t all_and;
	_Atomic uint64_t all_or;
} gs_node;

/* What a participant has to do with the rows of a task. */
typedef enum gs_task_kind
{
	/* sort by the bits of their items and by the key from the cursor on */
	GS_TASK_SORT,
	GS_TASK_EQUAL,				/* mark them: all of them are equal, and in order */
	GS_TASK_SORTED				/* nothing but write ids: they are in order, and marked */
} gs_task_kind;

typedef struct gs_task
{
	gs_range	rows;
	gs_cursor	cursor;
	gs_task_kind kind;
	bool		refined;		/* their items have another section than the first */
	bool		continued;		/* they equal the row before them, too */
} gs_task;

/*
 * What all participants share.  What lies behind the struct is found by offsets, since the struct
 * has another address in each process.
 */
struct gs_shared_sort
{
	/* constant while the sort goes on */
	uint64_t	nrows;
	unsigned	nplanes;
	unsigned	participants;	/* how many there are at most */
	unsigned	id_bits;
	unsigned	id_bytes;
	bool		want_keys;
	uint64_t	piece_rows;		/* rows of each stretch that all rows are cut into */
	uint64_t	npieces;
	uint64_t	task_rows;		/* most rows of a task; a node has more */
	uint64_t	max_nodes;
	uint64_t	max_tasks;
	uint64_t	max_counters;
	uint64_t	bucket_rows;	/* how many rows a bucket should have */
	size_t		stats;
	size_t		nodes;
	size_t		tasks;
	size_t		splitters;
	size_t		counters;

	/* written by participants while they work */
	_Atomic uint32_t begun;		/* how many participants have begun */
	_Atomic uint64_t next;		/* the first piece that no participant has taken */
	_Atomic uint32_t decided;	/* how many times a participant has decided, or begun to */
	_Atomic bool failed;
	_Atomic bool fallen;		/* some item is less than the one before */
	_Atomic bool moved;			/* some row is not where it was in the input */
	_Atomic uint64_t refined_rows;

	/* written by the participant that decides, while none works */
	gs_step		step;
	uint64_t	pieces;			/* how many pieces the step has */
	bool		keys_only;
	unsigned	digit_bits;		/* there are 2^digit_bits buckets of all rows; 0: none */
	unsigned	digit_shift;	/* of the leading bits, if buckets are cut by these */
	bool		by_splitters;
	unsigned	home;			/* the half of the workspace that has the items: 0 or 1 */
	unsigned	rounds;
	uint64_t	key_bits;
	gs_cursor	cursor;			/* where the key goes on behind its first section */
	unsigned	node_list;		/* which of the two lists has the nodes */
	uint64_t	nnodes;
	uint64_t	ntasks;
};

static inline gs_merged_stats *
gs_shared_stats(gs_shared_sort *shared)
{
	return (gs_merged_stats *) ((char *) shared + shared->stats);
}

static inline gs_node *
gs_shared_nodes(gs_shared_sort *shared)
{
	return (gs_node *) ((char *) shared + shared->nodes) + shared->node_list * shared->max_nodes;
}

/* Returns the list that has no nodes now, for the nodes of the next round. */
static inline gs_node *
gs_shared_other_nodes(gs_shared_sort *shared)
{
	return (gs_node *) ((char *) shared + shared->nodes) +
		(1 - shared->node_list) * shared->max_nodes;
}

static inline gs_task *
gs_shared_tasks(gs_shared_sort *shared)
{
	return (gs_task *) ((char *) shared + shared->tasks);
}

/* Returns the splitters, for a process that knows the layout. */
static inline gs_splitters
gs_shared_splitters(gs_shared_sort *shared)
{
	uint64_t	buckets = UINT64_C(1) << shared->digit_bits;
	uint64_t   *tree = (uint64_t *) ((char *) shared + shared->splitters);

	return (gs_splitters) {
		.bits = shared->digit_bits,
		.key_bits = gs_section_bits(shared->key_bits, 0),
		.tree = tree,
		.least = tree + buckets,
		.shifts = (uint8_t *) (tree + 2 * buckets),
	};
}

static inline uint64_t *
gs_shared_counters(gs_shared_sort *shared)
{
	return (uint64_t *) ((char *) shared + shared->counters);
}

/*
 * Sets all sizes and offsets, which follow from the numbers of rows, planes and participants;
 * returns the bytes of the struct and all that lies behind it.
 */
extern size_t gs_shared_plan(gs_shared_sort *shared);

/*
 * Returns how many of the leading bits are needed for buckets of about bucket_rows of so many rows;
 * 0 if the sort has too few rows for buckets.
 */
extern unsigned gs_shared_bucket_bits(const gs_shared_sort *shared, uint64_t rows);

/* Returns the rows that piece `number` of a step over all rows is about. */
extern gs_range gs_shared_piece(const gs_shared_sort *shared, uint64_t number);

/*
 * Returns the node, and sets *rows to those of its rows, that piece `number` of a step over nodes
 * is about.
 */
extern gs_node *gs_shared_node_piece(gs_shared_sort *shared, uint64_t number, gs_range *rows);

/* ---------- participant: what one has for itself ---------- */

struct gs_participant
{
	gs_shared_sort *shared;
	const gs_sort_args *args;
	unsigned	number;
	bool		has_layout;		/* the layout is known, once all words have been looked at */
	bool		has_section;
	gs_numbered numbered;		/* which planes are numbered */
	gs_job		job;
	uint64_t   *halves[2];		/* the two halves of the workspace */
	gs_cursor	behind_section;	/* where the key goes on behind its first section */
	gs_splitters splitters;		/* if buckets are cut by them */
	gs_scatter	scatter;
};

/* Makes a participant in this memory, with this number, at whatever step the sort is. */
extern gs_participant *gs_participant_make(void *memory, gs_shared_sort *shared,
										   const gs_sort_args *args, unsigned number);

/* Reads all words at once, for a participant that is the only one.  May return GS_CANCELLED. */
extern gs_status gs_participant_read_key(gs_participant *participant);

/* Makes the participant's layout, once all words have been looked at, unless it has it. */
extern void gs_participant_know_layout(gs_participant *participant);

/*
 * Takes over what follows from the layout, if all words have been looked at.  Called in each phase
 * that this participant takes part in, and before it decides anything.
 */
extern void gs_participant_know_key(gs_participant *participant);

/* ---------- task: rows that one participant sorts, marks and writes ---------- */

/* A task accounts for each of its rows so often. */
#define GS_TASK_VISITS	5

/* Sorts, marks and writes the rows of a task; returns false when cancelled. */
extern bool gs_task_finish(gs_participant *participant, const gs_task *task);

/* Sorts a node by itself, where it lies, and marks its equal rows; returns false when cancelled. */
extern bool gs_task_finish_node(gs_participant *participant, const gs_node *node);

/* ---------- steps: what a participant does in one ---------- */

/* Does pieces of the present step until none is left; returns false when cancelled. */
extern bool gs_steps_work(gs_participant *participant);

/* ---------- decide: which step comes next ---------- */

/* Begins the next step; all participants have done their part of the present one. */
extern void gs_decide(gs_participant *participant);

#endif							/* GS_SORT_PRIVATE_H */
