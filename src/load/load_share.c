/*
 * load_share.c
 *		The chunks of an input that participants load together; see load_share_private.h.
 *
 * Chunks are numbered from 0 on, and a chunk's number modulo nchunks is its place in the array.
 * Chunks are the slices of turns (team/turns.h), which are added when participants may take them,
 * and end if a chunk has an odd record.  The state of all chunks follows from comparing numbers:
 * loaded <= added <= filled <= loaded + nchunks.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/spin.h"

#include "load/load_share_private.h"
#include "memory/pool.h"
#include "parse/gs_parse.h"
#include "pg_compat.h"
#include "team/turns.h"
#include "team/workers.h"

typedef struct SharedChunk
{
	uint32		extent;			/* of the pool, if the bytes are there */
	uint32		nfields;		/* found by a device, and to be proven */
	uint32		nrecords;		/* the same; 0: nothing was found */
	Size		bytes;
	bool		at_end;			/* the input ends with this chunk */
	uint64		lines;			/* that were read, if lines are asked for */
	bool		has_line_bits;	/* bits where the bytes were tell which lines end rows */
	dsa_pointer leaves;			/* of its rows, if their order is asked for; or invalid */
	uint64		rows;			/* how many leaves there are */
} SharedChunk;

struct GpuSortLoadShare
{
	/* the leader's own */
	uint64		noted;			/* chunks whose lines the leader has appended to its own */
	uint64		filled;			/* chunks that the leader has filled */
	uint64		added;			/* chunks that participants may take, or have taken */
	bool		closed;			/* no other chunk will be filled */

	slock_t		mutex;			/* protects what follows, up to the turns */
	uint64		loaded;			/* chunks that have had their turns, and have no odd record */
	bool		ended;			/* the chunk behind these has an odd record */
	Size		end_offset;		/* where this odd record begins in the chunk; 0 before */
	bool		mistaken;		/* what a device has found was wrong */
	GpuSortLoadCounts counts;
	uint64		error_line;		/* the first line at which writing rows has failed, or 0 */

