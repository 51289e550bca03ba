/*
 * cuda_fields.cu
 *		find_fields(): records and fields of delimited text.
 */
#include "gs_cuda_device.cuh"
#include "gs_cuda_parse_launch.cuh"

/* Where the parts of an operation's temporary memory lie. */
struct fields_temp
{
	size_t		sums;
	size_t		scan;
	size_t		carries;
	size_t		end;
};

static size_t
aligned(size_t bytes)
{
	return (bytes + 255) / 256 * 256;
}

static cudaError_t
lay_out(uint32_t bytes, fields_temp *at, size_t *scan_bytes)
{
	size_t		count = tiles_of(bytes) + 1;
	cudaError_t error = scan_temp_bytes(count, scan_bytes);

	at->sums = aligned(count * sizeof(widest_total));
	at->scan = 2 * at->sums;
	at->carries = at->scan + aligned(*scan_bytes);
	at->end = at->carries + aligned(2 * sizeof(parse_carry));
	return error;
}

/* Begins a text: nothing is known of what comes before, and nothing was found. */
static __global__ void
begin_text(parse_carry *carry, gs_found *found)
{
	*carry = {GS_STATE_PLAIN, 0, 1};
	*found = {0, 0, 0, PARSE_NOT_ODD, GS_STATE_PLAIN};
}

gs_status
gs_cuda_find_fields(gs_device *base, gs_queue queue, const gs_text *text)
{
	gs_cuda_device *device = gs_cuda(base);
	char	   *temp = static_cast<char *>(text->temp);
	cudaStream_t stream = device->streams[queue];
	size_t		scan_bytes = 0;
	fields_temp at;

	GS_CUDA_ENTER(device);
	GS_CUDA_TRY(device, lay_out(text->bytes, &at, &scan_bytes));

	parse_carry *carries = reinterpret_cast<parse_carry *>(temp + at.carries);
	parse_launch launch = {
		meaning_of(&text->dialect), stream, reinterpret_cast<widest_total *>(temp),
		reinterpret_cast<widest_total *>(temp + at.sums), temp + at.scan, scan_bytes
	};
	parse_output out = {
		text->field_ends, text->record_fields, text->max_fields, text->max_records, text->found,
		carries + 1
	};

	begin_text<<<1, 1, 0, stream>>>(carries, text->found);
	GS_CUDA_LAUNCHED(device, "begin_text");
	GS_CUDA_TRY(device, launch_parse(launch, gs_dialect_syntax(&text->dialect), text->data,
									 text->bytes, carries, out));
	return GS_OK;
}

size_t
gs_cuda_find_fields_temp_bytes(gs_device *base, uint32_t bytes)
{
	fields_temp at;
	size_t		scan_bytes = 0;

	/* an error here will show again when the operation is called */
	(void) gs_cuda_enter(gs_cuda(base));
	(void) lay_out(bytes, &at, &scan_bytes);
	return at.end;
}
