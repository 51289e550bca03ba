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
	GS_DAMAGE_KEY_BIT,			/* a bit of a key is flipped */
	GS_DAMAGE_ID_BIT,			/* a bit of an id is flipped */
	GS_DAMAGE_SWAP,				/* two rows have changed places */
	GS_DAMAGE_SWAP_IDS,			/* the ids of two rows have changed places */
	GS_DAMAGE_DOUBLE,			/* a row is there twice, and another one is not */
	GS_DAMAGES
} gs_damage;

/*
 * Damages rows, at a place that follows from seed; keys may be NULL.  Returns false if the rows are
 * too few for that damage, or it needs keys and there are none.
 */
extern bool gs_simulated_spoil(gs_damage damage, gs_pairs pairs, unsigned id_bytes,
							   uint64_t nrows, uint64_t seed);

#endif							/* GS_SIMULATED_SPOIL_H */
