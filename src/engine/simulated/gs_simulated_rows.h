/*
 * gs_simulated_rows.h
 *		How the simulated device copies rows into another order; arguments are as in
 *		gs_device_ops.
 */
#ifndef GS_SIMULATED_ROWS_H
#define GS_SIMULATED_ROWS_H

#include "engine/device/gs_device.h"

extern uint64_t gs_simulated_place_rows(const gs_gather *gather);
extern void gs_simulated_gather_rows(const gs_gather *gather);


#endif							/* GS_SIMULATED_ROWS_H */
