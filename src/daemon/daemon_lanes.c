/*
 * daemon_lanes.c
 *		Lanes: parts of devices on which small jobs are sorted, each by itself.
 *
 * A job is small if it has no more rows than are worth a device of their own, and if it finds room
 * in a lane.  The room that it needs there is estimated; if the lane turns out too small, the job
 * is sorted by all devices after all.
 */
#include "daemon/daemon_jobs.h"
#include "daemon/daemon.h"

/* A lane gets this part of a device's memory, but at most MOST_LANE_BYTES. */
#define LANE_PART		32
#define MOST_LANE_BYTES	(UINT64_C(512) << 20)

/*
 * ROW_BYTES is what a row of n planes takes: its words, its packed key, two arrays of pairs, and
 * what the row takes if it ties.  TABLE_BYTES is for tables beside the rows.
 */
#define ROW_BYTES(n)	(8 * (uint64_t) (n) + 8 + 2 * 12 + 24)
#define TABLE_BYTES		(UINT64_C(256) << 10)

/*
 * Rows that are reordered may take half of a lane's memory, with the windows through which they
 * pass; these take at most so many bytes.
 */
#define WINDOW_BYTES	(UINT64_C(2) * (32 << 20))

static bool
open_lane(gsd_lanes *lanes, const gs_group *group, unsigned d)
{
	gs_device  *device = group->devices[d];
	gsd_lane   *lane = &lanes->lanes[lanes->count];
	gs_device  *opened = device->ops->open_lane(device, lanes->lane_bytes);

	if (opened == NULL)
		return false;
	lane->of = d;
	lane->group = (gs_group) {
		.ndevices = 1,
		.devices = {opened},
		.options = group->options,
	};
	lanes->count++;
	return true;
}

/* Returns how much memory is free on the device with the least. */
static uint64_t
least_bytes(const gs_group *group)
{
	uint64_t	least = UINT64_MAX;

	for (unsigned d = 0; d < group->ndevices; d++)
	{
		uint64_t	bytes = group->devices[d]->ops->largest_free(group->devices[d]);

		least = bytes < least ? bytes : least;
	}
	return least;
}

void
gsd_lanes_open(gsd_lanes *lanes, const gs_group *group, unsigned of_each)
{
	uint64_t	bytes = least_bytes(group) / LANE_PART;

	lanes->count = 0;
	lanes->most_rows = group->options.device_rows > 0 ? group->options.device_rows
		: GS_DEFAULT_DEVICE_ROWS;
	lanes->lane_bytes = bytes < MOST_LANE_BYTES ? bytes : MOST_LANE_BYTES;
	if (lanes->lane_bytes <= TABLE_BYTES)
		return;
	for (unsigned d = 0; d < group->ndevices; d++)
		for (unsigned i = 0; i < of_each && i < GSD_DEVICE_LANES; i++)
			if (!open_lane(lanes, group, d))
			{
				gsd_log("device %u has %u lanes for small sorts instead of %u: %s", d, i, of_each,
						group->devices[d]->error);
				break;
			}
}

void
gsd_lanes_close(gsd_lanes *lanes)
{
	while (lanes->count > 0)
	{
		gs_device  *lane = lanes->lanes[--lanes->count].group.devices[0];

		lane->ops->close(lane);
	}
}

bool
gsd_lanes_fit(const gsd_lanes *lanes, const gsd_lane_needs *needs)
{
	uint64_t	windows = needs->row_bytes < WINDOW_BYTES / 2 ? 2 * needs->row_bytes : WINDOW_BYTES;

	if (lanes->count == 0 || needs->nrows > lanes->most_rows ||
		needs->row_bytes > lanes->lane_bytes / 2)
		return false;
	if (needs->row_bytes > 0 &&
		needs->row_bytes + windows + 32 * needs->nrows > lanes->lane_bytes / 2)
		return false;
	return needs->nrows * ROW_BYTES(needs->nplanes) <= lanes->lane_bytes - TABLE_BYTES;
}
