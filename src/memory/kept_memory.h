/*
 * kept_memory.h
 *		Private memory that all processes keep for their next sorts.
 */
#ifndef GPUSORT_KEPT_MEMORY_H
#define GPUSORT_KEPT_MEMORY_H

/* Setting: the most memory that all processes may keep together, in kB. */
extern int	gpusort_keep_memory_total;

/* Returns the setting's default, in kB. */
extern int	gpusort_default_keep_memory_total(void);

/* Returns how many more bytes this process may keep. */
extern size_t gpusort_kept_room(void);

/* Returns whether all processes together keep more than they may. */
extern bool gpusort_too_much_is_kept(void);

/*
 * Notes that this process keeps `bytes` bytes, all together, from now on; returns false if that
 * can't be noted, so that it must not keep any.
 */
extern bool gpusort_note_kept(size_t bytes);

#endif							/* GPUSORT_KEPT_MEMORY_H */
