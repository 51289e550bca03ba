/*
 * gs_device.h
 *		What a sorting device has to be able to do.
 *
 * The algorithm of gs_device_sort.c is written once, over this table of
 * operations.  Two devices implement it: the *simulated device* (engine/simulated/,
 * plain C, synchronous; any number of them simulate as many GPUs) and the CUDA
 * device (cuda/).
 *
 * Memory.  alloc() and free() manage an arena that the device took when it was
 * opened; they are bookkeeping on the host and cost no device time.  What is
 * freed may be handed out again at once: whoever reuses it does so in an
 * operation that is ordered behind the last use.  A pointer is valid on the
 * device that allocated it; on a peer that can_reach() it as a target of
 * scatter(); elsewhere for copy() only.  Input planes are read where they are: a
 * pointer into memory that the device was told of (host_register) is as good
 * as its own for reading.
 *
 * Order.  Operations on one queue run in the order of their calls, operations
 * on different queues only wait for each other through events.  Every call
 * returns at once where the device can work asynchronously; arguments that lie
 * in host memory, but for the source of upload() and the target of download(),
 * are copied before it returns.  Host memory that the device was not told of will
 * do for transfers of a few kilobytes, which may then wait for their queue.
 *
 * Errors.  Every operation returns a status; anything but GS_OK leaves a
 * sentence in device->error and the job is over: the caller calls reset(),
 * which waits until nothing of the job runs any more and clears what can be
 * cleared.  After GS_DEVICE_LOST the device is unusable.
 *
 * Lanes.  open_lane() makes a device of its own out of a part of another one's
 * memory: with queues, events, an arena and errors of its own.  So a small sort can
 * go on beside a large one, and beside other small ones; nothing that is done to
 * one of them is seen by another.
 *
 * All calls for the devices of a group come from one thread.  A lane belongs to
 * another group, and so may be another thread's, but for its opening and closing.
 */
#ifndef GS_DEVICE_H
#define GS_DEVICE_H

#include "engine/gs_engine.h"
#include "engine/gs_layout.h"
#include "engine/gs_numbering.h"
#include "engine/device/gs_row_sums.h"
#include "parse/gs_dialect.h"
#include "parse/gs_found.h"

/*
 * Rows are named to kernels in segments of so many (the last one of a job may
 * be shorter): 2 MB of key words.
 */
#ifndef GS_SEGMENT_SHIFT		/* tests set shorter ones */
#define GS_SEGMENT_SHIFT	18
#endif
#define GS_SEGMENT_ROWS		(UINT64_C(1) << GS_SEGMENT_SHIFT)

/* One partitioning digit, and the most bins that rows are scattered into. */
#define GS_DEVICE_DIGIT_BITS	8
#define GS_DEVICE_DIGITS	(1 << GS_DEVICE_DIGIT_BITS)
#define GS_MAX_BINS			256

/* Prefixes that one histogram() counts below, and nodes of a bin tree. */
#define GS_MAX_COUNTED		32
#define GS_MAX_TREE_NODES	64

#define GS_MAX_DEVICES		16

/*
 * Runs that sort_runs() puts in order: short ones, and so many of those that are
 * not too long.
 */
#define GS_SHORT_RUN		16
#ifndef GS_LONG_RUN				/* tests have fewer rows */
#define GS_LONG_RUN			4096
#endif
#define GS_MANY_RUNS		1024

/*
 * Rows are stored on a device in slabs of so many bytes, the least that they take;
 * 800 of them hold 50 M rows of 64 bytes.
 */
#ifndef GS_SLAB_SHIFT			/* tests have fewer rows */
#define GS_SLAB_SHIFT		22
#endif
#define GS_SLAB_BYTES		(UINT64_C(1) << GS_SLAB_SHIFT)

typedef enum gs_queue
{
	GS_QUEUE_UP,				/* uploads */
	GS_QUEUE_WORK,				/* statistics, partitioning, sorting */
	GS_QUEUE_WORK2,				/* sorting, every other bucket */
	GS_QUEUE_DOWN,				/* downloads */
	GS_QUEUES
} gs_queue;

/* Consecutive rows that a kernel reads. */
typedef struct gs_rows
{
	uint64_t	first_row;		/* multiple of GS_SEGMENT_ROWS */
	uint64_t	nrows;
} gs_rows;

