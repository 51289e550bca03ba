/*
 * load_share.c
 *		The chunks of an input that participants load together; see load_share_private.h.
 *
 * Chunks are numbered from 0 on, and a chunk's number modulo nchunks is its place in the array.
 * The state of all chunks follows from comparing numbers: turn <= taken <= added <= filled <= turn
 * + nchunks.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/condition_variable.h"
#include "storage/spin.h"

#include "load/load_share_private.h"
#include "memory/pool.h"
#include "pg_compat.h"
#include "team/worker_wait.h"
#include "team/workers.h"

typedef struct SharedChunk
{
	uint32		extent;			/* of the pool, if the bytes are there */
	uint32		nfields;		/* found by a device, and to be proven */
	uint32		nrecords;		/* the same; 0: nothing was found */
	Size		bytes;
	bool		at_end;			/* the input ends with this chunk */
	bool		left;			/* loaded by the leader, in the chunk's turn */
	uint64		lines;			/* that were read, if lines are asked for */
	bool		has_line_bits;	/* bits where the bytes were tell which lines end rows */
	dsa_pointer leaves;			/* of its rows, if their order is asked for; or invalid */
	uint64		rows;			/* how many leaves there are */
} SharedChunk;

/* Wait events. */
static uint32 wait_for_rows = 0;
static uint32 wait_for_turn = 0;
static uint32 wait_for_workers = 0;

struct GpuSortLoadShare
{
	slock_t		mutex;			/* protects all that follows but the chunks' bytes */
	uint64		noted;			/* chunks whose lines the leader has appended to its own */
	uint64		filled;			/* chunks that the leader has filled */
	uint64		added;			/* chunks that participants may take, or have taken */
	uint64		taken;
	uint64		turn;			/* the number of the chunk whose turn it is */
	bool		closed;			/* no other chunk will be filled */
	bool		ended;			/* the chunk whose turn it is has an odd record */
	Size		end_offset;		/* where this odd record begins in the chunk */
	bool		mistaken;		/* what a device has found was wrong */
	GpuSortLoadCounts counts;
	uint64		error_line;		/* the first line at which writing rows has failed, or 0 */

	ConditionVariable more;		/* broadcast when there are chunks to take, or no more */
	ConditionVariable turned;
	bool		in_pool;		/* the chunks' bytes lie in the pool */
	int			nchunks;		/* how many places there are */
	SharedChunk chunks[FLEXIBLE_ARRAY_MEMBER];	/* with the bytes behind them, if not in the pool */
};

static Size
header_bytes(int nchunks)
{
	return BUFFERALIGN(offsetof(GpuSortLoadShare, chunks) + nchunks * sizeof(SharedChunk));
}

Size
gpusort_share_bytes(int nchunks, bool in_pool)
{
	return in_pool ? header_bytes(nchunks)
		: add_size(header_bytes(nchunks), mul_size(nchunks, GPUSORT_LOAD_CHUNK_BYTES));
}

void
gpusort_share_init(GpuSortLoadShare *share, int nchunks, const uint32 *extents)
{
	memset(share, 0, header_bytes(nchunks));
	SpinLockInit(&share->mutex);
	ConditionVariableInit(&share->more);
	ConditionVariableInit(&share->turned);
	share->nchunks = nchunks;
	share->in_pool = extents != NULL;
	for (int i = 0; share->in_pool && i < nchunks; i++)
		share->chunks[i].extent = extents[i];
}

static SharedChunk *
get_chunk(GpuSortLoadShare *share, uint64 number)
{
	return &share->chunks[number % share->nchunks];
}

static char *
get_bytes(GpuSortLoadShare *share, uint64 number)
{
	if (share->in_pool)
		return gsd_extent(gpusort_pool, get_chunk(share, number)->extent);
	return (char *) share + header_bytes(share->nchunks) +
		number % share->nchunks * GPUSORT_LOAD_CHUNK_BYTES;
}

/* ---------- the leader fills chunks ---------- */

/* Appends the lines of the chunks before number "end" to the leader's lines. */
static void
take_lines(GpuSortLoadShare *share, uint64 end, GpuSortLoadLines *lines)
{
	for (; share->noted < end; share->noted++)
	{
		const SharedChunk *chunk = get_chunk(share, share->noted);

		gpusort_lines_join(lines, chunk->lines,
						   chunk->has_line_bits ? (uint8 *) get_bytes(share, share->noted) : NULL);
		gpusort_load_order_take(&lines->order, chunk->leaves, chunk->rows);
	}
}

