/*
 * gs_buckets.h
 *		Sorting many items by way of buckets that fit the cache.
 */
#ifndef GS_BUCKETS_H
#define GS_BUCKETS_H

#include "engine/host/gs_radix.h"

extern unsigned gs_bucket_bits(uint64_t rows, unsigned available);
extern bool gs_buckets_sort(gs_job *job, gs_digits digit);

#endif							/* GS_BUCKETS_H */
