/*
 * gs_device_private.h
 *		A sort on devices: its job, and its steps.
 */
#ifndef GS_DEVICE_PRIVATE_H
#define GS_DEVICE_PRIVATE_H

#include "engine/gs_engine.h"
#include "engine/device/gs_bucket_private.h"
#include "engine/device/gs_device.h"
#include "engine/device/gs_device_sort.h"

/* ---------- job: what the steps share, and have in common ---------- */

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
	/* arrays by segment; words and nulls are complete once the job runs */
	const uint64_t **host_words;	/* where the words are in host memory */
	/* where the device that has the rows reads the words: in its memory, if they were uploaded */
	const uint64_t **words;
	const uint64_t **nulls;		/* NULL: no row is null */

	uint64_t	uploaded;		/* segments that were uploaded */
	uint64_t	room;			/* how many segments words[] has room for */
	unsigned	nruns;
	unsigned	run_room;
	gs_words_run *runs;

	gs_numbering *numbering;	/* NULL: words are taken as they are */
} gs_job_plane;

/* Sums that are compared to prove a share sorted; see gs_device_proof.c. */
typedef struct gs_share_proof
{
	gs_row_sums given;			/* rows that the device holds, before they are scattered */
	gs_order_check sorted;		/* the rows of its share, sorted by the first section */
	/* rows of it that tie, before they are sorted by the next section */
	gs_order_check tied;
	gs_order_check refined;		/* the same rows, after that */
	gs_order_check placed;		/* the ids of its share in the end */
} gs_share_proof;

/* Small tables that every device of a job has, in one block of its memory. */
typedef struct gs_device_tables
{
	gs_plane_stats stats[GS_MAX_PLANES];
	uint64_t	positions[GS_MAX_BINS];
	uint64_t	counts[GS_MAX_COUNTED][GS_DEVICE_DIGITS];
	uint32_t	unsorted[GS_MAX_BINS];	/* by bucket of the round; see gs_device_early.c */
	gs_share_proof proof;		/* of the round's share */
} gs_device_tables;

/* The refinement of a share whose key is wider than a section; gs_device_ties.c. */
typedef struct gs_ties
{
	bool		active;			/* rows may tie, and the key goes on */
	/* where the key goes on behind the bits that rows were sorted by so far */
	gs_cursor	cursor;
	/* equal neighbours that the check of the rows at hand has counted */
	uint64_t	known_ties;
	/* rows at hand: those that tied before the last section was looked at */
	uint64_t	nrows;
	gs_pairs	pairs;			/* the rows at hand, sorted */
	gs_pairs	other;			/* memory for those that still tie */
	/* positions of the rows at hand in the share; NULL: all are at hand */
	uint32_t   *positions;
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
	bool		touched;		/* operations of the device were called for the job */
	size_t		used_bytes;		/* arena memory that the job uses */
	gs_device_tables *tables;	/* device memory; NULL: not set up yet */
	gs_alphabets *alphabets;	/* device memory, by plane; NULL: no plane is of bytes */
	uint64_t	first_segment;	/* first segment of the rows that lie on it */
	uint64_t	nsegments;

	/* where the first section of its rows' keys is */
	uint64_t   *packed;			/* device memory, if keys were packed beside the words */
	uint64_t  **packed_words;	/* where packed keys are, by segment of a chunk */
	uint64_t	chunk_segments; /* how many segments have packed keys at once: a chunk */
	void	   *tile_counts;	/* may be NULL */

	/* device memory for shares, the same in each round */
	gs_pairs	pairs;
	gs_pairs	spare;			/* NULL if rounds overlap */
	/* if rounds overlap: pairs and bitmap are these, by turns; each queue sorts with a spare */
	gs_pairs	turn_pairs[2];
	uint64_t   *turn_bitmaps[2];
	gs_pairs	queue_spares[2];
	gs_event_ref turn_downloaded[2];	/* the ids of such pairs were downloaded; or NULL */

	/* for a lean guess: where words land, in halves of so many segments; later, spares of queues */
	char	   *landing;
	uint64_t	landing_bytes;
	uint64_t	half_segments;
	gs_event_ref half_scattered[2]; /* what landed in that half is not needed any more; or NULL */
	uint64_t	pair_rows;		/* how many rows pairs has room for */
	gs_event_ref checked[GS_MAX_BINS];	/* by bucket, while the round is sorted */

	gs_pairs	local;			/* rows on their way, if devices exchange by copies */
	uint64_t	local_rows;
	void	   *scatter_temp;
	void	   *sort_temp[2];	/* one for each queue for work */
	uint64_t   *bitmap;			/* NULL: equal neighbours are not wanted */

	/* buckets of the round, at most GS_MAX_BINS */
	bool		in_spare[GS_MAX_BINS];	/* the sorted rows are in spare, not in pairs */
	uint32_t	unsorted[GS_MAX_BINS];	/* as in gs_device_tables, downloaded */
	gs_ties		ties;
	gs_share_proof proof;		/* as it was last downloaded */

	/* words of the bitmap in which other shares may have bits, too */
	unsigned	nborders;
	uint64_t   *borders;		/* device memory */
} gs_job_device;

