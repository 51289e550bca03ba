/*
 * gs_shared.h
 *		What the participants of a sort have in common; see gs_shared.c.
 */
#ifndef GS_SHARED_H
#define GS_SHARED_H

#include <stdatomic.h>

#include "engine/host/gs_job.h"
#include "engine/host/gs_key.h"
#include "engine/host/gs_shared_sort.h"

/* So often nodes are divided; what is left then is sorted by one participant each. */
#define GS_MAX_ROUNDS	8

/* What participants do in a phase, and what its pieces are. */
typedef enum gs_step
{
	GS_STEP_KEY,				/* stretches of rows: what their words have in common */
	GS_STEP_SCAN,				/* stretches of rows: pack items, count a digit of them */
	GS_STEP_SCATTER,			/* stretches of rows: distribute items over buckets */
	GS_STEP_LOOK,				/* stretches of nodes: which bits vary */
	GS_STEP_COUNT,				/* stretches of nodes: count a digit */
	GS_STEP_MOVE,				/* stretches of nodes: distribute items over buckets */
	GS_STEP_COPY,				/* stretches of nodes: take them back where they were */
	GS_STEP_ALONE,				/* nodes: sort each as a whole */
	GS_STEP_FINISH,				/* tasks: sort, mark equal rows, write row ids */
	GS_STEP_DONE
} gs_step;

/*
 * Rows that are too many for one participant.  They lie in the half of the workspace that is the
 * items' home, and are in order before the bits of their items, but not by these.
 */
typedef struct gs_node
{
	gs_range	rows;
	gs_cursor	cursor;			/* behind the section that its items have */
	bool		repack;			/* the items still have the section before that */
	unsigned	digit_bits;		/* of this round's digit; 0: none */
	unsigned	digit_shift;
	uint64_t	first_piece;
	uint64_t	npieces;
	uint64_t	table;			/* its counters: npieces times 2^digit_bits, from there on */
	_Atomic uint64_t all_and;
	_Atomic uint64_t all_or;
} gs_node;

/* Rows that one participant brings to their end. */
typedef enum gs_task_kind
{
	GS_TASK_SORT,				/* by the bits of their items, and what is behind the cursor */
	GS_TASK_EQUAL,				/* all of them are equal, and in order */
	GS_TASK_SORTED				/* in order, and marked */
} gs_task_kind;

typedef struct gs_task
{
	gs_range	rows;
	gs_cursor	cursor;
	gs_task_kind kind;
	bool		continued;		/* equal to the row before them, too */
} gs_task;

/*
 * Offsets of what lies behind the struct, whose address is another one in each process.
 */
struct gs_shared_sort
{
	/* constant */
	uint64_t	nrows;
	unsigned	nplanes;
	unsigned	participants;	/* at most */
	unsigned	id_bits;
	unsigned	id_bytes;
	bool		want_keys;
	uint64_t	piece_rows;		/* of the stretches that rows are cut into */
	uint64_t	npieces;
	uint64_t	task_rows;		/* a node has more */
	uint64_t	max_nodes;
	uint64_t	max_tasks;
	uint64_t	max_counters;
	uint64_t	bucket_rows;	/* wanted in a bucket */
	size_t		stats;
	size_t		nodes;
	size_t		tasks;
	size_t		counters;

	/* while participants work */
	_Atomic uint32_t begun;		/* participants */
	_Atomic uint64_t next;		/* piece that nobody has taken */
	_Atomic uint32_t decided;	/* phases behind which somebody has decided, or is deciding */
	_Atomic bool failed;
	_Atomic bool fallen;		/* some item is less than the one before */
	_Atomic bool moved;			/* some row is not where it came */
	_Atomic uint64_t refined_rows;

	/* written by who decides, while nobody works */
	gs_step		step;
	uint64_t	pieces;			/* of the step */
	bool		keys_only;
	unsigned	digit_bits;		/* of all rows; 0: none */
	unsigned	digit_shift;
	unsigned	home;			/* the half of the workspace that has the items: 0 or 1 */
	unsigned	rounds;
	uint64_t	bits_behind_first;
	uint64_t	key_bits;
	gs_cursor	cursor;			/* behind the first section */
	unsigned	node_list;		/* which of two lists has the nodes */
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

/* The list that has none, for those of the next round. */
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

static inline uint64_t *
gs_shared_counters(gs_shared_sort *shared)
{
	return (uint64_t *) ((char *) shared + shared->counters);
}

/* Set what follows from the numbers of rows, planes and participants; returns the bytes of all. */
extern size_t gs_shared_plan(gs_shared_sort *shared);

/* How many of the leading bits make buckets of so many rows; 0: too few rows for buckets. */
extern unsigned gs_shared_bucket_bits(const gs_shared_sort *shared, uint64_t rows);

/* Rows of all that piece `number` of a step over all rows is about. */
extern gs_range gs_shared_piece(const gs_shared_sort *shared, uint64_t number);

/* The node, and its rows, that piece `number` of a step over nodes is about. */
extern gs_node *gs_shared_node_piece(gs_shared_sort *shared, uint64_t number, gs_range *rows);

#endif							/* GS_SHARED_H */
