/*
 * leaves.h
 *		The node GpuSort Index Join at run time.
 */
#ifndef GPUSORT_LEAVES_H
#define GPUSORT_LEAVES_H

#include "exec/exec.h"

extern GpuSortNodeKind gpusort_leaf_join_kind;

#endif							/* GPUSORT_LEAVES_H */