/* Sorted rows, and the event that says that their ids are in place. */
typedef struct gs_ready
{
	uint64_t	end;			/* position behind the last row */
	unsigned	device;
	gs_event_ref event;
} gs_ready;

/* One of a device's border words. */
typedef struct gs_border_word
{
	uint64_t	word;			/* number of the word in the bitmap */
	unsigned	device;
	unsigned	slot;			/* its number in the device's borders[] */
} gs_border_word;

/* A bin that a sample has made, which becomes a bucket; see gs_device_guess.c. */
typedef struct gs_guessed_bin
{
	uint64_t	lowest;			/* the keys that it may have */
	uint64_t	highest;
	uint64_t	nkeys;			/* how many of them were sampled */
	unsigned	share;
	bool		parked;			/* its regions are in host memory */
	uint64_t	end;			/* position behind its regions */
	/* where its rows are sorted, in the memory of its share */
	uint64_t	row;
} gs_guessed_bin;

/* Where rows go that are scattered while they are uploaded. */
typedef struct gs_guess
{
	unsigned	nbins;
	gs_guessed_bin bins[GS_MAX_BINS];
	uint16_t	bucket_bins[GS_MAX_BINS];	/* the bin of each bucket */
	/* position of the first row of each share's memory, and of the host's for parked rows */
	uint64_t	bases[GS_MAX_DEVICES + 1];
	uint64_t	end;			/* position behind all regions */
	gs_pairs	parked;			/* host memory for parked rows */
	/* positions at which the rows of a device and bin begin, and have ended */
	uint64_t	begins[GS_MAX_DEVICES][GS_MAX_BINS];
	uint64_t	ends[GS_MAX_DEVICES][GS_MAX_BINS];
	uint64_t	next[GS_MAX_DEVICES];	/* the first segment that was not scattered */
} gs_guess;

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
	bool		store;			/* devices exchange rows by stores, not by copies */
	unsigned	fed_planes;		/* how many planes may be fed */
	gs_plane_stats (*stats)[GS_MAX_PLANES];	/* statistics by device and plane */
	uint64_t	(*counts)[GS_MAX_COUNTED][GS_DEVICE_DIGITS];	/* counts by device */
	gs_bin_tree *tree;

	/* device memory, in the order in which it was taken */
	unsigned	nallocations;
	unsigned	allocation_room;
	gs_allocation *allocations;

	/* an operation failed while rows were fed: all is to be done again */
	bool		failed;
	char		message[320];

	/* where rows are; before the run, where they are expected to be */
	uint64_t	nsegments;
	unsigned	ndevices;		/* how many devices take part: the first ones of the group */
	uint64_t	first_segments[GS_MAX_DEVICES + 1];
	unsigned	resident_planes;	/* so many leading planes are uploaded */
	gs_job_plane planes[GS_MAX_PLANES];
	gs_job_device devices[GS_MAX_DEVICES];

	/* set by gs_device_run() */
	gs_device_args args;
	gs_device_result *result;
	gs_alphabets *alphabets;	/* by device and plane, like stats; NULL: no plane is of bytes */
	gs_layout	layout;
	gs_section	section;			/* the first section of the key */
	gs_cursor	cursor;			/* where the key goes on behind section */
	gs_keys		keys;			/* all but the words, which each chunk has its own of */
	int			key_plane;		/* the plane whose words are the keys; -1: keys are packed */
	/* the plane whose device memory has the keys, as words or packed; or -1 */
	int			kept_plane;
	/* all keys are in device memory; other uploaded planes are needed only for speed */
	bool		resident_keys;
	bool		in_chunks;		/* there is no memory for resident keys */
	bool		stop_early;		/* sort buckets by leading bits, see gs_device_early.c */
	bool		stopped_early;	/* a bucket of the round was sorted by leading bits */

	gs_guess   *guess;			/* NULL: there is none */
	bool		guess_failed;	/* there is to be no other one */
	bool		lean;			/* the guess is a lean one, or will be; see gs_device_lean.c */
	bool		words_lost;		/* words have landed that are on no device any more */
	uint64_t	lean_rows;		/* rows that a bucket of a lean guess should have */

	/* shares: number `round * ndevices + d` is sorted on device d */
	unsigned	rounds;
	bool		overlap;		/* a round is sorted while the one before is downloaded */
	unsigned	nshares;
	uint64_t	capacity_rows;
	unsigned	share_allocations;	/* allocations from this one on are for shares */
	gs_bucket_plan *plan;
	/* by round and device, ndevices + 1 a round; see gs_device_exchange.c */
	uint64_t	(*positions)[GS_MAX_BINS];
	/* ndevices a round; NULL unless devices exchange by copies */
	uint64_t	(*local_positions)[GS_MAX_BINS];

	/* what proves the result; gs_device_proof.c */
	gs_row_sums given;			/* sums of all devices, before rows are moved */
	gs_row_sums returned;		/* sums of rows in order, of the rounds that are done */
	bool		keys_summed;	/* keys are in the sums, not ids only */
	uint64_t	last_key;		/* last row of the last share that has rows */
	uint64_t	last_id;
	bool		has_last;

	/* the result on its way */
	unsigned	nready;
	unsigned	next_ready;		/* the first entry of ready[] that was not waited for yet */
	gs_ready   *ready;			/* an entry for each bucket */
	unsigned	nborders;
	gs_border_word *borders;
	uint64_t   *border_bits;	/* border words of all devices, downloaded in the end */
};

