/*
 * gs_device_guess.c
 *		Rows scattered while they are uploaded, to places that a sample foretells.
 *
 * Where rows go is known when all keys have been counted, and so when the last one has been
 * uploaded.  If rows are scattered only then, nothing goes over the links meanwhile: a tenth of the
 * time that the links take for the whole sort.  But while words arrive, devices have nothing to do.
 *
 * So keys are sampled in host memory, while the first of them are on their way.  The sample makes a
 * tree of bins, and tells about how many rows of each bin every device holds.  A bin has a *region*
 * for the rows of each device, with room for some more than that, and each group of rows is
 * scattered to its regions as soon as it is there.  In the end the positions that the bins have got
 * to tell how many rows they have, exactly; these make the plan, in which each bin is a bucket.  A
 * bucket whose rows lie in several regions is gathered before it is sorted.
 *
 * If a region was too small, its rows have overwritten others.  Then the guess is dropped, and the
 * sort goes on as if there had not been one: the words are where they were uploaded to.  Nothing
 * that is returned rests on the sample.
 *
 * That takes a key that is one plane's words, which are taken as they are, and nothing that was
 * uploaded ahead, as a sample of what comes first says nothing of the rest; and room for all pairs,
 * twice, beside the words.  If there is less, the guess is a lean one (gs_device_lean.c).
 */
#include <stdlib.h>

#include "engine/device/gs_bucket_private.h"
#include "engine/device/gs_device_private.h"

/* Each key that is sampled costs a cache miss of the host. */
#define ROWS_A_SAMPLED_KEY	4096
/* ... but the more of them there are, the less room regions need to spare. */
#define ROWS_A_LEAN_KEY		1024
#define MIN_SAMPLED_KEYS	4096
#define MAX_SAMPLED_KEYS	65536

/* A bin has so many sampled keys at least, on average: else regions would be too uncertain. */
#define MIN_BIN_KEYS		16
/* ... and there are no more bins than half of what there may be; see add_leaf(). */
#define MOST_BINS			(GS_MAX_BINS / 2)
/* ... but so many of each share, if that leaves them keys enough. */
#define SHARE_BINS			8

/* Each node of the tree is a look at the sample. */
#define MOST_NODES			24

/* A bin that has more than this part of a share's sampled keys is none that a guess is good for. */
#define LARGE_DIVISOR		4

/*
 * A region has room for so many standard deviations more than the sample says, and for so many
 * sampled keys: of a bin of which none was sampled, or a few.
 */
#ifndef GS_GUESS_DEVIATIONS		/* tests, in which some guesses are to be wrong, set less */
#define GS_GUESS_DEVIATIONS	5
#endif
#define SPARE_KEYS			(GS_GUESS_DEVIATIONS * GS_GUESS_DEVIATIONS / 2 + 1)

/* The tree of bins in the making. */
typedef struct bin_maker
{
	const uint64_t *keys;
	uint64_t	nkeys;
	uint64_t	bin_keys;		/* how many of these a bin should have */
	uint64_t	before;			/* how many are in bins so far */
	unsigned	nshares;
	unsigned	share_bins;		/* bins of the share at hand */
	gs_guess   *guess;
	gs_bin_tree *tree;
} bin_maker;

/* Returns the rows that lie on a device. */
static gs_rows
device_rows(const gs_device_job *job, unsigned d)
{
	return gs_job_rows(job, job->devices[d].first_segment, job->devices[d].nsegments);
}

/*
 * Returns whether rows may be scattered while they are uploaded.  A lean guess does with words that
 * are on no device and, since it is that or rounds, with those that would be numbered.
 */
bool
gs_guess_wanted(const gs_device_job *job)
{
	const gs_span_plane *plane = &job->args.planes[0];
	uint64_t	least = job->options.guess_rows > 0 ? job->options.guess_rows
		: GS_DEFAULT_GUESS_ROWS;

	return job->args.nplanes == 1 && job->args.nrows >= least && !job->guess_failed &&
		(job->lean || (job->resident_planes == 1 && !plane->bytes)) &&
		plane->nulls.parts == NULL && job->planes[0].uploaded == 0 &&
		(job->store || job->ndevices == 1);
}

