/*
 * gs_pack.h
 *		Packing the bits of planes into keys and items.
 */
#ifndef GS_PACK_H
#define GS_PACK_H

#include "engine/gs_layout.h"

/* How many rows are packed at a time; a multiple of 64, the rows of a bitmap word. */
#define GS_PACK_BLOCK_ROWS	512

extern uint64_t gs_pack_row(const gs_section *section, uint64_t row);
extern void gs_pack_keys(uint64_t *keys, const gs_section *section, uint64_t first_row,
						 unsigned count);
extern void gs_pack_rows(uint64_t *items, const gs_section *section, unsigned id_bits,
						 uint64_t first_row, unsigned count);
extern void gs_repack_items(uint64_t *items, const gs_section *section, unsigned id_bits,
							uint64_t count);
extern void gs_prefetch_section(const gs_section *section, uint64_t row);

#endif							/* GS_PACK_H */
