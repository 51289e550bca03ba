/*
 * gs_cuda_parse.h
 *		Delimited text on a GPU: where the records and fields of a stream lie, in C.
 *
 * The stream comes in *parts*, each of which begins where the one before it ended.  No part but the
 * last may end with a carriage return or a backslash, since what follows would have to be known.
 * If a record or field begins before a part, the device carries on what it knows of that.  All
 * calls but gs_cuda_parser_open() and gs_cuda_parser_wait() return at once.
 */
#ifndef GS_CUDA_PARSE_H
#define GS_CUDA_PARSE_H

#include "parse/gs_dialect.h"
#include "parse/gs_parse.h"

#ifdef __cplusplus
extern "C"
{
#endif

/* How many parts may be on their way at the same time. */
#define GS_CUDA_PARSER_PARTS	3

typedef struct gs_cuda_parser gs_cuda_parser;

/*
 * What was found in a part.  The arrays are those of gs_parse.h.  A field's end has
 * GS_FIELD_SPECIAL, and that of the first field also for what came before the part; a record's
 * fields are counted from the part's first field on.
 */
typedef gs_found gs_cuda_part;

/*
 * Opens a parser of parts of up to "part_bytes" bytes with up to "max_fields" fields and
 * "max_records" records.  Returns NULL on failure, with the reason in error[].
 */
extern gs_cuda_parser *gs_cuda_parser_open(int cuda_device, const gs_dialect *dialect,
										   size_t part_bytes, size_t max_fields,
										   size_t max_records, char *error, size_t error_bytes);
extern void gs_cuda_parser_close(gs_cuda_parser *parser);

/* Begins a stream: the next part begins with a record. */
extern int	gs_cuda_parser_begin(gs_cuda_parser *parser);

/*
 * Parses a part whose bytes are in host memory, which must be pinned to be read while other parts
 * are parsed.
 */
extern int	gs_cuda_parser_put(gs_cuda_parser *parser, const char *data, size_t bytes);

/*
 * Parses a part whose bytes are in memory of the device, which lies at a multiple of 16 bytes and
 * has such a size.
 */
extern int	gs_cuda_parser_put_device(gs_cuda_parser *parser, const void *data, size_t bytes);

/*
 * Waits for the oldest part that was not fetched yet, and begins to fetch its arrays into these, if
 * they are not NULL.
 */
extern int	gs_cuda_parser_fetch(gs_cuda_parser *parser, gs_cuda_part *part,
								 uint32_t *field_ends, uint32_t *record_fields);

/* Waits for all that was begun. */
extern int	gs_cuda_parser_wait(gs_cuda_parser *parser);

/* Returns what went wrong in a call that did not return 0. */
extern const char *gs_cuda_parser_error(const gs_cuda_parser *parser);

#ifdef __cplusplus
}
#endif

#endif							/* GS_CUDA_PARSE_H */
