/*
 * numeric_format.h
 *		The stored format of numeric, which the server keeps private but cannot change without
 *		breaking pg_upgrade.
 *
 * After the varlena header comes a 16-bit header.  Its two upper bits tell what follows:
 *
 *	00, 01	 long format, positive or negative: the header's other bits are the
 *			 display scale; a signed 16-bit weight follows;
 *	10		 short format: sign (1), display scale (6), weight as a signed
 *			 integer (7);
 *	11		 NaN, or infinity with its sign.
 *
 * In the two finite formats the rest is 16-bit digits from 0 to 9999, the first of which is to be
 * multiplied by 10000^weight.  All of it is in native byte order, and is not aligned if the varlena
 * header is a short one.
 */
#ifndef GPUSORT_NUMERIC_FORMAT_H
#define GPUSORT_NUMERIC_FORMAT_H

#define NUMERIC_KIND_MASK 0xC000
#define NUMERIC_LONG_NEGATIVE 0x4000
#define NUMERIC_LONG_SCALE_MASK 0x3FFF
#define NUMERIC_KIND_SHORT 0x8000
#define NUMERIC_KIND_SPECIAL 0xC000
#define NUMERIC_SPECIAL_MASK 0xF000
#define NUMERIC_NAN 0xC000
#define NUMERIC_PLUS_INFINITY 0xD000
#define NUMERIC_SHORT_NEGATIVE 0x2000
#define NUMERIC_SHORT_SCALE_MASK 0x1F80
#define NUMERIC_SHORT_SCALE_SHIFT 7
#define NUMERIC_SHORT_WEIGHT_MASK 0x7F
#define NUMERIC_SHORT_WEIGHT_SIGN 0x40
#define NUMERIC_BASE 10000

/* A finite value, taken apart into the fields of its header and its digits. */
typedef struct GpuSortNumeric
{
	bool		negative;
	int			weight;
	int			scale;
	int			ndigits;
	const char *digits;			/* 16-bit integers below 10000, not aligned */
} GpuSortNumeric;

static inline uint16
gpusort_numeric_load(const char *p)
{
	uint16		word;

	memcpy(&word, p, sizeof(word));
	return word;
}

static inline int
gpusort_numeric_digit(const GpuSortNumeric *numeric, int i)
{
	return gpusort_numeric_load(numeric->digits + i * sizeof(uint16));
}

/*
 * Takes apart what is stored behind the varlena header, in `bytes` bytes.  Returns false, with
 * nothing filled in, if the value is NaN or an infinity.
 */
static inline bool
gpusort_numeric_take_apart(const char *data, int bytes, GpuSortNumeric *numeric)
{
	uint16		header = gpusort_numeric_load(data);
	int			header_words = 1;

	if (unlikely((header & NUMERIC_KIND_MASK) == NUMERIC_KIND_SPECIAL))
		return false;
	if ((header & NUMERIC_KIND_MASK) == NUMERIC_KIND_SHORT)
	{
		numeric->negative = (header & NUMERIC_SHORT_NEGATIVE) != 0;
		numeric->scale = (header & NUMERIC_SHORT_SCALE_MASK) >> NUMERIC_SHORT_SCALE_SHIFT;
		numeric->weight = ((header & NUMERIC_SHORT_WEIGHT_MASK) ^ NUMERIC_SHORT_WEIGHT_SIGN) -
			NUMERIC_SHORT_WEIGHT_SIGN;
	}
	else
	{
		numeric->negative = (header & NUMERIC_KIND_MASK) == NUMERIC_LONG_NEGATIVE;
		numeric->scale = header & NUMERIC_LONG_SCALE_MASK;
		numeric->weight = (int16) gpusort_numeric_load(data + sizeof(uint16));
		header_words = 2;
	}
	numeric->digits = data + header_words * sizeof(uint16);
	numeric->ndigits = bytes / (int) sizeof(uint16) - header_words;
	return true;
}

#endif							/* GPUSORT_NUMERIC_FORMAT_H */
