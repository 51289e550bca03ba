/*
 * gs_cuda_parse_kernels.cuh
 *		The kernels of cuda_parse.cu.
 *
 * A tile is what a thread block reads: 64 bytes for each thread.  A first kernel finds out what
 * each tile does from every state that it may begin in; a scan composes these.  A second kernel
 * reads the tiles again, from the cache if the part is not larger than that, and writes what it
 * finds.  Within a tile the threads do the same among themselves, in both kernels.
 */
#ifndef GS_CUDA_PARSE_KERNELS_CUH
#define GS_CUDA_PARSE_KERNELS_CUH

#include <cub/block/block_scan.cuh>

extern "C"
{
#include "gs_cuda_parse.h"
#include "parse/gs_block.h"
}

#define PARSE_THREADS		128
#define PARSE_TILE_BYTES	(PARSE_THREADS * GS_BLOCK_BYTES)
#define PARSE_VECTORS		(PARSE_TILE_BYTES / 16)

/*
 * So many field ends a tile collects in shared memory; if it has more, they are written one by one.
 */
#define PARSE_STAGED		(PARSE_TILE_BYTES / 4)

#define PARSE_NOT_ODD		UINT32_MAX

/* A dialect in the form that kernels take: each byte is repeated four times in a word. */
struct parse_bytes
{
	uint32_t	delimiter;
	uint32_t	quote;
	uint32_t	escape;
	bool		ends_with_cr;	/* records end with a carriage return */
	bool		pairs;			/* records end with a carriage return and a line feed */
	bool		marker;			/* \. may end CSV */
};

/* What is known of the stream before a part. */
struct parse_carry
{
	uint32_t	state;			/* gs_parse_state */
	uint32_t	special;		/* the field that goes on has had quotes or backslashes */
	uint32_t	at_record;		/* the part begins with a record */
};

/* The states that a syntax has, numbered without a gap. */
template <gs_syntax SYNTAX>
struct parse_states
{
	static const int count = SYNTAX == GS_SYNTAX_CSV_ESCAPE ? 3 : 2;

	static __device__ gs_parse_state state(int number)
	{
		if (SYNTAX == GS_SYNTAX_TEXT)
			return number == 0 ? GS_STATE_PLAIN : GS_STATE_ESCAPED;
		return (gs_parse_state) number;
	}

	static __device__ uint32_t number(gs_parse_state state)
	{
		if (SYNTAX == GS_SYNTAX_TEXT)
			return state == GS_STATE_ESCAPED;
		return (uint32_t) state;
	}
};

/*
 * What a run of bytes within a tile does from each state, packed into a word: the state at its end;
 * whether there is a special byte after the last field's end in it; how many fields and records end
 * in it.
 */
#define RUN_END			3u
#define RUN_SPECIAL		4u
#define RUN_FIELD_SHIFT	3
#define RUN_FIELDS		(0x3fffu << RUN_FIELD_SHIFT)
#define RUN_RECORD_SHIFT	17

static_assert(PARSE_TILE_BYTES < 0x4000, "counts of a tile have 14 bits");

template <int STATES>
struct parse_run
{
	uint32_t	from[STATES];

	static __device__ parse_run none()
	{
		parse_run	run;

		for (int s = 0; s < STATES; s++)
			run.from[s] = s;
		return run;
	}

	__device__ uint32_t of(uint32_t state) const
	{
		uint32_t	found = from[0];

#pragma unroll
		for (uint32_t s = 1; s < STATES; s++)
			found = state == s ? from[s] : found;
		return found;
	}
};

static __device__ __forceinline__ uint32_t
join_runs(uint32_t left, uint32_t right)
{
	uint32_t	special = (right & RUN_FIELDS) != 0 ? right : left | right;

	return (left & ~(RUN_END | RUN_SPECIAL)) + (right & ~RUN_SPECIAL) + (special & RUN_SPECIAL);
}

