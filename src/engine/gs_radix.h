/*
 * gs_radix.h
 *		Radix sort of items.
 */
#ifndef GS_RADIX_H
#define GS_RADIX_H

#include "gs_job.h"

extern uint64_t *gs_radix_sort(gs_job *job, uint64_t *items, uint64_t *spare, uint64_t count,
							   unsigned low_bit, unsigned high_bit);

#endif							/* GS_RADIX_H */
