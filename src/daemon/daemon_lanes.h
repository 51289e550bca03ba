/*
 * daemon_lanes.h
 *		Lanes: parts of devices on which small jobs are sorted, each by itself.
 */
#ifndef DAEMON_LANES_H
#define DAEMON_LANES_H

#include <stdbool.h>

#include "engine/device/gs_device_sort.h"

#define GSD_DEVICE_LANES	4
#define GSD_MAX_LANES		(GSD_DEVICE_LANES * GS_MAX_DEVICES)

typedef struct gsd_lane
{
	unsigned	of;				/* number, in the group, of the device that the lane is a part of */
	gs_group	group;			/* a group that has this lane as its only device */
} gsd_lane;

typedef struct gsd_lanes
{
	unsigned	count;
	uint64_t	most_rows;		/* most rows that a small job has */
	uint64_t	lane_bytes;		/* memory of each lane */
	gsd_lane	lanes[GSD_MAX_LANES];
} gsd_lanes;

/* What a job needs of a lane, as far as it is known. */
typedef struct gsd_lane_needs
{
	uint64_t	nrows;
	unsigned	nplanes;
	uint64_t	row_bytes;		/* of all rows that are to be reordered; 0: none are */
} gsd_lane_needs;

/*
 * Takes so many lanes of each of a group's devices, at most GSD_DEVICE_LANES, or as many as there
 * is memory for.
 */
extern void gsd_lanes_open(gsd_lanes *lanes, const gs_group *group, unsigned of_each);
extern void gsd_lanes_close(gsd_lanes *lanes);

/*
 * Returns whether lanes are large enough for a job.  The numbers in `needs` come from a session, so
 * any of them may be wrong.
 */
extern bool gsd_lanes_fit(const gsd_lanes *lanes, const gsd_lane_needs *needs);

#endif							/* DAEMON_LANES_H */
