/*
 * cuda_parse.cu
 *		Delimited text on a GPU: parts of a stream are uploaded, parsed, and what was found
 *		is downloaded.
 *
 * This is modelled on Stehle, Jacobsen, "ParPaRaw: Massively Parallel Parsing of
 * Delimiter-Separated Raw Data"; cuda/README.md says where we differ.  Every part takes the same
 * launches, whatever is in it, and nothing waits for the device between them.  There is memory for
 * several parts, so that one is uploaded while the one before it is parsed and what was found in an
 * earlier one is downloaded.
 */
#include <new>
#include <stdio.h>
#include <string.h>

#include <cuda_runtime.h>

#include "gs_cuda_parse_launch.cuh"

struct parse_slot
{
	unsigned char *data;
	uint32_t   *field_ends;
	uint32_t   *record_fields;
	gs_cuda_part *part;
	gs_cuda_part *found;		/* in pinned host memory */
	cudaEvent_t uploaded;
	cudaEvent_t parsed;
	cudaEvent_t fetched;
};

struct gs_cuda_parser
{
	int			cuda_device;
	gs_dialect	dialect;
	parse_bytes meaning;
	size_t		part_bytes;
	size_t		max_fields;
	size_t		max_records;

	cudaStream_t up;
	cudaStream_t work;
	cudaStream_t down;
	parse_slot	slots[GS_CUDA_PARSER_PARTS];
	uint64_t	put;			/* parts that were put, and parts that were fetched */
	uint64_t	fetched;
	parse_carry *carries;		/* two, which take turns */
	unsigned	carry;
	widest_total *totals;
	widest_total *sums;
	void	   *temp;
	size_t		temp_bytes;
	char		error[200];
};

