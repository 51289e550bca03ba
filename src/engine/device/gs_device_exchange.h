/*
 * gs_device_exchange.h
 *		How rows get from the device that holds them to that of their share.
 */
#ifndef GS_DEVICE_EXCHANGE_H
#define GS_DEVICE_EXCHANGE_H

#include "engine/device/gs_device_job.h"

extern gs_status gs_exchange_prepare(gs_device_job *job);
extern void gs_exchange_tree(gs_device_job *job, unsigned round, bool *digits);
extern const uint64_t *gs_exchange_positions(const gs_device_job *job, unsigned round, unsigned d);
extern unsigned gs_exchange_targets(const gs_device_job *job, unsigned round, unsigned d,
									gs_target *targets);
extern gs_status gs_exchange_meet(gs_device_job *job, const gs_queue *queues, unsigned nqueues);
extern gs_status gs_exchange_rows(gs_device_job *job, unsigned round);

#endif							/* GS_DEVICE_EXCHANGE_H */
