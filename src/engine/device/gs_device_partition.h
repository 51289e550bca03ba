/*
 * gs_device_partition.h
 *		Keys, histograms, and the scattering of rows to their shares.
 */
#ifndef GS_DEVICE_PARTITION_H
#define GS_DEVICE_PARTITION_H

#include "engine/device/gs_device_job.h"

extern gs_status gs_partition_keys(gs_device_job *job);
extern gs_status gs_partition_evict(gs_device_job *job);
extern gs_status gs_partition_plan(gs_device_job *job);
extern gs_status gs_partition_round(gs_device_job *job, unsigned round);

#endif							/* GS_DEVICE_PARTITION_H */
