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
 * strategy number, for index methods with other strategy numbers than btree's.
 *
 * Returns whether opno is the "<" of some btree-like family, or the ">"; *reverse
 * tells which.
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
 * 18: the symbol of the OID of the collation "POSIX" is gone; the OID is the same.
 */
#if PG_VERSION_NUM >= 180000
#define POSIX_COLLATION_OID 951
#endif

/*
 * 18: lc_collate_is_c() is gone; the locale, which now always exists, has a field for it.
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
 * 19: the library's locale lies directly in pg_locale_t, no longer in its `info`.
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

/* 19: pg_locale.h no longer includes ICU's header. */
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
 * 16: pg_strnxfrm() makes ICU sort keys for any server encoding.  15 has only
 * icu_to_uchar(), which is on its way out in later versions.
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

/* 19: callbacks for changes of a system cache get the cache's identifier as an enum. */
#if PG_VERSION_NUM >= 190000
typedef SysCacheIdentifier GpuSortSysCache;
#else
typedef int GpuSortSysCache;
#endif

#endif							/* GPUSORT_PG_COMPAT_KEYS_H */