	GpuSortTurns turns;
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
	gpusort_turns_open(&share->turns);
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

static uint64
count_loaded(GpuSortLoadShare *share)
{
	uint64		loaded;

	SpinLockAcquire(&share->mutex);
	loaded = share->loaded;
	SpinLockRelease(&share->mutex);
	return loaded;
}

char *
gpusort_share_room(GpuSortLoadShare *share, GpuSortLoadLines *lines)
{
	uint64		number = share->filled;
	uint64		loaded = count_loaded(share);

	take_lines(share, loaded, lines);
	return number < loaded + share->nchunks ? get_bytes(share, number) : NULL;
}

void
gpusort_share_take_lines(GpuSortLoadShare *share, GpuSortLoadLines *lines)
{
	take_lines(share, share->loaded + share->ended, lines);
}

void
gpusort_share_fill(GpuSortLoadShare *share, Size bytes, bool at_end)
{
	SharedChunk *chunk = get_chunk(share, share->filled);

	chunk->bytes = bytes;
	chunk->at_end = at_end;
	chunk->nfields = chunk->nrecords = 0;
	share->filled++;
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

static void
close_turns(GpuSortLoadShare *share)
{
	if (share->closed && share->added == share->filled)
		gpusort_turns_close(&share->turns);
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
	share->added++;
	gpusort_turns_add(&share->turns);
	close_turns(share);
}

void
gpusort_share_close(GpuSortLoadShare *share)
{
	share->closed = true;
	close_turns(share);
}

/* ---------- turns ---------- */

/* A participant that loads chunks: those that it takes, and, in the leader, those left to it. */
typedef struct Participant
{
	GpuSortLoadShare *share;
	struct
	{
		GpuSortLoader *loader;
		GpuSortLoadInput input;
		uint64		last_line;	/* of the chunk, counted from the first chunk on */
	}			chunks[2];
} Participant;

/*
 * Leaves the lines of a chunk for the leader.  Their bits go where the chunk's bytes were, which is
 * room enough as each line had at least one byte.  Nobody reads these bytes any more, other than
 * those that were not loaded.
 */
static void
give_lines(GpuSortLoadShare *share, uint64 number, const GpuSortLoadLines *lines)
{
	SharedChunk *chunk = get_chunk(share, number);

	chunk->lines = lines->count;
	chunk->has_line_bits = lines->bits != NULL;
	if (lines->bits != NULL)
		memcpy(get_bytes(share, number), lines->bits, GPUSORT_LINES_BYTES(lines->count));
	chunk->rows = lines->order.kept;
	chunk->leaves = gpusort_load_order_leave(&lines->order);
}

/* An error while rows of a chunk are put into the table. */
typedef struct Failure
{
	GpuSortLoadShare *share;
	uint64		last_line;
	ErrorContextCallback context;
} Failure;

/*
 * An error context callback, which notes the line of the error.  The leader shows that line: it is
 * told of a worker's error, but not how far the worker had come.
 */
static void
note_error_line(void *arg)
{
	const Failure *failure = arg;
	GpuSortLoadShare *share = failure->share;
	int			code = geterrcode();

	if (code == ERRCODE_SUCCESSFUL_COMPLETION || code == ERRCODE_WARNING)
		return;
	SpinLockAcquire(&share->mutex);
	if (share->error_line == 0 || failure->last_line < share->error_line)
		share->error_line = failure->last_line;
	SpinLockRelease(&share->mutex);
}

static void
expect_failure(Failure *failure, const Participant *participant, bool left)
{
	failure->share = participant->share;
	failure->last_line = participant->chunks[left].last_line;
	failure->context = (ErrorContextCallback) {error_context_stack, note_error_line, failure};
	error_context_stack = &failure->context;
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

/* The functions of a GpuSortSliceDoer, whose argument is a Participant. */

static bool
make_rows(void *arg, uint64 number, bool left)
{
	Participant *participant = arg;
	GpuSortLoadInput *input = &participant->chunks[left].input;

	if (!left)
		gpusort_worker_fault("a chunk of a COPY");
	*input = (GpuSortLoadInput) {.may_toast = left};
	read_chunk(participant->share, number, participant->chunks[left].loader, input);
	return input->stop != GPUSORT_LOAD_TOAST;
}

/* Gives the rows of a chunk their places in the table. */
static void
place_rows(void *arg, bool left)
{
	Participant *participant = arg;
	GpuSortLoadShare *share = participant->share;
	GpuSortLoader *loader = participant->chunks[left].loader;
	const GpuSortLoadInput *input = &participant->chunks[left].input;
	Failure		failure;

	/* nobody else adds to the lines, or to the chunks that are loaded, during this turn */
	participant->chunks[left].last_line = share->counts.lines + input->counts.lines;
	expect_failure(&failure, participant, left);
	gpusort_table_sink_place(gpusort_loader_sink(loader), !left, left);
	give_lines(share, share->loaded, gpusort_loader_lines(loader));
	error_context_stack = failure.context.previous;
	SpinLockAcquire(&share->mutex);
	gpusort_load_add_counts(&share->counts, &input->counts);
	share->ended = input->stop == GPUSORT_LOAD_ODD;
	if (share->ended)
		share->end_offset = input->consumed;
	else
		share->loaded++;
	SpinLockRelease(&share->mutex);
	if (input->stop == GPUSORT_LOAD_ODD)
		gpusort_turns_end(&share->turns);
}

/* Writes what was put off. */
static void
write_rows(void *arg, bool left)
{
	Participant *participant = arg;
	Failure		failure;

	expect_failure(&failure, participant, left);
	gpusort_table_sink_write(gpusort_loader_sink(participant->chunks[left].loader), false, left);
	error_context_stack = failure.context.previous;
}

static void
forget_rows(void *arg)
{
	Participant *participant = arg;

	gpusort_table_sink_forget(gpusort_loader_sink(participant->chunks[false].loader));
}

static void
begin_participant(Participant *participant, GpuSortSliceDoer *doer, GpuSortLoadShare *share,
				  GpuSortLoader *loader, GpuSortLoader *left)
{
	participant->share = share;
	participant->chunks[false].loader = loader;
	participant->chunks[true].loader = left;
	*doer = (GpuSortSliceDoer) {
		.turns = &share->turns, .arg = participant,
		.make = make_rows, .place = place_rows, .finish = write_rows, .forget = forget_rows
	};
}

bool
gpusort_share_load_left(GpuSortLoadShare *share, GpuSortLoader *left)
{
	Participant participant;
	GpuSortSliceDoer doer;

	begin_participant(&participant, &doer, share, NULL, left);
	return gpusort_turns_do_left(&doer);
}

bool
gpusort_share_load(GpuSortLoadShare *share, GpuSortLoader *loader, GpuSortLoader *left)
{
	Participant participant;
	GpuSortSliceDoer doer;

	begin_participant(&participant, &doer, share, loader, left);
	return gpusort_turns_do_slice(&doer);
}

void
gpusort_share_load_all(GpuSortLoadShare *share, GpuSortLoader *loader)
{
	Participant participant;
	GpuSortSliceDoer doer;

	begin_participant(&participant, &doer, share, loader, NULL);
	gpusort_turns_do_slices(&doer);
}

/* ---------- the leader waits, and sums up ---------- */

bool
gpusort_share_is_done(GpuSortLoadShare *share)
{
	bool		done;

	SpinLockAcquire(&share->mutex);
	done = share->ended || share->loaded == share->filled;
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
	gpusort_turns_await_turn(&share->turns);
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
gpusort_share_lines(GpuSortLoadShare *share, const gs_dialect *dialect)
{
	uint64		lines;
	uint64		number;
	Size		begin;

	SpinLockAcquire(&share->mutex);
	lines = share->counts.lines;
	number = share->loaded;
	begin = share->end_offset;
	SpinLockRelease(&share->mutex);
	for (; number < share->filled; number++, begin = 0)
		lines += gs_lines_count(dialect, get_bytes(share, number) + begin,
								get_chunk(share, number)->bytes - begin);
	return lines;
}

Size
gpusort_share_rest(GpuSortLoadShare *share, char *buffer)
{
	Size		total = 0;

	for (uint64 number = share->loaded; number < share->filled; number++)
	{
		Size		begin = number == share->loaded ? share->end_offset : 0;
		Size		bytes = get_chunk(share, number)->bytes - begin;

		if (buffer != NULL)
			memcpy(buffer + total, get_bytes(share, number) + begin, bytes);
		total += bytes;
	}
	return total;
}
