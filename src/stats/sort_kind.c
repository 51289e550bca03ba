/*
 * sort_kind.c
 *		Names of the kinds of sorts.
 */
#include "postgres.h"

#include "stats/sort_kind.h"

const char *
gpusort_kind_name(GpuSortKind kind)
{
	switch (kind)
	{
		case GPUSORT_KIND_ORDER_BY:
			return "order by";
		case GPUSORT_KIND_GROUP:
			return "group";
		case GPUSORT_KIND_DISTINCT:
			return "distinct";
		case GPUSORT_KIND_WINDOW:
			return "window";
		case GPUSORT_KIND_JOIN:
			return "join";
		case GPUSORT_KIND_SET_OPERATION:
			return "set operation";
		case GPUSORT_KIND_INDEX:
			return "index";
		case GPUSORT_KIND_CLUSTER:
			return "cluster";
		case GPUSORT_KIND_OTHER:
			break;
	}
	return "other";
}
