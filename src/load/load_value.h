/*
 * load_value.h
 *		A value of a row that is being loaded.
 */
#ifndef GPUSORT_LOAD_VALUE_H
#define GPUSORT_LOAD_VALUE_H

typedef struct GpuSortLoadValue
{
	const char *text;			/* the bytes of a varlena without header; NULL: see datum */
	uint32		length;			/* of text */
	bool		is_null;
	Datum		datum;
} GpuSortLoadValue;

#endif							/* GPUSORT_LOAD_VALUE_H */
