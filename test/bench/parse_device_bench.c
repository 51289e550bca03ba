/*
 * parse_device_bench.c
 *		Records and fields of delimited text on a GPU: GB/s.
 *
 *		parse_device_bench [--host] [MB]
 *
 * "kernels" is the best of some streams of parts that lie on the device.  "host to host" is a stream
 * from pinned memory with everything that was found brought back to such, beside the link alone: the
 * same bytes copied up with nothing else done.  GB/s are bytes of text.  What is found is compared
 * with src/parse.  --host has plain C in place of the GPU, to test the program.
 */
#define _DEFAULT_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "parse/gs_parse.h"
#include "parse_side.h"
#include "parse_workload.h"

#define MB				((size_t) 1000000)
#define CHECK_BYTES		(48 * MB)
#define REPETITIONS		5

static const parse_side *side = &parse_side_cuda;
static bool failed;

typedef struct answer
{
	uint32_t   *field_ends;
	uint32_t   *record_fields;
	size_t		fields;			/* room */
	size_t		records;
} answer;

static double
now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double) time.tv_sec + (double) time.tv_nsec / 1e9;
}

/* All of a text, part after part, two on their way; answers lie one behind the other if wanted. */
static uint64_t
parse_all(void *parser, const char *text, size_t bytes, size_t part_bytes, const answer *into)
{
	size_t		nfields = 0;
	size_t		nrecords = 0;
	unsigned	under_way = 0;
	gs_cuda_part part;

	side->begin(parser);
	for (size_t at = 0, length; at < bytes || under_way > 0; at += length)
	{
		length = 0;
		if (at < bytes)
		{
			length = parse_part_bytes(text + at, bytes - at, part_bytes);
			side->put(parser, text + at, length);
			under_way++;
		}
		if (under_way < 2 && at + length < bytes)
			continue;
		side->fetch(parser, &part, into->field_ends + nfields, into->record_fields + nrecords);
		under_way--;
		nfields += part.nfields;
		nrecords += part.nrecords;
		if (part.odd_at != UINT32_MAX || nfields > into->fields || nrecords > into->records)
			failed = true;
	}
	side->wait(parser);
	return nfields;
}

/* In one part, does the device find what the host does? */
static bool
check_whole(const parse_workload *workload, const char *text, size_t bytes, const answer *into)
{
	gs_records	wanted = {
		.field_ends = malloc((bytes + 100) * sizeof(uint32_t)), .max_fields = bytes + 100,
		.record_fields = malloc((bytes + 100) * sizeof(uint32_t)), .max_records = bytes + 100
	};
	void	   *parser = side->open(&workload->dialect, bytes, bytes / 2, bytes / 4);
	gs_cuda_part part;
	bool		same;

	gs_records_find(&workload->dialect, text, bytes, false, &wanted);
	side->put(parser, text, bytes);
	side->fetch(parser, &part, into->field_ends, into->record_fields);
	side->wait(parser);
	same = wanted.stop == GS_STOP_END && part.odd_at == UINT32_MAX && part.nfields == wanted.nfields &&
		part.nrecords == wanted.nrecords && part.consumed == wanted.consumed &&
		memcmp(into->field_ends, wanted.field_ends, wanted.nfields * sizeof(uint32_t)) == 0 &&
		memcmp(into->record_fields, wanted.record_fields, wanted.nrecords * sizeof(uint32_t)) == 0;
	side->close(parser);
	free(wanted.field_ends);
	free(wanted.record_fields);
	return same;
}

