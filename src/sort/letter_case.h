/*
 * letter_case.h
 *		lower() and upper() of a table's column, computed without calling them.
 *
 * A call of lower() costs as much as everything else that is done for a row sorted by it: it makes
 * a C string of the value, a second C string of the first, and a value of the second.  Here ASCII
 * letters are changed eight bytes at a time.  That is right only if the collation changes ASCII
 * characters as the C locale does, which its function is asked once.  Values with other characters
 * are left to the function.
 *
 * Private to src/sort.
 */
#ifndef GPUSORT_LETTER_CASE_H
#define GPUSORT_LETTER_CASE_H

#include "nodes/primnodes.h"

typedef struct GpuSortLetterCase
{
	Oid			function;		/* F_LOWER_TEXT or F_UPPER_TEXT */
	Oid			collation;
	AttrNumber	attno;			/* the table's attribute */
	bool		is_asked;		/* is_plain is known */
	bool		is_plain;		/* the collation changes ASCII characters as C does */
	uint64		calls_saved;	/* values computed without calling the function */
} GpuSortLetterCase;

/*
 * Returns the call of lower() or upper() for a text that an expression consists of, or NULL if it
 * is another expression.
 */
extern const FuncExpr *gpusort_find_letter_case(const Expr *expr);

/*
 * Makes what it takes to compute this call for values of attribute attno, in the current memory
 * context.
 */
extern GpuSortLetterCase *gpusort_make_letter_case(const FuncExpr *call, AttrNumber attno);

/*
 * Computes the function's value for a text, which must not be null, in the current memory context.
 * Returns false if the function must be called instead.
 */
extern bool gpusort_change_letter_case(GpuSortLetterCase *letters, Datum text, Datum *value);

#endif							/* GPUSORT_LETTER_CASE_H */
