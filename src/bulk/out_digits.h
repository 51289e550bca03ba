/*
 * out_digits.h
 *		Integers into decimal digits, eight at a time; bytes into hexadecimal ones.
 *
 * The digits are those of the server's pg_lltoa(); more bytes behind them may be written.
 */
#ifndef GPUSORT_OUT_DIGITS_H
#define GPUSORT_OUT_DIGITS_H

#include "postgres.h"

#include "utils/builtins.h"

/* What may be written for an integer of 64 bits: a sign, 20 digits, and eight bytes at a time. */
#define GPUSORT_OUT_DIGITS_BYTES 32

#ifndef WORDS_BIGENDIAN

#define EIGHT_DIGITS 100000000
#define ASCII_ZEROS UINT64CONST(0x3030303030303030)

/* Eight digits, each in a byte, the first one in the lowest: of numbers below 10^8. */
static inline uint64
gpusort_out_eight_digits(uint32 n)
{
	/* quotients by multiplication: right for n < 10^8, 10^4 and 10^2, as all of these numbers show */
	uint64		fours = (n / 10000) | (uint64) (n % 10000) << 32;
	uint64		hundreds = (fours * 5243 >> 19) & UINT64CONST(0x0000007F0000007F);
	uint64		twos = hundreds | (fours - 100 * hundreds) << 16;
	uint64		tens = (twos * 103 >> 10) & UINT64CONST(0x000F000F000F000F);

	return tens | (twos - 10 * tens) << 8;
}

/* Digits without zeros in front. */
static inline char *
gpusort_out_first_digits(char *at, uint32 n)
{
	uint64		digits = gpusort_out_eight_digits(n);
	int			zeros = digits == 0 ? 7 : __builtin_ctzll(digits) / 8;

	digits = (digits | ASCII_ZEROS) >> (8 * zeros);
	memcpy(at, &digits, sizeof(digits));
	return at + 8 - zeros;
}

/* All eight. */
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

static inline char *
gpusort_out_put_int64(char *at, int64 n)
{
	if (n >= 0)
		return gpusort_out_put_uint64(at, (uint64) n);
	*at++ = '-';
	return gpusort_out_put_uint64(at, -(uint64) n);
}

/* Of a number below 100. */
static inline char *
gpusort_out_put_two_digits(char *at, int n)
{
	*at++ = '0' + n / 10;
	*at++ = '0' + n % 10;
	return at;
}

/* Microseconds of a second, behind a point, without zeros at the end; nothing if there are none. */
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

/* Two digits for each byte; nothing is written behind them. */
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
		/* a byte's upper half comes first */
		n = (n >> 4 & UINT64CONST(0x000F000F000F000F)) | (n & UINT64CONST(0x000F000F000F000F)) << 8;
		/* letters follow digits after a while */
		n += ASCII_ZEROS + ((n + UINT64CONST(0x0606060606060606)) >> 4 & UINT64CONST(0x0101010101010101)) * ('a' - '9' - 1);
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