static void
measure_kernels(const parse_workload *workload, const void *device, const char *text, size_t bytes)
{
	static const size_t sizes[] = {MB, 5 * MB, 20 * MB, 100 * MB, 500 * MB};

	for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
	{
		size_t		length = sizes[i] < bytes ? sizes[i] : bytes;
		unsigned	times = (unsigned) (bytes / length < 50 ? bytes / length + 2 : 50);
		void	   *parser = side->open(&workload->dialect, length, length / 2, length / 4);
		double		best = 1e9;
		gs_cuda_part part;

		for (unsigned r = 0; r < REPETITIONS; r++)
		{
			double		begin;

			side->wait(parser);
			begin = now();
			for (unsigned t = 0; t < times + 1; t++)
			{
				side->begin(parser);
				if (t < times)
					side->put_device(parser, device, length);
				if (t > 0)
					side->fetch(parser, &part, NULL, NULL);
			}
			side->wait(parser);
			if ((now() - begin) / times < best)
				best = (now() - begin) / times;
		}
		side->close(parser);
		printf("  kernels, %3zu MB: %7.1f GB/s, %8.1f us, %5.1f G fields/s\n", length / MB,
			   (double) length / best / 1e9, best * 1e6, part.nfields / best / 1e9);
	}
}

static void
measure_host_to_host(const parse_workload *workload, const char *text, size_t bytes, const answer *into)
{
	static const size_t sizes[] = {4 * MB, 16 * MB, 64 * MB};

	for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
	{
		size_t		part_bytes = sizes[i] < bytes ? sizes[i] : bytes;
		void	   *parser = side->open(&workload->dialect, part_bytes + 100, part_bytes / 2, part_bytes / 4);
		double		best = 1e9;
		uint64_t	fields = 0;

		for (unsigned r = 0; r < 3; r++)
		{
			double		begin = now();

			fields = parse_all(parser, text, bytes, part_bytes, into);
			if (now() - begin < best)
				best = now() - begin;
		}
		side->close(parser);
		printf("  host to host, parts of %2zu MB: %6.1f GB/s, %llu fields down\n", part_bytes / MB,
			   (double) bytes / best / 1e9, (unsigned long long) fields);
	}
}

static void
measure_link(void *device, const char *text, size_t bytes)
{
	double		best = 1e9;

	for (unsigned r = 0; r < 3; r++)
	{
		double		begin = now();

		side->upload(device, text, bytes);
		if (now() - begin < best)
			best = now() - begin;
	}
	printf("  the link alone: %.1f GB/s\n", (double) bytes / best / 1e9);
}

/* One block of text, as often as it fits. */
static size_t
fill(const parse_workload *workload, char *text, size_t bytes, size_t *block)
{
	size_t		length;

	*block = parse_workload_fill(workload, text, CHECK_BYTES < bytes ? CHECK_BYTES : bytes);
	for (length = *block; length + *block <= bytes; length += *block)
		memcpy(text + length, text, *block);
	return length;
}

int
main(int argc, char **argv)
{
	size_t		bytes = 0;
	char	   *text;
	answer		into;

	for (int i = 1; i < argc; i++)
	{
		if (strcmp(argv[i], "--host") == 0)
			side = &parse_side_host;
		else
			bytes = (size_t) atol(argv[i]) * MB;
	}
	if (bytes == 0)
		bytes = 1000 * MB;
	setvbuf(stdout, NULL, _IOLBF, 0);
	text = side->pinned(bytes);
	into.fields = bytes / 2;
	into.records = bytes / 4;
	into.field_ends = side->pinned(into.fields * sizeof(uint32_t));
	into.record_fields = side->pinned(into.records * sizeof(uint32_t));
	for (unsigned w = 0; w < parse_nworkloads; w++)
	{
		const parse_workload *workload = &parse_workloads[w];
		size_t		block;
		size_t		length = fill(workload, text, bytes, &block);
		void	   *device = side->on_device(text, length);
		bool		same = check_whole(workload, text, block, &into);

		printf("%s: %s what the host finds\n", workload->name, same ? "is" : "IS NOT");
		failed = failed || !same;
		measure_kernels(workload, device, text, length);
		if (w == 0)
			measure_link(device, text, length);
		measure_host_to_host(workload, text, length, &into);
		side->free_device(device);
	}
	printf("%s\n", failed ? "FAILED" : "done");
	return failed;
}