static inline uint64_t
gs_rows_segments(gs_rows rows)
{
	return (rows.nrows + GS_SEGMENT_ROWS - 1) >> GS_SEGMENT_SHIFT;
}

/*
 * A plane's words and null bits of some rows: pointers by segment.  Segments,
 * here and in all arguments, are those of the rows at hand: [0] is the one that
 * begins with rows.first_row.
 */
typedef struct gs_plane_rows
{
	const uint64_t *const *words;
	const uint64_t *const *nulls;	/* NULL: no row is null; else bit (i & 63)
									 * of word (i >> 6), i = row in segment */
} gs_plane_rows;

/*
 * Where kernels find the first section of the key.  A row's key is
 * (word - min) >> shift, below 2^width: either a plane's words as they are, if
 * the section is all of one plane without nulls, or packed ones (min, shift 0).
 */
typedef struct gs_keys
{
	const uint64_t *const *words;	/* by segment */
	uint64_t	min;
	unsigned	shift;
	unsigned	width;			/* 1 .. 64 */
} gs_keys;

/*
 * Keys that begin with `prefix`: key >> (digit_shift + digit_bits) == prefix,
 * all keys if that shift is the width.  They are counted by the digit below:
 * (key >> digit_shift) & (2^digit_bits - 1).
 */
typedef struct gs_counted
{
	uint64_t	prefix;
	unsigned	digit_shift;
	unsigned	digit_bits;		/* 1 .. GS_DEVICE_DIGIT_BITS */
} gs_counted;

/*
 * From keys to bins: begin at node 0, take the node's digit of the key; the
 * entry is a bin, GS_BIN_NONE (the row takes no part) or GS_TREE_NODE + the
 * node to go on at.  The order of bins is the order of keys.
 */
#define GS_TREE_NODE	0x8000u
#define GS_BIN_NONE		0x7fffu

typedef struct gs_bin_tree
{
	unsigned	nbins;			/* 1 .. GS_MAX_BINS */
	unsigned	nnodes;
	struct
	{
		unsigned	digit_shift;
		unsigned	digit_bits;
	}			nodes[GS_MAX_TREE_NODES];
	uint16_t	entries[GS_MAX_TREE_NODES][GS_DEVICE_DIGITS];
} gs_bin_tree;

/* Rows in key order, or on the way there: arrays of one key and one id a row. */
typedef struct gs_pairs
{
	uint64_t   *keys;
	void	   *ids;			/* uint32_t or uint64_t */
} gs_pairs;

/*
 * Positions [begin, begin + nrows) of the final order are at pairs[0 ..] of a
 * device.
 */
typedef struct gs_target
{
	uint64_t	begin;
	uint64_t	nrows;
	gs_pairs	pairs;
} gs_target;

typedef struct gs_scatter
{
	gs_rows		rows;
	gs_keys		keys;
	unsigned	id_bytes;
	const gs_bin_tree *tree;

	/*
	 * Device memory of GS_MAX_BINS words: position at which the bin's next row
	 * goes.  The operation moves them on, so that rows that come in several
	 * calls stay in order.  A row whose position is outside of all targets is
	 * counted, but not stored: a bin of equal keys may reach beyond them.
	 */
	uint64_t   *positions;

	/* What histogram() left for these very rows, if the tree is one node whose
	 * entry for digit d is bin d or none; else NULL. */
	const void *tile_counts;

	unsigned	ntargets;		/* in ascending order of begin, no gaps */
	const gs_target *targets;
	void	   *temp;			/* scatter_temp_bytes() */
} gs_scatter;

/* Runs of rows that tie, see find_ties(). */
typedef struct gs_tie_counts
{
	uint64_t	rows;
	uint64_t	runs;
} gs_tie_counts;

/* Rows that are to be in order of keys and, where those are equal, of ids. */
typedef struct gs_checked_rows
{
	gs_pairs	rows;			/* keys NULL: all keys are 0 */
	gs_pairs	before;			/* the row in front of the first; ids NULL: none, and
								 * keys as in rows */
	unsigned	id_bytes;
	uint64_t	nrows;
	uint64_t	nids;			/* all ids are below */
	const uint32_t *positions;	/* NULL, or ids are at placed[positions[i]], too */
	const void *placed;
} gs_checked_rows;