uint64_t
gs_guess_sampled_keys(const gs_device_job *job)
{
	uint64_t	count = job->args.nrows / (job->lean ? ROWS_A_LEAN_KEY : ROWS_A_SAMPLED_KEY);

	count = count < MIN_SAMPLED_KEYS ? MIN_SAMPLED_KEYS : count;
	count = count > MAX_SAMPLED_KEYS ? MAX_SAMPLED_KEYS : count;
	return count < job->args.nrows ? count : job->args.nrows;
}

/* Reads keys of so many of some rows, of each of as many equal stretches one at random. */
static void
sample_rows(const gs_device_job *job, gs_rows rows, uint64_t *keys, uint64_t count)
{
	uint64_t	stretch = count == 0 ? 0 : rows.nrows / count;
	uint64_t	rest = count == 0 ? 0 : rows.nrows % count;

	for (uint64_t i = 0; i < count; i++)
	{
		uint64_t	row = rows.first_row + i * stretch + i * rest / count +
			gs_mixed_id(i) % stretch;

		keys[i] = job->planes[0].host_words[row >> GS_SEGMENT_SHIFT][row & (GS_SEGMENT_ROWS - 1)];
	}
}

/*
 * Reads keys of all devices' rows, as many as their rows are worth; sampled[d] is set to the number
 * of keys in front of those of device d.
 */
static void
sample_keys(const gs_device_job *job, uint64_t *keys, uint64_t *sampled)
{
	uint64_t	count = gs_guess_sampled_keys(job);

	sampled[0] = 0;
	for (unsigned d = 0; d < job->ndevices; d++)
	{
		gs_rows		rows = device_rows(job, d);
		uint64_t	of_device = (uint64_t) ((double) count * (double) rows.nrows /
											(double) job->args.nrows);

		sample_rows(job, rows, keys + sampled[d], of_device);
		sampled[d + 1] = sampled[d] + of_device;
	}
}

/* Returns how many sampled keys the bin at hand should have; the first ones are sorted soonest. */
static uint64_t
wanted_keys(const bin_maker *maker)
{
	return maker->share_bins < 3 ? maker->bin_keys >> (3 - maker->share_bins) : maker->bin_keys;
}

/*
 * Adds a leaf to the last bin, or begins another one: where the next share begins, and where the
 * bin would have too many keys.  So two bins have more than enough for one, and there are at most
 * twice as many as there should be, beside the first ones of each share.  Returns the bin.
 */
static uint16_t
add_leaf(bin_maker *maker, uint64_t lowest, uint64_t highest, uint64_t nkeys)
{
	gs_guess   *guess = maker->guess;
	gs_guessed_bin *bin = guess->nbins == 0 ? NULL : &guess->bins[guess->nbins - 1];
	unsigned	share = bin == NULL ? 0 : bin->share;
	bool		cut = share + 1 < maker->nshares &&
		maker->before + nkeys / 2 >= maker->nkeys * (share + 1) / maker->nshares;

	if (bin == NULL ||
		(guess->nbins < GS_MAX_BINS &&
		 (cut || (bin->nkeys > 0 && bin->nkeys + nkeys > wanted_keys(maker)))))
	{
		maker->share_bins = cut || bin == NULL ? 1 : maker->share_bins + 1;
		bin = &guess->bins[guess->nbins++];
		*bin = (gs_guessed_bin) {.lowest = lowest, .share = cut ? share + 1 : share};
	}
	bin->highest = highest;
	bin->nkeys += nkeys;
	maker->before += nkeys;
	return (uint16_t) (guess->nbins - 1);
}

