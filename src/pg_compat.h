/*
 * pg_compat.h
 *		Differences between the supported PostgreSQL versions that concern all folders.
 *
 * This file and the headers in pg_compat/ are the only ones that look at PG_VERSION_NUM.  The
 * comment of each item begins with the version that brought the difference, and says why the item
 * exists.
 */
#ifndef GPUSORT_PG_COMPAT_H
#define GPUSORT_PG_COMPAT_H

#include "postgres.h"

/*
 * 20: pg_attribute_always_inline has been renamed to pg_always_inline, a name that later minor
 * releases of older versions know, too.
 */
#ifndef pg_always_inline
#define pg_always_inline pg_attribute_always_inline
#endif

/* 16: the VARxxx macros have moved from postgres.h to varatt.h. */
#if PG_VERSION_NUM >= 160000
#include "varatt.h"
#endif

/*
 * 17: extensions may name their own wait events.
 *
 * Returns the wait event with this name.  *event, which is 0 at first, keeps it for later calls.
 * Older servers have one wait event for all extensions.
 */
#include "utils/wait_event.h"

static inline uint32
gpusort_wait_event(uint32 *event, const char *name)
{
#if PG_VERSION_NUM >= 170000
	if (*event == 0)
		*event = WaitEventExtensionNew(name);
	return *event;
#else
	return PG_WAIT_EXTENSION;
#endif
}

#endif							/* GPUSORT_PG_COMPAT_H */
