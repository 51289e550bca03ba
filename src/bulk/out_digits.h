/*
 * out_digits.h
 *		Converts integers to decimal digits, eight at a time, and bytes to hexadecimal ones.
 *
 * The digits are those of the server's pg_lltoa().  Decimal conversion may write further bytes
 * behind the digits.
 */
#ifndef GPUSORT_OUT_DIGITS_H
#define GPUSORT_OUT_DIGITS_H

#include "postgres.h"

#include "utils/builtins.h"

/*
 * Number of bytes that may be written for a 64-bit integer: a sign and 20 digits, written eight
 * bytes at a time.
 */
#define GPUSORT_OUT_DIGITS_BYTES 32

#ifndef WORDS_BIGENDIAN

#define EIGHT_DIGITS 100000000
#define ASCII_ZEROS UINT64CONST(0x3030303030303030)

/*
 * Returns the eight digits of a number below 10^8, each in a byte, the first digit in the lowest
 * byte.
 */
static inline uint64
gpusort_out_eight_digits(uint32 n)
{
	/*
	 * quotients by multiplication; exact for n < 10^8, 10^4 and 10^2, as a test of all such n shows
	 */
	uint64		fours = (n / 10000) | (uint64) (n % 10000) << 32;
	uint64		hundreds = (fours * 5243 >> 19) & UINT64CONST(0x0000007F0000007F);
	uint64		twos = hundreds | (fours - 100 * hundreds) << 16;
	uint64		tens = (twos * 103 >> 10) & UINT64CONST(0x000F000F000F000F);

	return tens | (twos - 10 * tens) << 8;
}

/* Write a number below 10^8 without leading zeros.  Returns the end of the digits. */
static inline char *
gpusort_out_first_digits(char *at, uint32 n)
{
	uint64		digits = gpusort_out_eight_digits(n);
	int			zeros = digits == 0 ? 7 : __builtin_ctzll(digits) / 8;

	digits = (digits | ASCII_ZEROS) >> (8 * zeros);
	memcpy(at, &digits, sizeof(digits));
	return at + 8 - zeros;
}

/* Write a number below 10^8 with all its eight digits. */
static inline char *
gpusort_out_next_digits(char *at, uint32 n)
{
	uint64		digits = gpusort_out_eight_digits(n) | ASCII_ZEROS;

	memcpy(at, &digits, sizeof(digits));
	return at + sizeof(digits);
}

static inline char *
gpusort_out_put_uint64(char *at, uint64 n)
{
	uint64		upper;

	if (n < EIGHT_DIGITS)
		return gpusort_out_first_digits(at, (uint32) n);
	upper = n / EIGHT_DIGITS;
	if (upper < EIGHT_DIGITS)
		at = gpusort_out_first_digits(at, (uint32) upper);
	else
	{
		at = gpusort_out_first_digits(at, (uint32) (upper / EIGHT_DIGITS));
		at = gpusort_out_next_digits(at, (uint32) (upper % EIGHT_DIGITS));
	}
	return gpusort_out_next_digits(at, (uint32) (n % EIGHT_DIGITS));
}

#else

static inline char *
gpusort_out_put_uint64(char *at, uint64 n)
{
	return at + pg_ulltoa_n(n, at);
}

#endif							/* WORDS_BIGENDIAN */

/* Write a signed integer.  Returns the end of the digits. */
static inline char *
gpusort_out_put_int64(char *at, int64 n)
{
	if (n >= 0)
		return gpusort_out_put_uint64(at, (uint64) n);
	*at++ = '-';
	return gpusort_out_put_uint64(at, -(uint64) n);
}

/* Write a number below 100 with two digits. */
static inline char *
gpusort_out_put_two_digits(char *at, int n)
{
	*at++ = '0' + n / 10;
	*at++ = '0' + n % 10;
	return at;
}

/*
 * Write the microseconds of a second behind a decimal point, without trailing zeros.  Writes
 * nothing if there are none.
 */
static inline char *
gpusort_out_put_fraction(char *at, int us)
{
	char	   *end = at + 7;

	if (us == 0)
		return at;
	*at = '.';
	for (char *p = end - 1; p > at; p--, us /= 10)
		*p = '0' + us % 10;
	while (end[-1] == '0')
		end--;
	return end;
}

/* Write two hexadecimal digits for each byte, and nothing behind the digits. */
static inline char *
gpusort_out_put_hex(char *at, const char *bytes, int length)
{
	static const char digits[] = "0123456789abcdef";
	const char *end = bytes + length;

#ifndef WORDS_BIGENDIAN
	for (; end - bytes >= (int) sizeof(uint32); bytes += sizeof(uint32))
	{
		uint32		four;
		uint64		n;

		memcpy(&four, bytes, sizeof(four));
		n = (four | (uint64) four << 16) & UINT64CONST(0x0000FFFF0000FFFF);
		n = (n | n << 8) & UINT64CONST(0x00FF00FF00FF00FF);
		/* the digit of a byte's upper half comes first */
		n = (n >> 4 & UINT64CONST(0x000F000F000F000F)) | (n & UINT64CONST(0x000F000F000F000F)) << 8;
		/* in ASCII, letters do not follow digits directly: add the gap to digits above 9 */
		n += ASCII_ZEROS + ((n + UINT64CONST(0x0606060606060606)) >> 4 &
							  UINT64CONST(0x0101010101010101)) * ('a' - '9' - 1);
		memcpy(at, &n, sizeof(n));
		at += sizeof(n);
	}
#endif
	for (; bytes < end; bytes++)
	{
		*at++ = digits[(uint8) *bytes >> 4];
		*at++ = digits[(uint8) *bytes & 15];
	}
	return at;
}

#endif							/* GPUSORT_OUT_DIGITS_H */
