/*
 * parse_side.c
 *		Parsers of parts of a stream: that of a GPU, and one in plain C to compare it with.
 *
 * The one in plain C reads block after block by gs_block.h, as the threads of the GPU do.
 */
#include "parse_side.h"

#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "parse/gs_block.h"

static void
give_up(const char *why)
{
	printf("Bail out! %s\n", why);
	exit(1);
}

size_t
parse_part_bytes(const char *data, size_t left, size_t most)
{
	size_t		bytes = most;

	if (left <= most)
		return left;
	while (bytes > 0 && (data[bytes - 1] == '\r' || data[bytes - 1] == '\\'))
		bytes--;
	if (bytes > 0)
		return bytes;
	for (bytes = most; bytes < left && (data[bytes - 1] == '\r' || data[bytes - 1] == '\\');)
		bytes++;
	return bytes;
}

/* ---------- CUDA ---------- */

static void
check(cudaError_t error)
{
	if (error != cudaSuccess)
		give_up(cudaGetErrorString(error));
}

static void
check_parser(const void *parser, int result)
{
	if (result != 0)
		give_up(gs_cuda_parser_error(parser));
}

static void *
cuda_open(const gs_dialect *dialect, size_t part_bytes, size_t max_fields, size_t max_records)
{
	char		error[200];
	void	   *parser = gs_cuda_parser_open(0, dialect, part_bytes, max_fields, max_records, error,
											 sizeof(error));

	if (parser == NULL)
		give_up(error);
	return parser;
}

static void
cuda_close(void *parser)
{
	gs_cuda_parser_close(parser);
}

static void
cuda_begin(void *parser)
{
	check_parser(parser, gs_cuda_parser_begin(parser));
}

static void
cuda_put(void *parser, const char *data, size_t bytes)
{
	check_parser(parser, gs_cuda_parser_put(parser, data, bytes));
}

static void
cuda_put_device(void *parser, const void *data, size_t bytes)
{
	check_parser(parser, gs_cuda_parser_put_device(parser, data, bytes));
}

static void
cuda_fetch(void *parser, gs_cuda_part *part, uint32_t *field_ends, uint32_t *record_fields)
{
	check_parser(parser, gs_cuda_parser_fetch(parser, part, field_ends, record_fields));
}

static void
cuda_wait(void *parser)
{
	check_parser(parser, gs_cuda_parser_wait(parser));
}

static void *
cuda_pinned(size_t bytes)
{
	void	   *memory;

	check(cudaHostAlloc(&memory, bytes, cudaHostAllocDefault));
	return memory;
}

static void
cuda_free_pinned(void *memory)
{
	check(cudaFreeHost(memory));
}

static void *
cuda_on_device(const void *data, size_t bytes)
{
	void	   *memory;

	check(cudaMalloc(&memory, (bytes + 15) / 16 * 16));
	check(cudaMemset(memory, 0, (bytes + 15) / 16 * 16));
	check(cudaMemcpy(memory, data, bytes, cudaMemcpyHostToDevice));
	return memory;
}

static void
cuda_free_device(void *memory)
{
	check(cudaFree(memory));
}

static void
cuda_upload(void *device, const void *host, size_t bytes)
{
	check(cudaMemcpy(device, host, bytes, cudaMemcpyHostToDevice));
}

const parse_side parse_side_cuda = {
	.name = "GPU",
	.open = cuda_open,
	.close = cuda_close,
	.begin = cuda_begin,
	.put = cuda_put,
	.put_device = cuda_put_device,
	.fetch = cuda_fetch,
	.wait = cuda_wait,
	.pinned = cuda_pinned,
	.free_pinned = cuda_free_pinned,
	.on_device = cuda_on_device,
	.free_device = cuda_free_device,
	.upload = cuda_upload
};

/* ---------- plain C ---------- */

typedef struct host_slot
{
	gs_cuda_part part;
	uint32_t   *field_ends;
	uint32_t   *record_fields;
} host_slot;

typedef struct host_parser
{
	gs_dialect	dialect;
	size_t		max_fields;
	size_t		max_records;
	gs_parse_state state;
	uint32_t	special;
	bool		at_record;
	host_slot	slots[GS_CUDA_PARSER_PARTS];
	unsigned	put;
	unsigned	fetched;
} host_parser;

static void
host_begin(void *opaque)
{
	host_parser *parser = opaque;

	parser->state = GS_STATE_PLAIN;
	parser->special = 0;
	parser->at_record = true;
}

static void *
host_open(const gs_dialect *dialect, size_t part_bytes, size_t max_fields, size_t max_records)
{
	host_parser *parser = calloc(1, sizeof(*parser));

	parser->dialect = *dialect;
	parser->max_fields = max_fields;
	parser->max_records = max_records;
	for (unsigned i = 0; i < GS_CUDA_PARSER_PARTS; i++)
	{
		parser->slots[i].field_ends = malloc(max_fields * sizeof(uint32_t));
		parser->slots[i].record_fields = malloc(max_records * sizeof(uint32_t));
	}
	host_begin(parser);
	return parser;
}

