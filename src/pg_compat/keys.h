/*
 * keys.h
 *		Differences of PostgreSQL's versions: operators and collations, as key codecs see them.
 */
#ifndef GPUSORT_PG_COMPAT_KEYS_H
#define GPUSORT_PG_COMPAT_KEYS_H

#include "postgres.h"

#include "access/stratnum.h"
#include "utils/lsyscache.h"
#include "utils/pg_locale.h"
#include "utils/syscache.h"

/*
 * 18: get_ordering_op_properties() reports a CompareType instead of a btree
 * strategy number, for index methods of other strategies than btree's.
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

/*
 * 18: the OID of the collation "POSIX", which stays what it was, has lost its name.
 */
#if PG_VERSION_NUM >= 180000
#define POSIX_COLLATION_OID 951
#endif

/*
 * 18: lc_collate_is_c() is gone; the locale, which now always exists, says it.
 */
static inline bool
gpusort_collation_is_c(Oid collation)
{
#if PG_VERSION_NUM >= 180000
	return pg_newlocale_from_collation(collation)->collate_is_c;
#else
	return lc_collate_is_c(collation);
#endif
}

/*
 * 19: the library's own locale has moved up within the server's.
 */
static inline locale_t
gpusort_libc_locale(pg_locale_t locale)
{
#if PG_VERSION_NUM >= 190000
	return locale->lt;
#else
	return locale->info.lt;
#endif
}

#ifdef USE_ICU

/* 19: its header is no longer included by pg_locale.h. */
#include <unicode/ucol.h>

static inline UCollator *
gpusort_icu_collator(pg_locale_t locale)
{
#if PG_VERSION_NUM >= 190000
	return locale->icu.ucol;
#else
	return locale->info.icu.ucol;
#endif
}

/*
 * 16: pg_strnxfrm() makes ICU sort keys for any server encoding, and
 * icu_to_uchar() is on its way out; 15 has only the latter.
 *
 * Returns the key's length without its terminating zero byte.  If that is not
 * below size, the contents of key are undefined.
 */
static inline Size
gpusort_icu_sort_key(char *key, Size size, const char *string, int32 len, pg_locale_t locale)
{
#if PG_VERSION_NUM >= 160000
	return pg_strnxfrm(key, size, string, len, locale);
#else
	UChar	   *string_utf16;
	int32_t		len_utf16 = icu_to_uchar(&string_utf16, string, len);
	int32_t		needed = ucol_getSortKey(gpusort_icu_collator(locale), string_utf16, len_utf16,
										 (uint8_t *) key, Min(size, PG_INT32_MAX));

	pfree(string_utf16);
	return needed - 1;
#endif
}
#endif							/* USE_ICU */

/* 19: what is told of changes gets the system cache by an enum. */
#if PG_VERSION_NUM >= 190000
typedef SysCacheIdentifier GpuSortSysCache;
#else
typedef int GpuSortSysCache;
#endif

#endif							/* GPUSORT_PG_COMPAT_KEYS_H */