/* Adds the keys that begin with a prefix, above `shift` bits, by their next digit. */
static void
add_node(bin_maker *maker, uint64_t prefix, unsigned shift)
{
	gs_bin_tree *tree = maker->tree;
	unsigned	node = tree->nnodes++;
	unsigned	digit_shift = shift - GS_DEVICE_DIGIT_BITS;
	uint64_t	counts[GS_DEVICE_DIGITS] = {0};

	tree->nodes[node].digit_shift = digit_shift;
	tree->nodes[node].digit_bits = GS_DEVICE_DIGIT_BITS;
	for (uint64_t i = 0; i < maker->nkeys; i++)
		if (shift == 64 || maker->keys[i] >> shift == prefix)
			counts[maker->keys[i] >> digit_shift & (GS_DEVICE_DIGITS - 1)]++;
	for (unsigned digit = 0; digit < GS_DEVICE_DIGITS; digit++)
	{
		uint64_t	child = prefix << GS_DEVICE_DIGIT_BITS | digit;
		uint64_t	lowest = child << digit_shift;

		if (counts[digit] > maker->bin_keys && digit_shift > 0 && tree->nnodes < MOST_NODES)
		{
			tree->entries[node][digit] = (uint16_t) (GS_TREE_NODE | tree->nnodes);
			add_node(maker, child, digit_shift);
		}
		else
			tree->entries[node][digit] =
				add_leaf(maker, lowest, lowest | gs_low_mask(digit_shift), counts[digit]);
	}
}

/* Returns how many of nkeys sampled keys so many rows have. */
static uint64_t
keys_of(const gs_device_job *job, uint64_t nkeys, uint64_t nrows)
{
	return (uint64_t) ((double) nkeys * (double) nrows / (double) job->args.nrows);
}

/* Returns whether a bin has no more keys than can be sorted. */
static bool
bin_is_good(const gs_device_job *job, const gs_guessed_bin *bin, uint64_t nkeys)
{
	/* rows of equal keys need no memory to sort with, if they need not be gathered either */
	if (job->lean && (bin->lowest < bin->highest || job->ndevices > 1) &&
		bin->nkeys > keys_of(job, nkeys, gs_lean_most_rows(job)))
		return false;
	return bin->nkeys <= nkeys / job->ndevices / LARGE_DIVISOR;
}

/* Makes the tree of bins.  Returns whether it is one that rows can be scattered by. */
static bool
make_bins(gs_device_job *job, const uint64_t *keys, uint64_t nkeys)
{
	gs_guess   *guess = job->guess;
	bin_maker	maker = {
		.keys = keys,
		.nkeys = nkeys,
		.bin_keys = keys_of(job, nkeys, job->lean ? job->lean_rows : gs_memory_bucket_rows(job)),
		.nshares = job->ndevices,
		.guess = guess,
		.tree = job->tree,
	};

	if (maker.bin_keys > nkeys / job->ndevices / SHARE_BINS)
		maker.bin_keys = nkeys / job->ndevices / SHARE_BINS;
	if (maker.bin_keys < nkeys / MOST_BINS)
		maker.bin_keys = nkeys / MOST_BINS;
	if (maker.bin_keys < MIN_BIN_KEYS)
		maker.bin_keys = MIN_BIN_KEYS;
	job->tree->nnodes = 0;
	add_node(&maker, 0, 64);
	job->tree->nbins = guess->nbins;
	for (unsigned bin = 0; bin < guess->nbins; bin++)
		if (!bin_is_good(job, &guess->bins[bin], nkeys))
			return false;
	return guess->bins[guess->nbins - 1].share + 1 == job->ndevices;
}

static unsigned
find_bin(const gs_bin_tree *tree, uint64_t key)
{
	unsigned	entry = GS_TREE_NODE;

	while (entry & GS_TREE_NODE)
	{
		unsigned	node = entry & ~GS_TREE_NODE;

		entry = tree->entries[node][key >> tree->nodes[node].digit_shift & (GS_DEVICE_DIGITS - 1)];
	}
	return entry;
}

/* Returns how many rows of a device to have room for, of whose keys so many were found in a bin. */
uint64_t
gs_guess_region_rows(uint64_t found, uint64_t nkeys, uint64_t nrows)
{
	uint64_t	root = 0;
	double		rows;

	if (nkeys == 0)
		return nrows;
	while (root * root < found)
		root++;
	rows = (double) (found + GS_GUESS_DEVIATIONS * root + SPARE_KEYS) *
		(double) nrows / (double) nkeys;
	return rows < (double) nrows ? (uint64_t) rows + 1 : nrows;
}

