/*
 * collation_kind.c
 *		What compares the strings of a collation.
 *
 * See collation_kind.h.
 */
#include "keys/collation_kind.h"

#include "access/htup_details.h"
#include "catalog/pg_collation.h"
#include "utils/builtins.h"
#include "utils/pg_locale.h"
#include "utils/syscache.h"

#include "pg_compat.h"

/* That of the database, which every session has opened when it began. */
static GpuSortCollationKind
default_kind(void)
{
	pg_locale_t locale;

	if (gpusort_collation_is_c(DEFAULT_COLLATION_OID))
		return GPUSORT_COLLATION_BYTES;
	locale = pg_newlocale_from_collation(DEFAULT_COLLATION_OID);
	if (locale == NULL || locale->provider == COLLPROVIDER_LIBC)
		return GPUSORT_COLLATION_LIBC;
	return locale->provider == COLLPROVIDER_ICU ? GPUSORT_COLLATION_ICU : GPUSORT_COLLATION_OTHER;
}

/* The locale of a collation of libc's, palloc'd; NULL if the catalog has none. */
static char *
libc_name(HeapTuple tuple)
{
	bool		isnull;
	Datum		value = SysCacheGetAttr(COLLOID, tuple, Anum_pg_collation_collcollate, &isnull);

	return isnull ? NULL : TextDatumGetCString(value);
}

/* Is that what libc's comparison by bytes is called? */
static bool
is_name_of_c(HeapTuple tuple)
{
	char	   *name = libc_name(tuple);

	return name != NULL && (strcmp(name, "C") == 0 || strcmp(name, "POSIX") == 0);
}

GpuSortCollationKind
gpusort_collation_kind(Oid collation)
{
	GpuSortCollationKind kind = GPUSORT_COLLATION_OTHER;
	HeapTuple	tuple;

	if (!OidIsValid(collation))
		return GPUSORT_COLLATION_NONE;
	if (collation == C_COLLATION_OID || collation == POSIX_COLLATION_OID)
		return GPUSORT_COLLATION_BYTES;
	if (collation == DEFAULT_COLLATION_OID)
		return default_kind();

	tuple = SearchSysCache1(COLLOID, ObjectIdGetDatum(collation));
	if (!HeapTupleIsValid(tuple))
		return GPUSORT_COLLATION_NONE;
	switch (((Form_pg_collation) GETSTRUCT(tuple))->collprovider)
	{
		case COLLPROVIDER_LIBC:
			kind = is_name_of_c(tuple) ? GPUSORT_COLLATION_BYTES : GPUSORT_COLLATION_LIBC;
			break;
#ifdef USE_ICU
		case COLLPROVIDER_ICU:
			kind = GPUSORT_COLLATION_ICU;
			break;
#endif
#ifdef COLLPROVIDER_BUILTIN
		case COLLPROVIDER_BUILTIN:
			kind = GPUSORT_COLLATION_BYTES;
			break;
#endif
	}
	ReleaseSysCache(tuple);
	return kind;
}

char *
gpusort_collation_libc_name(Oid collation)
{
	HeapTuple	tuple = SearchSysCache1(COLLOID, ObjectIdGetDatum(collation));
	char	   *name = NULL;

	if (!HeapTupleIsValid(tuple))
		return NULL;
	if (((Form_pg_collation) GETSTRUCT(tuple))->collprovider == COLLPROVIDER_LIBC)
		name = libc_name(tuple);
	ReleaseSysCache(tuple);
	return name;
}