#define TRY(parser, call) \
	do { \
		cudaError_t error_ = (call); \
		if (error_ != cudaSuccess) \
			return failed((parser), error_, #call); \
	} while (0)

static int
failed(gs_cuda_parser *parser, cudaError_t error, const char *what)
{
	(void) cudaGetLastError();
	snprintf(parser->error, sizeof(parser->error), "GPU %d: %s, in %.100s", parser->cuda_device,
			 cudaGetErrorString(error), what);
	return -1;
}

static int
refused(gs_cuda_parser *parser, const char *why)
{
	snprintf(parser->error, sizeof(parser->error), "GPU %d: %s", parser->cuda_device, why);
	return -1;
}

const char *
gs_cuda_parser_error(const gs_cuda_parser *parser)
{
	return parser->error;
}

/* ---------- opening and closing ---------- */

static int
open_slot(gs_cuda_parser *parser, parse_slot *slot)
{
	TRY(parser, cudaMalloc(&slot->data, tiles_of(parser->part_bytes) * PARSE_TILE_BYTES));
	TRY(parser, cudaMalloc(&slot->field_ends, parser->max_fields * sizeof(uint32_t)));
	TRY(parser, cudaMalloc(&slot->record_fields, parser->max_records * sizeof(uint32_t)));
	TRY(parser, cudaMalloc(&slot->part, sizeof(gs_cuda_part)));
	TRY(parser, cudaHostAlloc(&slot->found, sizeof(gs_cuda_part), cudaHostAllocDefault));
	TRY(parser, cudaEventCreateWithFlags(&slot->uploaded, cudaEventDisableTiming));
	TRY(parser, cudaEventCreateWithFlags(&slot->parsed, cudaEventDisableTiming));
	TRY(parser, cudaEventCreateWithFlags(&slot->fetched, cudaEventDisableTiming));
	return 0;
}

static int
open_parser(gs_cuda_parser *parser)
{
	size_t		count = tiles_of(parser->part_bytes) + 1;

	TRY(parser, cudaSetDevice(parser->cuda_device));
	TRY(parser, cudaStreamCreateWithFlags(&parser->up, cudaStreamNonBlocking));
	TRY(parser, cudaStreamCreateWithFlags(&parser->work, cudaStreamNonBlocking));
	TRY(parser, cudaStreamCreateWithFlags(&parser->down, cudaStreamNonBlocking));
	TRY(parser, cudaMalloc(&parser->carries, 2 * sizeof(parse_carry)));
	TRY(parser, cudaMalloc(&parser->totals, count * sizeof(widest_total)));
	TRY(parser, cudaMalloc(&parser->sums, count * sizeof(widest_total)));
	TRY(parser, scan_temp_bytes(count, &parser->temp_bytes));
	TRY(parser, cudaMalloc(&parser->temp, parser->temp_bytes));
	for (parse_slot &slot : parser->slots)
		if (open_slot(parser, &slot) != 0)
			return -1;
	return gs_cuda_parser_begin(parser);
}

gs_cuda_parser *
gs_cuda_parser_open(int cuda_device, const gs_dialect *dialect, size_t part_bytes,
					size_t max_fields, size_t max_records, char *error, size_t error_bytes)
{
	gs_cuda_parser *parser = new (std::nothrow) gs_cuda_parser();

	if (parser == nullptr)
	{
		snprintf(error, error_bytes, "out of memory");
		return nullptr;
	}
	parser->cuda_device = cuda_device;
	parser->dialect = *dialect;
	parser->meaning = meaning_of(dialect);
	parser->part_bytes = part_bytes;
	parser->max_fields = max_fields;
	parser->max_records = max_records;
	if (part_bytes <= GS_RECORDS_MAX_BYTES && open_parser(parser) == 0)
		return parser;
	if (part_bytes > GS_RECORDS_MAX_BYTES)
		refused(parser, "a part has less than 2 GB");
	snprintf(error, error_bytes, "%s", parser->error);
	gs_cuda_parser_close(parser);
	return nullptr;
}

void
gs_cuda_parser_close(gs_cuda_parser *parser)
{
	(void) cudaSetDevice(parser->cuda_device);
	if (parser->up != nullptr)
		(void) gs_cuda_parser_wait(parser);
	for (parse_slot &slot : parser->slots)
	{
		(void) cudaFree(slot.data);
		(void) cudaFree(slot.field_ends);
		(void) cudaFree(slot.record_fields);
		(void) cudaFree(slot.part);
		(void) cudaFreeHost(slot.found);
		for (cudaEvent_t event : {slot.uploaded, slot.parsed, slot.fetched})
			if (event != nullptr)
				(void) cudaEventDestroy(event);
	}
	(void) cudaFree(parser->carries);
	(void) cudaFree(parser->totals);
	(void) cudaFree(parser->sums);
	(void) cudaFree(parser->temp);
	for (cudaStream_t stream : {parser->up, parser->work, parser->down})
		if (stream != nullptr)
			(void) cudaStreamDestroy(stream);
	(void) cudaGetLastError();
	delete parser;
}

/* ---------- parts ---------- */

static __global__ void
begin_stream(parse_carry *carry)
{
	*carry = {GS_STATE_PLAIN, 0, 1};
}

int
gs_cuda_parser_begin(gs_cuda_parser *parser)
{
	parser->carry = 0;
	begin_stream<<<1, 1, 0, parser->work>>>(&parser->carries[0]);
	TRY(parser, cudaGetLastError());
	return 0;
}

static int
parse_part(gs_cuda_parser *parser, parse_slot *slot, const void *data, size_t bytes)
{
	const parse_launch launch = {
		parser->meaning, parser->work, parser->totals, parser->sums, parser->temp,
		parser->temp_bytes
	};
	const parse_carry *before = &parser->carries[parser->carry];
	parse_output out = {
		slot->field_ends, slot->record_fields, (uint32_t) parser->max_fields,
		(uint32_t) parser->max_records, slot->part, &parser->carries[1 - parser->carry]
	};

	parser->carry = 1 - parser->carry;
	TRY(parser, launch_parse(launch, gs_dialect_syntax(&parser->dialect), data, bytes, before,
							 out));
	return 0;
}

/* Parses a part, whose bytes are on the device, or on the host and to be copied. */
static int
put_part(gs_cuda_parser *parser, const char *host, const void *device, size_t bytes)
{
	parse_slot *slot = &parser->slots[parser->put % GS_CUDA_PARSER_PARTS];
	size_t		rest = (16 - bytes % 16) % 16;	/* the last vector is read as a whole */

	if (parser->put - parser->fetched == GS_CUDA_PARSER_PARTS)
		return refused(parser, "too many parts that were not fetched");
	if (bytes == 0 || bytes > parser->part_bytes)
		return refused(parser, "a part has no bytes, or too many");
	TRY(parser, cudaSetDevice(parser->cuda_device));
	if (host != nullptr)
	{
		TRY(parser, cudaStreamWaitEvent(parser->up, slot->parsed, 0));
		TRY(parser, cudaMemcpyAsync(slot->data, host, bytes, cudaMemcpyHostToDevice, parser->up));
		if (rest > 0)
			TRY(parser, cudaMemsetAsync(slot->data + bytes, 0, rest, parser->up));
		TRY(parser, cudaEventRecord(slot->uploaded, parser->up));
		TRY(parser, cudaStreamWaitEvent(parser->work, slot->uploaded, 0));
		device = slot->data;
	}
	TRY(parser, cudaStreamWaitEvent(parser->work, slot->fetched, 0));
	TRY(parser, cudaMemsetAsync(slot->part, 0, sizeof(gs_cuda_part), parser->work));
	TRY(parser, cudaMemsetAsync(&slot->part->odd_at, 0xff, sizeof(uint32_t), parser->work));
	if (parse_part(parser, slot, device, bytes) != 0)
		return -1;
	TRY(parser, cudaMemcpyAsync(slot->found, slot->part, sizeof(gs_cuda_part),
								cudaMemcpyDeviceToHost, parser->work));
	TRY(parser, cudaEventRecord(slot->parsed, parser->work));
	parser->put++;
	return 0;
}

int
gs_cuda_parser_put(gs_cuda_parser *parser, const char *data, size_t bytes)
{
	return put_part(parser, data, nullptr, bytes);
}

int
gs_cuda_parser_put_device(gs_cuda_parser *parser, const void *data, size_t bytes)
{
	return put_part(parser, nullptr, data, bytes);
}

int
gs_cuda_parser_fetch(gs_cuda_parser *parser, gs_cuda_part *part, uint32_t *field_ends,
					 uint32_t *record_fields)
{
	parse_slot *slot = &parser->slots[parser->fetched % GS_CUDA_PARSER_PARTS];

	if (parser->fetched == parser->put)
		return refused(parser, "no part to fetch");
	TRY(parser, cudaEventSynchronize(slot->parsed));
	*part = *slot->found;
	if (field_ends != nullptr && part->nfields <= parser->max_fields)
		TRY(parser, cudaMemcpyAsync(field_ends, slot->field_ends, part->nfields * sizeof(uint32_t),
									cudaMemcpyDeviceToHost, parser->down));
	if (record_fields != nullptr && part->nrecords <= parser->max_records)
		TRY(parser, cudaMemcpyAsync(record_fields, slot->record_fields,
									part->nrecords * sizeof(uint32_t), cudaMemcpyDeviceToHost,
									parser->down));
	TRY(parser, cudaEventRecord(slot->fetched, parser->down));
	parser->fetched++;
	return 0;
}

int
gs_cuda_parser_wait(gs_cuda_parser *parser)
{
	TRY(parser, cudaSetDevice(parser->cuda_device));
	TRY(parser, cudaStreamSynchronize(parser->up));
	TRY(parser, cudaStreamSynchronize(parser->work));
	TRY(parser, cudaStreamSynchronize(parser->down));
	return 0;
}