struct parse_join
{
	template <int STATES>
	__device__ parse_run<STATES> operator()(const parse_run<STATES> &left,
											const parse_run<STATES> &right) const
	{
		parse_run<STATES> joined;

#pragma unroll
		for (int s = 0; s < STATES; s++)
			joined.from[s] = join_runs(left.from[s], right.of(left.from[s] & RUN_END));
		return joined;
	}
};

/* What some tiles do from each state; their counts need more bits. */
template <int STATES>
struct parse_total
{
	uint32_t	ends[STATES];	/* bits as of RUN_END and RUN_SPECIAL */
	uint32_t	fields[STATES];
	uint32_t	records[STATES];

	static __host__ __device__ parse_total none()
	{
		parse_total total = {};

		for (int s = 0; s < STATES; s++)
			total.ends[s] = s;
		return total;
	}
};

struct parse_join_totals
{
	template <int STATES>
	__device__ parse_total<STATES> operator()(const parse_total<STATES> &left,
											  const parse_total<STATES> &right) const
	{
		parse_total<STATES> joined;

#pragma unroll
		for (int s = 0; s < STATES; s++)
		{
			uint32_t	end = right.ends[0];
			uint32_t	fields = right.fields[0];
			uint32_t	records = right.records[0];

#pragma unroll
			for (uint32_t t = 1; t < STATES; t++)
				if ((left.ends[s] & RUN_END) == t)
				{
					end = right.ends[t];
					fields = right.fields[t];
					records = right.records[t];
				}
			joined.ends[s] = fields != 0 ? end : end | (left.ends[s] & RUN_SPECIAL);
			joined.fields[s] = left.fields[s] + fields;
			joined.records[s] = left.records[s] + records;
		}
		return joined;
	}
};

/* ---------- a thread's bytes ---------- */

struct parse_masks
{
	gs_block	block;
	uint64_t	delimiter;
	uint64_t	lf;
	uint64_t	cr;
	uint64_t	nul;
	unsigned	bytes;
};

/* Returns which bytes of a word are 0, a bit each. */
static __device__ __forceinline__ uint32_t
zero_bytes(uint32_t word)
{
	uint32_t	high = ~(((word & 0x7f7f7f7fu) + 0x7f7f7f7fu) | word | 0x7f7f7f7fu);

	return ((high >> 7) * 0x10204080u) >> 28;
}

static __device__ __forceinline__ void
note_word(uint64_t *mask, uint32_t word, uint32_t bytes, int at)
{
	*mask |= (uint64_t) zero_bytes(word ^ bytes) << (4 * at);
}

/* Returns where a thread's vectors lie, so that neither side's accesses collide in a bank. */
static __device__ __forceinline__ int
vector_place(int vector)
{
	return (vector & ~3) | ((vector & 3) ^ ((vector >> 3) & 3));
}

static __device__ __forceinline__ void
load_tile(const uint4 *data, uint64_t bytes, uint64_t tile, uint4 *shared)
{
	uint64_t	first = tile * PARSE_VECTORS;
	uint64_t	count = (bytes + 15) / 16;

#pragma unroll
	for (int i = 0; i < PARSE_VECTORS / PARSE_THREADS; i++)
	{
		int			at = i * PARSE_THREADS + (int) threadIdx.x;

		shared[vector_place(at)] = first + at < count ? data[first + at] : make_uint4(0, 0, 0, 0);
	}
	__syncthreads();
}

