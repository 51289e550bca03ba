/*
 * gs_find_fields.h
 *		Finding the records and fields of chunks of delimited text, on one device.
 */
#ifndef GS_FIND_FIELDS_H
#define GS_FIND_FIELDS_H

#include "engine/device/gs_device.h"

/*
 * A chunk, which begins with a record.  Its memory is the host's, and the device was told of it; it
 * may be read up to the next multiple of 16 bytes.
 */
typedef struct gs_text_chunk
{
	const char *data;
	uint32_t	bytes;
	uint32_t   *field_ends;		/* out; may be left as it is if more fields were found than fit */
	uint32_t   *record_fields;	/* out, likewise */
	gs_found	found;			/* out */
} gs_text_chunk;

typedef struct gs_find_fields_args
{
	gs_dialect	dialect;
	uint32_t	max_bytes;		/* most bytes of a chunk */
	uint32_t	max_fields;
	uint32_t	max_records;
	unsigned	nchunks;
	gs_text_chunk *chunks;
	const volatile int *cancel;
} gs_find_fields_args;

/*
 * Finds the records and fields of all chunks.  On failure device->error tells why, unless the
 * status is GS_NO_SPACE or GS_CANCELLED.
 */
extern gs_status gs_find_fields(gs_device *device, const gs_find_fields_args *args);

#endif							/* GS_FIND_FIELDS_H */
