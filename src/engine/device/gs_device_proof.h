/*
 * gs_device_proof.h
 *		Proving that what devices return is the rows they were given, in order.
 */
#ifndef GS_DEVICE_PROOF_H
#define GS_DEVICE_PROOF_H

#include "engine/device/gs_device_job.h"

/* Before the first round, and before each; nothing is on its way then. */
extern void gs_proof_begin(gs_device_job *job);
extern gs_status gs_proof_begin_round(gs_device_job *job);

/* Sum rows that a device holds, in the first round; behind what makes their keys. */
extern gs_status gs_proof_given(gs_device_job *job, unsigned d, gs_rows rows, gs_keys keys);

/*
 * Check rows of a device's share that are sorted by the first section, or are ids
 * in their last order; on the queue for work.
 */
extern gs_status gs_proof_sorted(gs_device_job *job, unsigned d, gs_pairs rows, gs_pairs before,
								 uint64_t nrows);
extern gs_status gs_proof_placed(gs_device_job *job, unsigned d, uint64_t nrows);

/* Check rows that tie before they are sorted, and when their ids have been put back. */
extern gs_status gs_proof_tied(gs_device_job *job, unsigned d);
extern gs_status gs_proof_refined(gs_device_job *job, unsigned d);

/*
 * Wait for the answers: GS_DEVICE_WRONG unless every share of the round is in order
 * of the first section and follows the one before, and all rows have come back in
 * the last round; rows that tied were sorted by another section; ids of a share
 * are still the same.
 */
extern gs_status gs_proof_shares(gs_device_job *job, unsigned round);
extern gs_status gs_proof_ties(gs_device_job *job, unsigned d);
extern gs_status gs_proof_places(gs_device_job *job, unsigned d);

/* The same for rows that are in order already, each device having some of their ids. */
extern gs_status gs_proof_begin_identity(gs_device_job *job);
extern gs_status gs_proof_end_identity(gs_device_job *job);

#endif							/* GS_DEVICE_PROOF_H */
