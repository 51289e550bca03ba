/*
 * collate_open.c
 *		Finds the library of a collation.
 */
#include "postgres.h"

#include "catalog/pg_collation.h"

#include "keys/collate_icu.h"
#include "keys/collate_libc.h"
#include "keys/collate_open.h"
#include "keys/collation_kind.h"

void
gpusort_collate_open(CollateLibrary *library, Oid collation, GpuSortKeyMemory *memory)
{
	pg_locale_t locale = pg_newlocale_from_collation(collation);

	memset(library, 0, sizeof(*library));
	library->memory = memory;
	library->locale = locale;
	library->deterministic = locale == NULL || locale->deterministic;
#ifdef USE_ICU
	if (gpusort_collation_provider(collation) == COLLPROVIDER_ICU)
	{
		gpusort_collate_begin_icu(library);
		return;
	}
#endif
	gpusort_collate_begin_libc(library);
}
