/*
 * gs_found.h
 *		What a device has found in delimited text.
 *
 * The arrays beside it are those of gs_records.h: where fields end, and fields of records.
 */
#ifndef GS_FOUND_H
#define GS_FOUND_H

#include <stdint.h>

/* Offsets are from the first byte. */
typedef struct gs_found
{
	uint32_t	nfields;		/* may be more than fit: then the arrays are not complete */
	uint32_t	nrecords;
	uint32_t	consumed;		/* after the last record that ends in it; 0 if none does */
	uint32_t	odd_at;			/* what is odd first, or UINT32_MAX */
	uint32_t	state;			/* gs_parse_state after its last byte */
} gs_found;

#endif							/* GS_FOUND_H */