template <gs_syntax SYNTAX, bool ALL>
static __device__ __forceinline__ parse_masks
find_masks(const parse_bytes &meaning, const uint4 *shared, uint64_t bytes, uint64_t begin)
{
	parse_masks found = {};
	uint64_t	valid;

	found.bytes = begin + 64 <= bytes ? 64 : begin < bytes ? (unsigned) (bytes - begin) : 0;
	valid = gs_low_bits(found.bytes);
#pragma unroll
	for (int v = 0; v < 4; v++)
	{
		uint4		vector = shared[vector_place((int) threadIdx.x * 4 + v)];
		uint32_t	words[4] = {vector.x, vector.y, vector.z, vector.w};

#pragma unroll
		for (int w = 0; w < 4; w++)
		{
			int			at = 4 * v + w;

			note_word(&found.delimiter, words[w], meaning.delimiter, at);
			if (SYNTAX != GS_SYNTAX_TEXT)
				note_word(&found.block.quote, words[w], meaning.quote, at);
			if (SYNTAX != GS_SYNTAX_CSV)
				note_word(&found.block.escape, words[w], meaning.escape, at);
			if (ALL || !meaning.ends_with_cr)
				note_word(&found.lf, words[w], 0x0a0a0a0au, at);
			if (ALL || meaning.ends_with_cr)
				note_word(&found.cr, words[w], 0x0d0d0d0du, at);
			if (ALL)
				note_word(&found.nul, words[w], 0, at);
		}
	}
	found.delimiter &= valid;
	found.block.quote &= valid;
	found.block.escape &= valid;
	found.lf &= valid;
	found.cr &= valid;
	found.nul &= valid;
	return found;
}

template <gs_syntax SYNTAX>
static __device__ __forceinline__ uint64_t
special_bytes(const parse_masks &masks)
{
	return SYNTAX == GS_SYNTAX_TEXT ? masks.block.escape : masks.block.quote;
}

template <gs_syntax SYNTAX>
static __device__ __forceinline__ parse_run<parse_states<SYNTAX>::count>
run_of_masks(const parse_bytes &meaning, const parse_masks &masks)
{
	typedef parse_states<SYNTAX> states;
	parse_run<states::count> run;
	uint64_t	special = special_bytes<SYNTAX>(masks);

#pragma unroll
	for (int s = 0; s < states::count; s++)
	{
		gs_parse_state state = states::state(s);
		uint64_t	plain = gs_block_plain(SYNTAX, &masks.block, masks.bytes, &state);
		uint64_t	records = (meaning.ends_with_cr ? masks.cr : masks.lf) & plain;
		uint64_t	fields = (masks.delimiter & plain) | records;
		uint64_t	behind = fields != 0 ? ~(~UINT64_C(0) >> __clzll((long long) fields))
			: ~UINT64_C(0);

		run.from[s] = states::number(state) | ((special & behind) != 0 ? RUN_SPECIAL : 0) |
			gs_count_bits(fields) << RUN_FIELD_SHIFT | gs_count_bits(records) << RUN_RECORD_SHIFT;
	}
	return run;
}

/* ---------- the first kernel ---------- */

template <gs_syntax SYNTAX>
static __global__ void __launch_bounds__(PARSE_THREADS)
sum_tiles(parse_bytes meaning, const uint4 *data, uint64_t bytes,
		  parse_total<parse_states<SYNTAX>::count> *totals)
{
	const int	STATES = parse_states<SYNTAX>::count;
	typedef cub::BlockScan<parse_run<STATES>, PARSE_THREADS, cub::BLOCK_SCAN_WARP_SCANS> scan;
	__shared__ uint4 shared[PARSE_VECTORS];
	__shared__ typename scan::TempStorage storage;
	parse_run<STATES> run;
	parse_run<STATES> sum;
	uint64_t	begin = (uint64_t) blockIdx.x * PARSE_TILE_BYTES + threadIdx.x * GS_BLOCK_BYTES;

	load_tile(data, bytes, blockIdx.x, shared);
	run = run_of_masks<SYNTAX>(meaning, find_masks<SYNTAX, false>(meaning, shared, bytes, begin));
	scan(storage).InclusiveScan(run, sum, parse_join());
	if (threadIdx.x == PARSE_THREADS - 1)
	{
		parse_total<STATES> total;

		for (int s = 0; s < STATES; s++)
		{
			total.ends[s] = sum.from[s] & (RUN_END | RUN_SPECIAL);
			total.fields[s] = (sum.from[s] & RUN_FIELDS) >> RUN_FIELD_SHIFT;
			total.records[s] = sum.from[s] >> RUN_RECORD_SHIFT;
		}
		totals[blockIdx.x] = total;
	}
	/*
	 * the scan is exclusive, and has one element more than there are tiles, so that its last
	 * element is the sum
	 */
	if (blockIdx.x == 0 && threadIdx.x == 0)
		totals[gridDim.x] = parse_total<STATES>::none();
}

