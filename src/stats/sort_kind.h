/*
 * sort_kind.h
 *		What a sort is for: the kinds that statistics tell apart.
 */
#ifndef GPUSORT_SORT_KIND_H
#define GPUSORT_SORT_KIND_H

/*
 * These numbers are stored in plans, and in the server's statistics file, so new kinds have to be
 * added at the end.
 */
typedef enum GpuSortKind
{
	GPUSORT_KIND_OTHER,
	GPUSORT_KIND_ORDER_BY,
	GPUSORT_KIND_GROUP,
	GPUSORT_KIND_DISTINCT,
	GPUSORT_KIND_WINDOW,
	GPUSORT_KIND_JOIN,
	GPUSORT_KIND_SET_OPERATION,
	GPUSORT_KIND_INDEX,
	GPUSORT_KIND_CLUSTER
} GpuSortKind;

#define GPUSORT_KINDS	(GPUSORT_KIND_CLUSTER + 1)

extern const char *gpusort_kind_name(GpuSortKind kind);

/*
 * Returns whether sorts of this kind belong to a command that may use maintenance_work_mem, for all
 * of its processes together.
 */
static inline bool
gpusort_kind_is_build(GpuSortKind kind)
{
	return kind == GPUSORT_KIND_INDEX || kind == GPUSORT_KIND_CLUSTER;
}

#endif							/* GPUSORT_SORT_KIND_H */
