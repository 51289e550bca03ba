/*
 * memory_settings.c
 *		The settings of the pool, and of memory that sessions keep.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/guc.h"

#include "memory/extents_private.h"
#include "memory/memory_range.h"
#include "memory/pool.h"

#define DEFAULT_KEEP_KB		(1024 * 1024)

static int	keep_memory_kb = DEFAULT_KEEP_KB;
static int	keep_memory_limit_kb = -1;

/* Has this session keep gpusort.keep_memory, up to gpusort.keep_memory_limit (-1: no limit). */
static void
keep_memory(int wanted_kb, int limit_kb)
{
	gpusort_range_keep((size_t) (limit_kb < 0 ? wanted_kb : Min(wanted_kb, limit_kb)) * 1024);
}

static void
assign_keep_memory(int newval, void *extra)
{
	keep_memory(newval, keep_memory_limit_kb);
}

static void
assign_keep_memory_limit(int newval, void *extra)
{
	keep_memory(keep_memory_kb, newval);
}

/* Replaces -1 with the value that it stands for, so that SHOW shows it. */
static bool
check_keep_memory_total(int *newval, void **extra, GucSource source)
{
	if (*newval == -1)
		*newval = gpusort_default_keep_memory_total();
	return true;
}

static void
assign_keep_memory_total(int newval, void *extra)
{
	gpusort_keep_memory_total = newval;
	keep_memory(keep_memory_kb, keep_memory_limit_kb);
}

/*
 * Sets the size that is in effect, so that SHOW shows it: 0 in a process that has
 * loaded the library too late to have a pool, else the size that -1 stands for.
 */
static bool
check_pool_size(int *newval, void **extra, GucSource source)
{
	if (!process_shared_preload_libraries_in_progress && gpusort_pool == NULL)
		*newval = 0;
	else if (*newval == -1)
		*newval = gpusort_pool_default_mb();
	return true;
}

void
gpusort_define_memory_settings(void)
{
	/* a postmaster's setting can't be defined any later */
	DefineCustomIntVariable("gpusort.pool_size",
							"Sets the size of the memory pool that all sorts share.",
							"-1 means a quarter of the machine's memory, at most 16 GB.",
							&gpusort_pool_size, gpusort_pool_size, -1, MAX_KILOBYTES / 1024,
							process_shared_preload_libraries_in_progress ?
							PGC_POSTMASTER : PGC_SIGHUP,
							GUC_UNIT_MB, check_pool_size, NULL, NULL);
	DefineCustomIntVariable("gpusort.pool_quota",
							"Sets how much of the pool one sort may take, in per cent.",
							NULL, &gpusort_pool_quota, gpusort_pool_quota, 0, 100,
							PGC_SUSET, GUC_EXPLAIN, NULL, NULL, NULL);
	DefineCustomIntVariable("gpusort.pool_session_quota",
							"Sets how much of the pool all sorts of a session may take, in per cent.",
							NULL, &gpusort_pool_session_quota, gpusort_pool_session_quota, 0, 100,
							PGC_SUSET, GUC_EXPLAIN, NULL, NULL, NULL);
	DefineCustomIntVariable("gpusort.pool_role_quota",
							"Sets how much of the pool all sorts of a role may take, in per cent.",
							NULL, &gpusort_pool_role_quota, gpusort_pool_role_quota, 0, 100,
							PGC_SUSET, GUC_EXPLAIN, NULL, NULL, NULL);
	DefineCustomIntVariable("gpusort.keep_memory",
							"Sets how much memory of finished sorts a session keeps for its next ones.",
							NULL, &keep_memory_kb, keep_memory_kb, 0, MAX_KILOBYTES,
							PGC_USERSET, GUC_UNIT_KB, NULL, assign_keep_memory, NULL);
	DefineCustomIntVariable("gpusort.keep_memory_limit",
							"Sets how much memory of finished sorts a session may keep at most.",
							"What gpusort.keep_memory says beyond that has no effect. -1 means no limit.",
							&keep_memory_limit_kb, keep_memory_limit_kb, -1, MAX_KILOBYTES,
							PGC_SUSET, GUC_UNIT_KB, NULL, assign_keep_memory_limit, NULL);
	DefineCustomIntVariable("gpusort.keep_memory_total",
							"Sets how much memory of finished sorts all sessions may keep together.",
							"-1 means a quarter of the machine's memory, at most 16 GB.",
							&gpusort_keep_memory_total, gpusort_keep_memory_total, -1,
							MAX_KILOBYTES, PGC_SIGHUP, GUC_UNIT_KB, check_keep_memory_total,
							assign_keep_memory_total, NULL);
}
