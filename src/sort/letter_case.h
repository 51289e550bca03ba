/*
 * letter_case.h
 *		lower() and upper() of a table's column, without calling them.
 *
 * Calling lower() costs as much as all else that a row sorted by it takes: it makes a C string of
 * the value, another one of that, and a value again.  Letters of ASCII are changed here eight bytes at
 * a time.  The collation is asked once, whether it changes characters of ASCII as C does; values with others
 * are left to the function.
 *
 * Private to src/sort.
 */
#ifndef GPUSORT_LETTER_CASE_H
#define GPUSORT_LETTER_CASE_H

#include "nodes/primnodes.h"

typedef struct GpuSortLetterCase
{
	Oid			function;		/* lower() or upper() of a text */
	Oid			collation;
	AttrNumber	attno;			/* the column */
	bool		is_asked;		/* the collation was */
	bool		is_plain;		/* ... and does what C does */
	uint64		calls_saved;	/* values that it was not called for */
} GpuSortLetterCase;

/* What is called for a text; NULL if the expression is another. */
extern const FuncExpr *gpusort_find_letter_case(const Expr *expr);

/* In the current memory context. */
extern GpuSortLetterCase *gpusort_make_letter_case(const FuncExpr *call, AttrNumber attno);

/* The function's value of this one, in the current memory context; false: call it. */
extern bool gpusort_change_letter_case(GpuSortLetterCase *letters, Datum text, Datum *value);

#endif							/* GPUSORT_LETTER_CASE_H */
