/*
 * gs_device.h
 *		What a sorting device has to be able to do.
 */
#ifndef GS_DEVICE_H
#define GS_DEVICE_H

#include <stdint.h>

#include "engine/gs_engine.h"
#include "engine/gs_layout.h"
#include "parse/gs_dialect.h"

/* ---------- sums: whether rows are the same ones, whatever their order ---------- */

/*
 * A row adds a hash of its id to one sum, and a hash of its key and id to another.  The hash of an
 * id is a one-to-one function of it, so that one row in the place of another always shows; other
 * changes go unnoticed once in 2^64.  There is no reason to choose rows so that changes go
 * unnoticed: a process that could has the rows anyway.
 *
 * The compilers of the host and of the device read this.
 */

#ifdef __CUDACC__
#define GS_ROW_FUNCTION	static __host__ __device__ __forceinline__
#else
#define GS_ROW_FUNCTION	static inline
#endif

/* Sums over some rows, modulo 2^64. */
typedef struct gs_row_sums
{
	uint64_t	ids;
	uint64_t	pairs;
} gs_row_sums;

/*
 * Returns the hash of an id.  It is one-to-one: its factors are odd, and its shifts can be undone.
 */
GS_ROW_FUNCTION uint64_t
gs_mixed_id(uint64_t id)
{
	id = (id + 1) * UINT64_C(0x9e3779b97f4a7c15);
	id ^= id >> 32;
	id *= UINT64_C(0xbf58476d1ce4e5b9);
	return id ^ id >> 29;
}

GS_ROW_FUNCTION uint64_t
gs_mixed_pair(uint64_t key, uint64_t mixed_id)
{
	uint64_t	pair = (key + mixed_id) * UINT64_C(0x94d049bb133111eb);

	pair ^= pair >> 32;
	pair *= UINT64_C(0xff51afd7ed558ccd);
	return pair ^ pair >> 29;
}

GS_ROW_FUNCTION void
gs_sum_row(gs_row_sums *sums, uint64_t key, uint64_t id)
{
	uint64_t	mixed_id = gs_mixed_id(id);

	sums->ids += mixed_id;
	sums->pairs += gs_mixed_pair(key, mixed_id);
}

/* ---------- device: its table of operations ---------- */

/*
 * The algorithm of gs_device_sort.c is written once, over this table of operations.  Two kinds of
 * devices implement it: the *simulated device* (engine/simulated/, plain C, synchronous; any number
 * of them simulate as many GPUs) and the CUDA device (cuda/).
 *
 * Memory: alloc() and free() manage an arena that the device took when it was opened; they are
 * bookkeeping on the host and cost no device time.  Memory that is freed may be handed out again at
 * once, so its next use has to be in an operation that is ordered behind the last one.  A pointer
 * is valid on the device that allocated it; on a peer that can_reach() it as a target of scatter();
 * elsewhere for copy() only.  Input planes are read where they are: a pointer into memory that the
 * device was told of (host_register) is as good as one to its own memory for reading, and as a
 * target of scatter().
 *
 * Order: operations on one queue run in the order of their calls, and operations on different
 * queues only wait for each other through events.  Every call returns at once if the device can
 * work asynchronously.  Arguments that lie in host memory are copied before it returns, but for the
 * source of upload() and the target of download().  Host memory that the device was not told of
 * will do for transfers of a few kilobytes, which may then wait for their queue.
 *
 * Errors: every operation returns a status.  Anything but GS_OK leaves a sentence in device->error,
 * and the job is over: the caller calls reset(), which waits until nothing of the job runs any more
 * and clears what can be cleared.  After GS_DEVICE_LOST the device is unusable.
 *
 * Lanes: open_lane() makes a device of its own out of a part of another device's memory, with
 * queues, events, an arena and errors of its own.  So a small sort can go on beside a large one,
 * and beside other small ones; no lane sees what is done to another, or to the device itself.
 *
 * All calls for the devices of a group come from one thread.  A lane belongs to another group, and
 * so another thread may use it; but it is opened and closed by the thread of its device.
 */

/*
 * Rows are passed to kernels in segments of so many (the last one of a job may be shorter): 2 MB of
 * key words.
 */
#ifndef GS_SEGMENT_SHIFT		/* tests set a shorter length */
#define GS_SEGMENT_SHIFT	18
#endif
#define GS_SEGMENT_ROWS		(UINT64_C(1) << GS_SEGMENT_SHIFT)

