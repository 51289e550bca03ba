/*
 * daemon_memory.h
 *		The pool's memory, as the daemon maps it.
 */
#ifndef DAEMON_MEMORY_H
#define DAEMON_MEMORY_H

#include "engine/device/gs_device.h"

#include "daemon/daemon_options.h"
#include "protocol/gsd_exit.h"
#include "protocol/gsd_pool.h"

/* Maps the pool.  Returns 0, or the exit status to end with, after logging the reason. */
extern gsd_exit gsd_map_pool(const gsd_options *options, gsd_pool *pool);

/*
 * Makes every page of the pool present, and tells the devices of it, so that they read and write it
 * at the speed of their link.
 */
extern gs_status gsd_register_pool(const gsd_pool *pool, gs_device *device);

#endif							/* DAEMON_MEMORY_H */
