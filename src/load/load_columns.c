/*
 * load_columns.c
 *		The columns of a table that is loaded, and reading values of fixed length; see
 *		load_values_private.h.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "datatype/timestamp.h"
#include "mb/pg_wchar.h"
#include "utils/date.h"
#include "utils/datetime.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"
#include "utils/uuid.h"

#include "load/load_values_private.h"

/* ---------- values of fixed length from their usual spellings ---------- */

/*
 * The spellings that are read here are those that output functions write, and a few more.  Spaces,
 * special values, other formats, values out of range and mistakes are left to the input functions.
 */

/* ---------- ... integers ---------- */

static inline bool
is_digit(char byte)
{
	return (unsigned char) (byte - '0') < 10;
}

/* Reads an optional minus sign and 1 to "most" digits. */
static inline bool
read_integer(const char *at, uint32 length, uint32 most, int64 *value)
{
	const char *end = at + length;
	bool		negative = length > 0 && *at == '-';
	uint64		number = 0;

	if (negative)
		at++;
	if (at == end || end - at > most)
		return false;
	for (; at < end; at++)
	{
		if (!is_digit(*at))
			return false;
		number = number * 10 + (*at - '0');
	}
	*value = negative ? -(int64) number : (int64) number;
	return true;
}

static bool
read_int2(const char *bytes, uint32 length, char *room, Datum *value)
{
	int64		number;

	if (!read_integer(bytes, length, 5, &number) || number < PG_INT16_MIN || number > PG_INT16_MAX)
		return false;
	*value = Int16GetDatum((int16) number);
	return true;
}

static bool
read_int4(const char *bytes, uint32 length, char *room, Datum *value)
{
	int64		number;

	if (!read_integer(bytes, length, 10, &number) || number < PG_INT32_MIN || number > PG_INT32_MAX)
		return false;
	*value = Int32GetDatum((int32) number);
	return true;
}

/*
 * Reads an integer of up to 19 digits, which may be too large for 63 bits, but not for 64: then its
 * sign is wrong.
 */
static bool
read_int8(const char *bytes, uint32 length, char *room, Datum *value)
{
	int64		number;

	if (!read_integer(bytes, length, 19, &number) ||
		(number < 0) != (*bytes == '-' && number != 0))
		return false;
	*value = Int64GetDatum(number);
	return true;
}

/* ---------- ... floating point ---------- */

/* The powers of ten that are exact. */
static const double powers[] = {
	1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
	1e17, 1e18, 1e19, 1e20, 1e21, 1e22
};

/*
 * Reads an optional minus sign and digits, with or without a point among them, as mantissa * 10 ^
 * -decimals.  There may be at most "most" digits.
 */
static inline bool
read_decimal(const char *at, uint32 length, int most, uint64 *mantissa, int *decimals,
			 bool *negative)
{
	const char *end = at + length;
	const char *point = NULL;
	int			digits = 0;

	*mantissa = 0;
	*negative = length > 0 && *at == '-';
	if (*negative)
		at++;
	for (; at < end; at++)
	{
		if (*at == '.' && point == NULL && digits > 0)
			point = at;
		else if (is_digit(*at) && digits++ < most)
			*mantissa = *mantissa * 10 + (*at - '0');
		else
			return false;
	}
	*decimals = point != NULL ? end - point - 1 : 0;
	return digits > 0;
}

/*
 * Reads a number as the quotient of two numbers that are exact.  The division rounds once, as
 * strtod() does.
 */
static bool
read_float8(const char *bytes, uint32 length, char *room, Datum *value)
{
	uint64		mantissa;
	int			decimals;
	bool		negative;
	double		number;

	if (!read_decimal(bytes, length, 15, &mantissa, &decimals, &negative))
		return false;
	number = (double) mantissa / powers[decimals];
	*value = Float8GetDatum(negative ? -number : number);
	return true;
}

static bool
read_float4(const char *bytes, uint32 length, char *room, Datum *value)
{
	uint64		mantissa;
	int			decimals;
	bool		negative;
	float		number;

	if (!read_decimal(bytes, length, 10, &mantissa, &decimals, &negative) || mantissa >= (1 << 24))
		return false;
	number = (float) mantissa / (float) powers[decimals];
	*value = Float4GetDatum(negative ? -number : number);
	return true;
}

/* ---------- ... others ---------- */

