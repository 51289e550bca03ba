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
 * Has the driver make its device files, if it has not yet, by whatever program it calls for that.
 * This is the last chance: a program that runs as root can't be called any more after gpusortd has
 * given up the right to gain privileges.
 */
extern void gsd_wake_driver(const gsd_options *options);

/*
 * Opens the devices of a group.  Returns 0, or the exit status to end with if there are none; then
 * why[] says why not.  *cuda is set if they are CUDA devices, and not simulated ones.
 */
extern gsd_exit gsd_open_devices(const gsd_options *options, gs_group *group, bool *cuda,
								 char *why, size_t why_size);

extern void gsd_close_devices(gs_group *group);

/* Fills the pool's table of devices. */
extern void gsd_publish_devices(const gs_group *group, bool cuda, gsd_service *service);

/* Returns how much memory for sorting is free, of all devices together. */
extern uint64_t gsd_device_bytes_free(const gs_group *group);

/* Prints the devices, for --probe. */
extern void gsd_print_devices(const gs_group *group, bool cuda);

#endif							/* DAEMON_DEVICES_H */
