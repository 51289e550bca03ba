/*
 * prefetch.h
 *		Asking for a cache line before it is needed.
 */
#ifndef GPUSORT_PREFETCH_H
#define GPUSORT_PREFETCH_H

/*
 * Prefetch for reading.  Inline assembly, because GCC deletes calls of helpers
 * that contain nothing but __builtin_prefetch when it does not inline them.
 */
static inline void
prefetch_line(const void *address)
{
#if defined(__x86_64__)
	__asm__ volatile("prefetcht0 %0" : : "m"(*(const char *) address));
#else
	__builtin_prefetch(address);
#endif
}

#endif							/* GPUSORT_PREFETCH_H */
