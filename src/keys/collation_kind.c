/*
 * collation_kind.c
 *		What compares the strings of a collation, and room for the sort keys that it makes.
 *
 * See collate_private.h.
 */
#include "keys/collate_private.h"

#include "access/htup_details.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_database.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/pg_locale.h"
#include "utils/syscache.h"

#include "pg_compat/keys.h"

static char
provider_of_database(void)
{
	HeapTuple	tuple = SearchSysCache1(DATABASEOID, ObjectIdGetDatum(MyDatabaseId));
	char		provider;

	if (!HeapTupleIsValid(tuple))
		return '\0';
	provider = ((Form_pg_database) GETSTRUCT(tuple))->datlocprovider;
	ReleaseSysCache(tuple);
	return provider;
}

char
gpusort_collation_provider(Oid collation)
{
	HeapTuple	tuple;
	char		provider;

	if (collation == DEFAULT_COLLATION_OID)
		return provider_of_database();
	tuple = SearchSysCache1(COLLOID, ObjectIdGetDatum(collation));
	if (!HeapTupleIsValid(tuple))
		return '\0';
	provider = ((Form_pg_collation) GETSTRUCT(tuple))->collprovider;
	ReleaseSysCache(tuple);
	return provider;
}

char *
gpusort_collation_libc_name(Oid collation)
{
	HeapTuple	tuple = SearchSysCache1(COLLOID, ObjectIdGetDatum(collation));
	char	   *name = NULL;

	if (!HeapTupleIsValid(tuple))
		return NULL;
	if (((Form_pg_collation) GETSTRUCT(tuple))->collprovider == COLLPROVIDER_LIBC)
	{
		bool		isnull;
		Datum		value = SysCacheGetAttr(COLLOID, tuple, Anum_pg_collation_collcollate, &isnull);

		name = isnull ? NULL : TextDatumGetCString(value);
	}
	ReleaseSysCache(tuple);
	return name;
}

/*
 * Returns whether a collation of libc compares bytes.  The catalog tells by the locale's name; the
 * database's collation, which is open since the session began, says so itself.
 */
static bool
is_c_of_libc(Oid collation)
{
	const char *name;

	if (collation == DEFAULT_COLLATION_OID)
		return gpusort_collation_is_c(collation);
	name = gpusort_collation_libc_name(collation);
	return name != NULL && (strcmp(name, "C") == 0 || strcmp(name, "POSIX") == 0);
}

GpuSortCollationKind
gpusort_collation_kind(Oid collation)
{
	if (!OidIsValid(collation))
		return GPUSORT_COLLATION_NONE;
	if (collation == C_COLLATION_OID || collation == POSIX_COLLATION_OID)
		return GPUSORT_COLLATION_BYTES;
	switch (gpusort_collation_provider(collation))
	{
		case '\0':
			return GPUSORT_COLLATION_NONE;
		case COLLPROVIDER_LIBC:
			return is_c_of_libc(collation) ? GPUSORT_COLLATION_BYTES : GPUSORT_COLLATION_LIBC;
#ifdef USE_ICU
		case COLLPROVIDER_ICU:
			return GPUSORT_COLLATION_ICU;
#endif
#ifdef COLLPROVIDER_BUILTIN
		case COLLPROVIDER_BUILTIN:
			/* This provider is part of the server, so it can be opened: nothing can have gone. */
			return gpusort_collation_is_c(collation) ?
				GPUSORT_COLLATION_BYTES : GPUSORT_COLLATION_OTHER;
#endif
	}
	return GPUSORT_COLLATION_OTHER;
}

/* ---------- room for sort keys ---------- */

/* Returns whether a buffer of `from` bytes may grow to `to`; sets memory->exceeded if not. */
static bool
may_grow(GpuSortKeyMemory *memory, Size from, Size to)
{
	size_t		others = gpusort_key_memory_bytes(memory);

	others -= Min(others, from);
	if (AllocSizeIsValid(to) && others + to <= memory->limit_bytes)
		return true;
	memory->exceeded = true;
	return false;
}

bool
gpusort_collate_reserve_scratch(CollateLibrary *library, Size size)
{
	if (size <= library->scratch_size)
		return true;
	size += size / 4;
	if (!may_grow(library->memory, library->scratch_size, size))
		return false;
	if (library->scratch)
		pfree(library->scratch);
	library->scratch = NULL;
	library->scratch_size = 0;
	library->scratch = MemoryContextAlloc(library->memory->context, size);
	library->scratch_size = size;
	return true;
}

bool
gpusort_collate_reserve(CollateLibrary *library, CollatedKey *key, Size size)
{
	if (size <= key->size)
		return true;
	size = MAXALIGN(size + size / 4);
	if (!may_grow(library->memory, key->size, size))
		return false;
	if (key->buffer)
		key->buffer = repalloc(key->buffer, size);
	else
		key->buffer = MemoryContextAlloc(library->memory->context, size);
	key->size = size;
	return true;
}