/* What is found out about them; all zeros at first. */
typedef struct gs_order_check
{
	gs_row_sums sums;
	uint64_t	descents;		/* rows that do not come behind the row before, have an
								 * id that is none, or were not placed */
	uint64_t	ties;			/* rows that have its key */
	uint64_t	first_key;		/* of the first rows checked, by operations in their order: */
	uint64_t	first_id;		/* those that have no row before */
	uint64_t	last_key;		/* of the last rows checked */
	uint64_t	last_id;
} gs_order_check;

/*
 * Rows that have lengths of their own, and where they tell them: the length in bytes of
 * the row that begins with a 64-bit word is word >> shift & mask.
 */
typedef struct gs_row_length
{
	unsigned	shift;			/* below 64 */
	uint64_t	mask;
} gs_row_length;

static inline uint64_t
gs_row_bytes(gs_row_length length, uint64_t word)
{
	return word >> length.shift & length.mask;
}

/*
 * Rows in device memory: an array of `bytes` bytes, a multiple of 8, in slabs that may lie
 * anywhere.  The row with an id begins at id * stride; or, when stride is 0, at
 * refs[id] * unit, and has a length of its own.  stride or unit, a power of two, are
 * multiples of 8.
 */
typedef struct gs_stored_rows
{
	const uint64_t *const *slabs;	/* host memory */
	uint64_t	bytes;
	uint64_t	nrows;
	uint64_t	stride;
	const uint32_t *refs;		/* device memory */
	unsigned	unit;
	gs_row_length length;
} gs_stored_rows;

/*
 * Rows to be copied out of there, end to end, each of those with a length of its
 * own in as many units as it takes.  All pointers are to device memory.
 *
 * Numbers come from a process that is not trusted: an id or a reference that leads
 * nowhere gives some row, or none, and nothing outside of the slabs is read.
 */
typedef struct gs_gather
{
	gs_stored_rows from;
	uint64_t	nrows;
	const uint32_t *ids;
	void	   *rows;			/* out */

	/* only if stride is 0 */
	uint64_t   *ends;			/* by place_rows(): units up to and with row i */
	uint32_t	first_ref;
	uint32_t   *refs;			/* out: first_ref + units before row i */
	void	   *temp;			/* place_temp_bytes() */
} gs_gather;

/*
 * Delimited text that begins with a record.  Up to the next multiple of 16 bytes there is
 * memory behind it.  All pointers are to device memory.
 */
typedef struct gs_text
{
	gs_dialect	dialect;
	const char *data;			/* at a multiple of 16 bytes */
	uint32_t	bytes;			/* 1 .. 2^30 */
	uint32_t	max_fields;
	uint32_t	max_records;
	uint32_t   *field_ends;		/* out, as many as fit */
	uint32_t   *record_fields;	/* out, likewise */
	gs_found   *found;			/* out */
	void	   *temp;			/* find_fields_temp_bytes() */
} gs_text;

typedef struct gs_device_info
{
	char		name[64];
	uint64_t	memory_bytes;	/* in all */
	uint64_t	arena_bytes;
	unsigned	number;			/* the device's own number, of CUDA for a GPU */
	uint32_t	peers;			/* bit i: can_reach() device i of the group */
} gs_device_info;

typedef struct gs_span_time
{
	const char *name;
	gs_queue	queue;
	double		begin_ms;		/* of the machine's monotonic clock, about */
	double		end_ms;
} gs_span_time;

typedef struct gs_device gs_device;
typedef struct gs_event *gs_event_ref;