/* Does as GS_TRY() with an operation of a device: GS_DO(job, d, upload, queue, to, ...). */
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

/* ---------- memory: how that of devices is divided up ---------- */

extern unsigned gs_memory_planes(const gs_device_job *job, uint64_t nrows, unsigned nplanes,
								 bool ahead);
extern bool gs_memory_packs_apart(const gs_device_job *job);
extern uint64_t gs_memory_packed_segments(const gs_device_job *job, unsigned d);
extern gs_status gs_memory_shares(gs_device_job *job, unsigned min_rounds);
extern gs_status gs_memory_take(gs_device_job *job);
extern bool gs_memory_take_pairs(gs_device_job *job, unsigned d, uint64_t rows, gs_pairs *pairs);
extern uint64_t gs_memory_bucket_rows(const gs_device_job *job);
extern bool gs_memory_take_sorting(gs_device_job *job);
extern void gs_memory_give_shares(gs_device_job *job, unsigned d);

/* ---------- upload: words to the devices, and what they say about the key ---------- */

/* So many segments are uploaded in one piece: a group. */
#define GS_GROUP_SEGMENTS	8

extern void gs_upload_expect(gs_device_job *job, uint64_t nrows);
extern gs_status gs_upload_ahead(gs_device_job *job, unsigned plane, uint64_t segment,
								 const uint64_t *words);
extern gs_status gs_upload_forget(gs_device_job *job, unsigned plane);
extern void gs_upload_drop(gs_device_job *job);
extern gs_status gs_upload_release(gs_device_job *job, int kept);
extern gs_status gs_upload_planes(gs_device_job *job);
extern gs_status gs_upload_again(gs_device_job *job);
extern gs_status gs_upload_layout(gs_device_job *job);

