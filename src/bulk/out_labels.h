/*
 * out_labels.h
 *		The labels of enums, as enum_out() returns them.
 */
#ifndef GPUSORT_OUT_LABELS_H
#define GPUSORT_OUT_LABELS_H

#include "postgres.h"

typedef struct GpuSortOutLabels GpuSortOutLabels;

/* In the current memory context. */
extern GpuSortOutLabels *gpusort_out_begin_labels(void);

/* A value's label, as it is now, which stays where it is until the next call. */
extern const char *gpusort_out_label(GpuSortOutLabels *labels, Oid value, int *length);

#endif							/* GPUSORT_OUT_LABELS_H */
