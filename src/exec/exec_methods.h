/*
 * exec_methods.h
 *		How the server gets from a plan node of ours to its execution.
 */
#ifndef GPUSORT_EXEC_METHODS_H
#define GPUSORT_EXEC_METHODS_H

/*
 * Registers the methods of all nodes by the names that plans use for them; called from _PG_init().
 */
extern void gpusort_register_nodes(void);

#endif							/* GPUSORT_EXEC_METHODS_H */