typedef struct gs_device_ops
{
	void		(*close) (gs_device *device);
	void		(*info) (gs_device *device, gs_device_info *info);

	/*
	 * A device of the same index on so many bytes of this one's memory, to be closed
	 * before it; NULL: no room, or device->error says why.
	 */
	gs_device  *(*open_lane) (gs_device *device, size_t bytes);

	/* Can scatter() on this device write to memory of that one? */
	bool		(*can_reach) (gs_device *device, gs_device *peer);

	/*
	 * Tell a group's devices of host memory that planes lie in and results go to;
	 * once for the group, through any of its devices.
	 */
	gs_status	(*host_register) (gs_device *device, void *base, size_t bytes);
	void		(*host_unregister) (gs_device *device, void *base);

	/* Aligned to 256 bytes; NULL: no room.  free(NULL) does nothing. */
	void	   *(*alloc) (gs_device *device, size_t bytes);
	void		(*free) (gs_device *device, void *memory);
	size_t		(*largest_free) (gs_device *device);

	/*
	 * An event stands for everything on the queue so far.  wait() makes a queue
	 * wait for it, of whatever device of the group; sync() waits on the host,
	 * done() looks, and is true as well when the device has failed.  Events are
	 * the caller's to release, as soon as no further call is to name them; all
	 * are released by reset().
	 */
	gs_status	(*record) (gs_device *device, gs_queue queue, gs_event_ref *event);
	gs_status	(*wait) (gs_device *device, gs_queue queue, gs_event_ref event);
	gs_status	(*sync) (gs_device *device, gs_event_ref event);
	bool		(*done) (gs_device *device, gs_event_ref event);
	void		(*release) (gs_device *device, gs_event_ref event);
	gs_status	(*reset) (gs_device *device);

	gs_status	(*upload) (gs_device *device, gs_queue queue, void *to, const void *from,
						   size_t bytes);
	gs_status	(*download) (gs_device *device, gs_queue queue, void *to, const void *from,
							 size_t bytes);

	/* From another device, or this one, to memory of the device whose queue it is. */
	gs_status	(*copy) (gs_device *device, gs_queue queue, void *to, gs_device *from_device,
						 const void *from, size_t bytes);
	gs_status	(*clear) (gs_device *device, gs_queue queue, void *memory, size_t bytes);

	/*
	 * Fold rows of a plane into *stats, device memory set to GS_PLANE_STATS_INIT, and into
	 * *alphabets, device memory set to zeros, or NULL.
	 */
	gs_status	(*plane_stats) (gs_device *device, gs_queue queue, gs_rows rows,
								gs_plane_rows plane, gs_plane_stats *stats,
								gs_alphabets *alphabets);

	/*
	 * The section of each row, at most 64 bits, into packed[segment][row], which may be the
	 * words of a plane themselves.  planes[i] belongs to section->pieces[i]; the pieces'
	 * fields say how.
	 */
	gs_status	(*pack) (gs_device *device, gs_queue queue, gs_rows rows, const gs_section *section,
						 const gs_plane_rows *planes, uint64_t *const *packed);

	/*
	 * Add to counts[i][digit], device memory, the number of rows of each digit
	 * below counted[i].  tile_counts, of tile_counts_bytes(), may be NULL unless
	 * a scatter() wants it; only with ncounted == 1 and all keys counted.
	 */
	gs_status	(*histogram) (gs_device *device, gs_queue queue, gs_rows rows, gs_keys keys,
							  unsigned ncounted, const gs_counted *counted,
							  uint64_t (*counts)[GS_DEVICE_DIGITS], void *tile_counts);
	size_t		(*tile_counts_bytes) (gs_device *device, gs_rows rows);

	/* Stable: rows of a bin go to successive positions, in the order of rows. */
	gs_status	(*scatter) (gs_device *device, gs_queue queue, const gs_scatter *scatter);
	size_t		(*scatter_temp_bytes) (gs_device *device, gs_rows rows);

	/*
	 * Sort pairs by bits [low_bit, bits) of the keys, stably; *in_spare says which of
	 * the two arrays holds the result.  The other's contents are lost.
	 */
	gs_status	(*sort) (gs_device *device, gs_queue queue, gs_pairs pairs, gs_pairs spare,
						 unsigned id_bytes, uint64_t nrows, unsigned low_bit, unsigned bits,
						 void *temp, bool *in_spare);
	size_t		(*sort_temp_bytes) (gs_device *device, unsigned id_bytes, uint64_t nrows);

	/*
	 * Pairs that are in the order of the bits from low_bit up: put runs that agree
	 * in those, of at most GS_LONG_RUN rows, in the order of the whole key, stably.
	 * Sets *unsorted, device memory, to 1 if a run that is longer, or one of more
	 * than GS_MANY_RUNS that are longer than GS_SHORT_RUN, is out of order; such
	 * runs stay as they are.  temp is that of sort().
	 */
	gs_status	(*sort_runs) (gs_device *device, gs_queue queue, gs_pairs pairs,
							  unsigned id_bytes, uint64_t nrows, unsigned low_bit,
							  void *temp, uint32_t *unsorted);

	/*
	 * Set bit p of `bitmap` (device memory, bit 0 being position first_bit) for
	 * every row i > 0 whose key equals that of row i - 1, and for row 0 if
	 * `tied`; p = positions[i], or first_bit + i when positions is NULL.
	 * Positions count from first_bit as well.  Calls on other queues may set
	 * other bits of the same words at the same time.
	 */
	gs_status	(*mark_equal) (gs_device *device, gs_queue queue, const uint64_t *keys,
							   const uint32_t *positions, uint64_t nrows, bool tied,
							   unsigned first_bit, uint32_t *bitmap);

	/*
	 * Rows of a sorted array that have the key of a neighbour: how many, and in
	 * how many runs.  Waits for the answer.  ranks, 8 bytes a row, keeps what
	 * take_ties() needs.
	 */
	gs_status	(*find_ties) (gs_device *device, gs_queue queue, const uint64_t *keys,
							  uint64_t nrows, uint64_t *ranks, void *temp,
							  gs_tie_counts *counts);
	size_t		(*ties_temp_bytes) (gs_device *device, uint64_t nrows);

	/*
	 * The tied rows, in order: to_positions[] (from positions[], or the place
	 * itself when that is NULL), to.ids[], and to.keys[] = number of the run <<
	 * section->width | section of the row, read from the planes (by segment of the
	 * whole job, host memory).
	 */
	gs_status	(*take_ties) (gs_device *device, gs_queue queue, gs_pairs from,
							  const uint32_t *positions, const uint64_t *ranks, uint64_t nrows,
							  unsigned id_bytes, const gs_section *section,
							  const gs_plane_rows *planes, uint64_t job_segments,
							  uint32_t *to_positions, gs_pairs to);

	/* ids[positions[i]] = from_ids[i] */
	gs_status	(*put_ids) (gs_device *device, gs_queue queue, void *ids,
							const uint32_t *positions, const void *from_ids,
							unsigned id_bytes, uint64_t nrows);

	/* ids[i] = first + i */
	gs_status	(*count_up) (gs_device *device, gs_queue queue, void *ids, unsigned id_bytes,
							 uint64_t first, uint64_t nrows);

	/*
	 * Add rows as they came to *sums, device memory: the ids are their numbers.
	 * keys.words NULL: to sums->ids only.
	 */
	gs_status	(*sum_rows) (gs_device *device, gs_queue queue, gs_rows rows, gs_keys keys,
							 gs_row_sums *sums);

	/* Add sorted rows to *check, device memory. */
	gs_status	(*check_rows) (gs_device *device, gs_queue queue, const gs_checked_rows *rows,
							   gs_order_check *check);

	/*
	 * Find out where rows with lengths of their own go; waits for *units, what all of
	 * them take.
	 */
	gs_status	(*place_rows) (gs_device *device, gs_queue queue, const gs_gather *gather,
							   uint64_t *units);
	size_t		(*place_temp_bytes) (gs_device *device, uint64_t nrows);

	/* Copy rows, behind place_rows() if stride is 0. */
	gs_status	(*gather_rows) (gs_device *device, gs_queue queue, const gs_gather *gather);

	/*
	 * Where the records and fields of a text lie.  Those before something odd are found,
	 * others may be or not.
	 */
	gs_status	(*find_fields) (gs_device *device, gs_queue queue, const gs_text *text);
	size_t		(*find_fields_temp_bytes) (gs_device *device, uint32_t bytes);

	/*
	 * Keep a trace from now on, or none, as at first; what was recorded is forgotten.  In a
	 * trace what runs on a queue between the next two calls is shown as `name` (constant
	 * storage).  read_trace() returns the spans recorded since then, or since the last
	 * reset(), waiting for them to end.
	 */
	void		(*keep_trace) (gs_device *device, bool keep);
	void		(*span_begin) (gs_device *device, gs_queue queue, const char *name);
	void		(*span_end) (gs_device *device, gs_queue queue);
	unsigned	(*read_trace) (gs_device *device, gs_span_time *spans, unsigned max);
} gs_device_ops;

/* Implementations begin with this. */
struct gs_device
{
	const gs_device_ops *ops;
	unsigned	index;			/* in its group */
	char		error[256];
};

#endif							/* GS_DEVICE_H */
