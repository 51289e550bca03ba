/*
 * out_labels.h
 *		Looks up the labels of enum values, as enum_out() does.
 */
#ifndef GPUSORT_OUT_LABELS_H
#define GPUSORT_OUT_LABELS_H

#include "postgres.h"

typedef struct GpuSortOutLabels GpuSortOutLabels;

/* Make an empty cache of labels in the current memory context. */
extern GpuSortOutLabels *gpusort_out_begin_labels(void);

/* Returns a value's current label, and its length.  The label stays valid until the next call. */
extern const char *gpusort_out_label(GpuSortOutLabels *labels, Oid value, int *length);

#endif							/* GPUSORT_OUT_LABELS_H */
