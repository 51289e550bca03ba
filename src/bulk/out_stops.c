/*
 * out_stops.c
 *		Finds the bytes of a string that can't be written as they are; see out_stops.h.
 *
 * A string has no zero bytes, so unused places for stops can search for zero.
 */
#include "postgres.h"

#include "bulk/out_stops.h"

#define LAST_CONTROL 0x1f

void
gpusort_out_clear_stops(GpuSortOutStops *stops)
{
	memset(stops, 0, sizeof(*stops));
}

void
gpusort_out_add_stop(GpuSortOutStops *stops, char c)
{
	uint8		byte = (uint8) c;

	if (stops->stops[byte])
		return;
	stops->stops[byte] = true;
	if (byte <= LAST_CONTROL)
	{
		stops->controls = LAST_CONTROL;
		memset(stops->wide[GPUSORT_OUT_STOPS], LAST_CONTROL, sizeof(stops->wide[0]));
		return;
	}
	for (int i = 0; i < GPUSORT_OUT_STOPS; i++)
		if (stops->bytes[i] == 0)
		{
			stops->bytes[i] = byte;
			memset(stops->wide[i], byte, sizeof(stops->wide[0]));
			return;
		}
	elog(ERROR, "too many bytes to look for");
}
