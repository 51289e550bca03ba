/*
 * out_format.h
 *		Describes how rows are written.
 */
#ifndef GPUSORT_OUT_FORMAT_H
#define GPUSORT_OUT_FORMAT_H

#include "postgres.h"

typedef enum GpuSortOutStyle
{
	GPUSORT_OUT_TEXT,			/* COPY's text format */
	GPUSORT_OUT_CSV,
	GPUSORT_OUT_BINARY,			/* COPY's binary format */
	GPUSORT_OUT_DATA_ROW		/* rows of a query, as in the protocol's DataRow messages */
} GpuSortOutStyle;

/* A column that is written. */
typedef struct GpuSortOutColumn
{
	Oid			type;
	int			attribute;		/* index of the attribute in the rows that are read */
	bool		binary;			/* write it by the type's send function */
	bool		force_quote;
} GpuSortOutColumn;

#define GPUSORT_OUT_NULL_BYTES 128

/* How rows are written.  Has no pointers, so that it can be passed to other processes. */
typedef struct GpuSortOutFormat
{
	GpuSortOutStyle style;
	bool		messages;		/* each row is in a message of its own */
	int			encoding;		/* encoding in which text is written */
	char		delimiter;
	char		quote;
	char		escape;
	int			null_length;
	char		null_print[GPUSORT_OUT_NULL_BYTES];		/* null string in the server's encoding */
	int			ncolumns;
} GpuSortOutFormat;

#endif							/* GPUSORT_OUT_FORMAT_H */
