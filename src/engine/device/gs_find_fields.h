/*
 * gs_find_fields.h
 *		Records and fields of chunks of delimited text, on one device.
 */
#ifndef GS_FIND_FIELDS_H
#define GS_FIND_FIELDS_H

#include "engine/device/gs_device.h"

/*
 * A chunk, which begins with a record.  Its memory is the host's, of which the device was told; it
 * may be read up to the next multiple of 16 bytes.
 */
typedef struct gs_text_chunk
{
	const char *data;
	uint32_t	bytes;
	uint32_t   *field_ends;		/* out; may be left as it is if there are more than fit */
	uint32_t   *record_fields;	/* out, likewise */
	gs_found	found;			/* out */
} gs_text_chunk;

typedef struct gs_find_fields_args
{
	gs_dialect	dialect;
	uint32_t	max_bytes;		/* of any chunk */
	uint32_t	max_fields;
	uint32_t	max_records;
	unsigned	nchunks;
	gs_text_chunk *chunks;
	const volatile int *cancel;
} gs_find_fields_args;

/* On failure device->error tells why, unless it is a lack of memory or the cancel. */
extern gs_status gs_find_fields(gs_device *device, const gs_find_fields_args *args);

#endif							/* GS_FIND_FIELDS_H */