static void
host_close(void *opaque)
{
	host_parser *parser = opaque;

	for (unsigned i = 0; i < GS_CUDA_PARSER_PARTS; i++)
	{
		free(parser->slots[i].field_ends);
		free(parser->slots[i].record_fields);
	}
	free(parser);
}

/* Is this byte odd where it stands plain?  Carriage returns of pairs are looked at from both sides. */
static bool
is_odd(const host_parser *parser, const char *data, size_t bytes, size_t at, bool plain, bool cr_before)
{
	const gs_dialect *dialect = &parser->dialect;
	bool		last = at + 1 == bytes;

	if (data[at] == '\0')
		return true;
	if (data[at] == '\\' && !last && data[at + 1] == '.' &&
		(dialect->csv ? dialect->csv_end_marker && parser->at_record : plain))
		return true;
	if (!plain || (data[at] != '\n' && data[at] != '\r'))
		return false;
	if (dialect->newline != GS_NEWLINE_CRLF)
		return data[at] != gs_record_byte(dialect);
	return data[at] == '\n' ? !cr_before : last || data[at + 1] != '\n';
}

static void
note_end(host_parser *parser, host_slot *slot, uint32_t at, bool record)
{
	uint32_t	end = at - (record && parser->dialect.newline == GS_NEWLINE_CRLF);

	if (slot->part.nfields < parser->max_fields)
		slot->field_ends[slot->part.nfields] = end | parser->special;
	slot->part.nfields++;
	parser->special = 0;
	if (!record)
		return;
	if (slot->part.nrecords < parser->max_records)
		slot->record_fields[slot->part.nrecords] = slot->part.nfields;
	slot->part.nrecords++;
	slot->part.consumed = at + 1;
}

static void
host_put(void *opaque, const char *data, size_t bytes)
{
	host_parser *parser = opaque;
	const gs_dialect *dialect = &parser->dialect;
	char		special = dialect->csv ? dialect->quote : '\\';
	host_slot  *slot = &parser->slots[parser->put++ % GS_CUDA_PARSER_PARTS];
	bool		cr_before = false;

	slot->part = (gs_cuda_part) {.odd_at = UINT32_MAX};
	for (size_t begin = 0; begin < bytes; begin += GS_BLOCK_BYTES)
	{
		unsigned	n = bytes - begin < GS_BLOCK_BYTES ? (unsigned) (bytes - begin) : GS_BLOCK_BYTES;
		gs_block	block = {0, 0};
		uint64_t	plain;

		for (unsigned i = 0; i < n; i++)
		{
			block.quote |= (uint64_t) (dialect->csv && data[begin + i] == dialect->quote) << i;
			block.escape |= (uint64_t) (data[begin + i] == gs_escape_byte(dialect)) << i;
		}
		plain = gs_block_plain(gs_dialect_syntax(dialect), &block, n, &parser->state);
		for (unsigned i = 0; i < n; i++)
		{
			size_t		at = begin + i;
			bool		is_plain = (plain >> i) & 1;
			bool		record = is_plain && data[at] == gs_record_byte(dialect);

			if (slot->part.odd_at == UINT32_MAX && is_odd(parser, data, bytes, at, is_plain, cr_before))
				slot->part.odd_at = (uint32_t) at;
			if (data[at] == special)
				parser->special = GS_FIELD_SPECIAL;
			if (record || (is_plain && data[at] == dialect->delimiter))
				note_end(parser, slot, (uint32_t) at, record);
			parser->at_record = record;
			cr_before = is_plain && data[at] == '\r';
		}
	}
	slot->part.state = parser->state;
}

static void
host_put_device(void *parser, const void *data, size_t bytes)
{
	host_put(parser, data, bytes);
}

static void
host_fetch(void *opaque, gs_cuda_part *part, uint32_t *field_ends, uint32_t *record_fields)
{
	host_parser *parser = opaque;
	host_slot  *slot = &parser->slots[parser->fetched++ % GS_CUDA_PARSER_PARTS];

	*part = slot->part;
	if (field_ends != NULL)
		memcpy(field_ends, slot->field_ends, part->nfields * sizeof(uint32_t));
	if (record_fields != NULL)
		memcpy(record_fields, slot->record_fields, part->nrecords * sizeof(uint32_t));
}

static void
host_wait(void *parser)
{
}

static void *
host_on_device(const void *data, size_t bytes)
{
	return memcpy(malloc(bytes), data, bytes);
}

static void
host_upload(void *device, const void *host, size_t bytes)
{
	memcpy(device, host, bytes);
}

const parse_side parse_side_host = {
	.name = "plain C",
	.open = host_open,
	.close = host_close,
	.begin = host_begin,
	.put = host_put,
	.put_device = host_put_device,
	.fetch = host_fetch,
	.wait = host_wait,
	.pinned = malloc,
	.free_pinned = free,
	.on_device = host_on_device,
	.free_device = free,
	.upload = host_upload
};