/* ---------- guess: rows scattered while they are uploaded ---------- */

extern bool gs_guess_wanted(const gs_device_job *job);
extern gs_status gs_guess_make(gs_device_job *job);
extern gs_status gs_guess_scatter(gs_device_job *job, unsigned d, uint64_t end);
extern gs_status gs_guess_ask(gs_device_job *job);
extern gs_status gs_guess_hold(gs_device_job *job, uint64_t min, uint64_t max);
extern gs_status gs_guess_drop(gs_device_job *job);
extern uint64_t gs_guess_sampled_keys(const gs_device_job *job);
extern uint64_t gs_guess_region_rows(uint64_t found, uint64_t nkeys, uint64_t nrows);
extern size_t gs_guess_share_bytes(const gs_device_job *job, unsigned d, uint64_t nrows);
extern gs_status gs_guess_gather(gs_device_job *job, unsigned d, gs_queue queue,
								 const gs_bucket *bucket, bool *in_spare);

/* Returns the bin that a bucket is made of. */
static inline gs_guessed_bin *
gs_guess_bin(const gs_device_job *job, const gs_bucket *bucket)
{
	const gs_bucket *buckets;

	gs_plan_buckets(job->plan, &buckets);
	return &job->guess->bins[job->guess->bucket_bins[bucket - buckets]];
}

/* Returns how many rows of a device are in a bin. */
static inline uint64_t
gs_guess_bin_rows(const gs_guess *guess, unsigned d, unsigned bin)
{
	return guess->ends[d][bin] - guess->begins[d][bin];
}

/* ---------- lean: a guess in little memory; words that land, rows that are parked ---------- */

/* For the alignment of blocks of a device's memory, and small ones. */
#define GS_LEAN_SMALL_BYTES	(16 * 1024)

static inline size_t
gs_lean_pair_bytes(const gs_device_job *job)
{
	return sizeof(uint64_t) + job->args.id_bytes;
}

extern void gs_lean_begin(gs_device_job *job);
extern void gs_lean_choose_rows(gs_device_job *job);
extern uint64_t gs_lean_half_bytes(const gs_device_job *job);
extern bool gs_lean_take_landing(gs_device_job *job, unsigned d);
extern void gs_lean_give_landing(gs_device_job *job, unsigned d);
extern uint64_t *gs_lean_land(const gs_device_job *job, unsigned d, uint64_t segment);
extern bool gs_lean_half_begins(const gs_device_job *job, unsigned d, uint64_t segment);
extern gs_status gs_lean_await(gs_device_job *job, unsigned d, uint64_t segment);
extern uint64_t gs_lean_most_rows(const gs_device_job *job);
extern uint64_t gs_lean_capacity(const gs_device_job *job, unsigned d);
extern bool gs_lean_take(gs_device_job *job);
extern bool gs_lean_hold(gs_device_job *job);
extern gs_status gs_lean_fetch(gs_device_job *job, unsigned d, gs_queue queue,
							   const gs_bucket *bucket, unsigned ordinal);
extern void gs_lean_end(gs_device_job *job);

/* ---------- partition: keys, histograms, and scattering of rows to their shares ---------- */

extern gs_status gs_partition_keys(gs_device_job *job);
extern gs_status gs_partition_evict(gs_device_job *job);
extern gs_status gs_partition_plan(gs_device_job *job);
extern gs_status gs_partition_round(gs_device_job *job, unsigned round);
extern gs_status gs_partition_sum(gs_device_job *job);

/* ---------- exchange: rows, to the devices of their shares ---------- */

extern gs_status gs_exchange_prepare(gs_device_job *job);
extern void gs_exchange_tree(gs_device_job *job, unsigned round, bool *digits);
extern const uint64_t *gs_exchange_positions(const gs_device_job *job, unsigned round, unsigned d);
extern unsigned gs_exchange_targets(const gs_device_job *job, unsigned round, unsigned d,
									gs_target *targets);
