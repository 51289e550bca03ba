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
 * By the catalog: the collation is not opened, so this does not fail where its library or
 * locale has gone.
 */
extern GpuSortCollationKind gpusort_collation_kind(Oid collation);

/* The provider of a collation, of the database's if that is the default one; 0 if it is none. */
extern char gpusort_collation_provider(Oid collation);

/* What libc calls a collation of its own: palloc'd; NULL if it is none. */
extern char *gpusort_collation_libc_name(Oid collation);

#endif							/* GPUSORT_COLLATION_KIND_H */
