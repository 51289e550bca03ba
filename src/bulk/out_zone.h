/*
 * out_zone.h
 *		Finds the offset of the session's time zone from UTC at a moment.
 */
#ifndef GPUSORT_OUT_ZONE_H
#define GPUSORT_OUT_ZONE_H

#include "datatype/timestamp.h"

/*
 * Set *offset to the seconds that local time is ahead of UTC at `timestamp`.  Returns false if that
 * is not known here.
 */
extern bool gpusort_out_zone_offset(TimestampTz timestamp, int *offset);

#endif							/* GPUSORT_OUT_ZONE_H */
