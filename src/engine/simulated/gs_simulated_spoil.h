/*
 * gs_simulated_spoil.h
 *		Damage to rows, as memory or a driver may do it, for tests.
 */
#ifndef GS_SIMULATED_SPOIL_H
#define GS_SIMULATED_SPOIL_H

#include "engine/device/gs_device.h"

typedef enum gs_damage
{
	GS_DAMAGE_NONE,
	GS_DAMAGE_KEY_BIT,			/* a bit of a key is another one */
	GS_DAMAGE_ID_BIT,			/* a bit of an id */
	GS_DAMAGE_SWAP,				/* two rows have changed places */
	GS_DAMAGE_SWAP_IDS,			/* only their ids */
	GS_DAMAGE_DOUBLE,			/* a row is there twice, and another one is not */
	GS_DAMAGES
} gs_damage;

/*
 * Spoil rows; keys may be NULL.  False if there are too few rows for it.  The place of
 * the damage follows from seed.
 */
extern bool gs_simulated_spoil(gs_damage damage, gs_pairs pairs, unsigned id_bytes,
							   uint64_t nrows, uint64_t seed);

#endif							/* GS_SIMULATED_SPOIL_H */
