/*
 * gs_simulated_device.h
 *		A sorting device in plain C, for tests and for gpusort.daemon = host:N.
 */
#ifndef GS_SIMULATED_DEVICE_H
#define GS_SIMULATED_DEVICE_H

#include "engine/device/gs_device.h"

/* ---------- spoil: damage to rows, as memory or a driver may do it, for tests ---------- */

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

/* ---------- device: one that owns some memory ---------- */

/*
 * Opens a simulated device that owns arena_bytes of memory; returns NULL if there is none.  The
 * operation with the number fail_at, from 1, returns GS_DEVICE_ERROR; 0 for none.
 */
extern gs_device *gs_simulated_device_open(unsigned index, size_t arena_bytes, uint64_t fail_at);

/* Makes all operations after that one fail, too. */
extern void gs_simulated_device_keep_failing(gs_device *device);

/*
 * Has the device damage what it has done: in the at'th of those operations that sort, place, number
 * or copy rows, and in every `every`th of them from there on, or only in that one if `every` is 0.
 */
extern void gs_simulated_device_spoil(gs_device *device, gs_damage damage, uint64_t at,
									  uint64_t every);

/* Returns how often the device has done damage. */
extern uint64_t gs_simulated_device_spoilt(const gs_device *device);

/* Bytes that would cross the link of a device that is the only one of its group. */
typedef struct gs_simulated_traffic
{
	uint64_t	up;				/* uploaded, or words that kernels read in host memory */
	uint64_t	down;			/* downloaded, or stored in host memory */
} gs_simulated_traffic;

/* Returns what has crossed the link since the device was opened. */
extern gs_simulated_traffic gs_simulated_device_traffic(const gs_device *device);

#endif							/* GS_SIMULATED_DEVICE_H */
