/*
 * lazy_device.h
 *		Devices that put everything off, and then do it in an odd order.
 */
#ifndef LAZY_DEVICE_H
#define LAZY_DEVICE_H

#include "engine/device/gs_device_sort.h"

typedef struct lazy_group lazy_group;

/* Devices on top of simulated devices; `seed` decides the order in which they work. */
extern lazy_group *lazy_group_open(unsigned g, size_t arena_bytes, uint64_t seed);
extern gs_group *lazy_group_of(lazy_group *lazy);

/* Set *flag at the nth call of an operation or of done() from now on. */
extern void lazy_group_set_at(lazy_group *lazy, volatile int *flag, uint64_t nth);

/*
 * NULL if nothing was wrong with the calls: spans are in pairs, no event is left
 * over, nothing is left to do.
 */
extern const char *lazy_group_fault(const lazy_group *lazy);
extern void lazy_group_close(lazy_group *lazy);

#endif							/* LAZY_DEVICE_H */
