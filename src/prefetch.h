/*
 * prefetch.h
 *		Asking for a cache line before it is needed.
 *
 * Both the code that runs in the server and the engine use this file, so it includes no headers of
 * either.
 */
#ifndef GPUSORT_PREFETCH_H
#define GPUSORT_PREFETCH_H

/*
 * Prefetches the cache line at an address for reading.  On x86 this is inline assembly: GCC takes a
 * function that contains nothing but __builtin_prefetch for one without effects, and deletes the
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
