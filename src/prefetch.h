/*
 * prefetch.h
 *		Asking for a cache line before it is needed.
 *
 * For the server's side and the engine alike, so it needs neither's headers.
 */
#ifndef GPUSORT_PREFETCH_H
#define GPUSORT_PREFETCH_H

/*
 * Prefetch for reading.  Inline assembly on x86, because GCC takes a function that
 * contains nothing but __builtin_prefetch for one without effects, and deletes the
 * calls that it does not inline.
 */
static inline void
prefetch_line(const void *address)
{
#if defined(__x86_64__) || defined(__i386__)
	__asm__ volatile("prefetcht0 %0" : : "m"(*(const char *) address));
#else
	__builtin_prefetch(address);
#endif
}

#endif							/* GPUSORT_PREFETCH_H */