char *
gpusort_share_room(GpuSortLoadShare *share, GpuSortLoadLines *lines)
{
	uint64		number = share->filled;
	uint64		turn;

	SpinLockAcquire(&share->mutex);
	turn = share->turn;
	SpinLockRelease(&share->mutex);
	take_lines(share, turn, lines);
	return number < turn + share->nchunks ? get_bytes(share, number) : NULL;
}

void
gpusort_share_take_lines(GpuSortLoadShare *share, GpuSortLoadLines *lines)
{
	take_lines(share, share->turn + share->ended, lines);
}

void
gpusort_share_fill(GpuSortLoadShare *share, Size bytes, bool at_end)
{
	SharedChunk *chunk = get_chunk(share, share->filled);

	chunk->bytes = bytes;
	chunk->at_end = at_end;
	chunk->left = false;
	chunk->nfields = chunk->nrecords = 0;
	SpinLockAcquire(&share->mutex);
	share->filled++;
	SpinLockRelease(&share->mutex);
	if (!share->in_pool)
		gpusort_share_add(share, NULL);
}

uint64
gpusort_share_filled(const GpuSortLoadShare *share, GpuSortJobChunk *chunks, uint64 most)
{
	uint64		count = 0;

	for (uint64 number = share->added; number < share->filled && count < most; number++)
	{
		const SharedChunk *chunk = &share->chunks[number % share->nchunks];

		chunks[count++] = (GpuSortJobChunk) {
			chunk->extent, chunk->bytes
		};
	}
	return count;
}

void
gpusort_share_add(GpuSortLoadShare *share, const gs_found *found)
{
	SharedChunk *chunk = get_chunk(share, share->added);

	if (found != NULL && found->nfields <= GSD_CHUNK_FIELDS && found->nrecords <= GSD_CHUNK_RECORDS)
	{
		chunk->nfields = found->nfields;
		chunk->nrecords = found->nrecords;
	}
	SpinLockAcquire(&share->mutex);
	share->added++;
	SpinLockRelease(&share->mutex);
	ConditionVariableBroadcast(&share->more);
}

void
gpusort_share_close(GpuSortLoadShare *share)
{
	SpinLockAcquire(&share->mutex);
	share->closed = true;
	SpinLockRelease(&share->mutex);
	ConditionVariableBroadcast(&share->more);
}

/* ---------- taking chunks ---------- */

typedef enum TakeResult
{
	TAKE_TAKEN,
	TAKE_NONE_YET,
	TAKE_NONE_EVER
} TakeResult;

static TakeResult
take_chunk(GpuSortLoadShare *share, bool look_only, uint64 *number)
{
	TakeResult	result = TAKE_NONE_YET;

	SpinLockAcquire(&share->mutex);
	if (share->ended || (share->closed && share->taken == share->filled))
		result = TAKE_NONE_EVER;
	else if (share->taken < share->added)
	{
		result = TAKE_TAKEN;
		if (!look_only)
			*number = share->taken++;
	}
	SpinLockRelease(&share->mutex);
	return result;
}

bool
gpusort_share_await_chunk(GpuSortLoadShare *share)
{
	TakeResult	result;

	ConditionVariablePrepareToSleep(&share->more);
	while ((result = take_chunk(share, true, NULL)) == TAKE_NONE_YET)
		gpusort_worker_await(&share->more, gpusort_wait_event(&wait_for_rows, "GpuSortLoadRows"));
	ConditionVariableCancelSleep();
	return result == TAKE_TAKEN;
}

/* ---------- turns ---------- */

typedef enum TurnState
{
	TURN_OTHERS,				/* another chunk's, and not this one's yet */
	TURN_LEFT,					/* another chunk's that was left to the leader */
	TURN_MINE,
	TURN_NEVER
} TurnState;

static TurnState
look_at_turn(GpuSortLoadShare *share, uint64 number)
{
	TurnState	state = TURN_OTHERS;

	SpinLockAcquire(&share->mutex);
	if (share->ended)
		state = TURN_NEVER;
	else if (share->turn == number)
		state = TURN_MINE;
	else if (share->turn < share->taken && get_chunk(share, share->turn)->left)
		state = TURN_LEFT;
	SpinLockRelease(&share->mutex);
	return state;
}