static bool
read_bool(const char *bytes, uint32 length, char *room, Datum *value)
{
	if (length == 1 && (*bytes == 't' || *bytes == 'f'))
		*value = BoolGetDatum(*bytes == 't');
	else if (length == 4 && memcmp(bytes, "true", 4) == 0)
		*value = BoolGetDatum(true);
	else if (length == 5 && memcmp(bytes, "false", 5) == 0)
		*value = BoolGetDatum(false);
	else
		return false;
	return true;
}

static inline int
hex_digit(char byte)
{
	if (is_digit(byte))
		return byte - '0';
	if (byte >= 'a' && byte <= 'f')
		return byte - 'a' + 10;
	if (byte >= 'A' && byte <= 'F')
		return byte - 'A' + 10;
	return -1;
}

static bool
read_uuid(const char *bytes, uint32 length, char *room, Datum *value)
{
	if (length != 36 || bytes[8] != '-' || bytes[13] != '-' || bytes[18] != '-' || bytes[23] != '-')
		return false;
	for (int i = 0; i < UUID_LEN; i++)
	{
		int			high;
		int			low;

		if (*bytes == '-')
			bytes++;
		high = hex_digit(*bytes++);
		low = hex_digit(*bytes++);
		if ((high | low) < 0)
			return false;
		room[i] = (char) (high << 4 | low);
	}
	*value = PointerGetDatum(room);
	return true;
}

/* ---------- ... dates ---------- */

/* Returns the number that two digits make, or -1 if they are not digits. */
static inline int
two_digits(const char *bytes)
{
	if (!is_digit(bytes[0]) || !is_digit(bytes[1]))
		return -1;
	return (bytes[0] - '0') * 10 + bytes[1] - '0';
}

/* Reads YYYY-MM-DD, which is understood whatever DateStyle says, from the year 1 on. */
static inline bool
read_day(const char *bytes, int32 *day)
{
	int			century = two_digits(bytes);
	int			year = two_digits(bytes + 2);
	int			month = two_digits(bytes + 5);
	int			mday = two_digits(bytes + 8);

	if ((century | year | month | mday) < 0 || bytes[4] != '-' || bytes[7] != '-')
		return false;
	year += century * 100;
	if (year == 0 || month < 1 || month > 12 || mday < 1 || mday > day_tab[isleap(year)][month - 1])
		return false;
	*day = date2j(year, month, mday) - POSTGRES_EPOCH_JDATE;
	return true;
}

static bool
read_date(const char *bytes, uint32 length, char *room, Datum *value)
{
	int32		day;

	if (length != 10 || !read_day(bytes, &day))
		return false;
	*value = DateADTGetDatum(day);
	return true;
}

/* Reads one to six digits behind the point as microseconds. */
static inline bool
read_fraction(const char *bytes, uint32 length, int32 *fraction)
{
	int32		number = 0;

	if (length == 0 || length > 6)
		return false;
	for (uint32 i = 0; i < 6; i++)
	{
		if (i < length && !is_digit(bytes[i]))
			return false;
		number = number * 10 + (i < length ? bytes[i] - '0' : 0);
	}
	*fraction = number;
	return true;
}

/* Reads YYYY-MM-DD HH:MM:SS[.FFFFFF]. */
static inline bool
read_time(const char *bytes, uint32 length, Timestamp *stamp)
{
	int32		fraction = 0;
	int32		day;
	int			hour;
	int			minute;
	int			second;

	if (length < 19 || bytes[10] != ' ' || bytes[13] != ':' || bytes[16] != ':' ||
		!read_day(bytes, &day))
		return false;
	hour = two_digits(bytes + 11);
	minute = two_digits(bytes + 14);
	second = two_digits(bytes + 17);
	if ((hour | minute | second) < 0 || hour > 23 || minute > 59 || second > 59)
		return false;
	if (length > 19 && (bytes[19] != '.' || !read_fraction(bytes + 20, length - 20, &fraction)))
		return false;
	*stamp = day * USECS_PER_DAY + ((hour * 60 + minute) * 60 + second) * USECS_PER_SEC + fraction;
	return true;
}

static bool
read_timestamp(const char *bytes, uint32 length, char *room, Datum *value)
{
	Timestamp	stamp;

	if (!read_time(bytes, length, &stamp))
		return false;
	*value = TimestampGetDatum(stamp);
	return true;
}

