/*
 * kept_memory.h
 *		Private memory that all processes keep for their next sorts.
 */
#ifndef GPUSORT_KEPT_MEMORY_H
#define GPUSORT_KEPT_MEMORY_H

/* Setting: the most that all processes keep together, in kB. */
extern int	gpusort_keep_memory_total;

/* What it is if nobody says so. */
extern int	gpusort_default_keep_memory_total(void);

/* Bytes that this process may keep beyond what it keeps. */
extern size_t gpusort_kept_room(void);

/* Do all together keep more than they may? */
extern bool gpusort_too_much_is_kept(void);

/* This process keeps so many bytes from now on; false if it must not keep any. */
extern bool gpusort_note_kept(size_t bytes);

#endif							/* GPUSORT_KEPT_MEMORY_H */
