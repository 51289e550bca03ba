/*
 * gs_device_proof.h
 *		Proving that what devices return is the rows they were given, in order.
 */
#ifndef GS_DEVICE_PROOF_H
#define GS_DEVICE_PROOF_H

#include "engine/device/gs_device_job.h"

/*
 * gs_proof_begin() is called before the first round, gs_proof_begin_round() before each; no rows
 * are on their way then.
 */
extern void gs_proof_begin(gs_device_job *job);
extern gs_status gs_proof_begin_round(gs_device_job *job);

/* Sums rows that a device holds, in the first round, behind what makes their keys. */
extern gs_status gs_proof_given(gs_device_job *job, unsigned d, gs_rows rows, gs_keys keys);

/*
 * gs_proof_sorted() checks rows of a device's share that are sorted by the first section,
 * gs_proof_placed() its ids in their final order; both on the queue for work.
 */
extern gs_status gs_proof_sorted(gs_device_job *job, unsigned d, gs_pairs rows, gs_pairs before,
								 uint64_t nrows);
extern gs_status gs_proof_placed(gs_device_job *job, unsigned d, uint64_t nrows);

/*
 * gs_proof_tied() sums rows that tie before they are sorted by the next section; gs_proof_refined()
 * checks them when they are sorted and their ids have been put back.
 */
extern gs_status gs_proof_tied(gs_device_job *job, unsigned d);
extern gs_status gs_proof_refined(gs_device_job *job, unsigned d);

/*
 * These wait for the answers, and return GS_DEVICE_WRONG unless they are as they should be.
 * gs_proof_shares(): every share of the round is in order of the first section and follows the one
 * before, and in the last round all rows have come back.  gs_proof_ties(): rows that tied were
 * sorted by another section.  gs_proof_places(): the ids of a share are still the same.
 */
extern gs_status gs_proof_shares(gs_device_job *job, unsigned round);
extern gs_status gs_proof_ties(gs_device_job *job, unsigned d);
extern gs_status gs_proof_places(gs_device_job *job, unsigned d);

/*
 * These do the same for rows that are in order already, of which each device has some of the ids.
 */
extern gs_status gs_proof_begin_identity(gs_device_job *job);
extern gs_status gs_proof_end_identity(gs_device_job *job);

#endif							/* GS_DEVICE_PROOF_H */
