/*
 * big_endian.h
 *		Integers in the order of bytes that keys and the server's binary formats have.
 */
#ifndef GPUSORT_BIG_ENDIAN_H
#define GPUSORT_BIG_ENDIAN_H

#include "port/pg_bswap.h"

/*
 * Return the two, four or eight bytes at p, taken as a big-endian integer.  p need not be aligned,
 * here and in store_be64().
 */
static inline uint16
load_be16(const void *p)
{
	uint16		word;

	memcpy(&word, p, sizeof(word));
	return pg_ntoh16(word);
}

static inline uint32
load_be32(const void *p)
{
	uint32		word;

	memcpy(&word, p, sizeof(word));
	return pg_ntoh32(word);
}

static inline uint64
load_be64(const void *p)
{
	uint64		word;

	memcpy(&word, p, sizeof(word));
	return pg_ntoh64(word);
}

static inline void
store_be64(void *p, uint64 word)
{
	word = pg_hton64(word);
	memcpy(p, &word, sizeof(word));
}

#endif							/* GPUSORT_BIG_ENDIAN_H */
