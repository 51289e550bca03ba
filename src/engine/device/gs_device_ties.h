/*
 * gs_device_ties.h
 *		Keys wider than a section: rows that tie on what they are sorted by so far.
 */
#ifndef GS_DEVICE_TIES_H
#define GS_DEVICE_TIES_H

#include "engine/device/gs_device_job.h"

extern gs_status gs_ties_round(gs_device_job *job, unsigned round);

#endif							/* GS_DEVICE_TIES_H */
