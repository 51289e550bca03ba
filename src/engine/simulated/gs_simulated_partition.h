/*
 * gs_simulated_partition.h
 *		What the simulated device does to rows in the order of arrival; arguments as in
 *		gs_device_ops.
 */
#ifndef GS_SIMULATED_PARTITION_H
#define GS_SIMULATED_PARTITION_H

#include "engine/device/gs_device.h"

extern void gs_simulated_stats(gs_rows rows, gs_plane_rows plane, gs_plane_stats *stats,
							   gs_alphabets *alphabets);
extern void gs_simulated_pack(gs_rows rows, const gs_section *section, const gs_plane_rows *planes,
							  uint64_t *const *packed);
extern void gs_simulated_histogram(gs_rows rows, gs_keys keys, unsigned ncounted,
								   const gs_counted *counted, uint64_t (*counts)[GS_DEVICE_DIGITS]);
extern void gs_simulated_scatter(const gs_scatter *scatter);
extern void gs_simulated_sum_rows(gs_rows rows, gs_keys keys, gs_row_sums *sums);

#endif							/* GS_SIMULATED_PARTITION_H */
