/*
 * collate_libc.h
 *		Sort keys of libc's collations; for collate_library.c.
 */
#ifndef GPUSORT_COLLATE_LIBC_H
#define GPUSORT_COLLATE_LIBC_H

#include "keys/collate_library.h"

/* Fill in the functions, for library->locale. */
extern void gpusort_collate_begin_libc(CollateLibrary *library);

/*
 * Will words be made under the database's locale, or under one that libc has by that name?  The
 * latter is found out without PostgreSQL, which would raise an error if there is none.
 */
extern bool gpusort_collate_libc_default_has_words(void);
extern bool gpusort_collate_libc_has_words(const char *name);

#endif							/* GPUSORT_COLLATE_LIBC_H */
