/*
 * collation_kind.h
 *		What compares the strings of a collation.
 */
#ifndef GPUSORT_COLLATION_KIND_H
#define GPUSORT_COLLATION_KIND_H

#include "postgres.h"

typedef enum GpuSortCollationKind
{
	GPUSORT_COLLATION_NONE,		/* not a collation, or none could be determined */
	GPUSORT_COLLATION_BYTES,	/* memcmp(): C, POSIX, the builtin provider's */
	GPUSORT_COLLATION_LIBC,
	GPUSORT_COLLATION_ICU,
	GPUSORT_COLLATION_OTHER		/* providers that we do not know */
} GpuSortCollationKind;

/*
 * Returns the kind of a collation, as the catalog tells it.  The collation is not opened, so this
 * does not fail where its library or locale has gone.
 */
extern GpuSortCollationKind gpusort_collation_kind(Oid collation);

/*
 * Returns the provider of a collation (COLLPROVIDER_xxx); the database's provider if it is the
 * default collation, and 0 if there is no such collation.
 */
extern char gpusort_collation_provider(Oid collation);

/* Returns the locale's name of a collation of libc, palloc'd; NULL if it is not one of libc. */
extern char *gpusort_collation_libc_name(Oid collation);

#endif							/* GPUSORT_COLLATION_KIND_H */
