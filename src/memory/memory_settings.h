/*
 * memory_settings.h
 *		The settings of the pool, and of memory that sessions keep.
 */
#ifndef GPUSORT_MEMORY_SETTINGS_H
#define GPUSORT_MEMORY_SETTINGS_H

/* Defines the settings; called by _PG_init(). */
extern void gpusort_define_memory_settings(void);

#endif							/* GPUSORT_MEMORY_SETTINGS_H */
