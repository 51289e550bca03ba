/*
 * gs_host_kernels.h
 *		The work of the host device; arguments as in gs_device_ops.
 */
#ifndef GS_HOST_KERNELS_H
#define GS_HOST_KERNELS_H

#include "engine/device/gs_device.h"

/* gs_host_partition.c */
extern void gs_host_stats(gs_rows rows, gs_plane_rows plane, gs_plane_stats *stats);
extern void gs_host_pack(gs_rows rows, const gs_slice *slice, const gs_plane_rows *planes,
						 uint64_t *const *packed);
extern void gs_host_histogram(gs_rows rows, gs_keys keys, unsigned ncounted,
							  const gs_counted *counted, uint64_t (*counts)[GS_DEVICE_DIGITS]);
extern void gs_host_scatter(const gs_scatter *scatter);

/* gs_host_order.c */
extern bool gs_host_sort(gs_pairs pairs, gs_pairs spare, unsigned id_bytes, uint64_t nrows,
						 unsigned low_bit, unsigned bits);
extern bool gs_host_sort_runs(gs_pairs pairs, unsigned id_bytes, uint64_t nrows,
							  unsigned low_bit);
extern uint64_t gs_host_slice(const gs_slice *slice, const gs_plane_rows *planes, uint64_t row);
extern void gs_host_mark_equal(const uint64_t *keys, const uint32_t *positions, uint64_t nrows,
							   bool tied, unsigned first_bit, uint32_t *bitmap);
extern gs_tie_counts gs_host_find_ties(const uint64_t *keys, uint64_t nrows, uint64_t *ranks);
extern void gs_host_take_ties(gs_pairs from, const uint32_t *positions, const uint64_t *ranks,
							  uint64_t nrows, unsigned id_bytes, const gs_slice *slice,
							  const gs_plane_rows *planes, uint32_t *to_positions, gs_pairs to);
extern void gs_host_put_ids(void *ids, const uint32_t *positions, const void *from_ids,
							unsigned id_bytes, uint64_t nrows);
extern void gs_host_count_up(void *ids, unsigned id_bytes, uint64_t first, uint64_t nrows);

/* gs_host_rows.c */
extern uint64_t gs_host_place_rows(const gs_gather *gather);
extern void gs_host_gather_rows(const gs_gather *gather);

#endif							/* GS_HOST_KERNELS_H */