/* Lays out the regions of a bin from a position on; returns the position behind them. */
static uint64_t
lay_out_bin(gs_device_job *job, unsigned b, const uint64_t *sampled, uint64_t position)
{
	gs_guess   *guess = job->guess;

	for (unsigned d = 0; d < job->ndevices; d++)
	{
		guess->begins[d][b] = position;
		position += gs_guess_region_rows(guess->ends[d][b], sampled[d + 1] - sampled[d],
										 device_rows(job, d).nrows);
	}
	guess->bins[b].end = position;
	return position;
}

/*
 * Lays out the regions: those of a bin side by side, in the order of devices, so that gathered rows
 * are in order.  Positions count through the memory of all devices, and then through that of the
 * host: where it takes the bins of a share from the first one on that the device has no room for.
 */
static void
lay_out(gs_device_job *job, const uint64_t *keys, const uint64_t *sampled)
{
	gs_guess   *guess = job->guess;
	uint64_t	position = 0;
	unsigned	share = 0;

	for (unsigned d = 0; d < job->ndevices; d++)
		for (uint64_t i = sampled[d]; i < sampled[d + 1]; i++)
			guess->ends[d][find_bin(job->tree, keys[i])]++;
	for (unsigned b = 0; b < guess->nbins; b++)
	{
		gs_guessed_bin *bin = &guess->bins[b];
		uint64_t	end;

		while (share < bin->share)
			guess->bases[++share] = position;
		bin->row = position - guess->bases[share];
		end = lay_out_bin(job, b, sampled, position);
		bin->parked = job->lean && (end - guess->bases[share] > gs_lean_capacity(job, share) ||
									(b > 0 && bin[-1].share == share && bin[-1].parked));
		if (!bin->parked)
			position = end;
	}
	while (share < job->ndevices)
		guess->bases[++share] = position;
	for (unsigned b = 0; b < guess->nbins; b++)
		if (guess->bins[b].parked)
			position = lay_out_bin(job, b, sampled, position);
	guess->end = position;
}

/* Returns the bytes that a device needs for so many rows of its share, and its words. */
size_t
gs_guess_share_bytes(const gs_device_job *job, unsigned d, uint64_t nrows)
{
	gs_device  *device = job->devices[d].device;

	return 2 * nrows * (sizeof(uint64_t) + job->args.id_bytes) + nrows / 8 +
		2 * device->ops->sort_temp_bytes(device, job->args.id_bytes, nrows / LARGE_DIVISOR) +
		device->ops->scatter_temp_bytes(device, device_rows(job, d)) +
		device_rows(job, d).nrows * sizeof(uint64_t) + 64 * 1024;
}

/* Takes memory for the regions; returns false if there is not enough for these and all words. */
static bool
take_regions(gs_device_job *job)
{
	bool		taken = true;

	if (job->lean)
		return gs_lean_take(job);

	for (unsigned d = 0; d < job->ndevices && taken; d++)
	{
		gs_job_device *jd = &job->devices[d];
		uint64_t	nrows = job->guess->bases[d + 1] - job->guess->bases[d];

		if (gs_guess_share_bytes(job, d, nrows) > gs_job_available(job, d))
			return false;
		jd->scatter_temp = gs_job_alloc(job, d, jd->device->ops->scatter_temp_bytes(
			jd->device, device_rows(job, d)));
		taken = jd->scatter_temp != NULL && gs_memory_take_pairs(job, d, nrows, &jd->pairs) &&
			gs_memory_take_pairs(job, d, nrows, &jd->spare);
	}
	return taken;
}

/* Has the devices know where the rows of each bin go, and have no sums yet. */
static gs_status
begin_scatter(gs_device_job *job)
{
	job->keys = (gs_keys) {.width = 64};
	job->key_plane = 0;
	gs_proof_begin(job);
	job->keys_summed = true;
	GS_TRY(gs_proof_begin_round(job));
	for (unsigned d = 0; d < job->ndevices; d++)
	{
		job->guess->next[d] = job->devices[d].first_segment;
		/* on a queue that has nothing to do, for which the host does not wait */
		GS_DO(job, d, upload, GS_QUEUE_WORK2, job->devices[d].tables->positions,
			  job->guess->begins[d], sizeof(job->guess->begins[d]));
		GS_TRY(gs_job_follow(job, d, GS_QUEUE_WORK, d, GS_QUEUE_WORK2));
	}
	return GS_OK;
}

