/*
 * parse_data.h
 *		Random dialects and inputs for tests of src/parse.
 */
#ifndef PARSE_DATA_H
#define PARSE_DATA_H

#include "parse/gs_dialect.h"

/* What a random input is made of: how often which bytes. */
typedef struct parse_blend
{
	unsigned	plain;			/* others are one in so many */
	unsigned	odd;			/* odd bytes are one of so many of these; 0: none */
	unsigned	run;			/* bytes are repeated up to so many times */
} parse_blend;

/* Below a bound. */
extern unsigned parse_random(unsigned bound);

extern gs_dialect parse_random_dialect(void);

/* Some bytes, as many as asked for or up to one more; "data" has room for 8 more. */
extern size_t parse_random_input(const gs_dialect *dialect, const parse_blend *blend, size_t bytes,
								 char *data);

/* A copy that ends where its allocation does. */
extern char *parse_copy(const char *data, size_t bytes);

#endif							/* PARSE_DATA_H */
