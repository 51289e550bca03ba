/*
 * gs_simulated_order.h
 *		What the simulated device does to rows in key order; arguments as in gs_device_ops.
 */
#ifndef GS_SIMULATED_ORDER_H
#define GS_SIMULATED_ORDER_H

#include "engine/device/gs_device.h"

extern bool gs_simulated_sort(gs_pairs pairs, gs_pairs spare, unsigned id_bytes, uint64_t nrows,
							  unsigned low_bit, unsigned bits);
extern bool gs_simulated_sort_runs(gs_pairs pairs, unsigned id_bytes, uint64_t nrows,
								   unsigned low_bit);
extern void gs_simulated_mark_equal(const uint64_t *keys, const uint32_t *positions, uint64_t nrows,
									bool tied, unsigned first_bit, uint32_t *bitmap);
extern gs_tie_counts gs_simulated_find_ties(const uint64_t *keys, uint64_t nrows, uint64_t *ranks);
extern void gs_simulated_take_ties(gs_pairs from, const uint32_t *positions, const uint64_t *ranks,
								   uint64_t nrows, unsigned id_bytes, const gs_section *section,
								   const gs_plane_rows *planes, uint32_t *to_positions,
								   gs_pairs to);
extern void gs_simulated_put_ids(void *ids, const uint32_t *positions, const void *from_ids,
								 unsigned id_bytes, uint64_t nrows);
extern void gs_simulated_count_up(void *ids, unsigned id_bytes, uint64_t first, uint64_t nrows);
extern void gs_simulated_check_rows(const gs_checked_rows *rows, gs_order_check *check);

#endif							/* GS_SIMULATED_ORDER_H */
