/*
 * gs_simulated_spoil.c
 *		Damage to rows, as memory or a driver may do it, for tests.
 */
#include "engine/simulated/gs_simulated_device.h"

static void
swap_bytes(char *a, char *b, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
	{
		char		byte = a[i];

		a[i] = b[i];
		b[i] = byte;
	}
}

static void
copy_bytes(char *to, const char *from, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		to[i] = from[i];
}

bool
gs_simulated_spoil(gs_damage damage, gs_pairs pairs, unsigned id_bytes, uint64_t nrows,
				   uint64_t seed)
{
	uint64_t	row = nrows > 1 ? seed % (nrows - 1) : 0;
	char	   *id = (char *) pairs.ids + row * id_bytes;
	bool		has_keys = pairs.keys != NULL;

	/* a pointer to bytes, since memory that is copied need not be aligned as keys are */
	char	   *key = has_keys ? (char *) pairs.keys + row * sizeof(uint64_t) : NULL;

	if (nrows < 2)
		return false;
	switch (damage)
	{
		case GS_DAMAGE_KEY_BIT:
			if (has_keys)
				key[seed % 20 / 8] = (char) (key[seed % 20 / 8] ^ 1 << seed % 20 % 8);
			return has_keys;
		case GS_DAMAGE_ID_BIT:
			*id = (char) (*id ^ 1 << seed % 8);
			return true;
		case GS_DAMAGE_SWAP:
			if (has_keys)
				swap_bytes(key, key + sizeof(uint64_t), sizeof(uint64_t));
			swap_bytes(id, id + id_bytes, id_bytes);
			return true;
		case GS_DAMAGE_SWAP_IDS:
			swap_bytes(id, id + id_bytes, id_bytes);
			return true;
		case GS_DAMAGE_DOUBLE:
			if (has_keys)
				copy_bytes(key + sizeof(uint64_t), key, sizeof(uint64_t));
			copy_bytes(id + id_bytes, id, id_bytes);
			return true;
		default:
			return false;
	}
}
