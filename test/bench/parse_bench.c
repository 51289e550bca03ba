/*
 * parse_bench.c
 *		Records and fields of delimited text on one core: GB/s.
 *
 *		parse_bench [MB]
 *
 * "boundaries" is gs_chunk_scan() over chunks of 1 MB from all states; "fields" is gs_records_find() with
 * room for what such a chunk has.  "values" are the fields that are not their own value, by
 * gs_field_value().  Each is the best of some passes over the text, by CPU time; with AVX2 where the
 * processor has it, and by the loops for others.
 */
#define _DEFAULT_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "parse/gs_parse.h"
#include "parse/gs_kernels.h"
#include "parse_workload.h"

#define MB				((size_t) 1000000)
#define CHUNK_BYTES		((size_t) 1 << 20)
#define PASSES			9

typedef struct bench
{
	const gs_dialect *dialect;
	const char *text;
	size_t		bytes;
	const gs_kernels *kernels;
	gs_records	records;
	char	   *value;
	uint64_t	fields;
	uint64_t	special;
	uint64_t	checksum;		/* so that nothing is optimised away */
} bench;

static double
now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (double) time.tv_sec + (double) time.tv_nsec / 1e9;
}

static void
scan_chunks(bench *b)
{
	gs_chunk	whole = gs_chunk_empty();
	gs_chunk	chunk;

	for (size_t at = 0; at < b->bytes; at += CHUNK_BYTES)
	{
		gs_chunk_scan(b->dialect, b->text + at, b->bytes - at < CHUNK_BYTES ? b->bytes - at : CHUNK_BYTES,
					  &chunk);
		gs_chunk_join(&whole, &chunk);
	}
	b->checksum += whole.from[GS_STATE_PLAIN].records;
}

/* The loop alone, for the kernels that were not chosen. */
static void
count_pieces(bench *b)
{
	gs_parse_state state = GS_STATE_PLAIN;
	gs_piece	piece;

	for (size_t at = 0; at < b->bytes; at += GS_PIECE_BYTES)
	{
		b->kernels->count(b->dialect, b->text + at,
						  b->bytes - at < GS_PIECE_BYTES ? b->bytes - at : GS_PIECE_BYTES, state, &piece);
		state = piece.end;
		b->checksum += piece.records;
	}
}

static void
find_fields(bench *b)
{
	gs_parse_state open;

	b->fields = 0;
	for (size_t at = 0; at < b->bytes; at += b->records.consumed)
	{
		b->kernels->find(b->dialect, b->text + at,
						 b->bytes - at < CHUNK_BYTES ? b->bytes - at : CHUNK_BYTES, false, &b->records, &open);
		b->fields += b->records.nfields;
		if (b->records.stop != GS_STOP_END || b->records.nrecords == 0)
		{
			printf("FAILED\n");
			exit(1);
		}
	}
}

static void
make_values(bench *b)
{
	gs_parse_state open;

	b->special = 0;
	for (size_t at = 0; at < b->bytes; at += b->records.consumed)
	{
		const char *chunk = b->text + at;
		size_t		begin = 0;
		size_t		record = 0;

		b->kernels->find(b->dialect, chunk, b->bytes - at < CHUNK_BYTES ? b->bytes - at : CHUNK_BYTES,
						 false, &b->records, &open);
		for (size_t f = 0; f < b->records.nfields; f++)
		{
			uint32_t	end = b->records.field_ends[f];
			bool		escaped;

			if ((end & GS_FIELD_SPECIAL) != 0)
			{
				b->checksum += gs_field_value(b->dialect, chunk + begin, GS_FIELD_END(end) - begin,
											  b->value, &escaped);
				b->special++;
			}
			begin = GS_FIELD_END(end) + 1;
			if (f + 1 == b->records.record_fields[record])
			{
				record++;
				begin += gs_newline_bytes(b->dialect) - 1;
			}
		}
	}
}

static double
best_of(bench *b, void (*pass) (bench *))
{
	double		best = 1e9;

	for (unsigned i = 0; i < PASSES; i++)
	{
		double		begin = now();

		pass(b);
		if (now() - begin < best)
			best = now() - begin;
	}
	return best;
}

static void
measure(const parse_workload *workload, char *text, size_t bytes)
{
	bench		b = {
		.dialect = &workload->dialect,
		.text = text,
		.bytes = parse_workload_fill(workload, text, bytes),
		.kernels = gs_kernels_choose(),
		.records = {
			.field_ends = malloc((CHUNK_BYTES + 100) * sizeof(uint32_t)), .max_fields = CHUNK_BYTES + 100,
			.record_fields = malloc((CHUNK_BYTES + 100) * sizeof(uint32_t)), .max_records = CHUNK_BYTES + 100
		},
		.value = malloc(CHUNK_BYTES)
	};
	double		scan = best_of(&b, scan_chunks);
	double		find = best_of(&b, find_fields);
	double		values = best_of(&b, make_values);
	double		gb = (double) b.bytes / 1e9;
	double		portable_scan;
	double		portable_find;

	b.kernels = &gs_kernels_portable;
	portable_scan = best_of(&b, count_pieces);
	portable_find = best_of(&b, find_fields);
	printf("%-26s %6.1f %6.1f %6.2f ns/field %6.1f ns/value    %6.1f %6.1f\n", workload->name, gb / scan,
		   gb / find, find / (double) b.fields * 1e9,
		   b.special > 0 ? (values - find) / (double) b.special * 1e9 : 0, gb / portable_scan,
		   gb / portable_find);
	free(b.records.field_ends);
	free(b.records.record_fields);
	free(b.value);
}

int
main(int argc, char **argv)
{
	size_t		bytes = (argc > 1 ? (size_t) atol(argv[1]) : 64) * MB;
	char	   *text = malloc(bytes);

	printf("GB/s: boundaries, fields; %s.  Then without it.\n",
		   gs_kernels_choose() == &gs_kernels_portable ? "no AVX2" : "AVX2");
	for (unsigned w = 0; w < parse_nworkloads; w++)
		measure(&parse_workloads[w], text, bytes);
	free(text);
	return 0;
}
