/*
 * gs_device_result.h
 *		Returning sorted row ids to the caller, bucket by bucket.
 */
#ifndef GS_DEVICE_RESULT_H
#define GS_DEVICE_RESULT_H

#include "engine/device/gs_device_job.h"

extern gs_status gs_result_begin(gs_device_job *job, unsigned nready);
extern void gs_result_end(gs_device_job *job);
extern gs_status gs_result_download(gs_device_job *job, unsigned d, gs_queue behind,
									const gs_bucket *bucket, const void *ids);
extern gs_status gs_result_bitmap(gs_device_job *job, unsigned d, unsigned share);
extern gs_status gs_result_identity(gs_device_job *job);
extern gs_status gs_result_wait(gs_device_job *job, uint64_t *ready);

#endif							/* GS_DEVICE_RESULT_H */
