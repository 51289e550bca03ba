/*
 * collate_libc.h
 *		Sort keys of libc's collations; for collate_library.c.
 */
#ifndef GPUSORT_COLLATE_LIBC_H
#define GPUSORT_COLLATE_LIBC_H

#include "keys/collate_library.h"

/* Fill in the functions, for library->locale. */
extern void gpusort_collate_begin_libc(CollateLibrary *library);

/* What a locale's keys are made by. */
typedef enum GpuSortLibcKeys
{
	GPUSORT_LIBC_WHOLE,			/* strxfrm() */
	GPUSORT_LIBC_WORDS,			/* words, whose weights were learned */
	GPUSORT_LIBC_COPIES			/* strxfrm(), which does no more than copy */
} GpuSortLibcKeys;

/*
 * Those of the database's locale, or of one that libc has by that name.  The latter is found out without
 * PostgreSQL, which would raise an error if there is none.
 */
extern GpuSortLibcKeys gpusort_collate_libc_default_keys(void);
extern GpuSortLibcKeys gpusort_collate_libc_keys(const char *name);

#endif							/* GPUSORT_COLLATE_LIBC_H */
