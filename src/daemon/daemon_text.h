/*
 * daemon_text.h
 *		Finding the records and fields of one job about delimited text, on a device.
 */
#ifndef DAEMON_TEXT_H
#define DAEMON_TEXT_H

#include "daemon/daemon_sort.h"

/*
 * Finds the records and fields in the chunks of job n, on the sorter's first device, and tells its
 * backend.  On failure *message says why, unless it is NULL.
 */
extern gs_status gsd_text_find(gsd_sorter *sorter, unsigned n, const char **message);

#endif							/* DAEMON_TEXT_H */
