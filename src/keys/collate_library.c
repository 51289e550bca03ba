/*
 * collate_library.c
 *		Sort keys of strings, as the library of a collation makes them.
 *
 * See collate_private.h.
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "keys/collate_private.h"

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