/* Guesses where rows go.  There is no guess afterwards if there is no good one, or no room. */
gs_status
gs_guess_make(gs_device_job *job)
{
	uint64_t	nkeys = gs_guess_sampled_keys(job);
	uint64_t   *keys = malloc(nkeys * sizeof(*keys));
	uint64_t	sampled[GS_MAX_DEVICES + 1];
	bool		good = false;

	job->guess = calloc(1, sizeof(*job->guess));
	if (keys != NULL && job->guess != NULL)
	{
		sample_keys(job, keys, sampled);
		good = make_bins(job, keys, sampled[job->ndevices]);
	}
	if (good)
	{
		lay_out(job, keys, sampled);
		good = take_regions(job);
		/* this puts the keys in another order */
		gs_early_choose_by(job, keys, sampled[job->ndevices]);
	}
	free(keys);
	return good ? begin_scatter(job) : gs_guess_drop(job);
}

/* Scatters a device's rows up to a segment, which have been uploaded or will be by now. */
gs_status
gs_guess_scatter(gs_device_job *job, unsigned d, uint64_t end)
{
	gs_guess   *guess = job->guess;
	gs_target	targets[GS_MAX_DEVICES + 1];
	gs_scatter	scatter = {
		.keys = job->keys,
		.id_bytes = job->args.id_bytes,
		.tree = job->tree,
		.positions = job->devices[d].tables->positions,
		.ntargets = job->ndevices,
		.targets = targets,
		.temp = job->devices[d].scatter_temp,
	};

	if (guess == NULL || guess->next[d] >= end)
		return GS_OK;
	for (unsigned to = 0; to < job->ndevices; to++)
		targets[to] = (gs_target) {
			guess->bases[to], guess->bases[to + 1] - guess->bases[to], job->devices[to].pairs
		};
	if (guess->end > guess->bases[job->ndevices])
		targets[scatter.ntargets++] = (gs_target) {
			guess->bases[job->ndevices], guess->end - guess->bases[job->ndevices], guess->parked
		};
	scatter.rows = gs_job_rows(job, guess->next[d], end - guess->next[d]);
	scatter.keys.words = job->planes[0].words + guess->next[d];
	guess->next[d] = end;
	GS_TRY(gs_proof_given(job, d, scatter.rows, scatter.keys));
	GS_DO(job, d, scatter, GS_QUEUE_WORK, &scatter);
	return GS_OK;
}

/* Asks the devices how many rows each bin has; the answer comes with the statistics. */
gs_status
gs_guess_ask(gs_device_job *job)
{
	for (unsigned d = 0; d < job->ndevices && job->guess != NULL; d++)
		GS_DO(job, d, download, GS_QUEUE_WORK, job->guess->ends[d],
			  job->devices[d].tables->positions, sizeof(job->guess->ends[d]));
	return GS_OK;
}

/* Returns whether every region had room for its rows. */
static bool
regions_sufficed(const gs_device_job *job)
{
	const gs_guess *guess = job->guess;
	uint64_t	nrows = 0;

	for (unsigned bin = 0; bin < guess->nbins; bin++)
		for (unsigned d = 0; d < job->ndevices; d++)
		{
			uint64_t	end = d + 1 < job->ndevices ? guess->begins[d + 1][bin]
				: guess->bins[bin].end;

			if (guess->ends[d][bin] > end)
				return false;
			nrows += gs_guess_bin_rows(guess, d, bin);
		}
	return nrows == job->args.nrows;
}