/* Reads a timestamp with an offset from UTC in hours, as +HH or -HH. */
static bool
read_timestamptz(const char *bytes, uint32 length, char *room, Datum *value)
{
	Timestamp	stamp;
	int			hours;
	char		sign;

	if (length < 22)
		return false;
	sign = bytes[length - 3];
	hours = two_digits(bytes + length - 2);
	if ((sign != '+' && sign != '-') || hours < 0 || hours > 14 ||
		!read_time(bytes, length - 3, &stamp))
		return false;
	stamp += (sign == '+' ? -hours : hours) * USECS_PER_HOUR;
	*value = TimestampTzGetDatum(stamp);
	return true;
}

/* ---------- ... choosing a reader ---------- */

/* Returns the reader that can be asked before this input function, or NULL if there is none. */
static GpuSortScalarReader
gpusort_scalar_reader(Oid input_function, int32 typmod)
{
	switch (input_function)
	{
		case F_INT2IN:
			return read_int2;
		case F_INT4IN:
			return read_int4;
		case F_INT8IN:
			return read_int8;
		case F_FLOAT4IN:
			return read_float4;
		case F_FLOAT8IN:
			return read_float8;
		case F_BOOLIN:
			return read_bool;
		case F_UUID_IN:
			return read_uuid;
		case F_DATE_IN:
			return read_date;
		case F_TIMESTAMP_IN:
			return typmod < 0 ? read_timestamp : NULL;
		case F_TIMESTAMPTZ_IN:
			return typmod < 0 ? read_timestamptz : NULL;
		default:
			return NULL;
	}
}

/* ---------- columns ---------- */

/* Returns whether an input or receive function makes a value of any bytes as they are. */
static bool
function_keeps_bytes(Oid function)
{
	return function == F_TEXTIN || function == F_VARCHARIN || function == F_BYTEARECV;
}

/* Returns whether a receive function does so if the bytes are valid text that is not converted. */
static bool
function_keeps_text(Oid function)
{
	return function == F_TEXTRECV || function == F_VARCHARRECV;
}

static bool
is_own_encoding(int encoding)
{
	return encoding == GetDatabaseEncoding() || encoding == PG_SQL_ASCII;
}

static void
fill_column(const GpuSortLoadTask *task, GpuSortLoadColumn *column, const GpuSortLoadField *field,
			TupleDesc desc)
{
	Form_pg_attribute att = TupleDescAttr(desc, field->attnum - 1);
	Oid			function;

	column->field = *field;
	column->typmod = att->atttypmod;
	if (task->dialect.binary)
		getTypeBinaryInputInfo(att->atttypid, &function, &column->ioparam);
	else
		getTypeInputInfo(att->atttypid, &function, &column->ioparam);
	fmgr_info(function, &column->function);
	column->is_text = function_keeps_bytes(function) ||
		(function_keeps_text(function) && is_own_encoding(task->encoding));
	column->checks_text = function_keeps_text(function);
	column->max_bytes = (function == F_VARCHARIN || function == F_VARCHARRECV) &&
		att->atttypmod >= VARHDRSZ ? att->atttypmod - VARHDRSZ : MaxAllocSize;
	column->checks_null = function == F_DOMAIN_IN || function == F_DOMAIN_RECV;
	column->reader = task->dialect.binary ? gpusort_binary_reader(function, att->atttypmod)
		: gpusort_scalar_reader(function, att->atttypmod);
	column->room = palloc(UUID_LEN);
}

GpuSortLoadColumn *
gpusort_load_columns(const GpuSortLoadTask *task, TupleDesc desc)
{
	GpuSortLoadColumn *columns = palloc0(task->nfields * sizeof(GpuSortLoadColumn));

	for (int i = 0; i < task->nfields; i++)
		fill_column(task, &columns[i], &task->fields[i], desc);
	return columns;
}

static uint8
alignment_bytes(char align)
{
	switch (align)
	{
		case TYPALIGN_DOUBLE:
			return ALIGNOF_DOUBLE;
		case TYPALIGN_INT:
			return ALIGNOF_INT;
		case TYPALIGN_SHORT:
			return ALIGNOF_SHORT;
		default:
			return 1;
	}
}

GpuSortLoadAttribute *
gpusort_load_attributes(TupleDesc desc)
{
	GpuSortLoadAttribute *attributes = palloc(desc->natts * sizeof(GpuSortLoadAttribute));

	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);

		attributes[i] = (GpuSortLoadAttribute) {
			.length = att->attlen,
			.align = alignment_bytes(att->attalign),
			.by_value = att->attbyval,
			.may_be_short = att->attlen == -1 && att->attstorage != TYPSTORAGE_PLAIN
		};
	}
	return attributes;
}
