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
	unsigned	digit_bits;		/* the digit that all rows are distributed by; 0: none */
	unsigned	digit_shift;
	unsigned	home;			/* the half of the workspace that has the items: 0 or 1 */
	unsigned	rounds;
	uint64_t	bits_behind_first;
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

#endif							/* GS_SHARED_H */
