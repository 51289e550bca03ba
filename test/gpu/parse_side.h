/*
 * parse_side.h
 *		Parsers of parts of a stream: that of a GPU, and one in plain C to compare it with.
 */
#ifndef PARSE_SIDE_H
#define PARSE_SIDE_H

#include "gs_cuda_parse.h"

/* gs_cuda_parse.h as a table, and memory that its parsers read and write. */
typedef struct parse_side
{
	const char *name;
	void	   *(*open) (const gs_dialect *dialect, size_t part_bytes, size_t max_fields,
						 size_t max_records);
	void		(*close) (void *parser);
	void		(*begin) (void *parser);
	void		(*put) (void *parser, const char *data, size_t bytes);
	void		(*put_device) (void *parser, const void *data, size_t bytes);
	void		(*fetch) (void *parser, gs_cuda_part *part, uint32_t *field_ends,
						  uint32_t *record_fields);
	void		(*wait) (void *parser);
	void	   *(*pinned) (size_t bytes);
	void		(*free_pinned) (void *memory);
	void	   *(*on_device) (const void *data, size_t bytes);	/* a copy */
	void		(*free_device) (void *memory);
	void		(*upload) (void *device, const void *host, size_t bytes);
} parse_side;

/* Failures end the program with a message. */
extern const parse_side parse_side_cuda;
extern const parse_side parse_side_host;

/*
 * How long the next part of a stream may be, of "left" bytes and at most "most": it doesn't end with
 * what may belong to the byte after it.  Longer than "most" if there is no other way.
 */
extern size_t parse_part_bytes(const char *data, size_t left, size_t most);

#endif							/* PARSE_SIDE_H */