/* The width of one partitioning digit, and the most bins that rows are scattered into. */
#define GS_DEVICE_DIGIT_BITS	8
#define GS_DEVICE_DIGITS	(1 << GS_DEVICE_DIGIT_BITS)
#define GS_MAX_BINS			256

/* The most prefixes that one histogram() counts below, and the most nodes of a bin tree. */
#define GS_MAX_COUNTED		32
#define GS_MAX_TREE_NODES	64

#define GS_MAX_DEVICES		16

/*
 * sort_runs() puts runs in order of at most GS_SHORT_RUN rows, and up to GS_MANY_RUNS runs that are
 * longer but have at most GS_LONG_RUN.
 */
#define GS_SHORT_RUN		16
#ifndef GS_LONG_RUN				/* tests, which have fewer rows, set another value */
#define GS_LONG_RUN			4096
#endif
#define GS_MANY_RUNS		1024

/*
 * Rows that are to be reordered are stored on a device in slabs of so many bytes, which is also the
 * least that they take; 800 slabs hold 50 M rows of 64 bytes.
 */
#ifndef GS_SLAB_SHIFT			/* tests, which have fewer rows, set another value */
#define GS_SLAB_SHIFT		22
#endif
#define GS_SLAB_BYTES		(UINT64_C(1) << GS_SLAB_SHIFT)

typedef enum gs_queue
{
	GS_QUEUE_UP,				/* uploads */
	GS_QUEUE_WORK,				/* statistics, partitioning, sorting */
	GS_QUEUE_WORK2,				/* sorting of every other bucket */
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
 * A plane's words and null bits of some rows: pointers by segment.  Here and in all arguments,
 * segment [0] is the one that begins with rows.first_row.
 */
typedef struct gs_plane_rows
{
	const uint64_t *const *words;
	/* NULL: no row is null.  Else bit (i & 63) of word (i >> 6) is for row i of the segment. */
	const uint64_t *const *nulls;
} gs_plane_rows;

/*
 * Where kernels find the first section of the key.  A row's key is (word - min) >> shift, below
 * 2^width.  The words are those of a plane, if the section is all of one plane without nulls, or
 * packed ones (with min and shift 0).
 */
typedef struct gs_keys
{
	const uint64_t *const *words;	/* a plane's words or packed keys, by segment */
	uint64_t	min;
	unsigned	shift;
	unsigned	width;			/* 1 .. 64 */
} gs_keys;

/*
 * Keys that begin with `prefix`: key >> (digit_shift + digit_bits) == prefix, or all keys if that
 * shift is the width.  They are counted by the digit below the prefix: (key >> digit_shift) &
 * (2^digit_bits - 1).
 */
typedef struct gs_counted
{
	uint64_t	prefix;
	unsigned	digit_shift;
	unsigned	digit_bits;		/* 1 .. GS_DEVICE_DIGIT_BITS */
} gs_counted;

/*
 * How to get from a key to its bin: beginning at node 0, take the node's digit of the key.  The
 * entry of the digit is a bin, GS_BIN_NONE (the row takes no part), or GS_TREE_NODE + the number of
 * the node to go on at.  The order of bins is the order of keys.
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
 * Memory of a device for positions [begin, begin + nrows) of the final order: the first is at
 * pairs[0].
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
	 * Device memory of GS_MAX_BINS words: the position at which each bin's next row goes.  The
	 * operation moves them on, so that rows that come in several calls stay in order.  A row whose
	 * position is outside of all targets is counted, but not stored: a bin of equal keys may reach
	 * beyond them.
	 */
	uint64_t   *positions;

	/*
	 * What histogram() left for these very rows, if the tree is one node whose entry for digit d is
	 * bin d or none; else NULL.
	 */
	const void *tile_counts;

	/* in ascending order of begin, without gaps; also in host memory that the device was told of */
	unsigned	ntargets;
	const gs_target *targets;
	void	   *temp;			/* memory of scatter_temp_bytes() */
} gs_scatter;

/* How many rows tie, and in how many runs, see find_ties(). */
typedef struct gs_tie_counts
{
	uint64_t	rows;
	uint64_t	runs;
} gs_tie_counts;

/*
 * Rows that are checked: they have to be in the order of keys and, where those are equal, of ids.
 */
typedef struct gs_checked_rows
{
	gs_pairs	rows;			/* if keys is NULL, all keys are 0 */
	/* the row before the first; if ids is NULL there is none.  keys is NULL if it is in rows. */
	gs_pairs	before;
	unsigned	id_bytes;
	uint64_t	nrows;
	uint64_t	nids;			/* all ids have to be below this */
	/* NULL, or the id of row i has to be at placed[positions[i]], too */
	const uint32_t *positions;
	const void *placed;
} gs_checked_rows;

