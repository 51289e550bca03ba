/*
 * gs_device_job.h
 *		A sort on devices from inside: what its steps share, and do alike.
 */
#ifndef GS_DEVICE_JOB_H
#define GS_DEVICE_JOB_H

#include "engine/gs_bits.h"
#include "engine/device/gs_bucket_plan.h"
#include "engine/device/gs_device_sort.h"

/* Consecutive segments of a plane in one piece of device memory. */
typedef struct gs_words_run
{
	unsigned	device;
	uint64_t	first_segment;
	uint64_t	nsegments;
	uint64_t   *words;
} gs_words_run;

typedef struct gs_job_plane
{
	/* by segment; words and nulls are complete once the job runs */
	const uint64_t **host_words;	/* where they are in host memory */
	const uint64_t **words;		/* where the device that has the rows reads them:
								 * in its memory if uploaded */
	const uint64_t **nulls;		/* NULL: no row is null */

	uint64_t	uploaded;		/* segments */
	uint64_t	room;			/* segments that words[] holds */
	unsigned	nruns;
	unsigned	run_room;
	gs_words_run *runs;

	gs_numbering *numbering;	/* NULL: words are taken as they are */
} gs_job_plane;

/* What is summed and compared to prove a share sorted; gs_device_proof.c. */
typedef struct gs_share_proof
{
	gs_row_sums given;			/* rows that the device holds, before they are scattered */
	gs_order_check sorted;		/* its share, by the first section */
	gs_order_check tied;		/* rows taken out of it, before they are sorted */
	gs_order_check refined;		/* ... and sorted */
	gs_order_check placed;		/* the ids of its share in the end */
} gs_share_proof;

/* Small tables that every device of a job has, in one block of its memory. */
typedef struct gs_device_tables
{
	gs_plane_stats stats[GS_MAX_PLANES];
	uint64_t	positions[GS_MAX_BINS];
	uint64_t	counts[GS_MAX_COUNTED][GS_DEVICE_DIGITS];
	uint32_t	unsorted[GS_MAX_BINS];	/* by bucket of the round */
	gs_share_proof proof;		/* of the round */
} gs_device_tables;

/* The refinement of a share whose key is wider than a section; gs_device_ties.c. */
typedef struct gs_ties
{
	bool		active;			/* rows may tie, and the key goes on */
	gs_cursor	cursor;			/* behind the bits that decided so far */
	uint64_t	known_ties;		/* neighbours that are equal, by the check of rows at hand */
	uint64_t	nrows;			/* at hand: those that tied before the last section */
	gs_pairs	pairs;			/* sorted */
	gs_pairs	other;			/* free for the next ones */
	uint32_t   *positions;		/* in the share; NULL: all rows are at hand */
	uint32_t   *other_positions;
	uint32_t   *free_positions;
	uint64_t   *ranks;
	void	   *ids;
	void	   *temp;
	void	   *sort_temp;
} gs_ties;

typedef struct gs_job_device
{
	gs_device  *device;
	bool		touched;		/* operations were called for the job */
	size_t		used_bytes;		/* of the arena, by the job */
	gs_device_tables *tables;	/* device memory; NULL: not set up yet */
	gs_alphabets *alphabets;	/* device memory, by plane; NULL: no plane is of bytes */
	uint64_t	first_segment;	/* of the rows that lie on it */
	uint64_t	nsegments;

	/* the first section of its rows' keys */
	uint64_t   *packed;			/* device memory, if it was packed apart */
	uint64_t  **packed_words;	/* by segment of a chunk */
	uint64_t	chunk_segments; /* whose keys are there at once */
	void	   *tile_counts;	/* may be NULL */

	/* device memory for shares, the same in each round */
	gs_pairs	pairs;
	gs_pairs	spare;
	gs_pairs	local;			/* rows on their way, exchange by copies */
	uint64_t	local_rows;
	void	   *scatter_temp;
	void	   *sort_temp[2];	/* by queue */
	uint64_t   *bitmap;			/* NULL: equal neighbours are not wanted */

	/* buckets of the round, at most GS_MAX_BINS */
	bool		in_spare[GS_MAX_BINS];	/* where the sorted rows are */
	uint32_t	unsorted[GS_MAX_BINS];	/* see gs_device_early.c */
	gs_ties		ties;
	gs_share_proof proof;		/* as it was last looked at */

	/* words of the bitmap that other shares may have bits of */
	unsigned	nborders;
	uint64_t   *borders;		/* device memory */
} gs_job_device;

/* Sorted rows, and the event that says that their ids are in place. */
typedef struct gs_ready
{
	uint64_t	end;			/* position */
	unsigned	device;
	gs_event_ref event;
} gs_ready;

/* One of a device's border words. */
typedef struct gs_border_word
{
	uint64_t	word;			/* of the bitmap */
	unsigned	device;
	unsigned	slot;			/* in its borders[] */
} gs_border_word;

typedef struct gs_allocation
{
	unsigned	device;
	size_t		bytes;
	void	   *memory;
} gs_allocation;