/* Makes a bucket of each bin that has rows, given the least and the greatest word of all. */
static gs_status
plan_buckets(gs_device_job *job, uint64_t min, uint64_t max)
{
	gs_guess   *guess = job->guess;
	gs_plan_args args = {
		.nrows = job->args.nrows,
		.width = 64,
		.ndevices = job->ndevices,
		.nshares = job->ndevices,
	};
	gs_bucket	buckets[GS_MAX_BINS];
	unsigned	nbuckets = 0;
	uint64_t	position = 0;

	job->plan = gs_plan_begin(&args);
	if (job->plan == NULL)
		return GS_NO_SPACE;
	job->result->exchanged_rows = 0;
	for (unsigned bin = 0; bin < guess->nbins; bin++)
	{
		const gs_guessed_bin *b = &guess->bins[bin];
		uint64_t	lowest = b->lowest < min ? min : b->lowest;
		uint64_t	highest = b->highest > max ? max : b->highest;
		uint64_t	begin = position;

		for (unsigned d = 0; d < job->ndevices; d++)
		{
			position += gs_guess_bin_rows(guess, d, bin);
			if (d != b->share)
				job->result->exchanged_rows += gs_guess_bin_rows(guess, d, bin);
		}
		if (position == begin)
			continue;
		guess->bucket_bins[nbuckets] = (uint16_t) bin;
		buckets[nbuckets++] = (gs_bucket) {begin, position, gs_bit_width(lowest ^ highest),
		b->share};
	}
	return gs_plan_take(job->plan, buckets, nbuckets);
}

/*
 * Makes the plan of what the devices have counted, min and max being the least and the greatest
 * word.  There is no guess afterwards if it was wrong.
 */
gs_status
gs_guess_hold(gs_device_job *job, uint64_t min, uint64_t max)
{
	if (job->guess == NULL)
		return GS_OK;
	job->rounds = 1;
	job->overlap = job->lean;
	job->nshares = job->ndevices;
	if (min == max || !regions_sufficed(job) || plan_buckets(job, min, max) != GS_OK ||
		(job->lean && !gs_lean_hold(job)) || !gs_memory_take_sorting(job))
		return gs_guess_drop(job);
	job->resident_keys = job->result->parked_rows == 0;
	return GS_OK;
}

/* Gives up a guess, and what memory it has. */
gs_status
gs_guess_drop(gs_device_job *job)
{
	GS_TRY(gs_job_drain(job));
	for (unsigned d = 0; d < job->ndevices; d++)
		gs_memory_give_shares(job, d);
	if (job->lean)
		gs_lean_end(job);
	gs_plan_end(job->plan);
	job->plan = NULL;
	free(job->guess);
	job->guess = NULL;
	job->guess_failed = true;
	return GS_OK;
}

/*
 * Copies the rows of a bucket from their regions to spare memory, end to end, and sets *in_spare;
 * or does nothing, if they are so already.
 */
gs_status
gs_guess_gather(gs_device_job *job, unsigned d, gs_queue queue, const gs_bucket *bucket,
				bool *in_spare)
{
	const gs_guess *guess = job->guess;
	gs_job_device *jd = &job->devices[d];
	const gs_guessed_bin *b = gs_guess_bin(job, bucket);
	unsigned	bin = (unsigned) (b - guess->bins);
	unsigned	id_bytes = job->args.id_bytes;
	gs_pairs	spare = job->lean ? jd->queue_spares[queue == GS_QUEUE_WORK2] : jd->spare;
	uint64_t	to = job->lean ? 0 : b->row;

	*in_spare = false;
	if (b->parked || gs_guess_bin_rows(guess, 0, bin) == bucket->end - bucket->begin)
		return GS_OK;
	*in_spare = true;
	for (unsigned from = 0; from < job->ndevices; from++)
	{
		uint64_t	row = guess->begins[from][bin] - guess->bases[d];
		uint64_t	nrows = gs_guess_bin_rows(guess, from, bin);

		if (nrows == 0)
			continue;
		GS_DO(job, d, copy, queue, spare.keys + to, jd->device, jd->pairs.keys + row,
			  nrows * sizeof(uint64_t));
		GS_DO(job, d, copy, queue, (char *) spare.ids + to * id_bytes, jd->device,
			  (char *) jd->pairs.ids + row * id_bytes, nrows * id_bytes);
		to += nrows;
	}
	return GS_OK;
}
