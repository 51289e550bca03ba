/*
 * gs_found.h
 *		What a device has found in delimited text.
 *
 * The arrays that go with it are those of gs_records.h: where fields end, and how many fields there
 * are up to the end of each record.
 */
#ifndef GS_FOUND_H
#define GS_FOUND_H

#include <stdint.h>

/* All offsets count from the first byte. */
typedef struct gs_found
{
	/* fields that end in the text; if they are more than fit, the arrays are not complete */
	uint32_t	nfields;
	uint32_t	nrecords;
	/* offset after the last record that ends in the text; 0 if none does */
	uint32_t	consumed;
	uint32_t	odd_at;			/* offset of the first byte that is odd (gs_odd), or UINT32_MAX */
	uint32_t	state;			/* gs_parse_state after its last byte */
} gs_found;

#endif							/* GS_FOUND_H */