/* ---------- the second kernel ---------- */

/* Where the second kernel writes to. */
struct parse_output
{
	uint32_t   *field_ends;
	uint32_t   *record_fields;
	uint32_t	max_fields;
	uint32_t	max_records;
	gs_cuda_part *part;
	parse_carry *carry;
};

/*
 * Returns whether the carriage return at offset "at" of text is escaped; the backslashes before it
 * tell.
 */
static __device__ bool
is_escaped(const char *bytes, uint64_t at)
{
	uint64_t	first = at;

	while (first > 0 && bytes[first - 1] == '\\')
		first--;
	return (at - first) & 1;
}

/* Returns the line feeds and carriage returns that are odd: records don't end with them. */
template <gs_syntax SYNTAX>
static __device__ __forceinline__ uint64_t
odd_newlines(const parse_bytes &meaning, const parse_masks &masks, uint64_t plain, const char *data,
			 uint64_t bytes, uint64_t begin)
{
	uint64_t	lf = masks.lf & plain;
	uint64_t	cr = masks.cr & plain;
	uint64_t	odd;

	if (!meaning.pairs)
		return meaning.ends_with_cr ? lf : cr;
	odd = (cr & ~(masks.lf >> 1)) | (lf & ~(cr << 1));
	if (odd >> 63 && (cr >> 63) && begin + 64 < bytes && data[begin + 64] == '\n')
		odd &= ~(UINT64_C(1) << 63);
	if ((lf & 1) && begin > 0 && data[begin - 1] == '\r' &&
		(SYNTAX != GS_SYNTAX_TEXT || !is_escaped(data, begin - 1)))
		odd &= ~UINT64_C(1);
	return odd;
}

/* Returns the backslashes that begin an end marker, or what the server takes for a broken one. */
template <gs_syntax SYNTAX>
static __device__ __forceinline__ uint64_t
odd_markers(const parse_bytes &meaning, const parse_masks &masks, uint64_t plain, bool at_record,
			const char *data, uint64_t bytes, uint64_t begin)
{
	uint64_t	candidates = 0;
	uint64_t	odd = 0;

	if (SYNTAX == GS_SYNTAX_TEXT)
		candidates = masks.block.escape & plain;
	else if (meaning.marker)
	{
		candidates = ((meaning.ends_with_cr ? masks.cr : masks.lf) & plain) << 1 | at_record;
		for (uint64_t left = candidates; left != 0; left &= left - 1)
			if (begin + gs_lowest_bit(left) >= bytes || data[begin + gs_lowest_bit(left)] != '\\')
				candidates &= ~(left & -left);
	}
	for (; candidates != 0; candidates &= candidates - 1)
	{
		uint64_t	next = begin + gs_lowest_bit(candidates) + 1;

		if (next < bytes && data[next] == '.')
			odd |= candidates & -candidates;
	}
	return odd;
}

/* The fields and records that end among a thread's bytes. */
struct parse_ends
{
	uint64_t	fields;
	uint64_t	records;
	uint64_t	special;
	/* GS_FIELD_SPECIAL, if the field that goes on has been special before */
	uint32_t	carried;
	uint32_t	first_field;	/* number in the tile of the first field that ends here */
	uint32_t	first_record;	/* number in the part of the first record that ends here */
};

