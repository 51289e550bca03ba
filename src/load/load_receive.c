/*
 * load_receive.c
 *		Values of fixed length from their binary form; see load_values_private.h.
 *
 * A field that has another length, or a value out of its type's range, is left to the receive
 * function, which knows what is wrong with it.
 */
#include "postgres.h"

#include "datatype/timestamp.h"
#include "utils/date.h"
#include "utils/fmgroids.h"
#include "utils/timestamp.h"
#include "utils/uuid.h"

#include "big_endian.h"
#include "load/load_values_private.h"

/* ---------- numbers ---------- */

static bool
read_int2(const char *bytes, uint32 length, char *room, Datum *value)
{
	if (length != sizeof(int16))
		return false;
	*value = Int16GetDatum((int16) load_be16(bytes));
	return true;
}

static bool
read_int4(const char *bytes, uint32 length, char *room, Datum *value)
{
	if (length != sizeof(int32))
		return false;
	*value = Int32GetDatum((int32) load_be32(bytes));
	return true;
}

static bool
read_int8(const char *bytes, uint32 length, char *room, Datum *value)
{
	if (length != sizeof(int64))
		return false;
	*value = Int64GetDatum((int64) load_be64(bytes));
	return true;
}

static bool
read_oid(const char *bytes, uint32 length, char *room, Datum *value)
{
	if (length != sizeof(Oid))
		return false;
	*value = ObjectIdGetDatum(load_be32(bytes));
	return true;
}

/* The bytes of a float are those of an integer, whatever they mean. */

static bool
read_float4(const char *bytes, uint32 length, char *room, Datum *value)
{
	uint32		number;
	float4		result;

	if (length != sizeof(float4))
		return false;
	number = load_be32(bytes);
	memcpy(&result, &number, sizeof(result));
	*value = Float4GetDatum(result);
	return true;
}

static bool
read_float8(const char *bytes, uint32 length, char *room, Datum *value)
{
	uint64		number;
	float8		result;

	if (length != sizeof(float8))
		return false;
	number = load_be64(bytes);
	memcpy(&result, &number, sizeof(result));
	*value = Float8GetDatum(result);
	return true;
}

/* ---------- others ---------- */

static bool
read_bool(const char *bytes, uint32 length, char *room, Datum *value)
{
	if (length != 1)
		return false;
	*value = BoolGetDatum(*bytes != 0);
	return true;
}

static bool
read_uuid(const char *bytes, uint32 length, char *room, Datum *value)
{
	if (length != UUID_LEN)
		return false;
	memcpy(room, bytes, UUID_LEN);
	*value = PointerGetDatum(room);
	return true;
}

static bool
read_date(const char *bytes, uint32 length, char *room, Datum *value)
{
	DateADT		date;

	if (length != sizeof(date))
		return false;
	date = (DateADT) load_be32(bytes);
	*value = DateADTGetDatum(date);
	return DATE_NOT_FINITE(date) || IS_VALID_DATE(date);
}

static bool
read_time(const char *bytes, uint32 length, char *room, Datum *value)
{
	TimeADT		time;

	if (length != sizeof(time))
		return false;
	time = (TimeADT) load_be64(bytes);
	*value = TimeADTGetDatum(time);
	return time >= 0 && time <= USECS_PER_DAY;
}

/* Reads a timestamp with or without time zone. */
static bool
read_timestamp(const char *bytes, uint32 length, char *room, Datum *value)
{
	Timestamp	stamp;

	if (length != sizeof(stamp))
		return false;
	stamp = (Timestamp) load_be64(bytes);
	*value = TimestampGetDatum(stamp);
	return TIMESTAMP_NOT_FINITE(stamp) || IS_VALID_TIMESTAMP(stamp);
}

/* ---------- choosing a reader ---------- */

GpuSortScalarReader
gpusort_binary_reader(Oid receive_function, int32 typmod)
{
	switch (receive_function)
	{
		case F_INT2RECV:
			return read_int2;
		case F_INT4RECV:
			return read_int4;
		case F_INT8RECV:
			return read_int8;
		case F_OIDRECV:
			return read_oid;
		case F_FLOAT4RECV:
			return read_float4;
		case F_FLOAT8RECV:
			return read_float8;
		case F_BOOLRECV:
			return read_bool;
		case F_UUID_RECV:
			return read_uuid;
		case F_DATE_RECV:
			return read_date;
		case F_TIME_RECV:
			return typmod < 0 ? read_time : NULL;
		case F_TIMESTAMP_RECV:
		case F_TIMESTAMPTZ_RECV:
			return typmod < 0 ? read_timestamp : NULL;
		default:
			return NULL;
	}
}
