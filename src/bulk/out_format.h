/*
 * out_format.h
 *		How rows are written.
 */
#ifndef GPUSORT_OUT_FORMAT_H
#define GPUSORT_OUT_FORMAT_H

#include "postgres.h"

typedef enum GpuSortOutStyle
{
	GPUSORT_OUT_TEXT,			/* COPY's text format */
	GPUSORT_OUT_CSV,
	GPUSORT_OUT_BINARY,			/* COPY's binary format */
	GPUSORT_OUT_DATA_ROW		/* rows of a query, as the client/server protocol has them */
} GpuSortOutStyle;

/* A column of the rows that are written. */
typedef struct GpuSortOutColumn
{
	Oid			type;
	int			attribute;		/* of the rows that are read, from 0 on */
	bool		binary;			/* by the type's send function */
	bool		force_quote;
} GpuSortOutColumn;

#define GPUSORT_OUT_NULL_BYTES 128

/* Plain memory, so that it can be passed to other processes. */
typedef struct GpuSortOutFormat
{
	GpuSortOutStyle style;
	bool		messages;		/* each row is a message of the protocol */
	int			encoding;		/* of text */
	char		delimiter;
	char		quote;
	char		escape;
	int			null_length;
	char		null_print[GPUSORT_OUT_NULL_BYTES];		/* in the server's encoding */
	int			ncolumns;
} GpuSortOutFormat;

#endif							/* GPUSORT_OUT_FORMAT_H */