struct gs_device_job
{
	/* set by gs_device_begin() */
	gs_group   *group;
	gs_device_options options;	/* bucket_rows and memory_bytes may be 0 */
	bool		store;			/* devices exchange rows by stores */
	unsigned	fed_planes;		/* that may be fed */
	gs_plane_stats (*stats)[GS_MAX_PLANES];	/* by device */
	uint64_t	(*counts)[GS_MAX_COUNTED][GS_DEVICE_DIGITS];	/* by device */
	gs_bin_tree *tree;

	/* device memory, in the order in which it was taken */
	unsigned	nallocations;
	unsigned	allocation_room;
	gs_allocation *allocations;

	bool		failed;			/* while rows were fed: all is to be done again */
	char		message[320];

	/* where rows are: at first expected to be */
	uint64_t	nsegments;
	unsigned	ndevices;		/* that take part, the first ones of the group */
	uint64_t	first_segments[GS_MAX_DEVICES + 1];
	unsigned	resident_planes;	/* leading ones that are uploaded */
	gs_job_plane planes[GS_MAX_PLANES];
	gs_job_device devices[GS_MAX_DEVICES];

	/* set by gs_device_run() */
	gs_device_args args;
	gs_device_result *result;
	gs_alphabets *alphabets;	/* by device and plane, like stats; NULL: no plane is of
								 * bytes */
	gs_layout	layout;
	gs_section	section;			/* the first */
	gs_cursor	cursor;			/* behind it */
	gs_keys		keys;			/* but for the words */
	int			key_plane;		/* whose words are the keys; or -1: packed */
	int			kept_plane;		/* in whose device memory keys are, words or packed; or -1 */
	bool		resident_keys;	/* all are there, and nothing else that was uploaded is
								 * needed but for speed */
	bool		in_chunks;		/* no memory for resident keys */
	bool		stop_early;		/* see gs_device_early.c */
	bool		stopped_early;	/* a bucket of the round was sorted so */

	/* shares: number `round * ndevices + d` is sorted on device d */
	unsigned	rounds;
	unsigned	nshares;
	uint64_t	capacity_rows;
	unsigned	share_allocations;	/* allocations from this one on are for shares */
	gs_bucket_plan *plan;
	uint64_t	(*positions)[GS_MAX_BINS];	/* ndevices + 1 a round */
	uint64_t	(*local_positions)[GS_MAX_BINS];	/* ndevices a round; exchange
													 * by copies, else NULL */

	/* what proves the result; gs_device_proof.c */
	gs_row_sums given;			/* by all devices, before rows are moved */
	gs_row_sums returned;		/* in order, of the rounds that are done */
	bool		keys_summed;	/* are keys in the sums, or ids only? */
	uint64_t	last_key;		/* of the last share that has rows */
	uint64_t	last_id;
	bool		has_last;

	/* the result on its way */
	unsigned	nready;
	unsigned	next_ready;		/* that was not waited for yet */
	gs_ready   *ready;			/* by bucket */
	unsigned	nborders;
	gs_border_word *borders;
	uint64_t   *border_bits;	/* of all devices, downloaded in the end */
};

/* Return from a function that returns a status unless `call` is GS_OK. */
#define GS_TRY(call) \
	do { \
		gs_status	try_status = (call); \
		if (try_status != GS_OK) \
			return try_status; \
	} while (0)

/* The same for an operation of a device: GS_DO(job, d, upload, queue, to, ...). */
#define GS_DO(job, d, operation, ...) \
	do { \
		gs_device  *do_device = (job)->devices[d].device; \
		gs_status	do_status = do_device->ops->operation(do_device, __VA_ARGS__); \
		if (do_status != GS_OK) \
			return gs_job_failed(job, d, do_status); \
	} while (0)

extern gs_status gs_job_failed(gs_device_job *job, unsigned d, gs_status status);
extern gs_status gs_job_fail(gs_device_job *job, gs_status status, const char *message);
extern gs_rows gs_job_rows(const gs_device_job *job, uint64_t first_segment, uint64_t nsegments);
extern void *gs_job_alloc(gs_device_job *job, unsigned d, size_t bytes);
extern void gs_job_free(gs_device_job *job, unsigned d, void *memory);
extern void gs_job_free_from(gs_device_job *job, unsigned first_allocation);
extern size_t gs_job_available(const gs_device_job *job, unsigned d);
extern gs_status gs_job_open_device(gs_device_job *job, unsigned d);
extern gs_status gs_job_poll(gs_device_job *job);
extern gs_status gs_job_sync(gs_device_job *job, unsigned d, gs_event_ref event);
extern gs_status gs_job_sync_queue(gs_device_job *job, unsigned d, gs_queue queue);
extern gs_status gs_job_drain(gs_device_job *job);
extern gs_status gs_job_follow(gs_device_job *job, unsigned d, gs_queue queue,
							   unsigned behind_device, gs_queue behind);
extern void gs_job_span_begin(gs_device_job *job, unsigned d, gs_queue queue, const char *name);
extern void gs_job_span_end(gs_device_job *job, unsigned d, gs_queue queue);

#endif							/* GS_DEVICE_JOB_H */
