/*
 * gs_device_early.h
 *		Buckets that are sorted by the leading bits of their keys only.
 */
#ifndef GS_DEVICE_EARLY_H
#define GS_DEVICE_EARLY_H

#include "engine/device/gs_device_job.h"

extern void gs_early_choose(gs_device_job *job);
extern unsigned gs_early_low_bit(const gs_device_job *job, const gs_bucket *bucket);
extern gs_status gs_early_begin_round(gs_device_job *job);
extern gs_status gs_early_look(gs_device_job *job);

#endif							/* GS_DEVICE_EARLY_H */
