/*
 * gs_binary.c
 *		Where the records and fields of COPY's binary format lie.
 *
 * A record is a count of 16 bits, and so many fields; a field is a length of 32 bits, and so many
 * bytes.  Numbers are big-endian.  The length -1 is that of a null.  The count -1, which is the
 * trailer, ends the input; but an input may also end without a trailer.  So records can be found
 * only one after the other, but most of their bytes need not be looked at.
 */
#include "parse/gs_parse.h"

/* What begins at some place of a buffer. */
typedef enum begun
{
	BEGUN_RECORD,
	BEGUN_PART,					/* a record that does not end in the buffer, or nothing */
	BEGUN_TRAILER,
	BEGUN_ODD
} begun;

static int16_t
read_count(const char *data)
{
	const unsigned char *bytes = (const unsigned char *) data;

	return (int16_t) (bytes[0] << 8 | bytes[1]);
}

static int32_t
read_length(const char *data)
{
	const unsigned char *bytes = (const unsigned char *) data;

	return (int32_t) ((uint32_t) bytes[0] << 24 | (uint32_t) bytes[1] << 16 |
					  (uint32_t) bytes[2] << 8 | bytes[3]);
}

/*
 * Says what begins at *offset.  If it is a record, moves *offset to its end, and writes the ends of
 * its fields to "ends", unless that is NULL.
 */
static inline begun
read_record(const gs_dialect *dialect, const char *data, size_t bytes, size_t *offset,
			uint32_t *ends)
{
	size_t		at = *offset;
	int16_t		count;

	if (bytes - at < GS_BINARY_COUNT_BYTES)
		return BEGUN_PART;
	count = read_count(data + at);
	at += GS_BINARY_COUNT_BYTES;
	if (count != dialect->nfields)
		return count == -1 ? BEGUN_TRAILER : BEGUN_ODD;
	for (int i = 0; i < count; i++)
	{
		int32_t		length;

		if (bytes - at < GS_BINARY_LENGTH_BYTES)
			return BEGUN_PART;
		length = read_length(data + at);
		at += GS_BINARY_LENGTH_BYTES;
		if (length < -1)
			return BEGUN_ODD;
		if (length > 0 && bytes - at < (size_t) length)
			return BEGUN_PART;
		if (length > 0)
			at += length;
		if (ends != NULL)
			ends[i] = (uint32_t) at | (length < 0 ? GS_FIELD_SPECIAL : 0);
	}
	*offset = at;
	return BEGUN_RECORD;
}

/* Returns whether what begins at "offset" is a trailer, and nothing is known to follow. */
static bool
is_last(begun next, size_t offset, size_t bytes)
{
	return next == BEGUN_TRAILER && bytes - offset == GS_BINARY_COUNT_BYTES;
}

void
gs_binary_find(const gs_dialect *dialect, const char *data, size_t bytes, bool at_end,
			   gs_records *records)
{
	begun		next = BEGUN_RECORD;
	size_t		nfields = dialect->nfields;

	records->nfields = records->nrecords = records->consumed = 0;
	records->odd = GS_ODD_NONE;
	records->stop = GS_STOP_END;
	while (records->nrecords < records->max_records &&
		   records->nfields + nfields <= records->max_fields)
	{
		next = read_record(dialect, data, bytes, &records->consumed,
						   records->field_ends + records->nfields);
		if (next != BEGUN_RECORD)
			break;
		records->nfields += nfields;
		records->record_fields[records->nrecords++] = records->nfields;
	}
	if (next == BEGUN_RECORD)
		records->stop = records->nrecords > 0 ? GS_STOP_FULL : GS_STOP_WIDE;
	else if (is_last(next, records->consumed, bytes))
		records->consumed += at_end ? GS_BINARY_COUNT_BYTES : 0;
	else if (next != BEGUN_PART || (at_end && records->consumed < bytes))
	{
		records->stop = GS_STOP_ODD;
		records->odd = GS_ODD_RECORD;
		records->odd_at = records->consumed;
	}
}

size_t
gs_binary_cut(const gs_dialect *dialect, const char *data, size_t bytes)
{
	size_t		offset = 0;
	begun		next;

	while ((next = read_record(dialect, data, bytes, &offset, NULL)) == BEGUN_RECORD)
		;
	return next == BEGUN_PART || is_last(next, offset, bytes) ? offset : bytes;
}

uint64_t
gs_binary_records(const gs_dialect *dialect, const char *data, size_t bytes)
{
	size_t		offset = 0;
	uint64_t	records = 0;

	while (read_record(dialect, data, bytes, &offset, NULL) == BEGUN_RECORD)
		records++;
	return records;
}
