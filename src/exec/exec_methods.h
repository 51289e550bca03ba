/*
 * exec_methods.h
 *		How the server comes from a plan node of ours to its execution.
 */
#ifndef GPUSORT_EXEC_METHODS_H
#define GPUSORT_EXEC_METHODS_H

/* Register all nodes by their names, which is how plans know them; from _PG_init(). */
extern void gpusort_register_nodes(void);

#endif							/* GPUSORT_EXEC_METHODS_H */
