/*
 * machine_memory.h
 *		How much memory the server could have.
 */
#ifndef GPUSORT_MACHINE_MEMORY_H
#define GPUSORT_MACHINE_MEMORY_H

/*
 * Returns the bytes of memory that the machine has, or the limit of the control
 * group that this process is in if that is less; 0 if unknown.
 */
extern uint64 gpusort_machine_memory(void);

#endif							/* GPUSORT_MACHINE_MEMORY_H */