/* What is found out about checked rows; all zeros at first. */
typedef struct gs_order_check
{
	gs_row_sums sums;
	/*
	 * rows that do not come behind the row before, have an id that is no row's, or were not placed
	 */
	uint64_t	descents;
	uint64_t	ties;			/* rows that have the key of the row before */
	uint64_t	first_key;		/* of the first row that was checked without a row before it */
	uint64_t	first_id;		/* likewise */
	uint64_t	last_key;		/* of the last row that was checked */
	uint64_t	last_id;
} gs_order_check;

/*
 * Where rows that differ in length tell how long they are: the length in bytes of a row that begins
 * with a 64-bit word is word >> shift & mask.
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
 * anywhere.  The row with an id begins at id * stride; or, if stride is 0, at refs[id] * unit, and
 * has a length of its own.  stride and unit are multiples of 8, and unit is a power of two.
 */
typedef struct gs_stored_rows
{
	const uint64_t *const *slabs;	/* array in host memory, of slabs in device memory */
	uint64_t	bytes;
	uint64_t	nrows;
	uint64_t	stride;
	const uint32_t *refs;		/* device memory */
	unsigned	unit;
	gs_row_length length;
} gs_stored_rows;

/*
 * How rows are to be copied out of these, end to end.  A row with a length of its own takes as many
 * whole units as it needs.  All pointers are to device memory.
 *
 * The numbers come from a process that is not trusted: an id or a reference that leads nowhere
 * gives some row, or none, and nothing outside of the slabs is read.
 */
typedef struct gs_gather
{
	gs_stored_rows from;
	uint64_t	nrows;
	const uint32_t *ids;
	void	   *rows;			/* out */

	/* all fields below are used only if stride is 0 */

	/* set by place_rows(): units that the rows up to and with row i take */
	uint64_t   *ends;
	uint32_t	first_ref;
	uint32_t   *refs;			/* out: for row i, first_ref + the units before it */
	void	   *temp;			/* memory of place_temp_bytes() */
} gs_gather;

/*
 * Delimited text that begins with a record.  The memory behind it is readable up to the next
 * multiple of 16 bytes.  All pointers are to device memory.
 */
typedef struct gs_text
{
	gs_dialect	dialect;
	const char *data;			/* at a multiple of 16 bytes */
	uint32_t	bytes;			/* 1 .. 2^30 */
	uint32_t	max_fields;
	uint32_t	max_records;
	uint32_t   *field_ends;		/* out: as many as fit */
	uint32_t   *record_fields;	/* out: likewise */
	gs_found   *found;			/* out */
	void	   *temp;			/* memory of find_fields_temp_bytes() */
} gs_text;

typedef struct gs_device_info
{
	char		name[64];
	uint64_t	memory_bytes;	/* all memory of the device */
	uint64_t	arena_bytes;
	unsigned	number;			/* the device's own number: for a GPU, that of CUDA */
	uint32_t	peers;			/* bit i is set if it can_reach() device i of the group */
} gs_device_info;

typedef struct gs_span_time
{
	const char *name;
	gs_queue	queue;
	double		begin_ms;		/* on the machine's monotonic clock, about */
	double		end_ms;
} gs_span_time;

typedef struct gs_device gs_device;
typedef struct gs_event *gs_event_ref;

/* GS_MAP(m, (a, b), (c, d)) is m(a, b) m(c, d), of up to ten. */
#define GS_MAP_1(m, x)			m x
#define GS_MAP_2(m, x, ...)		m x GS_MAP_1(m, __VA_ARGS__)
#define GS_MAP_3(m, x, ...)		m x GS_MAP_2(m, __VA_ARGS__)
#define GS_MAP_4(m, x, ...)		m x GS_MAP_3(m, __VA_ARGS__)
#define GS_MAP_5(m, x, ...)		m x GS_MAP_4(m, __VA_ARGS__)
#define GS_MAP_6(m, x, ...)		m x GS_MAP_5(m, __VA_ARGS__)
#define GS_MAP_7(m, x, ...)		m x GS_MAP_6(m, __VA_ARGS__)
#define GS_MAP_8(m, x, ...)		m x GS_MAP_7(m, __VA_ARGS__)
#define GS_MAP_9(m, x, ...)		m x GS_MAP_8(m, __VA_ARGS__)
#define GS_MAP_10(m, x, ...)	m x GS_MAP_9(m, __VA_ARGS__)
#define GS_MAP_CHOOSE(a, b, c, d, e, f, g, h, i, j, chosen, ...)	chosen
#define GS_MAP(m, ...) \
	GS_MAP_CHOOSE(__VA_ARGS__, GS_MAP_10, GS_MAP_9, GS_MAP_8, GS_MAP_7, GS_MAP_6, GS_MAP_5, \
				  GS_MAP_4, GS_MAP_3, GS_MAP_2, GS_MAP_1) (m, __VA_ARGS__)

