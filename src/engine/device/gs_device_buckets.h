/*
 * gs_device_buckets.h
 *		Sorting the buckets of a round, and downloading each as soon as it is sorted.
 */
#ifndef GS_DEVICE_BUCKETS_H
#define GS_DEVICE_BUCKETS_H

#include "engine/device/gs_device_job.h"

extern gs_status gs_buckets_round(gs_device_job *job, unsigned round);

#endif							/* GS_DEVICE_BUCKETS_H */