static __device__ __forceinline__ void
write_ends(parse_ends ends, const parse_bytes &meaning, uint32_t begin, uint32_t tile_field,
		   uint32_t *staged, const parse_output &out)
{
	uint32_t	field = ends.first_field;
	uint32_t	record = ends.first_record;
	uint32_t	carried = ends.carried;

	for (uint64_t left = ends.fields; left != 0; left &= left - 1)
	{
		uint64_t	upto = left ^ (left - 1);
		uint64_t	here = left & -left;
		uint32_t	end = begin + gs_lowest_bit(left);
		uint32_t	special = (ends.special & upto) != 0 ? GS_FIELD_SPECIAL : carried;

		ends.special &= ~upto;
		carried = 0;
		if ((ends.records & here) != 0)
		{
			end -= meaning.pairs;
			if (record < out.max_records)
				out.record_fields[record] = tile_field + field + 1;
			record++;
		}
		if (staged != nullptr)
			staged[field] = end | special;
		else if (tile_field + field < out.max_fields)
			out.field_ends[tile_field + field] = end | special;
		field++;
	}
}

/* What is known where a tile begins, of the part up to there. */
struct parse_tile_start
{
	uint32_t	state;			/* RUN_END of what is before, and RUN_SPECIAL of its last field */
	uint32_t	field;			/* number in the part of the first field that ends in the tile */
	uint32_t	record;			/* ... of the first record */
	uint32_t	all_records;	/* that end in the part */
};

template <gs_syntax SYNTAX>
static __device__ __forceinline__ parse_tile_start
find_tile_start(const parse_total<parse_states<SYNTAX>::count> *totals, const parse_carry *before)
{
	typedef parse_states<SYNTAX> states;
	const parse_total<states::count> total = totals[blockIdx.x];
	uint32_t	start = states::number((gs_parse_state) before->state);
	parse_tile_start tile = {};

#pragma unroll
	for (uint32_t s = 0; s < states::count; s++)
		if (start == s)
		{
			tile.state = total.ends[s];
			tile.field = total.fields[s];
			tile.record = total.records[s];
			tile.all_records = totals[gridDim.x].records[s];
		}
	if (tile.field == 0 && before->special)
		tile.state |= RUN_SPECIAL;
	return tile;
}

/*
 * Returns which fields and records end among a thread's bytes.  `mine` is the run of those before
 * it in the tile, `plain` the bytes that are neither quoted nor escaped.
 */
template <gs_syntax SYNTAX>
static __device__ __forceinline__ parse_ends
find_ends(const parse_bytes &meaning, const parse_masks &masks, uint64_t plain,
		  const parse_tile_start &tile, uint32_t mine)
{
	parse_ends	ends;

	ends.records = (meaning.ends_with_cr ? masks.cr : masks.lf) & plain;
	ends.fields = (masks.delimiter & plain) | ends.records;
	ends.special = special_bytes<SYNTAX>(masks);
	ends.carried = join_runs(tile.state & RUN_SPECIAL, mine) & RUN_SPECIAL ? GS_FIELD_SPECIAL : 0;
	ends.first_field = (mine & RUN_FIELDS) >> RUN_FIELD_SHIFT;
	ends.first_record = tile.record + (mine >> RUN_RECORD_SHIFT);
	return ends;
}

/* The last tile says how many fields and records the part has, and how the next one begins. */
template <gs_syntax SYNTAX>
static __device__ __forceinline__ void
write_part_end(const parse_tile_start &tile, uint32_t of_tile, const parse_output &out)
{
	uint32_t	end = join_runs(tile.state & RUN_SPECIAL, of_tile);

	out.part->nfields = tile.field + ((of_tile & RUN_FIELDS) >> RUN_FIELD_SHIFT);
	out.part->nrecords = tile.all_records;
	out.part->state = (uint32_t) parse_states<SYNTAX>::state((int) (of_tile & RUN_END));
	out.carry->state = out.part->state;
	out.carry->special = (end & RUN_SPECIAL) != 0;
}

