/*
 * leaves.h
 *		The node GpuSort Index Join at run time.
 */
#ifndef GPUSORT_LEAVES_H
#define GPUSORT_LEAVES_H

/* Registers the node's methods, so that the server finds them by the node's name. */
extern void gpusort_register_leaf_join(void);

#endif							/* GPUSORT_LEAVES_H */