/* An argument of gs_operation_list.h as a further parameter. */
#define GS_PARAMETER(type, name, ...)	, __typeof__(type) name

typedef struct gs_device_ops
{
	void		(*close) (gs_device *device);
	void		(*info) (gs_device *device, gs_device_info *info);

	/*
	 * Returns a device of the same index on so many bytes of this device's memory, to be closed
	 * before it; NULL if there is no room, or device->error says why not.
	 */
	gs_device  *(*open_lane) (gs_device *device, size_t bytes);

	/* Returns whether scatter() on this device can write to memory of that one. */
	bool		(*can_reach) (gs_device *device, gs_device *peer);

	/*
	 * Tells a group's devices of host memory that planes lie in and results go to; called once for
	 * the group, for any of its devices.
	 */
	gs_status	(*host_register) (gs_device *device, void *base, size_t bytes);
	void		(*host_unregister) (gs_device *device, void *base);

	/*
	 * alloc() returns memory that is aligned to 256 bytes, or NULL if there is no room.  free(NULL)
	 * does nothing.
	 */
	void	   *(*alloc) (gs_device *device, size_t bytes);
	void		(*free) (gs_device *device, void *memory);
	size_t		(*largest_free) (gs_device *device);

	/*
	 * record() makes an event, which stands for everything on the queue so far.  wait() makes a
	 * queue wait for an event of any device of the group, and sync() waits on the host.  done()
	 * returns whether the event has happened, and true as well if the device has failed.  The
	 * caller releases events, as soon as no further call is to name them; reset() releases all.
	 */
	gs_status	(*record) (gs_device *device, gs_queue queue, gs_event_ref *event);
	gs_status	(*wait) (gs_device *device, gs_queue queue, gs_event_ref event);
	gs_status	(*sync) (gs_device *device, gs_event_ref event);
	bool		(*done) (gs_device *device, gs_event_ref event);
	void		(*release) (gs_device *device, gs_event_ref event);
	gs_status	(*reset) (gs_device *device);

	/*
	 * Sorts pairs by bits [low_bit, bits) of the keys, stably; *in_spare says at once which of the
	 * two arrays holds the result.  The contents of the other are lost.
	 */
	gs_status	(*sort) (gs_device *device, gs_queue queue, gs_pairs pairs, gs_pairs spare,
						 unsigned id_bytes, uint64_t nrows, unsigned low_bit, unsigned bits,
						 void *temp, bool *in_spare);

	/* all other operations on queues */
#define GS_OPERATION(name, ...) \
	gs_status	(*name) (gs_device *device, gs_queue queue GS_MAP(GS_PARAMETER, __VA_ARGS__));
#define GS_TEMP_BYTES(name, ...) \
	size_t		(*name) (gs_device *device GS_MAP(GS_PARAMETER, __VA_ARGS__));
#include "engine/device/gs_operation_list.h"

	/*
	 * keep_trace() keeps a trace from now on, or none, as at first; what was recorded is forgotten.
	 * In a trace, what runs on a queue between span_begin() and span_end() is shown as `name`
	 * (constant storage).  read_trace() returns the spans recorded since keep_trace(), or since the
	 * last reset(), after waiting for them to end.
	 */
	void		(*keep_trace) (gs_device *device, bool keep);
	void		(*span_begin) (gs_device *device, gs_queue queue, const char *name);
	void		(*span_end) (gs_device *device, gs_queue queue);
	unsigned	(*read_trace) (gs_device *device, gs_span_time *spans, unsigned max);
} gs_device_ops;

/* The structs of implementations begin with this. */
struct gs_device
{
	const gs_device_ops *ops;
	unsigned	index;			/* number of the device in its group */
	char		error[256];
};

/* ---------- row section: a part of the key of one row ---------- */

/*
 * Returns the section of a row's key.  planes[i] belongs to section->pieces[i], by segment of the
 * whole job, in host memory.
 */
extern uint64_t gs_row_section(const gs_section *section, const gs_plane_rows *planes,
							   uint64_t row);

#endif							/* GS_DEVICE_H */
