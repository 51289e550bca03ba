/*
 * case_data.h
 *		What tests of sorting have in common: generated planes, red zones.
 */
#ifndef CASE_DATA_H
#define CASE_DATA_H

#include "engine/gs_engine.h"
#include "sort_case.h"

/* Memory between red zones, lines of a known pattern that must stay intact. */
typedef struct guarded
{
	unsigned char *base;
	size_t		bytes;			/* exact, so that a sanitizer sees reads beyond */
} guarded;

extern guarded guarded_alloc(size_t bytes);
extern void guarded_free(guarded *g);
extern void *guarded_data(const guarded *g);
extern bool guarded_intact(const guarded *g);

/* The planes, twice: what the engine sees, and what it should have seen. */
typedef struct case_data
{
	guarded		words[CASE_MAX_PLANES];
	guarded		nulls[CASE_MAX_PLANES];
	guarded		numberings[CASE_MAX_PLANES];
	gs_plane	planes[CASE_MAX_PLANES];
	gs_plane	copies[CASE_MAX_PLANES];
} case_data;

extern void case_data_fill(case_data *data, const sort_case *c);
extern void case_data_free(case_data *data, const sort_case *c);

/* Are planes and red zones as they were? */
extern bool case_data_untouched(const case_data *data, const sort_case *c);

/* The first position whose id is not the expected one, or nrows. */
extern uint64_t case_first_difference(const void *ids, const uint64_t *expected,
									  const sort_case *c);

/* Explain with tap_note() what is wrong. */
extern void case_describe(const sort_case *c, const char *fault);

#endif							/* CASE_DATA_H */
