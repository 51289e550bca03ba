/*
 * pg_compat.h
 *		Differences between the supported PostgreSQL versions.
 *
 * This is the only file that looks at PG_VERSION_NUM.  Each item names the
 * version that brought the difference and why it exists.
 */
#ifndef GPUSORT_PG_COMPAT_H
#define GPUSORT_PG_COMPAT_H

#include "postgres.h"

/* ---------- key codecs ---------- */

#include "access/stratnum.h"
#include "utils/lsyscache.h"

/*
 * 18: get_ordering_op_properties() reports a CompareType instead of a btree
 * strategy number, for index methods of other strategies than btree's (core
 * commit "Convert PathKey to use CompareType").
 *
 * True if opno is the "<" or (*reverse) ">" of some btree-like family.
 */
static inline bool
gpusort_ordering_op(Oid opno, Oid *opfamily, Oid *opcintype, bool *reverse)
{
#if PG_VERSION_NUM >= 180000
	CompareType cmptype;

	if (!get_ordering_op_properties(opno, opfamily, opcintype, &cmptype))
		return false;
	*reverse = (cmptype == COMPARE_GT);
#else
	int16		strategy;

	if (!get_ordering_op_properties(opno, opfamily, opcintype, &strategy))
		return false;
	*reverse = (strategy == BTGreaterStrategyNumber);
#endif
	return true;
}

#endif							/* GPUSORT_PG_COMPAT_H */