template <gs_syntax SYNTAX>
static __global__ void __launch_bounds__(PARSE_THREADS)
write_tiles(parse_bytes meaning, const uint4 *data, uint64_t bytes,
			const parse_total<parse_states<SYNTAX>::count> *totals, const parse_carry *before,
			parse_output out)
{
	typedef parse_states<SYNTAX> states;
	const int	STATES = states::count;
	typedef cub::BlockScan<parse_run<STATES>, PARSE_THREADS, cub::BLOCK_SCAN_WARP_SCANS> scan;
	__shared__ uint4 shared[PARSE_VECTORS];
	__shared__ typename scan::TempStorage storage;
	__shared__ uint32_t odd_at;
	uint32_t   *staged = reinterpret_cast<uint32_t *>(shared);
	const char *plain_data = reinterpret_cast<const char *>(data);
	uint64_t	begin = (uint64_t) blockIdx.x * PARSE_TILE_BYTES + threadIdx.x * GS_BLOCK_BYTES;
	parse_tile_start tile = find_tile_start<SYNTAX>(totals, before);
	parse_masks masks;
	parse_run<STATES> run;
	parse_run<STATES> upto;
	parse_run<STATES> sum;
	parse_ends	ends;
	uint32_t	mine;
	uint32_t	of_tile;
	uint32_t	tile_fields;
	gs_parse_state state;
	uint64_t	plain;
	uint64_t	odd;
	bool		at_record;

	if (threadIdx.x == 0)
		odd_at = PARSE_NOT_ODD;
	load_tile(data, bytes, blockIdx.x, shared);
	masks = find_masks<SYNTAX, true>(meaning, shared, bytes, begin);
	run = run_of_masks<SYNTAX>(meaning, masks);
	scan(storage).ExclusiveScan(run, upto, parse_run<STATES>::none(), parse_join(), sum);

	mine = upto.of(tile.state & RUN_END);
	of_tile = sum.of(tile.state & RUN_END);
	state = states::state((int) (mine & RUN_END));
	plain = gs_block_plain(SYNTAX, &masks.block, masks.bytes, &state);
	ends = find_ends<SYNTAX>(meaning, masks, plain, tile, mine);

	at_record = begin == 0 ? before->at_record != 0 :
		begin < bytes && (mine & RUN_END) == 0 &&
		plain_data[begin - 1] == (meaning.ends_with_cr ? '\r' : '\n');
	odd = masks.nul |
		odd_newlines<SYNTAX>(meaning, masks, plain, plain_data, bytes, begin) |
		odd_markers<SYNTAX>(meaning, masks, plain, at_record, plain_data, bytes, begin);
	if (odd != 0)
		atomicMin(&odd_at, (uint32_t) begin + gs_lowest_bit(odd));

	/* the tile's bytes are not looked at any more; its field ends take their place */
	tile_fields = (of_tile & RUN_FIELDS) >> RUN_FIELD_SHIFT;
	__syncthreads();
	write_ends(ends, meaning, (uint32_t) begin, tile.field,
			   tile_fields <= PARSE_STAGED ? staged : nullptr, out);
	__syncthreads();
	if (tile_fields <= PARSE_STAGED)
		for (uint32_t i = threadIdx.x; i < tile_fields && tile.field + i < out.max_fields;
			 i += PARSE_THREADS)
			out.field_ends[tile.field + i] = staged[i];

	if (ends.records != 0 && ends.first_record + gs_count_bits(ends.records) == tile.all_records)
		out.part->consumed = (uint32_t) begin + 64 - (uint32_t) __clzll((long long) ends.records);
	if (threadIdx.x == 0 && odd_at != PARSE_NOT_ODD)
		atomicMin(&out.part->odd_at, odd_at);
	if (blockIdx.x == gridDim.x - 1 && threadIdx.x == 0)
		write_part_end<SYNTAX>(tile, of_tile, out);
	/* the thread that has the part's last byte says whether the next part begins with a record */
	if (begin < bytes && bytes <= begin + 64)
		out.carry->at_record = (ends.records >> (bytes - begin - 1)) & 1;
}

#endif							/* GS_CUDA_PARSE_KERNELS_CUH */