/*
 * Leaves the lines of a chunk for the leader.  Their bits go where the chunk's bytes were, which is
 * room enough as each line had at least one byte.  Nobody reads these bytes any more, other than
 * those that were not loaded.
 */
static void
give_lines(GpuSortLoadShare *share, const GpuSortLoadLines *lines)
{
	SharedChunk *chunk = get_chunk(share, share->turn);

	chunk->lines = lines->count;
	chunk->has_line_bits = lines->bits != NULL;
	if (lines->bits != NULL)
		memcpy(get_bytes(share, share->turn), lines->bits, GPUSORT_LINES_BYTES(lines->count));
	chunk->rows = lines->order.kept;
	chunk->leaves = gpusort_load_order_leave(&lines->order);
}

/* A turn, in which an error may be raised. */
typedef struct Turn
{
	GpuSortLoadShare *share;
	uint64		last_line;		/* of the chunk; counted from the first chunk on */
} Turn;

/*
 * An error context callback, which notes the line of the error.  The leader shows that line: it is
 * told of a worker's error, but not how far the worker had come.
 */
static void
note_error_line(void *arg)
{
	const Turn *turn = arg;
	int			code = geterrcode();

	if (code == ERRCODE_SUCCESSFUL_COMPLETION || code == ERRCODE_WARNING)
		return;
	SpinLockAcquire(&turn->share->mutex);
	if (turn->share->error_line == 0 || turn->last_line < turn->share->error_line)
		turn->share->error_line = turn->last_line;
	SpinLockRelease(&turn->share->mutex);
}

/*
 * Puts the rows of a chunk into the table: gives them their places, lets the next chunk have its
 * turn, and writes what was put off.
 */
static void
have_turn(GpuSortLoadShare *share, GpuSortLoader *loader, const GpuSortLoadInput *input,
		  bool may_toast)
{
	/* nobody else adds to the lines during this turn */
	Turn		turn = {share, share->counts.lines + input->counts.lines};
	ErrorContextCallback context = {error_context_stack, note_error_line, &turn};

	error_context_stack = &context;
	gpusort_table_sink_place(gpusort_loader_sink(loader), !may_toast, may_toast);
	give_lines(share, gpusort_loader_lines(loader));
	SpinLockAcquire(&share->mutex);
	gpusort_load_add_counts(&share->counts, &input->counts);
	share->ended = input->stop == GPUSORT_LOAD_ODD;
	share->end_offset = input->consumed;
	if (!share->ended)
		share->turn++;
	SpinLockRelease(&share->mutex);
	ConditionVariableBroadcast(&share->turned);
	if (input->stop == GPUSORT_LOAD_ODD)
		ConditionVariableBroadcast(&share->more);
	gpusort_table_sink_write(gpusort_loader_sink(loader), false, may_toast);
	error_context_stack = context.previous;
}

static void
leave_to_leader(GpuSortLoadShare *share, uint64 number)
{
	SpinLockAcquire(&share->mutex);
	get_chunk(share, number)->left = true;
	SpinLockRelease(&share->mutex);
	ConditionVariableBroadcast(&share->turned);
}

static void
read_chunk(GpuSortLoadShare *share, uint64 number, GpuSortLoader *loader, GpuSortLoadInput *input)
{
	const SharedChunk *chunk = get_chunk(share, number);
	char	   *bytes = get_bytes(share, number);
	gs_records	found = {
		.nfields = chunk->nfields,
		.nrecords = chunk->nrecords
	};

	input->data = bytes;
	input->bytes = chunk->bytes;
	input->at_end = chunk->at_end;
	if (chunk->nrecords > 0)
	{
		found.field_ends = gsd_chunk_field_ends(bytes);
		found.record_fields = gsd_chunk_record_fields(bytes);
		input->found = &found;
	}
	gpusort_loader_read(loader, input);
	input->found = NULL;
	share->mistaken |= input->mistaken;
	/* a chunk has whole records, so all of its bytes must have been read */
	if (input->stop == GPUSORT_LOAD_END && input->consumed != input->bytes)
		input->stop = GPUSORT_LOAD_ODD;
}

bool
gpusort_share_load_left(GpuSortLoadShare *share, GpuSortLoader *loader)
{
	GpuSortLoadInput input = {.may_toast = true};

	if (look_at_turn(share, PG_UINT64_MAX) != TURN_LEFT)
		return false;
	read_chunk(share, share->turn, loader, &input);
	have_turn(share, loader, &input, true);
	return true;
}

