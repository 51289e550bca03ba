/*
 * collate_library.c
 *		Sort keys of strings, as the library of a collation makes them.
 *
 * See collate_library.h.
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "keys/collate_library.h"

void
gpusort_collate_reserve_scratch(CollateLibrary *library, Size size)
{
	if (size <= library->scratch_size)
		return;
	if (library->scratch)
		pfree(library->scratch);
	library->scratch = NULL;
	library->scratch_size = 0;
	library->scratch = MemoryContextAlloc(library->context, size * 2);
	library->scratch_size = size * 2;
}

bool
gpusort_collate_reserve(CollateLibrary *library, CollatedKey *key, Size size)
{
	if (size <= key->size)
		return true;
	if (!AllocSizeIsValid(size))
		return false;
	size = Min(MAXALIGN(size + size / 4), MaxAllocSize);
	if (key->buffer)
		key->buffer = repalloc(key->buffer, size);
	else
		key->buffer = MemoryContextAlloc(library->context, size);
	key->size = size;
	return true;
}