extern gs_status gs_exchange_meet(gs_device_job *job, const gs_queue *queues, unsigned nqueues);
extern gs_status gs_exchange_rows(gs_device_job *job, unsigned round);

/* ---------- buckets: of a round, sorted and downloaded ---------- */

extern gs_status gs_buckets_round(gs_device_job *job, unsigned round);

/* ---------- early: buckets that are sorted by the leading bits of keys only ---------- */

extern void gs_early_choose(gs_device_job *job);
extern void gs_early_choose_by(gs_device_job *job, uint64_t *keys, uint64_t nkeys);
extern unsigned gs_early_low_bit(const gs_device_job *job, const gs_bucket *bucket);
extern gs_status gs_early_begin_round(gs_device_job *job);
extern gs_status gs_early_look(gs_device_job *job);

/* ---------- ties: rows that tie, of keys wider than a section ---------- */

extern gs_status gs_ties_round(gs_device_job *job, unsigned round);

/* ---------- result: sorted row ids to the caller, bucket by bucket ---------- */

extern gs_status gs_result_begin(gs_device_job *job, unsigned nready);
extern void gs_result_end(gs_device_job *job);
extern gs_status gs_result_download(gs_device_job *job, unsigned d, gs_queue behind,
									const gs_bucket *bucket, const void *ids);
extern gs_status gs_result_bitmap(gs_device_job *job, unsigned d, unsigned share);
extern gs_status gs_result_mark_turn(gs_device_job *job, unsigned turn);
extern gs_status gs_result_await_turn(gs_device_job *job, unsigned turn);
extern gs_status gs_result_identity(gs_device_job *job);
extern gs_status gs_result_wait(gs_device_job *job, uint64_t *ready);

/* ---------- proof: devices return the rows that they were given, in order ---------- */

/*
 * gs_proof_begin() is called before the first round, gs_proof_begin_round() before each; no rows
 * are on their way then.
 */
extern void gs_proof_begin(gs_device_job *job);
extern gs_status gs_proof_begin_round(gs_device_job *job);

/* Sums rows that a device holds, in the first round, behind what makes their keys. */
extern gs_status gs_proof_given(gs_device_job *job, unsigned d, gs_rows rows, gs_keys keys);

/*
 * gs_proof_sorted() checks rows of a device's share that are sorted by the first section,
 * gs_proof_placed() its ids in their final order; both on the queue for work.
 * gs_proof_forget_sorted() makes the devices forget what gs_proof_sorted() has found in this round,
 * for buckets that were sorted again and are checked again.
 */
extern gs_status gs_proof_forget_sorted(gs_device_job *job);
extern gs_status gs_proof_sorted(gs_device_job *job, unsigned d, gs_pairs rows, gs_pairs before,
								 uint64_t nrows);
extern gs_status gs_proof_placed(gs_device_job *job, unsigned d, uint64_t nrows);

/*
 * gs_proof_tied() sums rows that tie before they are sorted by the next section; gs_proof_refined()
 * checks them when they are sorted and their ids have been put back.
 */
extern gs_status gs_proof_tied(gs_device_job *job, unsigned d);
extern gs_status gs_proof_refined(gs_device_job *job, unsigned d);

/*
 * These wait for the answers, and return GS_DEVICE_WRONG unless they are as they should be.
 * gs_proof_shares(): every share of the round is in order of the first section and follows the one
 * before, and in the last round all rows have come back.  gs_proof_ties(): rows that tied were
 * sorted by another section.  gs_proof_places(): the ids of a share are still the same.
 */
extern gs_status gs_proof_shares(gs_device_job *job, unsigned round);
extern gs_status gs_proof_ties(gs_device_job *job, unsigned d);
extern gs_status gs_proof_places(gs_device_job *job, unsigned d);

/*
 * These do the same for rows that are in order already, of which each device has some of the ids.
 */
extern gs_status gs_proof_begin_identity(gs_device_job *job);
extern gs_status gs_proof_end_identity(gs_device_job *job);

#endif							/* GS_DEVICE_PRIVATE_H */
