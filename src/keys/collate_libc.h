/*
 * collate_libc.h
 *		Sort keys of libc's collations; for collate_library.c.
 */
#ifndef GPUSORT_COLLATE_LIBC_H
#define GPUSORT_COLLATE_LIBC_H

#include "keys/collate_library.h"

/* Fills in the functions of *library and what they need, for library->locale. */
extern void gpusort_collate_begin_libc(CollateLibrary *library);

/* How the keys of a locale's strings are made. */
typedef enum GpuSortLibcKeys
{
	GPUSORT_LIBC_WHOLE,			/* by strxfrm(), for all strings */
	GPUSORT_LIBC_WORDS,			/* first words are made of weights that were learned */
	GPUSORT_LIBC_COPIES			/* by strxfrm(), which does no more than copy */
} GpuSortLibcKeys;

/*
 * Return how keys are made under the database's locale, or under the one that libc knows by a name.
 * The latter is opened past PostgreSQL, which would raise an error if there is no such locale; that
 * counts as GPUSORT_LIBC_WHOLE.
 */
extern GpuSortLibcKeys gpusort_collate_libc_default_keys(void);
extern GpuSortLibcKeys gpusort_collate_libc_keys(const char *name);

#endif							/* GPUSORT_COLLATE_LIBC_H */
