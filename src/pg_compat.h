/*
 * pg_compat.h
 *		Differences between the supported PostgreSQL versions that concern all folders.
 *
 * This file and those of pg_compat/ are the only ones that look at PG_VERSION_NUM.  Each item
 * names the version that brought the difference and why it exists.
 */
#ifndef GPUSORT_PG_COMPAT_H
#define GPUSORT_PG_COMPAT_H

#include "postgres.h"

/*
 * 20: pg_attribute_always_inline has another name, which later minor releases know before, too.
 */
#ifndef pg_always_inline
#define pg_always_inline pg_attribute_always_inline
#endif

/*
 * 16: the VARxxx macros have left postgres.h.
 */
#if PG_VERSION_NUM >= 160000
#include "varatt.h"
#endif

/*
 * 17: extensions have names for what they wait for.
 *
 * The wait event of this name; *event, 0 at first, remembers it.
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
