/*
 * out_zone.h
 *		What a moment's time in the session's time zone is ahead of UTC.
 */
#ifndef GPUSORT_OUT_ZONE_H
#define GPUSORT_OUT_ZONE_H

#include "datatype/timestamp.h"

/* In seconds; false: not known here. */
extern bool gpusort_out_zone_offset(TimestampTz timestamp, int *offset);

#endif							/* GPUSORT_OUT_ZONE_H */