/* Waits for a chunk's turn; returns false if the turns end before it. */
static bool
await_turn(GpuSortLoadShare *share, uint64 number, GpuSortLoader *left)
{
	TurnState	state;

	while ((state = look_at_turn(share, number)) == TURN_OTHERS || state == TURN_LEFT)
	{
		if (state == TURN_LEFT && left != NULL)
		{
			ConditionVariableCancelSleep();
			gpusort_share_load_left(share, left);
		}
		else
			gpusort_worker_await(&share->turned, gpusort_wait_event(&wait_for_turn, "GpuSortLoadTurn"));
	}
	ConditionVariableCancelSleep();
	return state == TURN_MINE;
}

bool
gpusort_share_load(GpuSortLoadShare *share, GpuSortLoader *loader, GpuSortLoader *left)
{
	GpuSortLoadInput input = {0};
	uint64		number;

	if (take_chunk(share, false, &number) != TAKE_TAKEN)
		return false;
	gpusort_worker_fault("a chunk of a COPY");
	read_chunk(share, number, loader, &input);
	if (input.stop == GPUSORT_LOAD_TOAST)
		leave_to_leader(share, number);
	else if (await_turn(share, number, left))
	{
		have_turn(share, loader, &input, false);
		return true;
	}
	gpusort_table_sink_forget(gpusort_loader_sink(loader));
	return true;
}

/* ---------- the leader waits, and sums up ---------- */

bool
gpusort_share_is_done(GpuSortLoadShare *share)
{
	bool		done;

	SpinLockAcquire(&share->mutex);
	done = share->ended || share->turn == share->filled;
	SpinLockRelease(&share->mutex);
	return done;
}

uint64
gpusort_share_error_line(GpuSortLoadShare *share)
{
	uint64		line;

	SpinLockAcquire(&share->mutex);
	line = share->error_line;
	SpinLockRelease(&share->mutex);
	return line;
}

bool
gpusort_share_has_ended(GpuSortLoadShare *share)
{
	bool		ended;

	SpinLockAcquire(&share->mutex);
	ended = share->ended;
	SpinLockRelease(&share->mutex);
	return ended;
}

void
gpusort_share_wait(GpuSortLoadShare *share)
{
	uint64		turn;
	bool		done = false;

	ConditionVariablePrepareToSleep(&share->turned);
	SpinLockAcquire(&share->mutex);
	turn = share->turn;
	done = share->ended || (turn < share->taken && get_chunk(share, turn)->left) ||
		share->turn == share->filled;
	SpinLockRelease(&share->mutex);
	if (!done)
		gpusort_worker_await(&share->turned, gpusort_wait_event(&wait_for_workers, "GpuSortLoadWorkers"));
	ConditionVariableCancelSleep();
}

bool
gpusort_share_is_mistaken(const GpuSortLoadShare *share)
{
	return share->mistaken;
}

GpuSortLoadCounts
gpusort_share_counts(GpuSortLoadShare *share)
{
	GpuSortLoadCounts counts;

	SpinLockAcquire(&share->mutex);
	counts = share->counts;
	SpinLockRelease(&share->mutex);
	return counts;
}

/*
 * This is used for an error message only, so it does not matter that participants may load chunks
 * meanwhile.
 */
uint64
gpusort_share_lines(GpuSortLoadShare *share, char newline)
{
	uint64		lines;
	uint64		number;
	Size		begin;

	SpinLockAcquire(&share->mutex);
	lines = share->counts.lines;
	number = share->turn;
	begin = share->ended ? share->end_offset : 0;
	SpinLockRelease(&share->mutex);
	for (; number < share->filled; number++, begin = 0)
	{
		const char *bytes = get_bytes(share, number);

		for (Size i = begin; i < get_chunk(share, number)->bytes; i++)
			lines += bytes[i] == newline;
	}
	return lines;
}

Size
gpusort_share_rest(GpuSortLoadShare *share, char *buffer)
{
	Size		total = 0;

	for (uint64 number = share->turn; number < share->filled; number++)
	{
		Size		begin = number == share->turn ? share->end_offset : 0;
		Size		bytes = get_chunk(share, number)->bytes - begin;

		if (buffer != NULL)
			memcpy(buffer + total, get_bytes(share, number) + begin, bytes);
		total += bytes;
	}
	return total;
}
