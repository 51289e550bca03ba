/*
 * device_case.h
 *		One sort on a group of devices, checked in every respect.
 */
#ifndef DEVICE_CASE_H
#define DEVICE_CASE_H

#include "case_data.h"
#include "engine/device/gs_device_sort.h"

/* Planes and what should come out; used for any number of sorts. */
typedef struct prepared_case
{
	sort_case	c;
	case_data	data;
	uint64_t   *ids;
	uint64_t   *equal;
} prepared_case;

extern prepared_case *case_prepare(const sort_case *c);
extern void case_release(prepared_case *prepared);

typedef enum feed_shape
{
	FEED_NOTHING,
	FEED_ALL,					/* every full segment, before the run */
	FEED_SOME,					/* about half of them, in no order */
	FEED_AGAIN,					/* wrong words first, taken back, then some */
	FEED_SHAPES
} feed_shape;

/* How a sort is called; zeros are the simplest way. */
typedef struct device_setup
{
	unsigned	span_shift;		/* parts of 2^span_shift bytes; 0: one part */
	feed_shape	feed;
	uint64_t	expected_rows;	/* 0: the right number */
	uint64_t	park_rows;		/* host memory for so many parked rows */
	bool		quit;			/* end the job without waiting for the result */
} device_setup;

/*
 * Sort and compare with the reference; afterwards the devices' memory must be all
 * free again.  A failure is explained with tap_note().  result may be NULL.
 */
extern bool device_case_passes(const prepared_case *prepared, gs_group *group,
							   const device_setup *setup, gs_device_result *result);

/*
 * The same for a sort that may fail: returns its status, and sets *fault to what
 * is wrong beside it, NULL if nothing is.  With GS_OK the result is right.
 */
extern gs_status device_case_run(const prepared_case *prepared, gs_group *group,
								 const device_setup *setup, const volatile int *cancel,
								 gs_device_result *result, const char **fault);

/* Parts as short as they may be: a segment's words lie in one piece. */
#define CASE_SHORT_PARTS	(GS_SEGMENT_SHIFT + 3)

/* Any case of up to 30,000 rows, and any way to call it. */
extern sort_case device_case_random(uint64_t *state);
extern device_setup device_setup_random(uint64_t *state, uint64_t nrows);

#endif							/* DEVICE_CASE_H */
