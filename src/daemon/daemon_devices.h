/*
 * daemon_devices.h
 *		The group of devices that the daemon sorts on.
 */
#ifndef DAEMON_DEVICES_H
#define DAEMON_DEVICES_H

#include "engine/device/gs_device_sort.h"

#include "daemon/daemon_options.h"
#include "protocol/gsd_exit.h"

/*
 * Have the driver make its device files, if it has not, by whatever program it calls for
 * that.  It is the last chance: one that runs as root can't be called any more after the
 * right to gain privileges has been given up.
 */
extern void gsd_wake_driver(const gsd_options *options);

/*
 * Open the devices; 0, or the exit status to end with if there are none, and why[] says
 * why not.  *cuda tells which kind they are.
 */
extern gsd_exit gsd_open_devices(const gsd_options *options, gs_group *group, bool *cuda,
								 char *why, size_t why_size);

extern void gsd_close_devices(gs_group *group);

/* Fill the pool's table of devices. */
extern void gsd_publish_devices(const gs_group *group, bool cuda, gsd_service *service);

/* Memory for sorting that is free, of all devices. */
extern uint64_t gsd_device_bytes_free(const gs_group *group);

/* Print the devices, for --probe. */
extern void gsd_print_devices(const gs_group *group, bool cuda);

#endif							/* DAEMON_DEVICES_H */
