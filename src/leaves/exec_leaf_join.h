/*
 * exec_leaf_join.h
 *		Executing a GpuSort Index Join node.
 */
#ifndef GPUSORT_EXEC_LEAF_JOIN_H
#define GPUSORT_EXEC_LEAF_JOIN_H

/* Registers the node's methods, so that the server finds them by the node's name. */
extern void gpusort_register_leaf_join(void);

#endif							/* GPUSORT_EXEC_LEAF_JOIN_H */
