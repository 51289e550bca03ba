/*
 * gs_device_upload.h
 *		Uploading words to the devices, and what they say about the key.
 */
#ifndef GS_DEVICE_UPLOAD_H
#define GS_DEVICE_UPLOAD_H

#include "engine/device/gs_device_job.h"

extern void gs_upload_expect(gs_device_job *job, uint64_t nrows);
extern gs_status gs_upload_ahead(gs_device_job *job, unsigned plane, uint64_t segment,
								 const uint64_t *words);
extern gs_status gs_upload_forget(gs_device_job *job, unsigned plane);
extern void gs_upload_drop(gs_device_job *job);
extern gs_status gs_upload_release(gs_device_job *job, int kept);
extern gs_status gs_upload_planes(gs_device_job *job);
extern gs_status gs_upload_layout(gs_device_job *job);

#endif							/* GS_DEVICE_UPLOAD_H */
