/*
 * gs_cuda_parse.h
 *		Delimited text on a GPU: where the records and fields of a stream lie, in C.
 *
 * The stream comes in parts, each of which begins where the one before it ended.  None but the last
 * one may end with a carriage return or a backslash: it would have to be known what follows.  What of a record
 * or field lies before a part is carried on by the device.  Calls but
 * gs_cuda_parser_open() and gs_cuda_parser_wait() return at once.
 */
#ifndef GS_CUDA_PARSE_H
#define GS_CUDA_PARSE_H

#include "parse/gs_found.h"
#include "parse/gs_records.h"

#ifdef __cplusplus
extern "C"
{
#endif

/* Parts that may be on their way at the same time. */
#define GS_CUDA_PARSER_PARTS	3

typedef struct gs_cuda_parser gs_cuda_parser;

/*
 * What was found in a part.  The arrays are those of gs_records.h: a field's end has
 * GS_FIELD_SPECIAL, the first one's also for what came before the part; and a record's fields are
 * counted from the part's first field on.
 */
typedef gs_found gs_cuda_part;

/*
 * A parser of parts of up to "part_bytes" bytes with up to "max_fields" fields and "max_records"
 * records.  NULL on failure, with the reason in error[].
 */
extern gs_cuda_parser *gs_cuda_parser_open(int cuda_device, const gs_dialect *dialect,
										   size_t part_bytes, size_t max_fields,
										   size_t max_records, char *error, size_t error_bytes);
extern void gs_cuda_parser_close(gs_cuda_parser *parser);

/* Begin a stream: the next part begins with a record. */
extern int	gs_cuda_parser_begin(gs_cuda_parser *parser);

/* A part's bytes, from host memory, which must be pinned to be read while others are parsed. */
extern int	gs_cuda_parser_put(gs_cuda_parser *parser, const char *data, size_t bytes);

/* The same of memory of the device, which lies at a multiple of 16 bytes and has one for its size. */
extern int	gs_cuda_parser_put_device(gs_cuda_parser *parser, const void *data, size_t bytes);

/* Wait for the oldest part not waited for, and begin to fetch its arrays into these, if not NULL. */
extern int	gs_cuda_parser_fetch(gs_cuda_parser *parser, gs_cuda_part *part,
								 uint32_t *field_ends, uint32_t *record_fields);

/* Wait for all that was begun. */
extern int	gs_cuda_parser_wait(gs_cuda_parser *parser);

/* What went wrong in a call that did not return 0. */
extern const char *gs_cuda_parser_error(const gs_cuda_parser *parser);

#ifdef __cplusplus
}
#endif

#endif							/* GS_CUDA_PARSE_H */
